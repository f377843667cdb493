#pragma once
#include "config/node.h"
#include "model/dispatch/database.h"

namespace tune::config {

/// Reads the winner of a best YAML as a result of a database. Reports what is missing or impossible.
std::pair<ResultKey, TunedResult> read_best_result(const Node& root, Diagnostics& diagnostics);

}  // namespace tune::config
