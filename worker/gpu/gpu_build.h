#pragma once
#include "wire/messages.h"

namespace tune::worker {

/// Compiles a kernel file for request.arch with the run-time compiler, in this process. The artifact is a cubin;
/// properties are registers (per thread), spills (bytes stored and loaded) and shared (bytes declared in the source),
/// the largest over the kernels that are launched. Throws SpecFailure of the build stage.
wire::Built build_gpu_code(const wire::BuildRequest& request);

}  // namespace tune::worker
