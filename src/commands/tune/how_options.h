#pragma once
#include "commands/tune/options.h"

namespace tune::commands {

/// Declares how specs are chosen, built and timed.
void bind_how(cli::Command& command, TuneOptions& options);
/// The same for the tunings of `tune audit`, which all have finals and compare with nothing earlier.
void bind_how_audited(cli::Command& command, TuneOptions& options);

}  // namespace tune::commands
