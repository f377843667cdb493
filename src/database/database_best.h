#pragma once
#include "config/yaml/node.h"
#include "database/database.h"

namespace tune::database {

/// Reads the winner of a best YAML as a result of a database. Reports what is missing or impossible.
std::pair<ResultKey, TunedResult> read_best_result(const config::Node& root, config::Diagnostics& diagnostics);

}  // namespace tune::database
