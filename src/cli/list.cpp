#include "cli/list.h"

#include <algorithm>

namespace tune::cli {

std::vector<std::string> groups_of(const CommandText& command) {
  std::vector<std::string> groups;
  for (const OptionText& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::string usage_of(const CommandText& command) {
  std::string usage = "[OPTIONS]";
  for (const OptionText& option : command.options) {
    if (option.argument.empty()) continue;
    const std::string argument = option.argument + (option.repeats ? " ..." : "");
    usage += option.required ? " " + argument : " [" + argument + "]";
  }
  return command.tunes ? usage + " [-- COMMAND ...]" : usage;
}

std::vector<ExampleText> examples() {
  return {{"tune --yaml gemm.yaml --dry-run", "list the specs"},
          {"tune --yaml gemm.yaml --tune --output best", "write best.yaml"},
          {"tune --tune --param T:[1,2,4] -- xz -T{T} -k -c FILE", "tune a command"}};
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::vector<std::string> names_of(const std::deque<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

}  // namespace tune::cli
