#pragma once
#include <optional>
#include <string>

#include "model/device.h"
#include "model/problem.h"

namespace tune {

/// Which part of a problem a backend cannot fill, compute or check, and what to use instead; nullopt if it supports the
/// problem. CUDA and HIP support the same. f64 does not mix with other types, integers need exact sums, and results of
/// one byte are refused because they overflow. The automatic and program backends support everything.
std::optional<std::string> unsupported(const Problem& problem, Backend backend);

}  // namespace tune
