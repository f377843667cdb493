#pragma once

namespace tune::worker {

/// The mode of our program that is a kernel's process, and the descriptor that its shared memory has there.
inline constexpr const char* kRunKernel = "run-kernel";
inline constexpr int kSharedDescriptor = 3;

/// What a kernel's process does: gives up what it does not need, and carries out one command of its judge after the
/// other, with all its threads stopped in between. Returns its exit code if it is not a judge's.
int run_kernel();

}  // namespace tune::worker
