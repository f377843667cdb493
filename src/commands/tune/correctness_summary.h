#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trial.h"

namespace tune::commands {

/// What a run with --compare has compared with its references, problem by problem.
class CorrectnessSummary {
 public:
  /// `shape`: the problem's sizes; empty if there is only one problem.
  void add(const std::string& shape, std::span<const Trial> trials);
  /// `compared with the reference: 2 of 3 sizes: 1 right, 1 wrong; missing: 1 size (M=8 N=8 K=8); 2 specs: 1 right, 1
  /// wrong`. Of one problem it is what follows the sizes.
  std::string text() const;

 private:
  std::int64_t right_ = 0, wrong_ = 0, missing_ = 0;  ///< specs
  std::int64_t right_shapes_ = 0, wrong_shapes_ = 0;
  std::vector<std::string> missing_shapes_;
  bool has_shapes_ = false;
};

}  // namespace tune::commands
