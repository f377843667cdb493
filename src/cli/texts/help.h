#pragma once
#include <string>

#include "cli/list.h"

namespace tune::cli {

// The screens of --help and --help-all, of which no line is longer than `width` columns if its words allow that.

/// The options that most people need.
std::string short_help(const CommandText& tune, std::size_t width);
/// All options of `tune` or of one of its commands; `name` is all that calls it: `tune audit`.
std::string full_help(const std::string& name, const CommandText& command, std::size_t width);

}  // namespace tune::cli
