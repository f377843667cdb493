#pragma once
#include <filesystem>

#include "exec/evaluate/executor.h"
#include "model/trial.h"

namespace tune::tuning {

/// Copies what was built for a trial's spec, building it again if the store has it no longer, and says so on stdout.
/// Throws Interrupted, and Error(environment).
void copy_artifact(exec::Executor& executor, const Trial& trial, const std::filesystem::path& file);

}  // namespace tune::tuning
