#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/target.h"
#include "results/comparison/run_comparison.h"

namespace tune::commands {

/// What --baseline names, with which a run is compared at its end: an earlier result or a spec.
class ComparedBaseline {
 public:
  /// A spec, which is timed in the finals. The target outlives this.
  ComparedBaseline(std::string spec, std::optional<double> threshold, const Target& target);
  /// Throws Error(bad_input) if it cannot be compared with a run of this target on this device.
  ComparedBaseline(const std::filesystem::path& file, std::optional<double> threshold, const Target& target,
                   const Device& device);

  /// What it says of the time that is compared, for the user.
  const std::vector<std::string>& notes() const { return before_.notes; }
  /// What became of the best; nullopt if the run found none.
  std::optional<RunComparison> compare(const Device& device, const results::TuningOutcome& outcome) const;

 private:
  const Target* target_;
  std::optional<double> cost_;  ///< Merit::cost of the earlier result; unset: not known, or the objective is the time
  bool is_built_ = false;       ///< its artifact can be timed again
  results::RecordedTimes before_;  ///< those of a spec are not known before the finals
  std::string label_;
  results::ComparisonRules rules_;
};

/// Prints it on stdout.
void print_comparison(const RunComparison& comparison);

}  // namespace tune::commands
