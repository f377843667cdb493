#pragma once
#include "wire/json.h"

namespace tune::worker {

/// Whether this is what a program of google-benchmark writes to the file of --benchmark_out.
bool is_google_benchmark(const nlohmann::json& document);

/// The one benchmark in such a document as a row of program_result.h: over its repetitions the median of `real_time` as
/// `time` (seconds), of `cpu_time` as `cpu_ms`, and of its counters; `iters`, `min` and `mean`.
/// Throws Malformed if there is none or more than one, or if it stopped with an error.
nlohmann::json row_of_google_benchmark(const nlohmann::json& document);

}  // namespace tune::worker
