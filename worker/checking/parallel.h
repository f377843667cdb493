#pragma once
#include <cstdint>
#include <functional>

namespace tune::worker {

/// Calls `body(begin, end)` on parts of [0, count) of about equal size, on all cores; parts are at least `grain` long,
/// so that short ranges start no threads. `body` must not throw.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace tune::worker
