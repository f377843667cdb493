#pragma once
#include <optional>
#include <string>

#include "model/device.h"
#include "model/problem.h"

namespace tune {

/// What a problem has that a backend cannot fill, compute or check, and what it could have instead; nullopt: nothing.
/// CUDA and HIP compute the same. f64 is kept to itself, integers need exact sums; results of one byte are refused,
/// because they overflow. Automatic and program backends take everything.
std::optional<std::string> unsupported(const Problem& problem, Backend backend);

}  // namespace tune
