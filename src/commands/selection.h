#pragma once
#include <string>
#include <vector>

#include "model/dispatch/lookup.h"
#include "options/database_options.h"
#include "options/options.h"

namespace tune::commands {

/// What the options of the commands about databases mean. Throw Error(bad_input).
Selection selection_of(const SelectionOptions& options);

/// The one group that is meant, of one device and one version of everything. Throws Error(bad_input) if there are
/// several; the message says how to choose.
const ResultGroup& the_group(const Database& database, const SelectionOptions& options);

/// The device that results are wanted for: the named one, or this machine's, which is asked by a worker of the
/// groups' backend. Throws Error(environment) if that has none.
TunedDevice wanted_device(const Options& options, const SelectionOptions& selection,
                          const std::vector<const ResultGroup*>& groups);

/// `NVIDIA H200 (sm_90a), AMD EPYC`: all that the groups have results of.
std::string devices_of(const std::vector<const ResultGroup*>& groups);

/// `NAME=VALUE`; `option` is named in errors.
std::pair<std::string, std::string> name_and_value(const char* option, const std::string& text);

}  // namespace tune::commands
