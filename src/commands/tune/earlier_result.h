#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/target.h"
#include "results/comparison/comparison.h"

namespace tune::commands {

/// The earlier result that --baseline names: what a run is compared with at its end.
class EarlierResult {
 public:
  /// Throws Error(bad_input) if it cannot be compared with a run of this target, which outlives it, on this device.
  EarlierResult(const std::filesystem::path& file, std::optional<double> threshold, const Target& target,
                const Device& device);

  /// What it says of the time that is compared, for the user.
  const std::vector<std::string>& notes() const { return before_.notes; }
  /// What became of the best; nullopt if the run found none.
  std::optional<RunComparison> compare(const Device& device, const results::TuningOutcome& outcome) const;

 private:
  const Target* target_;
  std::optional<double> cost_;  ///< Merit::cost of the earlier result; unset: not known, or the objective is the time
  bool is_built_ = false;       ///< its artifact can be timed again
  results::RecordedTimes before_;
  std::string label_;
  results::ComparisonRules rules_;
};

/// Prints it on stdout.
void print_comparison(const RunComparison& comparison);

}  // namespace tune::commands
