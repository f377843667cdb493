#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/process.h"
#include "exec/stage_times.h"
#include "model/trial.h"
#include "wire/messages.h"

namespace tune::exec {

/// How long a worker may take in each part of its life before it is killed.
struct Deadlines {
  std::chrono::duration<double> build{120};
  std::chrono::duration<double> run{60};  ///< each of start, load, and check with measure
};

/// One worker process seen from the driver: holds what it said to the protocol, and says at its end what became of it.
/// The owner passes it the events of its id.
class WorkerProcess {
 public:
  using Environment = std::map<std::string, std::string>;

  /// Starts it on a request, with `environment` added to ours. TMPDIR is a folder of its own in `scratch`, which goes
  /// with it: compilers and programs that are killed do not tidy up. Throws Error(environment) if it cannot be started.
  WorkerProcess(base::ProcessHost& processes, const std::filesystem::path& worker, const wire::Request& request,
                const Deadlines& deadlines, const std::filesystem::path& scratch, Environment environment = {});

  base::ProcessHost::Id id() const { return id_; }
  /// Load, go, next or done: the next event it owes us has the run deadline.
  void send(wire::Command command);

  /// Its end still comes.
  void kill() { processes_->kill(id_); }

  void handle(const base::ProcessHost::Line& line);
  /// Throws Error(environment) if it failed by no fault of the spec, nor of the device.
  void handle(const base::ProcessHost::Ended& ended);

  bool said_hello() const { return hello_; }
  bool loaded() const { return loaded_; }
  /// It has been checked and waits for another go.
  bool waits() const { return waits_; }
  /// The answer to the last go, once.
  std::optional<wire::Measured> take_measured();
  const std::optional<wire::Built>& built() const { return built_; }
  bool referenced() const { return referenced_; }
  const wire::Checked& checked() const { return checked_; }

  bool ended() const { return ended_; }
  /// After the end: why it is no success, by the table of the design; nullopt for a clean end with all answers given.
  const std::optional<Failure>& failure() const { return failure_; }
  /// The failure is that the device could not be opened.
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
  void judge(const base::ProcessHost::Ended& ended);
  std::string full_disk() const;
  std::string lack_of_room(bool was_full) const;
  Failure judged(const base::ProcessHost::Ended& ended, Cause cause, const std::string& message) const;
  void note_filled_disk();

  base::ProcessHost* processes_;
  std::filesystem::path temporary_;  ///< its TMPDIR
  std::filesystem::path output_;     ///< the folder of what it builds; empty: it builds nothing
  base::ProcessHost::Id id_;
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
  base::ProcessHost::Clock::time_point asked_;  ///< since when it owes us an event
};

}  // namespace tune::exec
