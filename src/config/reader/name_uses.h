#pragma once
#include <string>
#include <vector>

#include "config/reader/load.h"

/// Where the names of a tuning file are used: in its own expressions, and in the source.
namespace tune::config {

/// Warns of parameters that change nothing: neither an expression, a flag or a command of the tuning file names them,
/// nor a source file, and they are no arguments of a program. Is silent where that cannot be known: a source file is
/// missing, includes a header by a macro, or may compose the name of its words with `##`.
void warn_of_unused_parameters(const Plan& plan, const Source& source, Diagnostics& diagnostics);

/// The names of `let` that neither the kernel's source nor a flag mentions: it is compiled without them, so that what
/// is computed for the launch from a size of the problem does not make a build of its own; of a program only names that
/// `run` gives it. None where that cannot be known.
std::vector<std::string> values_not_in_source(const Plan& plan, const Source& source);

}  // namespace tune::config
