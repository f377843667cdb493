#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "exec/process/deadlines.h"
#include "exec/process/stage_times.h"
#include "exec/process/worker_phase.h"
#include "model/trial.h"
#include "platform/process/process.h"
#include "wire/messages.h"

namespace tune::exec {

/// One worker process as the driver sees it: checks that what it says follows the protocol, and tells after its end how
/// it ended. The owner passes it the events of its id.
class WorkerProcess {
 public:
  using Environment = std::map<std::string, std::string>;

  /// Starts the process with a request, and with `environment` added to ours. Its TMPDIR is a folder of its own in
  /// `scratch`, which is deleted when the process ends, because compilers and programs that are killed leave temporary
  /// files. Throws Error(environment) if the process cannot be started.
  static WorkerProcess start(platform::ProcessHost& processes, const std::filesystem::path& worker,
                             const wire::Request& request, const Deadlines& deadlines,
                             const std::filesystem::path& scratch, Environment environment = {});

  platform::ProcessHost::Id id() const { return id_; }
  /// Sends a command (load, go, next or done) that the protocol has in this phase; the worker must answer within the
  /// run deadline.
  void send(wire::Command command);
  /// Asks a process that has made a reference for another one.
  void send(const wire::ReferenceRequest& request);

  /// Kills the process; its Ended event still follows.
  void kill() { processes_->kill(id_); }

  void handle(const platform::ProcessHost::Line& line);
  /// Throws Error(environment) if the worker failed, but neither the spec nor the device is to blame.
  void handle(const platform::ProcessHost::Ended& ended);

  Phase phase() const { return phase_; }
  /// Whether it has loaded the spec that it was given last.
  bool loaded() const { return phase_ >= Phase::loaded; }
  /// The answer to the last go; later calls return nullopt until there is another.
  std::optional<wire::Measured> take_measured();
  const std::optional<wire::Built>& built() const { return built_; }
  const wire::Checked& checked() const { return checked_; }

  /// After the process has ended: its failure; nullopt if it ended cleanly and had given every answer.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Whether the failure is that the device could not be opened.
  bool no_device() const { return failed_ && failed_->no_device; }
  const StageTimes& stage_times() const { return stage_times_; }
  /// Those since the last call.
  StageTimes take_stage_times() { return std::exchange(stage_times_, {}); }

 private:
  WorkerProcess(platform::ProcessHost& processes, const wire::Request& request, const Deadlines& deadlines);
  void accept(const wire::Hello& hello);
  void accept(const wire::Loaded&);
  void accept(const wire::Checked& checked);
  void accept(const wire::Measured& measured);
  void accept(const wire::Built& built);
  void accept(const wire::Referenced&);
  void accept(const wire::Failed& failed);
  void count(Stage stage);
  const Step& expect(Message message) const;
  void advance(Message message);
  void complain(const std::string& what);
  void judge(const platform::ProcessHost::Ended& ended);
  std::string full_disk() const;
  std::string lack_of_room(bool was_full) const;
  Failure judged(const platform::ProcessHost::Ended& ended, Cause cause, const std::string& message) const;
  void note_filled_disk();

  platform::ProcessHost* processes_;
  std::filesystem::path temporary_;  ///< its TMPDIR
  std::filesystem::path output_;     ///< the folder of what it builds; empty: it builds nothing
  platform::ProcessHost::Id id_ = 0;
  Deadlines deadlines_;
  bool runs_program_ = false;
  Phase phase_;
  Stage stage_;  ///< that a failure is put down to
  wire::Checked checked_;
  std::optional<wire::Measured> measured_;
  std::optional<wire::Built> built_;
  std::optional<wire::Failed> failed_;
  std::string complaint_;  ///< how it broke the protocol
  std::optional<Failure> failure_;
  StageTimes stage_times_;
  platform::ProcessHost::Clock::time_point asked_;  ///< since when it owes us an event
};

}  // namespace tune::exec
