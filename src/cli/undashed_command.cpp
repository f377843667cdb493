#include "cli/undashed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/command.h"
#include "model/values/error.h"
#include "platform/process/process.h"

namespace tune::cli {
namespace {

/// The place of the first word that is no option, nor the value of one, nor behind `--`.
std::ptrdiff_t first_argument(const CommandText& tune, const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) return static_cast<std::ptrdiff_t>(i);
    const auto named = std::ranges::find_if(tune.options, [&](const OptionText& option) {
      return std::ranges::find(option.names, words[i]) != option.names.end();
    });
    if (named != tune.options.end() && !named->is_flag()) ++i;
  }
  return std::ssize(words);
}

/// Whether a file of this name, or a tuning file that may be meant, is there.
bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::ranges::any_of(std::array{"", ".yaml", ".yml"},
                             [&](const char* ending) { return std::filesystem::exists(name + ending, ignored); });
}

}  // namespace

void refuse_former_command(const CommandText& tune, const std::vector<std::string>& words) {
  const std::ptrdiff_t first = first_argument(tune, words);
  if (first < std::ssize(words) && words[static_cast<std::size_t>(first)] == "simulate-bench")
    throw Error(ExitCode::bad_input,
                "simulate-bench is no command of tune any more; the program bench_search of tune's sources compares "
                "strategies, see tests/bench/README.md there");
}

void refuse_command_without_dashes(const CommandText& tune, const std::vector<std::string>& words) {
  const auto begin = words.begin() + first_argument(tune, words);
  if (begin == words.end() || is_file(*begin)) return;
  if (std::ranges::find(tune.commands, *begin, &CommandText::name) != tune.commands.end()) return;
  try {
    platform::find_program(*begin);
  } catch (const platform::NoProgram&) {
    return;
  }
  const auto end = std::find(begin, words.end(), "--");
  throw Error(ExitCode::bad_input,
              fmt::format("{0} is a command and no tuning file; write commands behind --, and {{NAME}} in the place of "
                          "each value to tune:\n\ttune --tune --param NAME:[1,2] -- {1}",
                          *begin, typed_line(tune::Words(begin, end))));
}

}  // namespace tune::cli
