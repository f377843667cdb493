#include "flow/database.h"

#include <fmt/format.h>

#include "base/shared_file.h"
#include "config/database_file.h"
#include "journal.h"
#include "model/values/error.h"
#include "model/values/shown.h"

namespace tune::flow {
namespace {

constexpr std::size_t kLengthOfDay = 10;  // 2026-11-22

std::string day_of_journal(std::filesystem::path best_yaml) {
  const auto run = Journal::last_run_of(best_yaml.replace_extension(".jsonl"));
  return run ? run->date.substr(0, kLengthOfDay) : "";
}

void add_aliases(Database& database, const Database& more) {
  for (const auto& [alias, name] : more.aliases) {
    const auto [known, is_new] = database.aliases.try_emplace(alias, name);
    if (!is_new && known->second != name)
      throw Error(ExitCode::bad_input,
                  fmt::format("the device '{}' is an alias of '{}' and of '{}'; remove one of them", alias,
                              known->second, name));
  }
}

bool has_results(const Database& database, const ResultGroup& group) {
  const auto first = database.results.lower_bound({group, {}});
  return first != database.results.end() && first->first.group == group;
}

}  // namespace

Database read_results(const std::filesystem::path& path) {
  Database database = config::read_database(path);
  if (database.results.size() != 1) return database;
  TunedResult& result = database.results.begin()->second;
  if (result.date.empty()) result.date = day_of_journal(path);
  return database;
}

DatabaseChange add_all(Database& database, const Database& more) {
  DatabaseChange change;
  add_aliases(database, more);
  for (const auto& [key, result] : more.results) {
    if (const std::string winner = baseline_that_wins(result); !winner.empty()) {
      change.notes.push_back(
          shown_line(fmt::format("{} {} is left out: {} is faster", key.group.kernel, to_text(key.sizes), winner)));
      continue;
    }
    const auto known = database.results.find(key);
    if (known == database.results.end())
      ++change.added;
    else if (is_better(result, known->second))
      ++change.improved;
    add_result(database, key, result);
  }
  for (const auto& [group, rule] : more.rules) add_rule(database, group, rule);
  change.total = database.results.size();
  return change;
}

DatabaseChange add_to_database(const std::filesystem::path& path, const Database& more) {
  base::SharedFile file(path);
  const std::string before = file.read();
  Database database = config::parse_database(before, path.string());
  DatabaseChange change = add_all(database, more);
  if (change.added + change.improved > 0)
    for (const auto& [group, rule] : database.rules)
      if (!more.rules.contains(group) && has_results(more, group))
        change.notes.push_back(
            shown_line(fmt::format("the rule of {} on {} was made without these results; tune cover makes it anew",
                                   group.kernel, group.device.name)));
  const std::string text = config::write_database(database);
  if (text != before) file.write(text);
  return change;
}

void set_rule(const std::filesystem::path& path, const Database& database, const ResultGroup& group,
              const SizeRule& rule) {
  base::SharedFile file(path);
  Database there = config::parse_database(file.read(), path.string());
  add_all(there, database);
  there.rules[group] = rule;
  file.write(config::write_database(there));
}

}  // namespace tune::flow
