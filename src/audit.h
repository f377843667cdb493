#pragma once
#include <filesystem>

#include "audit_table.h"
#include "model/error.h"
#include "options.h"

namespace tune {

/// Repeats a tuning, real or on recordings, and prints how far its answers can be trusted: how often the winner
/// changed, its regret, whether a journal gives the same answer again. Writes PREFIX.csv. check_failed: a limit that
/// was asked for is not met; none_valid: no run found a valid spec. Throws Error.
ExitCode audit(const Options& options);

/// The simulated tunings of one recording, each with noise of its own. Throws Error(bad_input).
AuditedShape audit_recording(const Options& options, const std::filesystem::path& recording, const std::string& name);

}  // namespace tune
