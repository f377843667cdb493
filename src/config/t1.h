#pragma once
#include "config/node.h"

namespace tune::config {

/// Whether a document is a tuning problem in the T1 format (`ConfigurationSpace`, `KernelSpecification`), which Kernel
/// Tuner and KTT read.
bool is_t1(const Node& root);

/// The same as a tuning file: a CUDA kernel on a custom problem, checked against the configuration of the `Default`s (a
/// parameter without one: its first value), because reference data come as files that tune does not read. `Search` and
/// `Budget` are left to the command line. Complains of what tune has no counterpart for.
Node from_t1(const Node& root, Problems& problems);

}  // namespace tune::config
