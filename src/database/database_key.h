#pragma once
#include <map>
#include <string>
#include <string_view>

#include "config/yaml/fields.h"
#include "database/database.h"

namespace tune::database {

// The parts of a database that results and rules share: what they are of, and configurations. Keys that say nothing are
// not written.

/// Adds what a group is, and the sizes if there are any.
void set_key(config::Node& node, const ResultGroup& group, const Sizes& sizes);
void set_configuration(config::Node& node, const Configuration& configuration);
config::Node sizes_node(const Sizes& sizes);
/// Adds a text unless it is empty.
void set_text(config::Node& node, const char* key, const std::string& text);

ResultKey read_key(const config::Fields& fields);
Configuration read_configuration(const config::Fields& fields);
Sizes read_sizes(const config::Node& node, config::Diagnostics& diagnostics);
std::map<std::string, std::string> read_text_mapping(const config::Node* node, const char* what,
                                                     config::Diagnostics& diagnostics);

}  // namespace tune::database
