#include "commands/messages.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/text.h"

namespace tune::commands {

void print_lines(std::string_view result) {
  const std::string escaped = with_escapes(result);
  std::string_view text = escaped;
  const auto columns = static_cast<std::size_t>(platform::terminal_columns(STDOUT_FILENO));
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const std::string& part : report::wrapped(text.substr(0, end), columns, 2)) lines += part + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  platform::print_escaped(lines);
}

void print_wrapped(std::string_view text) {
  const auto columns = static_cast<std::size_t>(platform::terminal_columns(STDERR_FILENO));
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = (first ? "" : "  ") + std::string(text.substr(0, end));
    for (const std::string& part : report::wrapped(line, columns, 2)) platform::print_to_stderr(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_error(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    print_wrapped("tune: error: " + std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string minute_text(std::filesystem::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch());
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

void print_warnings(std::span<const std::string> texts) {
  for (const std::string& text : texts) print_wrapped("warning: " + text);
}

}  // namespace tune::commands
