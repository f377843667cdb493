#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "database/slowdowns.h"

namespace tune::commands {

/// What recorded runs tell of the sizes of a group.
struct RecordedSlowdowns {
  database::Slowdowns table;
  /// What was timed of each size, by its place in the table: a configuration has a binary for each size where values
  /// that depend on the sizes are compiled in, and then the table names none.
  std::vector<std::vector<database::Configuration>> timed;
  std::vector<database::Sizes> without;  ///< sizes of which no run has the times
  std::vector<std::string> notes;        ///< runs that are of no use, and why
};

/// Reads the runs that a group's results are from, and compares for each size the times of its configurations with the
/// best: those of the finals with one another, and the others with the best one's in the sweep. A run is of a result if
/// kernel, problem and device are the same; it is left out if it timed other code under the same parameters. `weights`
/// are those of sizes; others have 1. Throws Error(bad_input).
RecordedSlowdowns read_slowdowns(const database::Database& database, const database::ResultGroup& group,
                                 const std::vector<std::filesystem::path>& runs,
                                 const std::map<database::Sizes, double>& weights);

/// Gives the rule's sizes the binaries that were timed for them where their configuration names none.
void name_binaries(database::SizeRule& rule, const RecordedSlowdowns& recorded);

}  // namespace tune::commands
