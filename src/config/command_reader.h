#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"

namespace tune::config {

/// A YAML value: node.h.
struct Node;

/// Reads `run` or `build.command` (`what`): a list is argv, a string is for /bin/sh. Reports an empty command, unknown
/// placeholders, and placeholders in places where the shell would interpret their values as a part of its own text.
void read_command(const Node& node, std::string_view what, std::vector<std::string>& command, bool& is_shell,
                  Problems& problems);

}  // namespace tune::config
