#pragma once
#include <filesystem>
#include <string>

namespace tune::flow {

/// Where this program's executable lies.
std::filesystem::path folder_of_executable();
/// Journals of runs without --output: $XDG_STATE_HOME/tune, else ~/.local/state/tune. Empty if there is no home.
std::filesystem::path state_folder();
/// Build artifacts: $XDG_CACHE_HOME/tune, else ~/.cache/tune. Empty if there is no home.
std::filesystem::path cache_folder();
std::string host_name();
/// The time of day as `2026-11-21 10:44:42.236642+00:00`.
std::string timestamp();
/// The same for people: `2026-11-21 10:44 UTC`.
std::string utc_minute();

}  // namespace tune::flow
