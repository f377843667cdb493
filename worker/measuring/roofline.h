#pragma once
#include <optional>
#include <string>

#include "model/problem.h"

namespace tune::worker {

/// Why a launch of `seconds` cannot have done the whole work of the problem: `faster than the device can be: 0.0156 ms
/// would be 137 TFLOP/s, and its peak is below 67 TFLOP/s`. nullopt: nothing contradicts the time.
///
/// `peak_flops` and `bandwidth` (bytes a second) are upper bounds of what the device can do for this problem's types;
/// 0: not known, and that side is not judged. `bandwidth` is that of the memory which holds the problem's buffers when
/// a launch begins: unless caches are flushed before each, that of a cache. `cached` bytes need not have left the
/// caches when it ends. A GEMM's work follows from its sizes; of a custom problem it is what the tuning file declares,
/// if it does.
std::optional<std::string> faster_than_possible(const Problem& problem, double seconds, double peak_flops,
                                                double bandwidth, double cached = 0);

}  // namespace tune::worker
