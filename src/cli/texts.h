#pragma once
#include <optional>
#include <string>

// The texts that the command line writes about itself: help, completions and the manual page. Knows CLI11, which it
// turns into the data of cli/list.h.

namespace CLI {
class App;
class Success;
}  // namespace CLI

namespace tune {

/// Adds --help, --help-all, --version, and the commands that print the other texts; last of all.
void add_text_options(CLI::App& app, const std::string& version);
/// The text for which parsing the command line has ended.
std::string help_or_version(const CLI::App& app, const CLI::Success& asked);
/// The text that a command asks for, if it is one of those that print a text.
std::optional<std::string> text_of_command(const CLI::App& app, const std::string& version);

}  // namespace tune
