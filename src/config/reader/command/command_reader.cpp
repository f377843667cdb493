#include "config/reader/command/command_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>

#include "config/reader/command/shell_text.h"
#include "config/yaml/fields.h"
#include "config/yaml/split_words.h"
#include "model/values/names.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

std::string advice(const std::string& name, const CommandNames& names) {
  if (names.lacks_file && (name == "file" || name == "binary"))
    return "; there is no file: that it could stand for; add it, or a parameter of this name";
  Words known = names.own;
  known.insert(known.end(), names.parameters.begin(), names.parameters.end());
  for (const std::string& placeholder : known)
    if (placeholder.starts_with(name) || !did_you_mean(name, std::span(&placeholder, 1)).empty())
      return fmt::format(", did you mean {{{}}}?", placeholder);
  return fmt::format("; there are {{{}}}, and braces with blanks inside are no placeholder: {{ {} }}",
                     fmt::join(known, "} {"), name);
}

bool is_known(const std::string& name, const CommandNames& names) {
  return std::ranges::find(names.own, name) != names.own.end() ||
         std::ranges::find(names.parameters, name) != names.parameters.end();
}

/// Words and dashes: with other signs it may be anything, such as `{a..z}`.
bool looks_like_a_name(std::string name) {
  std::erase(name, '-');
  return is_identifier(name);
}

/// Complains of what stands for nothing.
void check_placeholders(const Node& node, std::string_view what, const CommandNames& names, Diagnostics& diagnostics) {
  for (const auto& [at, name] : placeholders_of(node.text))
    if (!is_known(name, names) && looks_like_a_name(name))
      diagnostics.add(node.place, fmt::format("unknown placeholder {{{}}} in {}{}", name, what, advice(name, names)));
}

/// Where a placeholder must not stand.
std::string_view place_of(Standing standing) {
  switch (standing) {
    case Standing::single_quotes:
    case Standing::double_quotes:
      return "inside quotes";
    case Standing::backquotes:
      return "inside backquotes";
    case Standing::expansion:
      return "inside an expansion";
    case Standing::here_document:
      return "in a here-document";
    case Standing::comment:
      return "in a comment";
    case Standing::escaped:
      return "behind a backslash";
    case Standing::evaluated:
      return "behind eval";
    case Standing::word:
      break;
  }
  return {};
}

std::string_view remedy_of(Standing standing) {
  const bool quotes = standing == Standing::single_quotes || standing == Standing::double_quotes;
  return quotes ? "remove the quotes" : "move it out of there";
}

/// Whether the placeholder is next to other characters of the same word.
bool is_joined(const std::string& text, const Placeholder& placeholder) {
  const std::size_t end = placeholder.at + placeholder.name.size() + 2;
  const bool before = placeholder.at > 0 && !separates_words(text[placeholder.at - 1]);
  return before || (end < text.size() && !separates_words(text[end]));
}

bool is_one_of(const std::string& word, std::span<const std::string_view> names) {
  return std::ranges::find(names, std::filesystem::path(word).filename().string()) != names.end();
}

bool names_shell(const std::string& word) {
  static constexpr std::string_view kShells[] = {"sh",   "bash", "rbash", "dash", "ash", "ksh",
                                                 "mksh", "zsh",  "fish",  "yash", "csh", "tcsh"};
  return is_one_of(word, kShells);
}

/// Programs that start the program which a later one of their words names.
bool names_launcher(const std::string& word) {
  static constexpr std::string_view kLaunchers[] = {
      "env",  "timeout", "nice",     "ionice", "nohup", "taskset", "numactl", "stdbuf",  "setsid",  "xargs",  "chrt",
      "sudo", "doas",    "setarch",  "time",   "flock", "unshare", "chroot",  "prlimit", "busybox", "strace", "ltrace",
      "perf", "gdb",     "valgrind", "ncu",    "nsys",  "srun",    "mpirun",  "mpiexec", "parallel"};
  return is_one_of(word, kLaunchers);
}

