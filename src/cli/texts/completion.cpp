#include "cli/texts/completion.h"

#include <iterator>
#include <sstream>

namespace tune::cli {

std::vector<std::string> known_devices() {
  std::istringstream names(TUNE_DEVICES);
  return {std::istream_iterator<std::string>(names), {}};
}

Completed completed(const OptionText& option) {
  using By = Completed::By;
  if (!option.choices.empty()) return {By::words, option.choices, {}};
  if (option.value == "DIR") return {By::folders, {}, {}};
  if (option.value != "FILE" && option.value != "PREFIX") return {};
  return {By::files, option.endings, option.name() == "--device-file" ? known_devices() : std::vector<std::string>{}};
}

const OptionText* argument_of(const CommandText& command) {
  for (const OptionText& option : command.options)
    if (!option.argument.empty()) return &option;
  return nullptr;
}

std::vector<std::string> offered_names(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    if (names.empty() || name.size() == 2) names.push_back(name);
  return names;
}

std::string completion(const CommandText& tune, const std::string& shell) {
  return shell == "bash" ? bash_completion(tune) : shell == "zsh" ? zsh_completion(tune) : fish_completion(tune);
}

}  // namespace tune::cli
