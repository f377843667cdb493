#pragma once
#include <string>
#include <vector>

// Commands that stand where they should not: one to tune in the place of `--`, and one that tune had earlier.

namespace CLI {
class App;
}

namespace tune {

/// Refuses a command of earlier versions of tune. Throws Error(bad_input), which says what took its place.
void refuse_former_command(const CLI::App& app, const std::vector<std::string>& words);
/// Refuses a command that stands where a tuning file should, as in `tune xz -3`. Throws Error(bad_input), with the line
/// that tunes it.
void refuse_command_without_dashes(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tune
