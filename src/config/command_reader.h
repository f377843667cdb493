#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"

namespace tune::config {

/// A YAML value: node.h.
struct Node;

/// Reads `run` or `build.command` (`what`): a list is argv, a string is for /bin/sh. Complains of an empty one, of
/// placeholders that there are not, and of those that stand where the shell would take what they stand for as its text.
void read_command(const Node& node, std::string_view what, std::vector<std::string>& command, bool& is_shell,
                  Problems& problems);

}  // namespace tune::config
