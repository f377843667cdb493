#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.h"
#include "commands/audit/audit_table.h"

namespace tune::commands {

/// The simulated tunings of one recording, each with noise of its own. Throws Error(bad_input).
AuditedShape audit_recording(const Options& options, const std::filesystem::path& recording, const std::string& name);

/// Repeats the tuning that the options ask for, shape by shape: options.audit->runs times with a journal of its own and
/// another seed each, then again from each journal, then one run in which all winners meet in the finals, which tells
/// their regret. A shape is added to `done` when it is through. Throws Error, Interrupted.
void audit_tunings(const Options& options, std::vector<AuditedShape>& done);

}  // namespace tune::commands
