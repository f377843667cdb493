#pragma once
#include <filesystem>
#include <span>

#include "model/trial.h"
#include "report/failure_summary.h"

namespace tune::results {

/// Where the logs of failed builds are written.
struct LogRules {
  std::filesystem::path folder;  ///< empty: nowhere
  std::filesystem::path keep;    ///< --keep: has a log of every spec that failed in this run; empty: nothing
};

/// Writes what the compiler printed for the first spec of each cause of failed builds as FOLDER/mesh_idx.txt, unless
/// `keep` has it. Returns the files; one that cannot be written is left out.
report::Logs write_logs(const LogRules& rules, std::span<const Trial> trials);

}  // namespace tune::results
