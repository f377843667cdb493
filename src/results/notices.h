#pragma once
#include <span>
#include <string>
#include <vector>

namespace tune::results {

/// What a run has to tell its user, in the order in which it is said. (How sure the best is stands in the verdict.)
struct Notices {
  std::vector<std::string> texts;
  std::vector<std::string> warnings;  ///< what a user should know before anything is started

  void add(const std::string& text) { texts.push_back(text); }
  void add(std::span<const std::string> more) { texts.insert(texts.end(), more.begin(), more.end()); }
};

}  // namespace tune::results
