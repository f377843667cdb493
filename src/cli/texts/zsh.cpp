#include <fmt/format.h>

#include "cli/texts/completion.h"

namespace tune::cli {
namespace {

constexpr const char* kZshStart = R"zsh(#compdef tune
# Completion of tune for zsh, which `tune completion zsh` prints.

# The names in the first argument, and files with the endings in the second one.
_tune_names_or_files() {
  _alternative "names:name:($1)" "files:file:_files -g '*.($2)'"
}

)zsh";

constexpr const char* kBegin = R"(_tune() {
  local -i dashes=${words[(i)--]}
  if (( dashes < CURRENT )); then
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  if (( CURRENT > 2 )); then
    case $words[2] in
)";

constexpr const char* kMiddle = R"(    esac
  fi
)";

constexpr const char* kEnd = R"(}

if [[ $funcstack[1] == _tune ]]; then
  _tune "$@"
else
  compdef _tune tune
fi
)";

/// Within single quotes, with a backslash before each of these characters.
std::string in_zsh_quotes(const std::string& text, const std::string& special = "") {
  std::string out;
  for (const char c : text) {
    if (c == '\'') out += "'\\'";
    if (special.find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string action(const Completed& value) {
  using By = Completed::By;
  if (value.by == By::words) return fmt::format("({})", joined(value.words, " "));
  if (value.by == By::folders) return "_files -/";
  if (value.by == By::nothing) return " ";
  // The blank keeps the arguments as they are.
  if (!value.names.empty())
    return fmt::format(" _tune_names_or_files \"{}\" \"{}\"", joined(value.names, " "), joined(value.words, "|"));
  return value.words.empty() ? "_files" : fmt::format("_files -g \"*.({})\"", joined(value.words, "|"));
}

std::string value_spec(const OptionText& option) {
  return fmt::format(":{}:{}", in_zsh_quotes(option.value, ":\\"), in_zsh_quotes(action(completed(option))));
}

/// `--name=[meaning]:VALUE:action` for _arguments, once for each name.
std::string option_specs(const OptionText& option) {
  const std::vector<std::string> names = offered_names(option);
  const std::string before = option.repeats ? "*" : names.size() > 1 ? "(" + joined(names, " ") + ")" : "";
  std::string text;
  for (const std::string& name : names) {
    const std::string joint = option.is_flag() ? "" : name.size() == 2 ? "+" : "=";
    text += fmt::format(" \\\n    '{}{}{}[{}]{}'", before, name, joint, in_zsh_quotes(option.help, "[]\\"),
                        option.is_flag() ? "" : value_spec(option));
  }
  return text;
}

std::string all_specs(const CommandText& command) {
  std::string text = "_arguments :";
  for (const OptionText& option : command.options) text += option_specs(option);
  return text;
}

std::string function_of(const CommandText& command) {
  std::string text = fmt::format("_tune_{}() {{\n  {}", command.name, all_specs(command));
  for (const OptionText& option : command.options)
    if (option.names.empty()) text += fmt::format(" \\\n    '{}{}'", option.repeats ? "*" : "", value_spec(option));
  return text + "\n}\n\n";
}

/// What is no option of `tune` itself: a command in the first place, or a file.
std::string first_words(const CommandText& tune) {
  std::string text = "_tune_argument() {\n  local -a commands=(";
  for (const CommandText& command : tune.commands)
    text += fmt::format("\n    '{}:{}'", command.name, in_zsh_quotes(command.help, ":\\"));
  text += "\n  )\n  (( CURRENT == 2 )) && _describe -t commands command commands\n";
  return text + "  " + action(completed(*argument_of(tune))) + "\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandText& tune) {
  std::string text = kZshStart;
  for (const CommandText& command : tune.commands) text += function_of(command);
  text += first_words(tune) + kBegin;
  for (const std::string& name : names_of(tune.commands))
    text += fmt::format(
        "      {0})\n        shift words\n        (( CURRENT -= 1 ))\n        _tune_{0}\n        return\n"
        "        ;;\n",
        name);
  return text + kMiddle + "  " + all_specs(tune) + " \\\n    '*:argument:_tune_argument'\n" + kEnd;
}

}  // namespace tune::cli
