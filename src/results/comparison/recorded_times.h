#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "results/tuning_outcome.h"

namespace tune::results {

/// How long one spec took in a run; without any time it failed.
struct SpecTimes {
  Spec spec;
  std::optional<Estimate> sweep, finals;
  std::string failure = {};
};

/// What a run found for one problem.
struct ProblemTimes {
  std::string kernel, problem, device;  ///< empty where the file does not say
  std::vector<SpecTimes> specs;
  std::optional<std::size_t> best;                          ///< in `specs`; unset: all of them failed
  std::vector<std::pair<std::string, Estimate>> baselines;  ///< of the finals, by label
  std::string statistic = {};  ///< what of a spec's launches the sweep's times are; empty: the file does not say
  Backend backend = Backend::automatic;  ///< automatic: the file does not say
};

/// The times that a file holds, whatever its format: a best.yaml has those of one spec.
struct RecordedTimes {
  std::string file;
  std::vector<ProblemTimes> problems;
  std::vector<std::string> notes;  ///< what of the file could not be used
  int protocol = 0;                ///< of the version of tune that wrote it; 0: that is not known
};

/// Reads a best.yaml, or what recording::read_recordings reads; of a problem that was run on several devices, what the
/// last one found. The interval of a time is known where it is that of at least five launches or rounds, and the spec
/// was not stopped early. Throws Error(bad_input).
RecordedTimes read_recorded_times(const std::filesystem::path& path);

/// What a run found itself.
RecordedTimes recorded_times_of(const Plan& plan, const Device& device, const TuningOutcome& outcome);

}  // namespace tune::results
