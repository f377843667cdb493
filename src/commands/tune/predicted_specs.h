#pragma once
#include "commands/tune/options.h"
#include "commands/tune/target.h"

namespace tune::commands {

/// Prints the specs for which the model of cost predicts the shortest times, with what limits each: those that a search
/// begins with, behind the default. Throws Error(bad_input) if nothing can be predicted.
ExitCode list_predicted_specs(const TuneOptions& options, Target& target, const tuning::Grid& grid);

}  // namespace tune::commands
