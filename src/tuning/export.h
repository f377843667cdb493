#pragma once
#include <memory>
#include <span>

#include "exec/evaluate/executor.h"
#include "model/statistics/objective.h"
#include "recording/foreign/kernel_tuner_cache.h"
#include "results/outputs.h"

namespace tune::tuning {

/// What a run writes for other tools: a Kernel Tuner cache while it goes on (--kt-cache), T4 results at its end (--t4).
class Exporter {
 public:
  /// Opens the cache. `time`: what the trials' times are. `objective` must outlive this. Throws Error.
  Exporter(const results::Outputs& outputs, const Plan& plan, const Objective& objective, const Device& device,
           const TimeRule& time);

  /// Adds a trial to the cache. What was measured now replaces what the cache has of its spec, unless it failed for a
  /// reason that may be gone in another run. Throws Error(environment).
  void add(const Trial& trial);
  /// Closes the cache and writes the T4 file of all trials. Throws Error(environment).
  void finish(std::span<const Trial> trials);

 private:
  recording::RecordedTrial recorded(const Trial& trial) const;

  std::filesystem::path t4_;
  const Plan* plan_;
  const Objective* objective_;
  recording::Recording recording_;
  std::unique_ptr<recording::KernelTunerCache> cache_;
};

/// Copies what was built for a trial's spec, building it again if the store has it no longer, and says so on stdout.
/// Throws Interrupted, and Error(environment).
void copy_artifact(exec::Executor& executor, const Trial& trial, const std::filesystem::path& file);

}  // namespace tune::tuning
