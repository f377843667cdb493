#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "exec/measure_device.h"

namespace tune {

/// The measure processes of one device. Several are loaded or loading at a time, one launches, and only in the device's
/// turn. A process measures one spec; or, where they are reused, one after the other until one fails in it.
///
/// Nothing is timed while another process of the queue opens or closes the device: that made medians up to 17 % longer
/// (H200). A queue of many processes therefore works in batches: they open and are checked; then all those are timed
/// that the check did not rule out; then they leave, and the next batch opens.
class DeviceQueue {
 public:
  using Clock = ProcessHost::Clock;

  struct Rules {
    int loaded_ahead = 0;        ///< processes beyond the one that measures
    int opening_at_once = 1;     ///< so many of them open the device at a time
    bool reuse = false;          ///< give a process that has measured the next spec
    bool exits_disturb = false;  ///< no process starts before the one before it has ended
    bool batches = false;        ///< check while others open the device
  };
  struct Job {
    std::int64_t ticket = 0;  ///< the caller's name for it
    wire::MeasureRequest request;
    bool fresh = false;  ///< in a process of its own, also where they are reused
  };
  struct Result {
    std::int64_t ticket = 0;
    std::variant<Measurement, Failure> outcome;  ///< a measurement lacks its build, and has the device's own times
    bool reused = false;                         ///< the process had measured other specs before
    bool no_device = false;                      ///< a failure to open the device: not the spec's
    double device_seconds = 0;                   ///< in which it was launched
  };

  /// `device` must outlive this.
  DeviceQueue(MeasureDevice& device, Rules rules);
  const MeasureDevice& device() const { return *device_; }
  DeviceQueue(DeviceQueue&&) = default;
  DeviceQueue(const DeviceQueue&) = delete;

  /// From now on.
  void set_rules(const Rules& rules) { rules_ = rules; }
  /// Whether there is a place for another job.
  bool has_room() const;
  /// Whether it can be started now, which ask right before it is; `fresh` as Job::fresh. False: not yet.
  bool may_start(bool fresh);
  void start(Job job);
  /// Told of a job's ticket right before it launches.
  using NoteLaunch = std::function<void(std::int64_t ticket)>;
  /// Sends what the processes wait for; a spec that may launch now is timed as `go` says.
  void advance(const wire::Go& go, const NoteLaunch& note);
  /// False: not an event of ours. Throws Error(environment) if the device is lost.
  bool handle(const ProcessHost::Event& event);
  std::optional<Result> take_result();
  /// Kills the process that has this job, if there is one; there will be no result of it.
  void abandon(std::int64_t ticket);
  /// Ends the processes that wait for another spec.
  void dismiss();

  /// How many it has been given that have no result yet.
  int jobs() const;
  /// Whether a process is there that is not just waiting for another spec.
  bool active() const;
  /// Whether something is ready to launch, and it is not our turn yet.
  bool waits_for_turn() const { return in_turn_ && !launched(); }
  /// The ticket of the job that is launched now.
  std::optional<std::int64_t> launched() const;
  /// Seconds in which something was launched, the last of them until now or until when there last was.
  double busy_seconds() const { return busy_seconds_; }
  Clock::time_point last_launch() const { return last_launch_; }
  /// Of processes that have ended, and of the others so far.
  StageTimes stage_times() const;

 private:
  struct Slot {
    std::unique_ptr<WorkerProcess> process;
    std::optional<Job> job;
    std::optional<wire::Measured> measured;
    bool load_sent = false, go_sent = false, launches = false, leaving = false;
    int served = 0;             ///< specs it has measured
    double device_seconds = 0;  ///< in which its job was launched
    bool idle() const { return !job && !leaving; }
    bool may_launch() const { return job && !leaving && process->loaded() && !go_sent; }
    bool waits() const { return job && !leaving && !launches && process->waits(); }
    bool opens() const { return served == 0 && !leaving && !process->loaded(); }
    bool opens_or_closes() const { return opens() || leaving; }
  };
  using Slots = std::list<Slot>;

  int occupied() const;
  bool room_for_another() const;
  Slots::iterator reusable();
  void load(Slot& slot);
  void take_answer(Slot& slot);
  void leave(Slot& slot);
  bool quiet() const;
  void launch_next(wire::Go go, const NoteLaunch& note);
  Slots::iterator next_to_launch(wire::Go& go);
  void stop_launching(Slot& slot);
  void end_turn();
  void ended(Slots::iterator slot);
  Measurement measurement_of(const Slot& slot) const;
  void serve_again(Slot& slot);

  MeasureDevice* device_;
  Rules rules_;
  Slots slots_;
  std::deque<Result> results_;
  bool in_turn_ = false;       ///< something of the device's turn is ours, or waited for
  bool timing_batch_ = false;  ///< those that wait are timed, and none opens or closes the device
  Clock::time_point launched_at_, last_launch_;
  double busy_seconds_ = 0;
  StageTimes stage_times_;  ///< of processes that have ended
};

}  // namespace tune
