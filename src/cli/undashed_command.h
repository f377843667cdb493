#pragma once
#include <string>
#include <vector>

// A command to tune that stands where `--` and it should.

namespace CLI {
class App;
}

namespace tune {

/// Refuses a command that stands where a tuning file should, as in `tune xz -3`. Throws Error(bad_input), with the line
/// that tunes it.
void refuse_command_without_dashes(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tune
