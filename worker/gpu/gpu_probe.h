#pragma once
#include "wire/messages.h"

namespace tune::worker {

/// The first device and the run-time compiler, without opening a context. Without a device there is still something to
/// build with, and Hello::no_device says why; with neither it throws SpecFailure of the start stage.
wire::Hello probe_gpu(Backend backend);

}  // namespace tune::worker
