#include "config/problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/error.h"
#include "model/values/shown.h"

namespace tune::config {

std::string to_text(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}", *place.file, place.line) : *place.file;
}

void Problems::add(const Place& place, const std::string& text) {
  auto file = std::find(files_.begin(), files_.end(), *place.file);
  if (file == files_.end()) file = files_.insert(files_.end(), *place.file);
  Problem problem{static_cast<std::size_t>(file - files_.begin()), place.line,
                  shown_line(fmt::format("{}: {}", to_text(place), text))};
  if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) problems_.push_back(problem);
}

void Problems::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& x, const Problem& y) {
    return x.file != y.file ? x.file < y.file : x.line < y.line;
  });
  std::string text;
  for (const Problem& problem : sorted) {
    if (!text.empty()) text += '\n';
    text += problem.text;
  }
  throw Error(ExitCode::bad_input, text);
}

}  // namespace tune::config
