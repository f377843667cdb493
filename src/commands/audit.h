#pragma once
#include <filesystem>

#include "commands/audit_table.h"
#include "options.h"

namespace tune {

/// The simulated tunings of one recording, each with noise of its own. Throws Error(bad_input).
AuditedShape audit_recording(const Options& options, const std::filesystem::path& recording, const std::string& name);

}  // namespace tune
