#pragma once
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "exec/device/device_queues.h"
#include "exec/process/runner.h"
#include "platform/store/watched_files.h"

namespace tune::exec {

/// Runs specs in worker processes: a spec is built, unless its artifact is in the store, and then measured by a process
/// on one of the devices. On the CPU and for programs the cores are the device, so building and measuring take turns;
/// on a GPU they overlap.
///
/// The times of several devices are made comparable (DeviceQueues). If an earlier run found the best spec so far, that
/// spec is timed once more as the calibration spec, although nobody asked for it: the remaining specs may all be too
/// slow to be timed in full.
///
/// Where processes are shared, a spec that fails in a shared process is tried again in one of its own, and so are a few
/// of the others. If a process of its own does not confirm a result, sharing ends.
class WorkerRunner : public Runner {
 public:
  /// `service` must outlive this.
  explicit WorkerRunner(MeasureService& service);

  int free_slots() const override;
  void start(const Spec& spec) override;
  std::optional<Trial> wait(Clock::time_point until) override;
  void set_best(const Trial& best, double seconds, double joules) override;
  Activity activity() const override;
  /// Handles what has happened to processes while no spec is waited for. Throws Interrupted.
  void look_after_processes();

  /// From now on every spec has a process of its own.
  void stop_sharing() { queues_.stop_sharing(); }
  /// Why the results of shared processes cannot be trusted, such as `spec 3 took ...`; empty if they can.
  const std::string& distrust() const { return distrust_; }

  /// Where the time went since this was made.
  Usage usage() const;

 private:
  struct Task {
    enum class State { building, built, measuring };
    std::int64_t ticket = 0;
    Spec spec;
    Clock::time_point started;
    BuildInfo build;
    std::string artifact;
    platform::FileStamp stamp;  ///< of the artifact when it was to be loaded
    int times_gone = 0;         ///< how often the artifact was gone before it was loaded
    State state = State::building;
    bool fresh = false;            ///< to be measured in a process of its own
    bool asked = true;             ///< its trial is waited for
    std::optional<Timing> shared;  ///< the result of a shared process, if that is being checked
  };
  using Tasks = std::list<Task>;

  void handle(const platform::ProcessHost::Event& event);
  void pump();
  void add(const Spec& spec, bool asked);
  bool anything_asked() const;
  void dismiss();
  void collect_builds();
  void collect_build(Tasks::iterator task, const Artifact& artifact);
  void start_builds();
  void start_measuring();
  bool must_build_again(Task& task);
  static bool lost_artifact(Task& task, const Failure& failure);
  bool start_one(Task& task, std::size_t device);
  void note_started(std::size_t device, std::int64_t ticket);
  void note_waiting(std::size_t device);
  void accept(DeviceQueue::Result result);
  void accept_measurement(Task& task, Measurement measurement, double device_seconds);
  void compare(const Task& task, const std::variant<Measurement, Failure>& own);
  void finish(Task& task, Outcome outcome, double device_seconds = 0);
  void keep(const Task& task, const Failure& failure) const;

  bool building() const;
  int ready() const;

  MeasureService* service_;
  bool exclusive_;  ///< building would disturb measuring
  int batch_;       ///< this many built specs are worth interrupting the builds for
  bool measuring_phase_ = false;
  std::string distrust_;
  double built_before_;  ///< seconds of builds that ended before
  std::int64_t last_ticket_ = 0;
  DeviceQueues queues_;
  std::vector<std::int64_t> started_;  ///< for each device, the ticket that was noted last
  Tasks tasks_;
  std::deque<Trial> finished_;
};

}  // namespace tune::exec
