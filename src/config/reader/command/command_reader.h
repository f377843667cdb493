#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/diagnostics.h"
#include "model/command.h"

namespace tune::config {

/// A YAML value: node.h.
struct Node;

/// The placeholders that a command may have.
struct CommandNames {
  std::vector<std::string> own;         ///< those with a meaning of their own, such as `file`
  std::vector<std::string> parameters;  ///< names of parameters and derived values
  bool lacks_file = false;              ///< `file` and `binary` stand for nothing because there is no `file:`
};

/// How a command in one string is read: by /bin/sh, or as words that blanks separate.
enum class Strings { shell, words };

/// Reads a command (`what`: run, build.command, ...): a list is argv already. Reports an empty command, unknown
/// placeholders, what needs a shell where there is none, and placeholders in places where a shell would interpret their
/// values as a part of its own text.
CommandLine read_command(const Node& node, std::string_view what, Strings strings, const CommandNames& names,
                         Diagnostics& diagnostics);

}  // namespace tune::config
