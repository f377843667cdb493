#pragma once
#include <map>
#include <string>
#include <string_view>

#include "config/fields.h"
#include "model/dispatch/database.h"

namespace tune::config {

// The parts of a database that results and rules share: what they are of, and configurations. Keys that say nothing are
// not written.

/// Adds what a group is, and the sizes if there are any.
void set_key(Node& node, const ResultGroup& group, const Sizes& sizes);
void set_configuration(Node& node, const Configuration& configuration);
Node sizes_node(const Sizes& sizes);
/// Adds a text unless it is empty.
void set_text(Node& node, const char* key, const std::string& text);

ResultKey read_key(const Fields& fields);
Configuration read_configuration(const Fields& fields);
Sizes read_sizes(const Node& node, Diagnostics& diagnostics);
/// The text of a key; empty if there is none.
std::string text_of_key(const Fields& fields, std::string_view key);
std::map<std::string, std::string> read_text_mapping(const Node* node, const char* what, Diagnostics& diagnostics);

}  // namespace tune::config
