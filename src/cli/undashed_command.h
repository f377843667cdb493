#pragma once
#include <string>
#include <vector>

#include "cli/list.h"

// Commands that stand where they should not: one to tune in the place of `--`, and one that tune had earlier.

namespace tune::cli {

/// Refuses a command of earlier versions of tune. Throws Error(bad_input), which says what took its place.
void refuse_former_command(const CommandText& tune, const std::vector<std::string>& words);
/// Refuses a command that stands where a tuning file should, as in `tune xz -3`. Throws Error(bad_input), with the line
/// that tunes it.
void refuse_command_without_dashes(const CommandText& tune, const std::vector<std::string>& words);

}  // namespace tune::cli
