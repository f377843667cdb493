#pragma once
#include <string>
#include <vector>

#include "cli/command.h"
#include "database/lookup.h"

namespace tune::commands {

/// Which of a database's results are meant, where it has those of several kernels, problems or devices.
struct SelectionOptions {
  std::optional<std::string> kernel;
  std::optional<std::string> device;  ///< a name, or a part of only one; unset: this machine's
  std::vector<std::string> problem;   ///< KEY=VALUE
};

inline constexpr const char* kTheOnlyDevice = "Results of this device, where the database has several";
void bind_selection(cli::Command& command, SelectionOptions& selection, const char* device_help);

/// What the options mean. Throws Error(bad_input).
database::Selection selection_of(const SelectionOptions& options);

/// The groups that are meant, all of one device. Throws Error(bad_input) if there are none, or those of several
/// devices.
std::vector<const database::ResultGroup*> groups_of_the_device(const database::Database& database,
                                                               const SelectionOptions& options);

/// The one group that is meant, of one device and one version of everything. Throws Error(bad_input) if there are
/// several; the message says how to choose.
const database::ResultGroup& the_group(const database::Database& database, const SelectionOptions& options);

/// The device that results are wanted for: the named one, or this machine's, which is asked by a worker of the
/// groups' backend. Throws Error(environment) if that has none.
database::TunedDevice wanted_device(const SelectionOptions& selection,
                                    const std::vector<const database::ResultGroup*>& groups);

/// `NVIDIA H200 (sm_90a), AMD EPYC`: all that the groups have results of.
std::string devices_of(const std::vector<const database::ResultGroup*>& groups);

/// `NAME=VALUE`; `option` is named in errors.
std::pair<std::string, std::string> name_and_value(const char* option, const std::string& text);

}  // namespace tune::commands
