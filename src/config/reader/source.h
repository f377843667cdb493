#pragma once
#include <span>

#include "config/reader/load.h"

namespace tune::config {

/// Reads and joins tuning files, whose kernels may be `launched`. Throws Error(bad_input) for a file that cannot be
/// read or is not a mapping.
Source read_source(std::span<const std::filesystem::path> yamls, bool launched, Diagnostics& diagnostics);

/// A tuning file for a command; the settings' `params` are still to be added. Throws Error(bad_input) without any.
Source source_of_command(const LoadSettings& settings);

/// Changes a tuning file as the command line says, before anything of it is interpreted. Returns the settings that are
/// left to be filtered for.
std::vector<Setting> apply_overrides(const LoadSettings& settings, Node& root, Diagnostics& diagnostics);

/// The plan of a tuning file. Throws as `load`.
Plan interpret(const Source& source, const LoadRules& rules, Diagnostics& diagnostics);

/// The nodes of `params:` in a tuning file, one per mapping of the union.
std::vector<Node*> parameter_mappings(Node& root);

/// Warns of parameters that change nothing: neither an expression, a flag or a command of the tuning file names them,
/// nor a source file, and they are no arguments of a program. Is silent where that cannot be known: a source file is
/// missing, includes a header by a macro, or may compose the name of its words with `##`.
void warn_of_unused_parameters(const Plan& plan, const Source& source, Diagnostics& diagnostics);

/// The names of `let` that neither the kernel's source nor a flag mentions: it is compiled without them, so that what
/// is computed for the launch from a size of the problem does not make a build of its own; of a program only names that
/// `run` gives it. None where that cannot be known.
std::vector<std::string> values_not_in_source(const Plan& plan, const Source& source);

}  // namespace tune::config
