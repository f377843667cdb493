#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/values/error.h"

namespace tune::cli {

/// Does what a command line asks for. Throws Error, and Interrupted where processes run.
using Action = std::function<ExitCode()>;

/// A command of `tune`, or `tune` itself.
struct CommandSpec {
  const char* name;
  const char* help;
  /// Declares what it takes, and returns what is done once that is read.
  Action (*bind)(Command&);
};

/// A command whose arguments are a struct: `bind` declares them, `run` does what they say.
template <class Arguments, void (*bind)(Command&, Arguments&), ExitCode (*run)(const Arguments&)>
constexpr CommandSpec command_spec(const char* name, const char* help) {
  return {name, help, [](Command& command) -> Action {
            const auto arguments = std::make_shared<Arguments>();
            bind(command, *arguments);
            return [arguments] { return run(*arguments); };
          }};
}

/// Reads a command line of `tune` itself or of one of its commands, in the spellings of other tools too. Prints help,
/// version, completions or the manual page and returns nullopt if asked to. Throws Error(bad_input).
std::optional<Action> read_command_line(const CommandSpec& tune, std::span<const CommandSpec* const> commands, int argc,
                                        const char* const* argv);

/// Reads the words of a command line of `tune` itself, which was checked where it was typed. Throws Error(bad_input).
void read_words(const std::function<void(Command&)>& bind, const std::vector<std::string>& words);

}  // namespace tune::cli
