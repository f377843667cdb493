#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "model/values/error.h"
#include "results/comparison/comparison.h"

namespace tune::commands {

/// The earlier result that --baseline names: what a run is compared with at its end.
class EarlierResult {
 public:
  /// Throws Error(bad_input) if it cannot be compared with a run of this plan on this device.
  EarlierResult(const std::filesystem::path& file, std::optional<double> threshold, const Plan& plan,
                const Device& device);

  /// What became of the best; nullopt if the run found none.
  std::optional<RunComparison> compare(const Plan& plan, const Device& device,
                                       const results::TuningOutcome& outcome) const;

 private:
  results::RecordedTimes before_;
  std::string label_;
  results::ComparisonRules rules_;
};

/// Prints it on stdout.
void print_comparison(const RunComparison& comparison);

}  // namespace tune::commands
