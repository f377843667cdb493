#pragma once
#include <string>

#include "database/database.h"

namespace tune::commands {

// The results of a group as data, for programs and people. With a rule, they have its configurations for the sizes that
// it was made from. What other sizes need only a tuning file can say, so the rule's tree is not among them.
// Throw Error(bad_input) if a kernel's binary is not known for one of the sizes.

/// `configurations`, and `table` with a row for each of the sizes.
std::string to_json(const database::Database& database, const database::ResultGroup& group);
/// A row for each of the sizes, with the parameters of its configuration.
std::string to_csv(const database::Database& database, const database::ResultGroup& group);
/// Bencher Metric Format: the latency of each of the sizes in ns
/// (https://bencher.dev/docs/reference/bencher-metric-format).
std::string to_bmf(const database::Database& database, const database::ResultGroup& group);

}  // namespace tune::commands
