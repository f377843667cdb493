#include <fmt/format.h>

#include "cli/texts/completion.h"

namespace tune::cli {
namespace {

constexpr const char* kBashStart = R"(# Completion of tune for bash, which `tune completion bash` prints.

_tune_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

# Folders, and the files that end in one of the arguments; without any, all files.
_tune_files() {
  local ending
  compopt -o filenames 2>/dev/null
  if (($# == 0)); then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; for ending; do compgen -f -X "!*.$ending" -- "$cur"; done)
  fi
}

# The names in the first argument, and files as _tune_files does.
_tune_names_or_files() {
  local -a names
  mapfile -t names < <(compgen -W "$1" -- "$cur")
  _tune_files "${@:2}"
  COMPREPLY=("${names[@]}" "${COMPREPLY[@]}")
}

_tune_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

# The command behind --, whose first word is the given one.
_tune_command() {
  if ((COMP_CWORD == $1)) && [[ $cur != */* ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    _tune_files
  fi
}

_tune() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && { _tune_command $((i + 1)); return; }
  done
  # --name=value is three words here.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

constexpr const char* kTail = R"(}
complete -F _tune tune
)";

std::string call(const Completed& value) {
  using By = Completed::By;
  const std::string words = joined(value.words, " ");
  if (value.by == By::words) return fmt::format("_tune_words '{}'", words);
  if (value.by == By::files && !value.names.empty())
    return fmt::format("_tune_names_or_files '{}' {}", joined(value.names, " "), words);
  if (value.by == By::files) return words.empty() ? "_tune_files" : "_tune_files " + words;
  return value.by == By::folders ? "_tune_folders" : ":";
}

/// The command's name and the option's, as the script puts them together.
std::string pattern(const std::string& command, const std::string& name) {
  return fmt::format("'{} {}'", command, name);
}

void add_patterns(std::map<std::string, std::vector<std::string>>& calls, const std::string& name,
                  const CommandText& command) {
  for (const OptionText& option : command.options)
    for (const std::string& spelling : option.names)
      if (!option.is_flag()) calls[call(completed(option))].push_back(pattern(name, spelling));
}

/// What completes the word behind an option.
std::string values(const CommandText& tune) {
  std::map<std::string, std::vector<std::string>> calls;
  add_patterns(calls, "", tune);
  for (const CommandText& command : tune.commands) add_patterns(calls, command.name, command);
  std::string text = "  case \"$command $previous\" in\n";
  for (const auto& [action, patterns] : calls)
    text += fmt::format("    {})\n      {}\n      return\n      ;;\n", joined(patterns, " | "), action);
  return text + "  esac\n";
}

std::string names(const std::string& name, const CommandText& command) {
  std::vector<std::string> all;
  for (const OptionText& option : command.options)
    for (const std::string& spelling : offered_names(option)) all.push_back(spelling);
  return fmt::format("    '{} '-*) _tune_words '{}' ;;\n", name, joined(all, " "));
}

std::string arguments(const std::string& name, const CommandText& command) {
  const OptionText* argument = argument_of(command);
  return argument == nullptr ? "" : fmt::format("    '{} '*) {} ;;\n", name, call(completed(*argument)));
}

}  // namespace

std::string bash_completion(const CommandText& tune) {
  const std::string commands = joined(names_of(tune.commands), " ");
  std::string text = kBashStart;
  text +=
      fmt::format("  case ${{COMP_WORDS[1]}} in\n    {}) ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}} ;;\n  esac\n",
                  joined(names_of(tune.commands), " | "));
  text += values(tune) + "  case \"$command $cur\" in\n";
  for (const CommandText& command : tune.commands) text += names(command.name, command);
  text += names("", tune);
  for (const CommandText& command : tune.commands) text += arguments(command.name, command);
  text += arguments("", tune) + "  esac\n";
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -W '{}' -- \"$cur\")\n  fi\n",
      commands);
  return text + kTail;
}

}  // namespace tune::cli
