#pragma once
#include "config/yaml/node.h"

namespace tune::config {

/// Reads a text that is a list of values as Python writes it: [16, 32], (16, 32), list(range(1, 5)), [2**i for i in
/// range(4) if i != 2], and such lists with + between them. Reports what is not understood; the result is then an empty
/// list.
Node read_python_list(const Node& node, Diagnostics& diagnostics);

}  // namespace tune::config
