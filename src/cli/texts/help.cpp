#include "cli/texts/help.h"

#include <algorithm>
#include <sstream>

namespace tune::cli {
namespace {

constexpr std::size_t kNarrow = 60;  ///< where descriptions do not fit beside the names

/// Fills lines with the text's words; the first line has `column` characters already, the others begin with `indent`.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent, std::size_t width) {
  std::string lines, space;
  std::istringstream words(text);
  for (std::string word; words >> word; space = " ") {
    if (!space.empty() && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      space.clear();
    }
    lines += space + word;
    column += space.size() + word.size();
  }
  return lines + "\n";
}

/// A name and what it means, which begins at `column`.
std::string entry(const std::string& name, const std::string& meaning, std::size_t column, std::size_t width) {
  if (width < kNarrow) column = std::min<std::size_t>(column, 6);
  std::string text = "  " + wrapped(name, 2, 4, width);
  if (name.size() + 4 <= column) text.pop_back();  // the meaning begins on this line
  text.append(column - (text.back() == '\n' ? 0 : text.size()), ' ');
  return text + wrapped(meaning, column, column, width);
}

std::string value_of(const OptionText& option) {
  return option.is_flag() ? "" : " " + option.value + (option.repeats ? " ..." : "");
}

std::string all_names_of(const OptionText& option) {
  if (option.names.empty() && option.choices.empty()) return option.argument + (option.repeats ? " ..." : "");
  std::string text = option.names.empty() ? option.argument : "";
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  return text + value_of(option);
}

std::string usage_line(const std::string& name, const CommandText& command, std::size_t width) {
  return wrapped("Usage: " + name + " " + usage_of(command), 0, 7, width);
}

std::string examples_text(std::size_t width) {
  std::string text = "\nExamples:\n";
  for (const ExampleText& example : examples()) text += entry(example.command, example.meaning, 56, width);
  return text;
}

}  // namespace

std::string short_help(const CommandText& tune, std::size_t width) {
  std::string text = wrapped(tune.help, 0, 0, width) + "\n" + usage_line("tune", tune, width) + examples_text(width);
  for (const std::string& group : groups_of(tune)) {
    std::string entries;
    for (const OptionText& option : tune.options)
      if (option.group == group && option.common)
        entries += entry(option.name() + (option.is_flag() ? "" : " " + option.value), option.help, 22, width);
    if (!entries.empty()) text += "\n" + group + ":\n" + entries;
  }
  return text + "\n" +
         wrapped("All options: tune --help-all. Commands: tune " + joined(names_of(tune.commands), ", ") +
                     ". The manual: man tune, and docs/README.md.",
                 0, 0, width);
}

std::string full_help(const std::string& name, const CommandText& command, std::size_t width) {
  std::string text = wrapped(command.help, 0, 0, width) + "\n" + usage_line(name, command, width);
  if (!command.commands.empty()) text += examples_text(width);
  for (const std::string& group : groups_of(command)) {
    text += "\n" + group + ":\n";
    for (const OptionText& option : command.options)
      if (option.group == group) text += entry(all_names_of(option), option.help, 26, width);
  }
  if (!command.commands.empty()) text += "\nCommands, which have a --help of their own:\n";
  for (const CommandText& other : command.commands) text += entry("tune " + other.name, other.help, 26, width);
  return text;
}

}  // namespace tune::cli
