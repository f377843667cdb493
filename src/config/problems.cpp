#include "config/problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/error.h"
#include "model/values/shown.h"

namespace tune::config {

std::string to_text(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}", *place.file, place.line) : *place.file;
}

void Problems::add(const Place& place, const std::string& text) { add_to(problems_, place, text); }

void Problems::warn(const Place& place, const std::string& text) { add_to(warnings_, place, text); }

void Problems::add_to(std::vector<Problem>& list, const Place& place, const std::string& text) {
  auto file = std::find(files_.begin(), files_.end(), *place.file);
  if (file == files_.end()) file = files_.insert(files_.end(), *place.file);
  Problem problem{static_cast<std::size_t>(file - files_.begin()), place.line,
                  shown_line(fmt::format("{}: {}", to_text(place), text))};
  if (std::find(list.begin(), list.end(), problem) == list.end()) list.push_back(problem);
}

std::vector<Problems::Problem> Problems::sorted(std::vector<Problem> list) {
  std::stable_sort(list.begin(), list.end(), [](const Problem& x, const Problem& y) {
    return x.file != y.file ? x.file < y.file : x.line < y.line;
  });
  return list;
}

void Problems::throw_if_any() const {
  if (problems_.empty()) return;
  std::string text;
  for (const Problem& problem : sorted(problems_)) {
    if (!text.empty()) text += '\n';
    text += problem.text;
  }
  throw Error(ExitCode::bad_input, text);
}

std::vector<std::string> Problems::warnings() const {
  std::vector<std::string> texts;
  for (const Problem& warning : sorted(warnings_)) texts.push_back(warning.text);
  return texts;
}

}  // namespace tune::config
