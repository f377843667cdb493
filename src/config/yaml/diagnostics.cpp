#include "config/yaml/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/error.h"
#include "model/values/escaped_text.h"

namespace tune::config {

Place place_of_option(std::string option) { return {std::make_shared<const std::string>(std::move(option)), 0, 0}; }

std::string to_text(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}", *place.file, place.line) : *place.file;
}

void Diagnostics::add(const Place& place, const std::string& text) { add_to(diagnostics_, place, text); }

void Diagnostics::warn(const Place& place, const std::string& text) { add_to(warnings_, place, text); }

void Diagnostics::add_to(std::vector<Diagnostic>& list, const Place& place, const std::string& text) {
  auto file = std::find(files_.begin(), files_.end(), *place.file);
  if (file == files_.end()) file = files_.insert(files_.end(), *place.file);
  Diagnostic problem{static_cast<std::size_t>(file - files_.begin()), place.line,
                     line_with_escapes(fmt::format("{}: {}", to_text(place), text))};
  if (std::find(list.begin(), list.end(), problem) == list.end()) list.push_back(problem);
}

std::vector<Diagnostics::Diagnostic> Diagnostics::sorted(std::vector<Diagnostic> list) {
  std::stable_sort(list.begin(), list.end(), [](const Diagnostic& x, const Diagnostic& y) {
    return x.file != y.file ? x.file < y.file : x.line < y.line;
  });
  return list;
}

void Diagnostics::throw_if_any() const {
  if (diagnostics_.empty()) return;
  std::string text;
  for (const Diagnostic& problem : sorted(diagnostics_)) {
    if (!text.empty()) text += '\n';
    text += problem.text;
  }
  throw Error(ExitCode::bad_input, text);
}

std::vector<std::string> Diagnostics::warnings() const {
  std::vector<std::string> texts;
  for (const Diagnostic& warning : sorted(warnings_)) texts.push_back(warning.text);
  return texts;
}

}  // namespace tune::config
