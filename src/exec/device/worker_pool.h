#pragma once
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/build/builder.h"
#include "exec/process/scratch.h"
#include "exec/process/spot_checks.h"
#include "exec/process/worker_launcher.h"

namespace tune::exec {

/// The worker processes of a command. A tuning leaves those to the next one that have a device open and rest, because
/// to open it again takes longer than to measure several specs, and those that build for all tunings.
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
  ~WorkerPool();

  const WorkerLauncher& launcher() const { return launcher_; }
  platform::ProcessHost& host() { return *host_; }
  /// `device`: its id.
  Resting& on(const std::string& device) { return resting_[device]; }
  /// One choice for all tunings, so that those of few specs are checked as often. `seed` counts the first time.
  SpotChecks& spot_checks(std::uint64_t seed);
  /// What builds for all tunings; null: each has its own.
  std::shared_ptr<Builder>& builder() { return builder_; }
  bool runs(const WorkerProcess& process) const;

  /// The next event, as ProcessHost::wait.
  std::optional<platform::ProcessHost::Event> wait(std::optional<platform::ProcessHost::Clock::time_point> until);
  /// Between two tunings: handles what has happened while nothing was waited for. Throws Interrupted.
  void heed_signals();
  /// Kills what a tuning has left behind and neither rests nor builds for others, and waits until it has ended.
  void end_others();

 private:
  bool builds(platform::ProcessHost::Id id) const;
  bool rests(platform::ProcessHost::Id id) const;
  bool others_run() const;

  Scratch temporary_;
  std::unique_ptr<platform::ProcessHost> host_;  ///< the processes end first, because they write to that folder
  WorkerLauncher launcher_;
  std::map<std::string, Resting> resting_;
  std::shared_ptr<Builder> builder_;
  std::deque<platform::ProcessHost::Event> later_;  ///< of builds, from while others were ended
  std::optional<SpotChecks> spot_checks_;
};

}  // namespace tune::exec