/// How many of the words behind an option of a shell are its own: one for each o, or, where the name may stand in the
/// same word, for the last one.
std::ptrdiff_t words_of_option(const std::string& shell, const std::string& option) {
  static constexpr std::string_view kJoining[] = {"ksh", "mksh", "zsh"};
  if (option.starts_with("--")) return option == "--rcfile" || option == "--init-file" || option == "--emulate" ? 1 : 0;
  const auto takes_name = [](char c) { return c == 'o' || c == 'O'; };
  if (is_one_of(shell, kJoining)) return takes_name(option.back()) ? 1 : 0;
  return std::ranges::count_if(option, takes_name);
}

/// Options of fish whose next word is a script's text, as it is that of -c for every shell.
bool announces_text(const std::string& option) {
  static constexpr std::string_view kOptions[] = {"--command", "--init-command", "-C"};
  if (std::ranges::find(kOptions, option) != std::end(kOptions)) return true;
  return !option.starts_with("--") && option.find('c') != std::string::npos;
}

/// Which of a command's words is the text of a script, as the third one of `sh -c SCRIPT`; nullopt: none is.
std::optional<std::size_t> script_of(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  auto word = words.begin();
  if (names_launcher(*word)) word = std::ranges::find_if(words, names_shell);
  if (word == words.end() || !names_shell(*word)) return std::nullopt;
  const std::string& shell = *word;
  bool is_text = false;
  for (++word; word != words.end(); ++word) {
    if (*word == "-" || *word == "--") {
      ++word;
      break;
    }
    if (!word->starts_with('-') && !word->starts_with('+')) break;
    is_text = is_text || announces_text(*word);
    word += std::min(words_of_option(shell, *word), words.end() - word - 1);
  }
  if (!is_text || word == words.end()) return std::nullopt;
  return static_cast<std::size_t>(word - words.begin());
}

/// What may stand before the program in a simple command.
bool precedes_program(const std::string& word) {
  static constexpr std::string_view kWords[] = {"exec", "command", "if",    "then",  "elif", "else",  "do",
                                                "!",    "{",       "while", "until", "time", "coproc"};
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) return is_identifier(word.substr(0, equals));
  return std::ranges::find(kWords, word) != std::end(kWords);
}

/// The words of the simple command around a byte that stands outside of quotes, up to the word of that byte.
std::vector<std::string> words_up_to(const std::string& text, const std::vector<Standing>& standing, std::size_t at) {
  const auto separates = [&](std::size_t i) { return standing[i] == Standing::word && separates_words(text[i]); };
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i <= at; ++i) {
    const bool blank = text[i] == ' ' || text[i] == '\t';
    if (separates(i) && !blank)
      words.assign(1, "");
    else if (separates(i) && !words.back().empty())
      words.emplace_back();
    else if (!separates(i) && std::string_view("'\"\\").find(text[i]) == std::string_view::npos)
      words.back() += text[i];
  }
  words.erase(words.begin(), std::ranges::find_if_not(words, precedes_program));
  return words;
}

std::string text_of_script(const std::string& name, std::string_view what, const std::string& advice) {
  return fmt::format("{{{}}} in {} is in the text of a script, where the shell would execute parts of its value; {}",
                     name, what, advice);
}

