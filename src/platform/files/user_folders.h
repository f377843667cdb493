#pragma once
#include <filesystem>
#include <string>

namespace tune::platform {

/// Where this program's executable lies.
std::filesystem::path folder_of_executable();
// As root, these folders are never another user's, whatever HOME and the XDG variables say, as with `sudo -E`: root's
// files would be in the way there. They are root's own instead.

/// Journals of runs without --output: $XDG_STATE_HOME/tune, else ~/.local/state/tune. Empty if there is no home.
std::filesystem::path state_folder();
/// Build artifacts: $XDG_CACHE_HOME/tune, else ~/.cache/tune. Empty if there is no home.
std::filesystem::path cache_folder();
/// Whose folders are not used and which are instead, for people; empty if those of the environment are used.
std::string folders_used_instead();
std::string host_name();
/// The time of day as `2026-11-21 10:44:42.236642+00:00`.
std::string timestamp();
/// The same for people: `2026-11-21 10:44 UTC`.
std::string utc_minute();

}  // namespace tune::platform
