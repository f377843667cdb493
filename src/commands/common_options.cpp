#include "commands/common_options.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/values.h"
#include "platform/files/user_folders.h"
#include "platform/process/terminal.h"

namespace tune::commands {

bool wants_colors(const TerminalOptions& terminal, int descriptor) {
  using enum TerminalOptions::Color;
  if (terminal.color != automatic) return terminal.color == always;
  const char* none = std::getenv("NO_COLOR");
  return (none == nullptr || *none == '\0') && platform::takes_escapes(descriptor);
}

results::ResultsRules printed_results(const TerminalOptions& terminal) {
  constexpr std::size_t kTop = 20;
  results::ResultsRules rules;
  rules.width = platform::terminal_columns(STDOUT_FILENO);
  rules.colors = wants_colors(terminal, STDOUT_FILENO);
  rules.top = terminal.top.value_or(kTop);
  return rules;
}

void must_not_be_input(const std::filesystem::path& output, std::span<const std::filesystem::path> inputs) {
  std::error_code ignored;
  for (const std::filesystem::path& input : inputs)
    if (std::filesystem::equivalent(input, output, ignored))
      throw Error(ExitCode::bad_input, output.string() + ": the output is also an input; choose another name");
}

platform::StorePlaces store_places(const StoreOptions& options) {
  platform::StorePlaces places;
  if (const std::filesystem::path cache = platform::cache_folder(); !cache.empty()) places.folder = cache / "store";
  places.limit = kStoreLimit;
  if (options.store) places = {*options.store, true, {}};
  if (options.limit) places.limit = *options.limit;
  if (options.base_store) places.base = *options.base_store;
  return places;
}

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

cli::Option bind_live(cli::Command& command, std::optional<platform::Address>& live, const char* help) {
  const auto read = [&live](const std::string& text) {
    live = cli::parse_page_address(text);
    if (!live) throw cli::Refused{"'" + text + "' is no port such as 8080, or 0 for a free one"};
  };
  return command.value("--live", read, "[ADDRESS:]PORT", help);
}

}  // namespace tune::commands
