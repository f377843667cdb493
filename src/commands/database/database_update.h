#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "database/database.h"

namespace tune::commands {

/// What adding results to a database changed, and sentences for the user.
struct DatabaseChange {
  std::size_t added = 0, improved = 0;  ///< keys that were not there; keys whose result is a better one now
  std::size_t total = 0;                ///< results in the database afterwards
  std::vector<std::string> notes;
};

/// Reads a database or a best YAML. Its results of best YAMLs get the date of the journal beside the file, if there is
/// one. Throws Error(bad_input).
database::Database read_results(const std::filesystem::path& path);

/// Adds results and aliases to the database of a file, which need not exist. Other processes that do the same wait
/// meanwhile. Results that lose against the configuration used so far are left out, and a note says so. Throws
/// Error(bad_input) if the file is no database or an alias contradicts it, and Error(environment) if it cannot be
/// written; then it is as it was.
DatabaseChange add_to_database(const std::filesystem::path& path, const database::Database& more);

/// Adds all of `more` that belongs in a database; see above. Throws Error(bad_input).
DatabaseChange add_all(database::Database& database, const database::Database& more);

/// Writes the rule of a group into the database of a file, where it replaces an earlier one; the file gets what
/// `database` has besides. Throws as above.
void set_rule(const std::filesystem::path& path, const database::Database& database, const database::ResultGroup& group,
              const database::SizeRule& rule);

}  // namespace tune::commands