/// What a placeholder stands for is quoted for the shell, which holds outside of the command's own quotes alone: within
/// them the shell would cut it up and run what values say.
void check_shell_command(const Node& node, std::string_view what, const CommandNames& names, Diagnostics& diagnostics) {
  const std::vector<Standing> standing = standings(node.text);
  for (const Placeholder& placeholder : placeholders_of(node.text)) {
    if (!is_known(placeholder.name, names)) continue;
    const bool words = placeholder.name == "args" || placeholder.name == "defines" || placeholder.name == "flags";
    const std::string_view where = place_of(standing[placeholder.at]);
    const bool outside = standing[placeholder.at] == Standing::word;
    const auto before = outside ? words_up_to(node.text, standing, placeholder.at) : std::vector<std::string>();
    if (outside && script_of(before) == before.size() - 1) {
      diagnostics.add(
          node.place,
          text_of_script(
              placeholder.name, what,
              fmt::format("give it to the script as an argument: sh -c 'program \"$@\"' sh {{{}}}", placeholder.name)));
    } else if (!where.empty()) {
      diagnostics.add(node.place,
                      fmt::format("{{{0}}} in {1} is {2}, where the shell would execute parts of its value; {3}: tune "
                                  "quotes the value itself; or write {1} as a list: [program, '{{{0}}}']",
                                  placeholder.name, what, where, remedy_of(standing[placeholder.at])));
    } else if (words && is_joined(node.text, placeholder)) {
      diagnostics.add(node.place,
                      fmt::format("{{{0}}} in {1} stands for several words and is part of a longer one here; "
                                  "put blanks around it",
                                  placeholder.name, what));
    }
  }
}

/// A script gets what placeholders stand for as its arguments, not in its text.
void check_script(const Node& node, const Words& words, std::string_view what, const CommandNames& names,
                  Diagnostics& diagnostics) {
  const auto script = script_of(words);
  if (!script) return;
  for (const auto& [at, name] : placeholders_of(words[*script]))
    if (is_known(name, names))
      diagnostics.add(
          node.is_list() ? node.items[*script].place : node.place,
          text_of_script(name, what,
                         fmt::format("write {} as one string{}, or give it to the script as an argument: [sh, "
                                     "-c, 'program \"$@\"', sh, '{{{}}}']",
                                     what, names.lacks_file ? " and add shell: true (--shell)" : "", name)));
}

/// The operators of a shell among words that reach the program as they are.
void warn_of_operators(const Node& node, const Words& words, Diagnostics& diagnostics) {
  static const Words kOperators = {"|", "||", "&&", "<", ">", ">>", "2>", "2>&1", "2>/dev/null", ">/dev/null"};
  const auto found = std::ranges::find_first_of(words, kOperators);
  const bool is_argument =
      found != words.end() && found != words.begin() && (found - 1)->starts_with('-');  // cut -d '|'
  if (found != words.end() && !is_argument)
    diagnostics.warn(node.place, fmt::format("{} is given the word '{}' as it is, because no shell runs the command; "
                                             "--shell lets one run it (in a file: shell: true, and one string)",
                                             words.front(), *found));
}

Words words_of(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  const auto words = split_words(node.text);
  if (const auto* split = std::get_if<Words>(&words)) return *split;
  diagnostics.add(node.place, fmt::format("{} has {}, which only a shell understands; quote it, or let a shell run the "
                                          "command: shell: true (--shell)",
                                          what, std::get<NeedsShell>(words).what));
  return {node.text};
}

}  // namespace

CommandLine read_command(const Node& node, std::string_view what, Strings strings, const CommandNames& names,
                         Diagnostics& diagnostics) {
  CommandLine command;
  command.is_shell = node.is_scalar() && strings == Strings::shell;
  const bool split = node.is_scalar() && strings == Strings::words;
  command.words = split ? words_of(node, what, diagnostics) : read_texts(node, what, diagnostics);
  for (const Node* word : as_list(node)) check_placeholders(*word, what, names, diagnostics);
  if (command.is_shell) check_shell_command(node, what, names, diagnostics);
  if (!command.is_shell) check_script(node, command.words, what, names, diagnostics);
  if (node.is_list()) warn_of_operators(node, command.words, diagnostics);
  if (command.words.empty() || command.words.front().empty()) {
    diagnostics.add(node.place, fmt::format("{} is empty; write a list of arguments, or one string", what));
  }
  return command;
}

}  // namespace tune::config
