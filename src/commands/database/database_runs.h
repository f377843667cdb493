#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "database/database.h"
#include "recording/recording.h"
#include "results/comparison/recorded_times.h"

/// A database of results, where runs are asked for: each result is a run of which only the best is known.
namespace tune::commands {

/// `n=64, tunes: rows depth`: the sizes of a result, and what its problem is besides.
std::string problem_of_result(const database::ResultKey& key);

/// The file that recording::run_file names; of a best YAML the journal beside it, which may be of all shapes. Throws
/// Error(bad_input) if there is none.
std::filesystem::path run_of_result(const std::filesystem::path& named);

/// What recording::read_recordings reads; of a database a recording for each result. Throws Error(bad_input).
std::vector<recording::Recording> read_runs(const std::filesystem::path& path);

/// What results::read_recorded_times reads. Of a database: the times of its results and of the baselines. Where one
/// device has several results of a problem, by drivers or compilers, the newest counts. Throws Error(bad_input).
results::RecordedTimes read_times(const std::filesystem::path& path);

}  // namespace tune::commands
