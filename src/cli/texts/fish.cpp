#include <fmt/format.h>

#include "cli/texts/completion.h"

namespace tune::cli {
namespace {

constexpr const char* kFishStart = R"(# Completion of tune for fish, which `tune completion fish` prints.

function __tune_files -d 'Folders, and the files that end in one of the arguments'
    for ending in $argv
        __fish_complete_suffix .$ending
    end | string match -r -- '^.*(?:/|\.(?:'(string join '|' $argv)'))$'
end

complete -c tune -f
complete -c tune -n 'contains -- -- (commandline -opc)' -F
)";

/// Within single quotes.
std::string in_fish_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return "'" + out + "'";
}

std::string values(const Completed& value) {
  using By = Completed::By;
  if (value.by == By::words) return " -x -a " + in_fish_quotes(joined(value.words, " "));
  if (value.by == By::folders) return " -x -a '(__fish_complete_directories)'";
  if (value.by == By::nothing) return " -x";
  if (value.words.empty()) return " -r -F";
  const std::string names = value.names.empty() ? "" : joined(value.names, " ") + " ";
  return fmt::format(" -x -a '{}(__tune_files {})'", names, joined(value.words, " "));
}

std::string names(const OptionText& option) {
  std::string text;
  for (const std::string& name : offered_names(option))
    text += name.size() == 2 ? " -s " + name.substr(1) : " -l " + name.substr(2);
  return text;
}

/// `condition` is a command of fish that tells whether `command` is what is called.
std::string lines(const CommandText& command, const std::string& condition) {
  std::string text;
  for (const OptionText& option : command.options) {
    text += fmt::format("complete -c tune -n {}{}", in_fish_quotes(condition), names(option));
    text += option.is_flag() ? "" : values(completed(option));
    text += " -d " + in_fish_quotes(option.help) + "\n";
    if (!option.argument.empty() && !option.names.empty())
      text += fmt::format("complete -c tune -n {}{}\n", in_fish_quotes(condition), values(completed(option)));
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandText& tune) {
  std::string text = kFishStart;
  text += fmt::format(
      "\nfunction __tune_itself -d 'Whether no command of tune is called'\n"
      "    not __fish_seen_subcommand_from {}\nend\n\n",
      joined(names_of(tune.commands), " "));
  for (const CommandText& command : tune.commands)
    text += fmt::format("complete -c tune -n __fish_is_first_token -a {} -d {}\n", command.name,
                        in_fish_quotes(command.help));
  text += lines(tune, "__tune_itself");
  for (const CommandText& command : tune.commands)
    text += lines(command, "__fish_seen_subcommand_from " + command.name);
  return text;
}

}  // namespace tune::cli
