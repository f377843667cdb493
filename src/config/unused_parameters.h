#pragma once
#include "config/load.h"

namespace tune::config {

/// Warns of parameters that change nothing: neither an expression, a flag or a command of the tuning file names them,
/// nor a source file, and they are no arguments of a program. Is silent where that cannot be known: a source file is
/// missing, includes a header by a macro, or composes names with `##`.
void warn_of_unused_parameters(const Plan& plan, const Source& source, Diagnostics& diagnostics);

}  // namespace tune::config
