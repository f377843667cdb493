#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "exec/device/measure_device.h"
#include "exec/device/slot_state.h"

namespace tune::exec {

/// The specs that wait to be measured on one device, and the measure processes that do it. Several processes are loaded
/// or loading at a time; one of them launches, and only while it is this run's turn on the device. A process measures
/// one spec, or, where processes are reused, one spec after the other until one fails.
///
/// Nothing is timed while another process of the queue opens or closes the device, because that made medians up to 17 %
/// longer (H200). A queue of many processes therefore works in batches: they open the device and are checked; then all
/// specs that the check did not rule out are timed; then the processes leave, and the next batch opens the device.
class DeviceQueue {
 public:
  using Clock = platform::ProcessHost::Clock;

  struct Rules {
    int loaded_ahead = 0;        ///< how many processes there are in addition to the one that measures
    int opening_at_once = 1;     ///< how many of them open the device at a time
    bool reuse = false;          ///< a process that has measured a spec is given the next one
    bool exits_disturb = false;  ///< no process starts before the one before it has ended
    bool batches = false;        ///< specs are checked while other processes open the device
  };
  struct Job {
    std::int64_t ticket = 0;  ///< the caller's name for it
    wire::MeasureRequest request;
    bool fresh = false;          ///< it is to have a process of its own, also where processes are reused
    DeviceSettings clocks = {};  ///< of the device while it is launched
  };
  struct Result {
    Job job;
    bool reused = false;                              ///< the process had measured other specs before
    std::variant<Measurement, Failure> outcome = {};  ///< a measurement lacks its build
    /// The job is to be given again: the device could not be opened, or its time cannot be compared with others'.
    bool to_repeat = false;
    double device_seconds = 0;  ///< during which the spec was launched
  };

  /// `device` must outlive this.
  DeviceQueue(MeasureDevice& device, Rules rules);
  const MeasureDevice& device() const { return *device_; }
  DeviceQueue(DeviceQueue&&) = default;
  DeviceQueue(const DeviceQueue&) = delete;

  /// They apply from now on.
  void set_rules(const Rules& rules) { rules_ = rules; }
  /// Whether there is a place for another job.
  bool has_room() const;
  /// Whether a job can be started now. If it needs a new process (`fresh` is Job::fresh), waits for the turn to open
  /// the device, and ends the idle process that is in its way. To be called right before the job is started.
  bool make_way_for(bool fresh);
  void start(Job job);
  /// Called with a job's ticket right before it launches.
  using NoteLaunch = std::function<void(std::int64_t ticket)>;
  /// Sends the processes the commands that they wait for; a spec that may launch now is timed as `go` says.
  void advance(const wire::Go& go, const NoteLaunch& note);
  /// Returns false if it is an event of no process of this queue. Throws Error(environment) if the device is lost.
  bool handle(const platform::ProcessHost::Event& event);
  std::optional<Result> take_result();
  /// Kills the process that has this job, if there is one; there will be no result of it.
  void abandon(std::int64_t ticket);
  /// Ends the processes that wait for another spec, but for one that the device may keep.
  void dismiss();

  /// How many jobs have no result yet.
  int jobs() const;
  /// Whether any process does more than wait for another spec.
  bool active() const;
  /// Whether a spec is ready to launch, but it is another run's turn.
  bool waits_for_turn() const { return in_turn_ && !launched(); }
  /// The ticket of the job that is launched now.
  std::optional<std::int64_t> launched() const;
  /// Seconds during which something was launched, up to last_launch().
  double busy_seconds() const { return busy_seconds_; }
  Clock::time_point last_launch() const { return last_launch_; }
  /// The sum over all processes, including those that still run.
  StageTimes stage_times() const;

 private:
  struct Slot {
    std::shared_ptr<WorkerProcess> process;
    std::optional<Result> due;  ///< of its job, as far as it is known; unset: it has no job
    SlotState state() const { return slot_state(process->phase(), due.has_value(), due && due->reused); }
    bool is(SlotState asked) const { return state() == asked; }
  };
  using Slots = std::list<Slot>;

  bool room_for_another() const;
  int count(SlotState state) const;
  int ending() const;
  Slots::iterator first(SlotState state) { return std::ranges::find(slots_, state, &Slot::state); }
  Slots::iterator reusable();
  void take_answer(Slot& slot);
  static void serve_next(Slot& slot, Job job);
  bool quiet() const;
  void launch_next(wire::Go go, const NoteLaunch& note);
  Slots::iterator next_to_launch(wire::Go& go);
  void stop_launching(Slot& slot);
  void end_turn();
  void ended(Slots::iterator slot);
  void refuse(Slots::iterator slot, const std::string& why);
  std::variant<Measurement, Failure> outcome_of(const Slot& slot, wire::Measured measured) const;

  MeasureDevice* device_;
  Rules rules_;
  Slots slots_;
  std::deque<Result> results_;
  bool in_turn_ = false;       ///< this run has the turn on the device, or waits for it
  bool timing_batch_ = false;  ///< the specs that wait are timed, and no process opens or closes the device
  Clock::time_point launched_at_, last_launch_;
  double busy_seconds_ = 0;
  StageTimes stage_times_;  ///< of processes that have ended
};

}  // namespace tune::exec
