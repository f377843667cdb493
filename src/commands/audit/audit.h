#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "commands/audit/audit_table.h"
#include "commands/tune/options.h"

namespace tune::commands {

/// `tune audit`: repeats a tuning, real or on recordings, and prints how far its answers can be trusted: how often the
/// winner changed, its regret, whether a journal gives the same answer again. Writes PREFIX.csv. check_failed: a limit
/// that was asked for is not met; none_valid: no run found a valid spec.
struct AuditOptions {
  TuneOptions tuning;                             ///< that is repeated
  std::vector<std::filesystem::path> recordings;  ///< --simulate; empty: real tunings
  int runs = 10;
  std::optional<double> noise;                  ///< 0.01: 1 %; unset: what the recording's intervals tell
  bool exhaustive = false;                      ///< the truth is a run that times every spec in full
  bool keep_journals = false;                   ///< --continue
  std::optional<double> max_flips, max_regret;  ///< limits to what is found, as shares
};

/// The simulated tunings of one recording, each with noise of its own. Throws Error(bad_input).
AuditedShape audit_recording(const AuditOptions& audit, const std::filesystem::path& recording,
                             const std::string& name);

/// Repeats the tuning, shape by shape: audit.runs times with a journal of its own and another seed each, then again
/// from each journal, then one run in which all winners meet in the finals, which tells their regret. A shape is added
/// to `done` when it is through. Throws Error, Interrupted.
void audit_tunings(const AuditOptions& audit, std::vector<AuditedShape>& done);

}  // namespace tune::commands
