#pragma once
#include <filesystem>
#include <string>

#include "database/database.h"

namespace tune::database {

/// Whether a file is a database, and not the result of one tuning. It may be damaged further on.
bool is_database(const std::filesystem::path& path);
/// Whether a file is the best YAML of a tuning. What cannot be read is none.
bool is_best_yaml(const std::filesystem::path& path);

/// Reads a database, or the best YAML of a tuning (the text of write_best) as a database of one result, which has no
/// date. An empty text is a database without results. Throws Error(bad_input), with file and line, for a text that is
/// neither, and for one of a newer version. `file` is its name in messages.
Database parse_database(const std::string& text, const std::string& file);
/// The same of a file.
Database read_database(const std::filesystem::path& path);

/// The database as YAML: sorted, and always the same text for the same results.
std::string write_database(const Database& database);

}  // namespace tune::database
