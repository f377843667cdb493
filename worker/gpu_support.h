#pragma once
#include "model/problem.h"
#include "model/trial.h"

namespace tune {

/// Throws Refusal of this stage for a problem whose types the GPU backend cannot fill or check.
void require_gpu_supported(const Problem& problem, Stage stage);

}  // namespace tune
