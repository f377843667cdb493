#include "cli/texts/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tune::cli {
namespace {

/// What the words before the cursor leave open.
struct Place {
  const CommandText* command;
  const OptionText* option = nullptr;  ///< whose value comes next
  std::size_t arguments = 0;           ///< how many the command has been given
};

bool is_among(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// The option of this name that takes a value; nullptr if there is none.
const OptionText* option_of(const CommandText& command, const std::string& name) {
  const auto found = std::ranges::find_if(
      command.options, [&](const OptionText& option) { return !option.is_flag() && is_among(option.names, name); });
  return found == command.options.end() ? nullptr : &*found;
}

/// Takes an argument, which may be the command that is called.
void take(Place& place, const std::string& word) {
  const auto called = std::ranges::find(place.command->commands, word, &CommandText::name);
  if (place.arguments == 0 && called != place.command->commands.end())
    place.command = &*called;
  else
    ++place.arguments;
}

Place place_behind(const CommandText& tune, const std::vector<std::string>& words) {
  Place place{&tune};
  for (const std::string& word : words) {
    const bool is_value = place.option != nullptr;
    place.option = option_of(*place.command, word);
    if (!is_value && !word.starts_with('-')) take(place, word);
  }
  return place;
}

/// The devices whose names --device-file takes.
std::vector<std::string> known_devices() {
  std::istringstream names(TUNE_DEVICES);
  return {std::istream_iterator<std::string>(names), {}};
}

std::string lines(const std::vector<std::string>& words, const std::string& meaning = "") {
  std::string text;
  for (const std::string& word : words) text += word + (meaning.empty() ? "" : "\t" + meaning) + "\n";
  return text;
}

std::string kind_of(const OptionText& option) {
  if (!option.choices.empty()) return "words";
  if (option.value == "DIR") return "folders";
  if (!option.endings.empty()) return "files";
  return option.value == "FILE" || option.value == "PREFIX" ? "any" : "words";
}

std::string values(const OptionText& option, std::size_t kept) {
  const std::string endings = option.endings.empty() ? "" : " " + joined(option.endings, " ");
  const std::vector<std::string> words = option.name() == "--device-file" ? known_devices() : option.choices;
  return fmt::format("{} {}{}\n{}\n", kind_of(option), kept, endings, option.help) + lines(words, option.help);
}

/// The first name of each option, which is the long one if there is one, and those of one letter.
std::string option_names(const CommandText& command) {
  std::string text = "words 0\n\n";
  for (const OptionText& option : command.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names)
      if (names.empty() || name.size() == 2) names.push_back(name);
    text += lines(names, option.help);
  }
  return text;
}

/// `word` is the beginning of a name, or a name with the beginning of a value: --name=value, -nvalue.
std::string option_or_its_value(const CommandText& command, const std::string& word) {
  const bool is_long = word.starts_with("--");
  const std::size_t end = is_long ? word.find('=') : 2;
  const OptionText* option = end < word.size() ? option_of(command, word.substr(0, end)) : nullptr;
  return option == nullptr ? option_names(command) : values(*option, end + (is_long ? 1 : 0));
}

/// nullptr if the command has been given all that it takes.
const OptionText* next_argument(const Place& place) {
  std::size_t given = place.arguments;
  for (const OptionText& option : place.command->options)
    if (!option.argument.empty() && (option.repeats || given-- == 0)) return &option;
  return nullptr;
}

/// The first argument may be a command too.
std::string argument(const Place& place) {
  const OptionText* next = next_argument(place);
  if (next == nullptr) return option_names(*place.command);
  std::string text = values(*next, 0);
  if (place.arguments == 0)
    for (const CommandText& command : place.command->commands) text += lines({command.name}, command.help);
  return text;
}

}  // namespace

std::string completions(const CommandText& tune, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  // bash makes three words of --name=value.
  if (words.back() == "=") words.back().clear();
  std::erase(words, "=");
  const std::string word = words.back();
  words.pop_back();
  if (is_among(words, "--")) return "command 0\n\n";
  const Place place = place_behind(tune, words);
  if (place.option != nullptr) return values(*place.option, 0);
  return word.starts_with('-') ? option_or_its_value(*place.command, word) : argument(place);
}

}  // namespace tune::cli
