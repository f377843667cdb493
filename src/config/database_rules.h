#pragma once
#include "config/node.h"
#include "model/dispatch/database.h"

namespace tune::config {

/// The rules of a database: which of a few configurations is for which sizes.
Node rule_node(const ResultGroup& group, const SizeRule& rule);
/// Reads what rule_node writes, and adds it to the database. Reports what does not fit together.
void read_rule(const Node& node, Database& database, Diagnostics& diagnostics);

}  // namespace tune::config
