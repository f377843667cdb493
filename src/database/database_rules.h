#pragma once
#include "config/yaml/node.h"
#include "database/database.h"

namespace tune::database {

/// The rules of a database: which of a few configurations is for which sizes.
config::Node rule_node(const ResultGroup& group, const SizeRule& rule);
/// Reads what rule_node writes, and adds it to the database. Reports what does not fit together.
void read_rule(const config::Node& node, Database& database, config::Diagnostics& diagnostics);

}  // namespace tune::database
