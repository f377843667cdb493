#include "kokkos/settings.h"

#include <fmt/format.h>

#include <cstdlib>

#include "model/values/error.h"

namespace tune::kokkos {
namespace {

std::int64_t count_in(const std::string& text) {
  const Value value = parse_value(text);
  const auto* count = std::get_if<std::int64_t>(&value);
  if (count != nullptr && *count > 0) return *count;
  throw Error(ExitCode::bad_input, fmt::format("evals is a number of configurations above 0, not '{}'", text));
}

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

void set(Settings& settings, const std::string& argument) {
  const std::string plain = argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  const std::size_t equals = std::min(plain.find('='), plain.size());
  const std::string name = plain.substr(0, equals);
  const std::string value = equals < plain.size() ? plain.substr(equals + 1) : "";
  if (name == "db" && !value.empty())
    settings.database = value;
  else if (name == "strategy")
    settings.search.strategy = search::parse_strategy(value);
  else if (name == "evals")
    settings.search.evaluations = count_in(value);
  else if (plain == "replay")
    settings.search.only_known = true;
  else if (plain == "verbose")
    settings.verbose = true;
  else
    throw Error(ExitCode::bad_input, fmt::format("'{}' is no argument of this tool; {}", argument, help()));
}

Settings settings_of_environment() {
  Settings settings;
  for (const auto& [variable, name] :
       {std::pair(kDatabaseVariable, "db="), {kStrategyVariable, "strategy="}, {kEvaluationsVariable, "evals="}})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      set(settings, std::string(name) + value);
  settings.search.only_known = is_on(kReplayVariable);
  settings.verbose = is_on(kVerboseVariable);
  return settings;
}

std::string help() {
  return fmt::format(
      "its arguments are db=FILE (or {}: the database of results), strategy=NAME (or {}), evals=N (or {}: "
      "configurations to try), replay (or {}=1: only use what is known) and verbose (or {}=1: say at the end what was "
      "found)",
      kDatabaseVariable, kStrategyVariable, kEvaluationsVariable, kReplayVariable, kVerboseVariable);
}

}  // namespace tune::kokkos
