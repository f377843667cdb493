#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/statistics/comparison.h"

namespace tune {

/// What a run says of its winner. Where something was asked of it (--baseline, --noise, --accuracy), it passes or
/// fails, and it always fails if no spec works; `undecided` is what the run does not know.
enum class Decision { decided, pass, undecided, fail };
inline constexpr std::array<std::string_view, 4> kDecisions = {"DECIDED", "PASS", "UNDECIDED", "FAIL"};
constexpr std::string_view to_text(Decision decision) { return kDecisions[static_cast<std::size_t>(decision)]; }

/// What is known of the winner of a run with --tune.
struct Verdict {
  Decision decision = Decision::undecided;
  bool asked = false;              ///< something was asked of the run
  std::string why;                 ///< what is open, in a few words; empty: nothing
  std::optional<double> loss;      ///< by what share of its time the winner may be slower than the best; unset: unknown
  double accuracy = 0;             ///< how much of that was allowed
  std::vector<std::int64_t> open;  ///< mesh_idx of the specs that may be faster by more
  std::optional<ComparedSpec> compared;  ///< the winner and the earlier result of --baseline
  double threshold = 0;                  ///< by how much it may be slower than that
  /// As it is printed, unwrapped; the first begins with the decision.
  std::vector<std::string> lines;
};

}  // namespace tune
