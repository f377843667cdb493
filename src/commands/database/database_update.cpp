#include "commands/database/database_update.h"

#include <fmt/format.h>

#include "database/database_file.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "platform/files/file.h"
#include "platform/files/shared_file.h"
#include "recording/journal.h"

namespace tune::commands {
namespace {

constexpr std::size_t kLengthOfDay = 10;  // 2026-11-22

std::string day_of_journal(std::filesystem::path best_yaml) {
  const auto run = recording::Journal::last_run_of(best_yaml.replace_extension(".jsonl"));
  return run ? run->date.substr(0, kLengthOfDay) : "";
}

void add_aliases(database::Database& database, const database::Database& more) {
  for (const auto& [alias, name] : more.aliases) {
    const auto [known, is_new] = database.aliases.try_emplace(alias, name);
    if (!is_new && known->second != name)
      throw Error(ExitCode::bad_input,
                  fmt::format("the device '{}' is an alias of '{}' and of '{}'; remove one of them", alias,
                              known->second, name));
  }
}

bool has_results(const database::Database& database, const database::ResultGroup& group) {
  const auto first = database.results.lower_bound({group, {}});
  return first != database.results.end() && first->first.group == group;
}

}  // namespace

database::Database read_results(const std::filesystem::path& path) {
  database::Database database = database::read_database(path);
  if (database.results.size() != 1) return database;
  database::TunedResult& result = database.results.begin()->second;
  if (result.date.empty()) result.date = day_of_journal(path);
  return database;
}

DatabaseChange add_all(database::Database& database, const database::Database& more) {
  DatabaseChange change;
  add_aliases(database, more);
  for (const auto& [key, result] : more.results) {
    if (const std::string winner = database::baseline_that_wins(result); !winner.empty()) {
      change.notes.push_back(line_with_escapes(
          fmt::format("{} {} is left out: {} is faster", key.group.kernel, database::to_text(key.sizes), winner)));
      continue;
    }
    const auto known = database.results.find(key);
    if (known == database.results.end())
      ++change.added;
    else if (database::is_better(result, known->second))
      ++change.improved;
    database::add_result(database, key, result);
  }
  for (const auto& [group, rule] : more.rules) database::add_rule(database, group, rule);
  change.total = database.results.size();
  return change;
}

DatabaseChange add_to_database(const std::filesystem::path& path, const database::Database& more) {
  platform::make_folder_of(path);
  platform::SharedFile file(path);
  const std::string before = file.read();
  database::Database database = database::parse_database(before, path.string());
  DatabaseChange change = add_all(database, more);
  if (change.added + change.improved > 0)
    for (const auto& [group, rule] : database.rules)
      if (!more.rules.contains(group) && has_results(more, group))
        change.notes.push_back(line_with_escapes(
            fmt::format("the rule of {} on {} was made without these results; tune cover makes it anew", group.kernel,
                        group.device.name)));
  const std::string text = database::write_database(database);
  if (text != before) file.write(text);
  return change;
}

void set_rule(const std::filesystem::path& path, const database::Database& database, const database::ResultGroup& group,
              const database::SizeRule& rule) {
  platform::make_folder_of(path);
  platform::SharedFile file(path);
  database::Database there = database::parse_database(file.read(), path.string());
  add_all(there, database);
  there.rules[group] = rule;
  file.write(database::write_database(there));
}

}  // namespace tune::commands
