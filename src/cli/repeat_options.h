#pragma once
#include "cli/options.h"

// The command that repeats tunings, to say how far their results can be trusted.

namespace CLI {
class App;
}

namespace tune {

/// Takes the options of a run into `tuning`, less those that choose something else to do than to tune. Both must
/// outlive the parsing.
void add_audit(CLI::App& app, Options& tuning, AuditOptions& audit);

}  // namespace tune
