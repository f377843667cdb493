#include "exec/device/queue_rules.h"

#include <algorithm>

#include "exec/request/memory.h"

namespace tune::exec {
namespace {

// A process that is reused loads the next spec in 3 ms, so one in addition to the one that measures is enough.
constexpr int kLoadedAhead = 15;
constexpr int kLoadedAheadInReused = 1;

// All of them have their memory at the same time, and so has the batch before them while it leaves.
int loaded_ahead(const RequestFactory& requests, bool sharing, std::int64_t workspace_bytes) {
  const int wanted = sharing ? kLoadedAheadInReused : kLoadedAhead;
  const wire::Hello& hello = requests.hello();
  const auto fitting = processes_that_fit(hello.backend, requests.plan().problem, hello.device, workspace_bytes);
  return fitting ? std::clamp(*fitting / (sharing ? 1 : 2) - 1, 0, wanted) : wanted;
}

}  // namespace

// Opening a GPU holds the driver's lock for 61 ms (H200). A few processes keep that lock busy while those that have
// opened the GPU are checked, and a batch of this many loses little time at its ends. On the CPU, many would swap.
int opening_at_once(Backend backend) { return is_gpu(backend) ? 4 : 1; }

DeviceQueue::Rules queue_rules(const RequestFactory& requests, const ChosenDevice& device, bool sharing,
                               std::int64_t workspace_bytes) {
  const bool alone = !is_gpu(requests.hello().backend) || device.one_process;
  return {.loaded_ahead = alone ? 0 : loaded_ahead(requests, sharing, workspace_bytes),
          .opening_at_once = opening_at_once(requests.hello().backend),
          .reuse = sharing,
          .exits_disturb = alone,
          .batches = !alone && !sharing};
}

}  // namespace tune::exec
