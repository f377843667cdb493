#pragma once
#include <optional>

#include "cli/command_line.h"

namespace tune::commands {

/// Reads the command line of `tune`. Prints help and the like and returns nullopt if asked to. Throws Error(bad_input).
std::optional<cli::Action> read_command_line(int argc, const char* const* argv);

}  // namespace tune::commands
