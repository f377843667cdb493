#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "config/reader/load.h"
#include "recording/recording.h"
#include "report/summary.h"
#include "results/tuning_outcome.h"

namespace tune::results {

/// What a recorded run is replayed for.
struct RecordedPlanRules {
  std::filesystem::path recording;                   ///< its file
  std::vector<std::filesystem::path> yamls;          ///< none: the space is what was recorded
  config::LoadSettings load;                         ///< what the command line changes in them
  std::optional<std::filesystem::path> device_file;  ///< instead of the recorded device
};

/// The plan that a recording can answer: that of tuning files, or of the recording itself. Throws Error(bad_input) if
/// the recording is of another kernel or of other parameters.
config::Loaded load_recorded_plan(const recording::Recording& recording, const RecordedPlanRules& rules);

/// An earlier run, as far as its recording tells, for its results to be presented again.
struct RecordedResults {
  config::Loaded loaded;
  TuningOutcome outcome;
  bool tuned = true;                 ///< the best was sought
  bool printed = false;              ///< the run has told what it printed; else this is put together from its trials
  TimeRule time = {};                ///< by which the times of the sweep were chosen
  std::vector<std::string> command;  ///< with `--spec N` after it, runs one spec again, or simulates it
};

/// Throws Error(bad_input) if the recording does not tell its space.
RecordedResults recorded_results(const recording::Recording& recording, const std::filesystem::path& file);

/// Puts the rows in the places that a CSV file tells, with their times in the finals, whose rounds it does not have.
void place_rows(report::Summary& summary, const recording::Recording& recording, bool by_time);

}  // namespace tune::results
