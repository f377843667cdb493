#pragma once
#include <span>
#include <string>
#include <utility>

#include "exec/device/device_clocks.h"
#include "exec/device/device_lock.h"
#include "exec/device/devices.h"
#include "exec/device/worker_pool.h"
#include "exec/request/request_factory.h"
#include "model/values/error.h"

namespace tune::exec {

/// A device that nothing can be measured on any more, perhaps by the doing of what ran on it.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

/// One device that a run measures on: starts measure processes there, takes turns on it with other runs, and knows
/// whether it still answers.
class MeasureDevice {
 public:
  /// `turns`: with other runs. `pool` and `requests` must outlive this.
  MeasureDevice(WorkerPool& pool, const RequestFactory& requests, ChosenDevice chosen, bool turns,
                RunObserver& observer);
  MeasureDevice(const MeasureDevice&) = delete;

  const ChosenDevice& chosen() const { return chosen_; }
  platform::ProcessHost::Clock::time_point now() const { return pool_->launcher().now(); }

  /// A process that measures, or makes the reference. Throws Error(environment).
  WorkerProcess start(const wire::Request& request);
  /// Whether this is the process that keeps the device open between the others.
  bool is_holder(platform::ProcessHost::Id id) const { return id != 0 && id == resting().holder; }

  /// Whether processes that measure, or make references, rest here once they have nothing to do: one of each, for the
  /// next who needs one, in this tuning or another. Not on a device that admits one process. `shared`: those that
  /// measure may measure specs one after the other.
  void keep_processes(bool any, bool shared);
  bool keeps_measuring() const { return keeps_measuring_; }
  void rest_measuring(std::shared_ptr<WorkerProcess> process);
  void rest_reference(std::unique_ptr<WorkerProcess> process);
  /// A process that rests and has measured before, or made a reference; null: there is none.
  std::shared_ptr<WorkerProcess> take_measuring() { return take(resting().measure); }
  std::unique_ptr<WorkerProcess> take_reference() { return take(resting().reference); }
  /// Ends the one that measures, and keeps none any more.
  void stop_keeping();

  /// DeviceClocks::claim, in a turn. False: another run has the device, or sets its clocks; ask again.
  bool claim_clocks();
  /// Sets the clocks of what is launched next, in our turn. Returns why that is not possible. Throws DeviceLost.
  std::optional<std::string> set_clocks(const DeviceSettings& settings);

  /// Takes the right to launch, against other runs; if something is to be `timed`, none of them opens or closes the
  /// device meanwhile. False: not yet, ask again.
  bool take_turn(bool timed = true);
  /// Gives it back, or waits no longer; the clocks are as they were for whoever is next. With `more_to_time` the others
  /// still open nothing.
  void end_turn(bool more_to_time = false);
  /// To be asked before a process opens or closes the device: whether no run times on it. False: not yet, ask again.
  bool begin_opening();
  /// All that this run wanted to open is open, and what it wanted to close is closed.
  void end_opening();
  /// Whether another run has what was asked for last.
  bool waits() const { return waits_for_turn_ || waits_to_open_; }

  /// What a process came to: it has opened the device, or could not, for which it is to be tried again. Once three in a
  /// row could not, throws DeviceLost.
  void note_opened() { refused_ = 0; }
  void note_refused(const std::string& why);
  /// What a worker says of a spec though all went well. The first of these sentences is told.
  void tell_remarks(std::span<const std::string> remarks);
  /// Throws DeviceLost: nothing can be measured on it any more, and why.
  [[noreturn]] void throw_lost(const std::string& why) const;

 private:
  WorkerPool::Resting& resting() const { return pool_->on(chosen_.id); }
  template <typename Pointer>
  Pointer take(Pointer& resting) const {
    Pointer process = std::exchange(resting, nullptr);
    return process && pool_->runs(*process) ? std::move(process) : nullptr;
  }
  void hold_open();
  void tell_of_waiting();

  WorkerPool* pool_;
  const RequestFactory* requests_;
  ChosenDevice chosen_;
  RunObserver* observer_;
  DeviceLock lock_;
  DeviceClocks clocks_;
  bool keeps_measuring_ = false, keeps_reference_ = false;
  bool waits_for_turn_ = false, waits_to_open_ = false;
  bool told_ = false;  ///< a person knows that it waits
  bool remarked_ = false;
  int refused_ = 0;  ///< processes in a row that could not open it
};

}  // namespace tune::exec
