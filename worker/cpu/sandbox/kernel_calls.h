#pragma once

namespace tune::worker {

/// Ends this process with SIGSYS from now on if it, or a thread of it, asks the system for what would go on while all
/// its threads are stopped: another process, or input and output in the background (io_uring, aio). So the judge need
/// only stop the threads to know that nothing of the kernel works any more. Threads are started as before. Applies to
/// the calling thread and to those that it starts; it cannot be lifted. What the system has no means for is left out:
/// see platform::CallFilter.
void compute_in_threads_only();

/// What a kernel's process that ended with SIGSYS has done, and what to do instead.
inline constexpr const char* kWorkedOutsideThreads =
    "the kernel started a process (fork, posix_spawn, system, popen) or input and output in the background (io_uring, "
    "aio), which would go on after the launch; compute in threads of its own process instead";

}  // namespace tune::worker
