#pragma once
#include <string>

#include "commands/tune/tune.h"

// What commands need that tune the same several times.

namespace tune::commands {

/// PREFIX of the files of such a command, which is called `ending`, in the folder of journals.
std::string prefix_in_state_folder(const TuneOptions& options, const std::string& ending);

/// What tune() does; but a problem without a valid spec is said, and does not end the others. Throws what tune() throws
/// else.
Tuned tune_one_of_several(const TuneOptions& options, Target& target);

}  // namespace tune::commands
