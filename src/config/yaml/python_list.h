#pragma once
#include "config/yaml/node.h"

namespace tune::config {

/// Reads a text that is a list of values as Python writes it: [16, 32], (16, 32), list(range(1, 5)), [2**i for i in
/// range(4)]. Reports what is not understood; the result is then no list, or an empty one.
Node read_python_list(const Node& node, Diagnostics& diagnostics);

}  // namespace tune::config
