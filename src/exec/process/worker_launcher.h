#pragma once
#include <filesystem>

#include "exec/process/worker_process.h"

namespace tune::exec {

/// Starts the workers of one run: knows their executable, how long they may take, and where their temporary files go.
class WorkerLauncher {
 public:
  using Environment = WorkerProcess::Environment;

  /// `host` must outlive this.
  WorkerLauncher(platform::ProcessHost& host, std::filesystem::path worker, const Deadlines& deadlines,
                 std::filesystem::path scratch)
      : host_(&host), worker_(std::move(worker)), deadlines_(deadlines), scratch_(std::move(scratch)) {}

  /// Throws Error(environment).
  WorkerProcess start(const wire::Request& request, Environment environment = {}) const {
    return WorkerProcess::start(*host_, worker_, request, deadlines_, scratch_, std::move(environment));
  }
  /// A process that opens the device and does nothing, until it is killed. Throws Error(environment).
  platform::ProcessHost::Id start_holder(const Environment& environment) const {
    platform::Command command;
    command.argv = {worker_.string(), "hold"};
    command.environment = environment;
    return host_->start(command);
  }
  /// Another program of this installation, which lies beside the worker.
  std::filesystem::path beside(const char* program) const { return worker_.parent_path() / program; }
  platform::ProcessHost::Clock::time_point now() const { return host_->now(); }

 private:
  platform::ProcessHost* host_;
  std::filesystem::path worker_;
  Deadlines deadlines_;
  std::filesystem::path scratch_;
};

}  // namespace tune::exec
