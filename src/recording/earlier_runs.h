#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tune::recording {

// This user's journals: those of runs without --output lie in platform::state_folder().

/// Remembers that this is the journal of the last run. Does nothing where that cannot be written.
void note_last_run(const std::filesystem::path& journal);
/// The journal of the last run, with or without --output, if it is still there; else the newest in the folder.
std::optional<std::filesystem::path> last_run();

struct EarlierRun {
  std::filesystem::path journal;
  std::filesystem::file_time_type changed;
  std::int64_t bytes = 0;
};
/// The journals in the folder, newest first.
std::vector<EarlierRun> earlier_runs();

}  // namespace tune::recording
