#pragma once
#include "model/device.h"
#include "model/problem.h"
#include "model/trial.h"

namespace tune {

/// Throws Refusal with what the backend has not; the driver asks the same before it starts anything.
void require_supported(const Problem& problem, Backend backend, Stage stage);

}  // namespace tune
