#pragma once
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/build/build_service.h"
#include "exec/device/measure_device.h"
#include "exec/device/reference_service.h"
#include "exec/device/worker_pool.h"
#include "exec/process/runner.h"

namespace tune::exec {

/// What a user says of the worker processes.
struct WorkerSettings {
  std::filesystem::path keep = {};  ///< folder for what failed specs leave; empty: none
  Deadlines deadlines = {};
  int jobs = 1;                  ///< build processes at a time
  bool builds = true;            ///< else only what was built before is run
  bool turns = true;             ///< with other runs on the same device, the CPU among them
  bool share_processes = false;  ///< several specs of a sweep are timed in one process, on a GPU
};

/// How the worker processes of a run are started, and who is told of what they do.
struct WorkerRules : WorkerSettings {
  std::filesystem::path worker = {};         ///< executable
  platform::StorePlaces store = {};          ///< of build artifacts
  std::vector<ChosenDevice> devices = {{}};  ///< at least one; references and finals are the first's
  RunObserver* observer = &no_observer();    ///< outlives the run
  std::shared_ptr<WorkerPool> pool = {};     ///< of this worker; null: one of its own
  bool keeps_processes = false;              ///< that have a device open or build, for the next tuning with this pool
};

/// What sweep and finals share: the processes, the builds, the devices, and the reference result.
class MeasureService {
 public:
  /// `requests` must outlive this.
  MeasureService(const RequestFactory& requests, WorkerRules rules);
  ~MeasureService();

  const RequestFactory& requests() const { return *requests_; }
  const WorkerRules& rules() const { return rules_; }
  BuildService& builds() { return builds_; }
  const BuildService& builds() const { return builds_; }
  ReferenceService& reference() { return reference_; }
  const ReferenceService& reference() const { return reference_; }
  SpotChecks& spot_checks() { return pool_->spot_checks(requests_->seed()); }
  /// The devices of the rules, in their order.
  std::deque<MeasureDevice>& devices() { return devices_; }

  /// Makes sure that this run may set the clocks of its devices, if its parameters do; waits for a run that sets them
  /// now. To be called before anything is built or measured. Throws Interrupted, and what DeviceClocks::claim throws.
  void claim_clocks();
  /// Finishes all queued builds, and a reference that is being made. Throws Interrupted, and what its making throws.
  void finish_builds();
  /// Handles what has happened to processes before any spec is measured. Throws Interrupted.
  void look_after_builds();
  /// `request` as a measure process gets it.
  wire::MeasureRequest complete(wire::MeasureRequest request, const std::string& artifact) const;

  /// The next event, as ProcessHost::wait, but soon enough to ask a device again that another run has.
  std::optional<platform::ProcessHost::Event> wait(std::optional<platform::ProcessHost::Clock::time_point> until);
  /// Passes on events of builds, of the reference, and of what holds devices open; false if it is none of theirs.
  bool handle(const platform::ProcessHost::Event& event);
  platform::ProcessHost::Clock::time_point now() const { return pool_->host().now(); }

 private:
  const RequestFactory* requests_;
  WorkerRules rules_;
  std::shared_ptr<WorkerPool> pool_;
  BuildService builds_;
  std::deque<MeasureDevice> devices_;
  ReferenceService reference_;
};

}  // namespace tune::exec
