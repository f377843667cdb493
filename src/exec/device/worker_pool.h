#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/process/scratch.h"
#include "exec/process/spot_checks.h"
#include "exec/process/worker_launcher.h"

namespace tune::exec {

/// The worker processes of a command. A tuning leaves those to the next one that have a device open and rest: to open
/// it again takes longer than to measure several specs.
class WorkerPool {
 public:
  /// What rests on a device; null: nothing does.
  struct Resting {
    std::shared_ptr<WorkerProcess> measure;
    std::unique_ptr<WorkerProcess> reference;
    platform::ProcessHost::Id holder = 0;  ///< keeps the device open between the others; 0: none was started
  };

  WorkerPool(std::filesystem::path worker, const Deadlines& deadlines,
             std::unique_ptr<platform::ProcessHost> host = std::make_unique<platform::Processes>(true));

  const WorkerLauncher& launcher() const { return launcher_; }
  platform::ProcessHost& host() { return *host_; }
  /// `device`: its id.
  Resting& on(const std::string& device) { return resting_[device]; }
  /// One choice for all tunings, so that those of few specs are checked as often. `seed` counts the first time.
  SpotChecks& spot_checks(std::uint64_t seed);
  bool runs(const WorkerProcess& process) const;

  /// Between two tunings: throws Interrupted if a signal has come while nothing was waited for.
  void heed_signals();
  /// Kills what a tuning has left behind and does not rest, and waits until it has ended.
  void end_others();

 private:
  bool rests(platform::ProcessHost::Id id) const;
  bool others_run() const;

  Scratch temporary_;
  std::unique_ptr<platform::ProcessHost> host_;  ///< the processes end first, because they write to that folder
  WorkerLauncher launcher_;
  std::map<std::string, Resting> resting_;
  std::optional<SpotChecks> spot_checks_;
};

}  // namespace tune::exec
