#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/values/error.h"

namespace tune::commands {

/// `tune show`.
struct ShowOptions {
  std::filesystem::path run;           ///< a recorded run, or the PREFIX of its files; empty: the last run
  std::optional<std::int64_t> number;  ///< which run of a journal; the first one is 1; unset: the last
  std::optional<std::size_t> top;      ///< specs in the table; 0: all; unset: 20
  std::optional<std::string> sort;     ///< a column
  bool descending = false;
  std::vector<std::string> columns;
  bool list = false;  ///< names the runs instead
  bool failed = false, effects = false, chart = false, changes = false;
};

/// The journal of the last run, which it names. Throws Error(bad_input) if there is none.
std::filesystem::path last_journal();

/// Prints all results of a database. Throws Error(bad_input) if something is asked for that only runs have.
ExitCode show_database(const ShowOptions& options);

}  // namespace tune::commands
