#pragma once
#include <functional>
#include <string>

#include "recording/recording.h"
#include "results/results.h"

namespace tune::results {

// What a run has printed, as a record of its journal, and back: so it can be shown again without its tuning file.

/// `id_of` is the identity of a spec's trial in the journal. `part`: the run was given one part of the specs.
wire::ResultsRecord record_of(const Results& results, const config::Loaded& loaded, const Objective& objective,
                              const TuningOutcome& outcome, bool part,
                              const std::function<std::string(const Spec&)>& id_of);

/// As much of the plan of such a run as its results need: no constraints, and figures instead of expressions.
/// Precondition: the run has told its results.
Plan plan_of(const recording::JournalRun& run);
/// What it had found. Precondition: as above.
TuningOutcome outcome_of(const recording::JournalRun& run);

}  // namespace tune::results
