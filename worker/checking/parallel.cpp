#include "checking/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace tune::worker {

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
  if (count < 2 * grain) return body(0, count);  // to ask for the number of cores would take longer
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / grain, 1, cores);
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part)
    threads.emplace_back([&body, count, parts, part] { body(count * part / parts, count * (part + 1) / parts); });
  body(0, count / parts);
}

}  // namespace tune::worker
