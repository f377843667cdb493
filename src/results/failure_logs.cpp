#include "results/failure_logs.h"

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::results {
namespace fs = std::filesystem;
namespace {

// The journal has the beginning and the end of a log; the file of the run that has failed has more.
bool has_it(const fs::path& file, const Failure& failure) try {
  return platform::read_file(file).starts_with(failure.headline() + "\n");
} catch (const Error&) {
  return false;
}

bool write_log(const fs::path& file, const Trial& trial) try {
  const Failure& failure = *trial.failure();
  if (trial.recorded && has_it(file, failure)) return true;
  fs::create_directories(file.parent_path());
  platform::write_file(file, failure.headline() + "\n" + failure.log);
  return true;
} catch (const Error&) {
  return false;
} catch (const fs::filesystem_error&) {
  return false;
}

}  // namespace

report::Logs write_logs(const LogRules& rules, std::span<const Trial> trials) {
  report::Logs logs;
  for (const Trial* trial : report::first_failures(trials)) {
    const std::int64_t mesh_idx = trial->spec.mesh_idx;
    const Failure& failure = *trial->failure();
    if (failure.stage != Stage::build || failure.log.empty()) continue;
    std::error_code ignored;
    const fs::path kept = rules.keep / std::to_string(mesh_idx) / "log.txt";
    const fs::path file = rules.folder / (std::to_string(mesh_idx) + ".txt");
    if (!rules.keep.empty() && !trial->recorded && fs::exists(kept, ignored))
      logs[mesh_idx] = kept.string();
    else if (!rules.folder.empty() && write_log(file, *trial))
      logs[mesh_idx] = file.string();
  }
  return logs;
}

}  // namespace tune::results
