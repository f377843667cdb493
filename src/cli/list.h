#pragma once
#include <deque>
#include <string>
#include <vector>

namespace tune::cli {

// What the command line takes, as data: the one source of the help, the completions and the manual page.

/// An option, or an argument that is given without a name.
struct OptionText {
  /// Where an option must be given again.
  enum class Repeated {
    no,
    for_spec,   ///< to run one spec of the grid again, here or on an agent
    on_agents,  ///< to build and time specs on other machines
  };

  std::vector<std::string> names;    ///< with their dashes, the one to show first: --output, -o; of an argument none
  std::string argument;              ///< its name where it stands alone; empty if it must not
  std::string value;                 ///< FILE, NAME=V, auto|cuda; empty if it takes none
  std::vector<std::string> choices;  ///< all the values that it takes, if they are few
  std::vector<std::string> endings;  ///< of the files that are worth completing; empty: any
  std::string group, help;
  bool required = false, repeats = false;
  bool common = false;  ///< most people need it
  Repeated repeated = Repeated::no;

  /// What it is known by: --output, or the name of an argument.
  const std::string& name() const { return names.empty() ? argument : names.front(); }
  bool is_flag() const { return value.empty(); }
};

/// `tune` itself, or one of its commands.
struct CommandText {
  std::string name, help;
  bool tunes = false;  ///< and so takes a command to tune behind --
  std::deque<OptionText> options;
  std::deque<CommandText> commands;
};

/// The groups of the options, in their order.
std::vector<std::string> groups_of(const CommandText& command);
/// What follows the command's name: `[OPTIONS] IN OUT`.
std::string usage_of(const CommandText& command);
/// The names of the commands.
std::vector<std::string> names_of(const std::deque<CommandText>& commands);
/// The words with a separator between them.
std::string joined(const std::vector<std::string>& words, const std::string& separator);

/// A command line that is worth showing, and what it does.
struct ExampleText {
  std::string command, meaning;
};
std::vector<ExampleText> examples();

}  // namespace tune::cli
