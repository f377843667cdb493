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
                   fmt::format("{{{0}}} in {1} stands {2}, where the shell would read what it stands for as its own "
                               "text; write {{{0}}} as a word without quotes, each of its words is quoted already, or "
                               "write {1} as a list: [program, '{{{0}}}']",
                               placeholder.name, what, where));
    } else if (words && is_joined(node.text, placeholder)) {
      problems.add(node.place, fmt::format("{{{0}}} in {1} stands for several words and is part of a longer one here; "
                                           "put blanks around it",
                                           placeholder.name, what));
    }
  }
}

bool names_shell(const std::string& word) {
  static constexpr std::string_view kShells[] = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish"};
  return std::ranges::find(kShells, std::filesystem::path(word).filename().string()) != std::end(kShells);
}

/// The script in [sh, -c, SCRIPT, ...] gets what placeholders stand for as its arguments, not in its text.
void check_scripts(const Node& node, std::string_view what, const Placeholders& known, Problems& problems) {
  bool shell = false, script_follows = false;
  for (const Node& word : node.items) {
    for (const auto& [at, name] : placeholders_of(word.text)) {
      if (!script_follows || std::ranges::find(known, name) == known.end()) continue;
      problems.add(word.place,
                   fmt::format("{{{0}}} in {1} stands in the text of a script, where the shell would read what it "
                               "stands for as its own text; write {1} as one string, or give it to the script as an "
                               "argument: [sh, -c, 'program \"$@\"', sh, '{{{0}}}']",
                               name, what));
    }
    script_follows = shell && word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c');
    shell = shell || names_shell(word.text);
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
  check_scripts(node, what, placeholders, problems);
  if (command.empty() || command.front().empty()) {
    problems.add(node.place, fmt::format("{} is empty; write a list of arguments, or one string for the shell", what));
  }
}

}  // namespace tune
