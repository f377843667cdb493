#include "cli/completion.h"

#include <iterator>
#include <sstream>

namespace tune {

std::map<std::string, std::vector<std::string>> file_endings() {
  const std::vector<std::string> yaml = {"yaml", "yml"}, recordings = {"jsonl", "json", "csv", "gz", "bz2"},
                                 shapes = {"yaml", "yml", "csv", "json", "log", "txt"};
  std::vector<std::string> results = recordings;
  results.insert(results.end(), yaml.begin(), yaml.end());
  return {{"--yaml", yaml},
          {"--shapes", shapes},
          {"--device-file", yaml},
          {"--simulate", recordings},
          {"--kt-cache", {"json"}},
          {"--tuning_results_file", yaml},
          {"--t4", {"json"}},
          {"IN", recordings},
          {"OLD", results},
          {"NEW", results},
          {"--baseline", results},
          {"RESULT", yaml},
          {"--db", yaml},
          {"DB", yaml},
          {"RUN", recordings},
          {"--weights", shapes},
          {"--validate", recordings},
          {"LOG", shapes}};
}

std::vector<std::string> known_devices() {
  std::istringstream names(TUNE_DEVICES);
  return {std::istream_iterator<std::string>(names), {}};
}

Completed completed(const OptionText& option) {
  using By = Completed::By;
  if (!option.choices.empty()) return {By::words, option.choices, {}};
  if (option.value == "DIR") return {By::folders, {}, {}};
  if (option.value != "FILE" && option.value != "PREFIX") return {};
  const auto all = file_endings();
  const auto endings = all.find(option.name());
  return {By::files, endings == all.end() ? std::vector<std::string>{} : endings->second,
          option.name() == "--device-file" ? known_devices() : std::vector<std::string>{}};
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

}  // namespace tune
