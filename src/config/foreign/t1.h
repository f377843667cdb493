#pragma once
#include "config/yaml/node.h"

namespace tune::config {

/// Whether a document is a tuning problem in the T1 format (`ConfigurationSpace`, `KernelSpecification`), which Kernel
/// Tuner and KTT read.
bool is_t1(const Node& root);

/// Converts such a document to a tuning file: a CUDA or HIP kernel on a custom problem, checked against the
/// configuration of the `Default`s (a parameter without one: its first value), because reference data come as files
/// that tune does not read. `Search` and `Budget` are left to the command line. Reports everything that tune has no
/// counterpart for. Of a kernel that is not `launched`, but listed or simulated, the parameters and conditions are
/// enough, whatever its language.
Node from_t1(const Node& root, bool launched, Diagnostics& diagnostics);

}  // namespace tune::config
