#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trial.h"

namespace tune::commands {

/// What a run with --compare has compared with its references, problem by problem.
class Compared {
 public:
  /// `shape`: the problem's sizes; empty if there is only one problem.
  void add(const std::string& shape, std::span<const Trial> trials);
  /// `compared with the reference: 3 of 4 sizes (6 specs), of which 2 are right and 1 is wrong; missing: M=8 N=8 K=8`,
  /// or, of one problem, how many specs are right, wrong and missing.
  std::string text() const;

 private:
  std::int64_t right_ = 0, wrong_ = 0, missing_ = 0;  ///< specs
  std::int64_t right_shapes_ = 0, wrong_shapes_ = 0;
  std::vector<std::string> missing_shapes_;
  bool has_shapes_ = false;
};

}  // namespace tune::commands
