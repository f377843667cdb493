#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/builder.h"
#include "exec/device_lock.h"
#include "exec/devices.h"
#include "exec/requests.h"
#include "exec/runner.h"
#include "exec/scratch.h"
#include "model/error.h"

namespace tune {

struct WorkshopOptions {
  std::filesystem::path worker;  ///< executable
  StorePlaces store;             ///< of build artifacts
  std::filesystem::path keep;    ///< folder for what failed specs leave; empty: none
  Deadlines deadlines;
  int jobs = 1;                                 ///< build processes at a time
  std::vector<ChosenDevice> devices = {{}};     ///< at least one; references and finals are the first's
  bool share_processes = false;                 ///< --isolation auto
  bool turns = true;                            ///< with other runs on the same device, the CPU among them
  std::function<void(const std::string&)> say;  ///< tells a person, at once
  /// Told of each spec of the sweep before it runs, with its device's place; on a GPU before its launches begin.
  std::function<void(const Spec&, std::size_t device)> note_started = {};
  /// Told when a spec that was noted waits for its turn, and so runs on none of the devices until it is noted again.
  std::function<void()> note_waiting = {};
};

/// A device that nothing can be measured on any more, perhaps by the doing of what ran on it.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

/// What sweep and finals share: the processes, the builds, the devices' turns, and the reference result that every
/// spec is checked against.
class Workshop {
 public:
  /// `requests` must outlive this.
  Workshop(const Requests& requests, WorkshopOptions options);
  ~Workshop();

  const Requests& requests() const { return *requests_; }
  const WorkshopOptions& options() const { return options_; }
  Processes& processes() { return processes_; }
  Builder& builder() { return builder_; }

  /// Queues a spec's build if it needs one that is not there. Throws Unlaunchable, Error(environment).
  void want_build(const Spec& spec);
  /// Builds all that is queued. Throws Interrupted.
  void finish_builds();
  /// Null while the build is to be done; an Artifact without path for a program that is not built.
  const Builder::Result* find_build(const Spec& spec);
  /// The same right before the artifact is loaded: null also if it is gone or has changed since it was built. What is
  /// missing is queued to be built. Throws as want_build.
  const Builder::Result* find_intact_build(const Spec& spec);

  /// What is known of a spec's build: what its artifact tells, and the occupancy that follows from it and the launch.
  BuildInfo info_of(const Spec& spec, const Artifact& artifact) const;

  /// Brings the reference result closer, using `spec` to build a reference kernel; true once it is there (or the
  /// problem has none). Throws Unlaunchable if it cannot be made with this spec's build, Error if not at all.
  bool reference_ready(const Spec& spec);
  bool making_reference() const { return reference_process_ != nullptr && reference_.empty(); }
  /// Starts what needs no build: the reference of a GEMM.
  void begin_reference();

  /// `request` as a measure process gets it.
  wire::MeasureRequest complete(wire::MeasureRequest request, const std::string& artifact) const;
  /// A measure process on one of the chosen devices, by its place among them. Throws Error(environment).
  WorkerProcess start_measuring(const wire::MeasureRequest& completed, std::size_t device);

  /// Takes the right to launch on a device, against other runs; if something is to be `timed`, none of them opens or
  /// closes the device meanwhile. False: not yet, ask again (`wait` returns soon enough).
  bool take_turn(std::size_t device, bool timed = true);
  /// Gives it back, or waits no longer. With `more_to_time` the others still open nothing.
  void end_turn(std::size_t device, bool more_to_time = false);
  /// To be asked before a process opens or closes a device: whether no run times on it. False: not yet, ask again.
  bool begin_opening(std::size_t device);
  /// All that this run wanted to open is open, and what it wanted to close is closed.
  void end_opening(std::size_t device);

  /// What a process on a device came to: it has opened it, or could not, for which it is to be tried again. Once three
  /// in a row could not, throws DeviceLost.
  void note_opened(std::size_t device) { refused_[device] = 0; }
  void note_refused(std::size_t device, const std::string& why);
  /// Throws DeviceLost: nothing can be measured any more on this device, and why.
  [[noreturn]] void throw_device_lost(std::size_t device, const std::string& why) const;

  /// The next event, as Processes::wait.
  std::optional<Processes::Event> wait(std::optional<Processes::Clock::time_point> until);
  /// Passes on events of builds and of the reference; false if it is neither's.
  bool handle(const Processes::Event& event);

 private:
  void make_reference(const Spec& spec);
  void handle_reference(const Processes::Event& event);
  bool shares_reference() const;
  std::string reference_name() const;
  void hold_open(std::size_t device);
  void take_turns_with_other_runs();
  void tell_of_waiting(std::size_t device);
  std::uint64_t reference_bytes() const;

  const Requests* requests_;
  WorkshopOptions options_;
  // These outlive the processes that write to their folders.
  Scratch temporary_;
  std::unique_ptr<Scratch> scratch_;  ///< for the reference
  Builder builder_;
  Processes processes_;
  std::vector<DeviceLock> locks_;       ///< of the devices
  std::vector<Processes::Id> holders_;  ///< of the devices; 0: none was started
  /// Of the devices: we wait for our turn, or to open it; someone was told so.
  std::vector<bool> waiting_, waiting_to_open_, told_;
  std::vector<int> refused_;                          ///< of the devices: processes in a row that could not open it
  std::unique_ptr<WorkerProcess> reference_process_;  ///< stays, on a GPU, for others to copy the reference from
  std::string reference_;                             ///< path, once it is there
  std::string reference_failure_;                     ///< of the last attempt with some spec's build
};

}  // namespace tune
