#pragma once
#include "cli/options.h"

// The commands that repeat tunings, to say how far their results can be trusted, or which strategy finds most.

namespace CLI {
class App;
}

namespace tune {

/// Takes the options of a run into `tuning`, less those that choose something else to do than to tune. Both must
/// outlive the parsing.
void add_audit(CLI::App& app, Options& tuning, AuditOptions& audit);
/// `bench` must outlive the parsing.
void add_simulate_bench(CLI::App& app, SimulateBenchOptions& bench);
/// Adds the strategies that are meant where none is named. Throws Error(bad_input) for one that is not known.
void complete(SimulateBenchOptions& bench);

}  // namespace tune
