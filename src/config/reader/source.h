#pragma once
#include <span>

#include "config/reader/load.h"

namespace tune::config {

/// Reads and joins tuning files, whose kernels may be `launched`. Throws Error(bad_input) for a file that cannot be
/// read or is not a mapping.
Source read_source(std::span<const std::filesystem::path> yamls, bool launched, Diagnostics& diagnostics);

/// A tuning file for a command; the options' `params` are still to be added. Throws Error(bad_input) without any.
Source source_of_command(const LoadOptions& options);

/// Changes a tuning file as the command line says, before anything of it is interpreted. Returns the settings that are
/// left to be filtered for.
std::vector<Setting> apply_overrides(const LoadOptions& options, Node& root, Diagnostics& diagnostics);

/// The nodes of `params:` in a tuning file, one per mapping of the union.
std::vector<Node*> parameter_mappings(Node& root);

}  // namespace tune::config
