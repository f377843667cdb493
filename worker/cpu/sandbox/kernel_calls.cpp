#include "cpu/sandbox/kernel_calls.h"

#include <asm/unistd.h>
#include <linux/sched.h>

#include "platform/process/call_filter.h"

namespace tune::worker {

void compute_in_threads_only() {
  using platform::CallFilter;
  CallFilter filter(CallFilter::kKill);
#if defined(__NR_fork)
  for (const auto call : {__NR_fork, __NR_vfork}) filter.add(call, CallFilter::kKill);
#endif
  filter.add_unless(__NR_clone, 0, CLONE_THREAD, CallFilter::kKill);
  // A filter cannot read what is behind its pointer; without it the C library takes clone.
  filter.add(__NR_clone3, CallFilter::kNoSuchCall);
  for (const auto call : {__NR_io_uring_setup, __NR_io_submit}) filter.add(call, CallFilter::kKill);
  filter.enter();
}

}  // namespace tune::worker
