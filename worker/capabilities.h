#pragma once
#include "wire/messages.h"

namespace tune::worker {

/// Throws SpecFailure with what the backend has not; the driver asks the same before it starts anything.
void require_supported(const Problem& problem, Backend backend, Stage stage);

/// The launches that are asked for. Throws SpecFailure if a program is to be run.
const wire::KernelRun& kernel_run(const wire::MeasureRequest& request);

/// What a reference kernel is loaded and launched by, like any other.
wire::MeasureRequest measure_request(const wire::ReferenceRequest& request);

}  // namespace tune::worker
