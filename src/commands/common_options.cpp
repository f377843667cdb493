#include "commands/common_options.h"

#include "cli/values.h"

namespace tune::commands {

cli::Option bind_top(cli::Command& command, std::optional<std::size_t>& top, const char* help) {
  const auto read = [&top](const std::string& text) {
    top = text == "all" ? 0 : static_cast<std::size_t>(cli::read_whole(text, 1));
  };
  return command.value("--top", read, "N", help);
}

cli::Option bind_exit_undecided(cli::Command& command, int& code) {
  return command
      .whole_between("--exit-undecided", code, 0, 125, "CODE",
                     "Exit with this if what was asked is undecided: 0 passes, 125 skips in git bisect")
      .shows_default();
}

cli::Option bind_strategy(cli::Command& command, std::optional<search::StrategyChoice>& strategy, const char* help) {
  std::vector<std::string> names;
  for (const search::StrategyChoice& choice : search::strategies()) names.push_back(choice.name);
  return command
      .value(
          "--strategy", [&strategy](const std::string& text) { strategy = search::parse_strategy(text); }, "NAME", help)
      .suggests(names);
}

cli::Option bind_live(cli::Command& command, std::optional<platform::PageAddress>& live, const char* help) {
  const auto read = [&live](const std::string& text) {
    live = cli::parse_page_address(text);
    if (!live) throw cli::Refused{"'" + text + "' is no port such as 8080, or 0 for a free one"};
  };
  return command.value("--live", read, "[ADDRESS:]PORT", help);
}

}  // namespace tune::commands
