#pragma once
#include <optional>

#include "commands/tune/compared_baseline.h"
#include "commands/tune/target.h"
#include "exec/request/request_factory.h"
#include "recording/journal.h"
#include "results/results.h"

namespace tune::commands {

/// Compares what was found with the baseline, writes the logs of failures, and adds the notes that all trials are
/// needed for. `device` is the first that was measured on.
void note_at_the_end(const Target& target, const std::optional<tuning::Grid>& grid, const results::ResultsRules& shown,
                     const exec::RequestFactory& requests, const exec::ChosenDevice& device,
                     const std::optional<ComparedBaseline>& baseline, const recording::Journal& journal,
                     results::TuningOutcome& outcome);

}  // namespace tune::commands
