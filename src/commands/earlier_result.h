#pragma once
#include <string>

#include "flow/comparison.h"
#include "model/values/error.h"
#include "options/options.h"

namespace tune::commands {

/// The earlier result that --baseline names: what a run is compared with at its end.
class EarlierResult {
 public:
  /// Throws Error(bad_input) if it cannot be compared with a run of this plan on this device.
  EarlierResult(const Options& options, const Plan& plan, const Device& device);

  /// Prints what became of the best. check_failed: it is slower beyond noise and the threshold.
  ExitCode compare(const Plan& plan, const Device& device, const flow::Findings& findings) const;

 private:
  flow::RunTimes before_;
  std::string label_;
  flow::ComparisonRules rules_;
};

}  // namespace tune::commands
