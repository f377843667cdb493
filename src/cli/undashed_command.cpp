#include "cli/undashed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/kinds.h"
#include "model/command.h"
#include "model/values/error.h"
#include "platform/process/process.h"

namespace tune {
namespace {

/// The place of the first word that is no option, nor the value of one, nor behind `--`.
std::ptrdiff_t first_argument(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) return static_cast<std::ptrdiff_t>(i);
    const CLI::Option* option = app.get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
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

void refuse_former_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::ptrdiff_t first = first_argument(app, words);
  if (first < std::ssize(words) && words[static_cast<std::size_t>(first)] == "simulate-bench")
    throw Error(ExitCode::bad_input,
                "simulate-bench is no command of tune any more; the program bench_search of tune's sources compares "
                "strategies, see tests/bench/README.md there");
}

void refuse_command_without_dashes(const CLI::App& app, const std::vector<std::string>& words) {
  const auto begin = words.begin() + first_argument(app, words);
  if (begin == words.end() || is_file(*begin)) return;
  if (std::ranges::any_of(app.get_subcommands({}), [&](const CLI::App* other) { return other->check_name(*begin); }))
    return;
  try {
    platform::find_program(*begin);
  } catch (const platform::NoProgram&) {
    return;
  }
  const auto end = std::find(begin, words.end(), "--");
  throw Error(ExitCode::bad_input,
              fmt::format("{0} is a command and no tuning file; write commands behind --, and {{NAME}} in the place of "
                          "each value to tune: tune --tune --param NAME:[1,2] -- {1}",
                          *begin, typed_line(Words(begin, end))));
}

}  // namespace tune
