#include "config/command_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>

#include "config/fields.h"
#include "config/shell_text.h"
#include "model/expression.h"

namespace tune {
namespace {

using Placeholders = std::vector<std::string>;
const Placeholders kBuildPlaceholders = {"file", "defines", "flags", "binary", "arch"};
const Placeholders kRunPlaceholders = {"binary", "file", "args", "output"};

std::string advice(const std::string& name, const Placeholders& known) {
  for (const std::string& placeholder : known)
    if (placeholder.starts_with(name) || !did_you_mean(name, std::span(&placeholder, 1)).empty())
      return fmt::format(", did you mean {{{}}}?", placeholder);
  return fmt::format("; there are {{{}}}, and blanks within make other braces plain: {{ {} }}", fmt::join(known, "} {"),
                     name);
}

/// A `{word}` of a command.
struct Placeholder {
  std::size_t at;
  std::string name;
};

/// `${word}` is the shell's.
std::vector<Placeholder> placeholders_of(const std::string& text) {
  std::vector<Placeholder> found;
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos || (at > 0 && text[at - 1] == '$')) continue;
    std::string name = text.substr(at + 1, end - at - 1);
    if (is_identifier(name)) found.push_back({at, std::move(name)});
  }
  return found;
}

/// Complains of what stands for nothing.
void check_placeholders(const Node& node, std::string_view what, const Placeholders& known, Problems& problems) {
  for (const auto& [at, name] : placeholders_of(node.text))
    if (std::ranges::find(known, name) == known.end())
      problems.add(node.place, fmt::format("unknown placeholder {{{}}} in {}{}", name, what, advice(name, known)));
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

/// Whether other characters of the same word stand beside it.
bool is_joined(const std::string& text, const Placeholder& placeholder) {
  const std::size_t end = placeholder.at + placeholder.name.size() + 2;
  const bool before = placeholder.at > 0 && !separates_words(text[placeholder.at - 1]);
  return before || (end < text.size() && !separates_words(text[end]));
}

/// What a placeholder stands for is quoted for the shell, which holds outside of the command's own quotes alone: within
/// them the shell would cut it up and run what values say.
void check_shell_command(const Node& node, std::string_view what, const Placeholders& known, Problems& problems) {
  const std::vector<Standing> standing = standings(node.text);
  for (const Placeholder& placeholder : placeholders_of(node.text)) {
    if (std::ranges::find(known, placeholder.name) == known.end()) continue;
    const bool words = placeholder.name == "args" || placeholder.name == "defines" || placeholder.name == "flags";
    const std::string_view where = place_of(standing[placeholder.at]);
    if (!where.empty()) {
      problems.add(node.place,
                   fmt::format("{{{0}}} in {1} is {2}, where the shell would execute parts of its value; {3}: tune "
                               "quotes the value itself; or write {1} as a list: [program, '{{{0}}}']",
                               placeholder.name, what, where, remedy_of(standing[placeholder.at])));
    } else if (words && is_joined(node.text, placeholder)) {
      problems.add(node.place, fmt::format("{{{0}}} in {1} stands for several words and is part of a longer one here; "
                                           "put blanks around it",
                                           placeholder.name, what));
    }
  }
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

/// The text of a script in [sh, -c, SCRIPT, ...]; null if the command has none.
const Node* script_of(const std::vector<Node>& words) {
  if (words.empty()) return nullptr;
  auto word = words.begin();
  if (names_launcher(word->text)) word = std::ranges::find_if(words, names_shell, &Node::text);
  if (word == words.end() || !names_shell(word->text)) return nullptr;
  const std::string& shell = word->text;
  bool is_text = false;
  for (++word; word != words.end(); ++word) {
    const std::string& text = word->text;
    if (text == "-" || text == "--") {
      ++word;
      break;
    }
    if (!text.starts_with('-') && !text.starts_with('+')) break;
    is_text = is_text || (!text.starts_with("--") && text.find('c') != std::string::npos);
    word += std::min(words_of_option(shell, text), words.end() - word - 1);
  }
  return is_text && word != words.end() ? &*word : nullptr;
}

/// A script gets what placeholders stand for as its arguments, not in its text.
void check_script(const Node& node, std::string_view what, const Placeholders& known, Problems& problems) {
  const Node* script = script_of(node.items);
  if (script == nullptr) return;
  for (const auto& [at, name] : placeholders_of(script->text)) {
    if (std::ranges::find(known, name) == known.end()) continue;
    problems.add(script->place,
                 fmt::format("{{{0}}} in {1} is in the text of a script, where the shell would execute parts of its "
                             "value; write {1} as one string, or give it to the script as an argument: "
                             "[sh, -c, 'program \"$@\"', sh, '{{{0}}}']",
                             name, what));
  }
}

}  // namespace

void read_command(const Node& node, std::string_view what, std::vector<std::string>& command, bool& is_shell,
                  Problems& problems) {
  const Placeholders& placeholders = what == "run" ? kRunPlaceholders : kBuildPlaceholders;
  is_shell = node.is_scalar();
  command = read_texts(node, what, problems);
  for (const Node* word : as_list(node)) check_placeholders(*word, what, placeholders, problems);
  if (is_shell) check_shell_command(node, what, placeholders, problems);
  check_script(node, what, placeholders, problems);
  if (command.empty() || command.front().empty()) {
    problems.add(node.place, fmt::format("{} is empty; write a list of arguments, or one string for the shell", what));
  }
}

}  // namespace tune
