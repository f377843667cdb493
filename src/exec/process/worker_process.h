#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "exec/process/stage_times.h"
#include "model/trial.h"
#include "platform/process/process.h"
#include "wire/messages.h"

namespace tune::exec {

/// How long a worker may take in each part of its life before it is killed.
struct Deadlines {
  std::chrono::duration<double> build{120};
  std::chrono::duration<double> run{60};  ///< each of start, load, and check with measure
};

/// One worker process as the driver sees it: checks that what it says follows the protocol, and tells after its end how
/// it ended. The owner passes it the events of its id.
class WorkerProcess {
 public:
  using Environment = std::map<std::string, std::string>;

  /// Starts the process with a request, and with `environment` added to ours. Its TMPDIR is a folder of its own in
  /// `scratch`, which is deleted when the process ends, because compilers and programs that are killed leave temporary
  /// files. Throws Error(environment) if the process cannot be started.
  WorkerProcess(platform::ProcessHost& processes, const std::filesystem::path& worker, const wire::Request& request,
                const Deadlines& deadlines, const std::filesystem::path& scratch, Environment environment = {});

  platform::ProcessHost::Id id() const { return id_; }
  /// Sends a command (load, go, next or done); the worker must answer within the run deadline.
  void send(wire::Command command);

  /// Kills the process; its Ended event still follows.
  void kill() { processes_->kill(id_); }

  void handle(const platform::ProcessHost::Line& line);
  /// Throws Error(environment) if the worker failed, but neither the spec nor the device is to blame.
  void handle(const platform::ProcessHost::Ended& ended);

  bool said_hello() const { return hello_; }
  bool loaded() const { return loaded_; }
  /// Whether its spec has been checked and it waits for another go.
  bool waits() const { return waits_; }
  /// The answer to the last go; later calls return nullopt until there is another.
  std::optional<wire::Measured> take_measured();
  const std::optional<wire::Built>& built() const { return built_; }
  bool referenced() const { return referenced_; }
  const wire::Checked& checked() const { return checked_; }

  bool ended() const { return ended_; }
  /// After the process has ended: its failure; nullopt if it ended cleanly and had given every answer.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Whether the failure is that the device could not be opened.
  bool no_device() const { return failed_ && failed_->no_device; }
  const StageTimes& stage_times() const { return stage_times_; }

 private:
  void accept(const wire::Hello& hello);
  void accept(const wire::Loaded&);
  void accept(const wire::Checked& checked);
  void accept(const wire::Measured& measured);
  void accept(const wire::Built& built);
  void accept(const wire::Referenced&);
  void accept(const wire::Failed& failed);
  void forget_spec();
  void count(Stage stage);
  void expect(bool in_order, const char* event);
  void complain(const std::string& what);
  void judge(const platform::ProcessHost::Ended& ended);
  std::string full_disk() const;
  std::string lack_of_room(bool was_full) const;
  Failure judged(const platform::ProcessHost::Ended& ended, Cause cause, const std::string& message) const;
  void note_filled_disk();

  platform::ProcessHost* processes_;
  std::filesystem::path temporary_;  ///< its TMPDIR
  std::filesystem::path output_;     ///< the folder of what it builds; empty: it builds nothing
  platform::ProcessHost::Id id_;
  Deadlines deadlines_;
  bool measures_;  ///< a measure process, which goes through stages
  bool runs_program_ = false;
  Stage stage_;
  bool hello_ = false, loaded_ = false, load_sent_ = false, go_pending_ = false, check_pending_ = false,
       may_wait_ = false, waits_ = false;
  bool referenced_ = false;
  bool done_sent_ = false;
  bool answered_ = false;  ///< a last word was said: built, referenced, measured or failed
  wire::Checked checked_;
  std::optional<wire::Measured> measured_;
  std::optional<wire::Built> built_;
  std::optional<wire::Failed> failed_;
  std::string complaint_;  ///< how it broke the protocol
  bool ended_ = false;
  std::optional<Failure> failure_;
  StageTimes stage_times_;
  platform::ProcessHost::Clock::time_point asked_;  ///< since when it owes us an event
};

}  // namespace tune::exec
