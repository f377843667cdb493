#include "report/text.h"

#include <algorithm>

#include "model/values/shown.h"

namespace tune::report {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string printable(std::string_view line, std::size_t limit) {
  if (line.size() <= limit) return shown_line(line);
  std::size_t end = limit;
  while (end > 0 && is_continuation(line[end])) --end;
  return shown_line(line.substr(0, end)) + " ...";
}

std::string first_line(std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  return line.empty() ? "(no message)" : printable(line);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string settings_text(const Spec& spec, std::span<const std::string> names) {
  std::string text;
  for (const Setting& setting : spec.params) {
    if (std::find(names.begin(), names.end(), setting.name) == names.end()) continue;
    if (!text.empty()) text += '/';
    text += setting.name + "=" + to_text(setting.value);
  }
  return printable(text, text.size());
}

}  // namespace tune::report
