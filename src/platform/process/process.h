#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/values/error.h"

namespace tune::platform {

/// How a process ended.
struct Exit {
  int code = 0;
  int signal = 0;          ///< not 0: killed by it, and `code` means nothing
  bool timed_out = false;  ///< we killed it at its deadline
  bool unreaped = false;   ///< it or a descendant still existed 10 s after SIGKILL (stuck in the kernel)
  bool clean() const { return code == 0 && signal == 0 && !timed_out && !unreaped; }
};

/// What a process took, with the descendants that it waited for.
struct ResourceUse {
  double seconds = 0;  ///< from the start of its program to its end; with Command::awaits_all, to that of the others
  double user_seconds = 0, system_seconds = 0;
  double cpu_seconds = 0;         ///< user and system time since its program began
  double waited_seconds = 0;      ///< for a core: the first thread of its first process, and we when it had ended
  double first_cpu_seconds = 0;   ///< of cpu_seconds, those of that thread
  std::int64_t peak_bytes = 0;    ///< of resident memory: the most that one process had
  std::string left_running = {};  ///< with Command::awaits_all: the name of a process that did not end with it
};

/// `exit code 3`, `killed by signal 11 (segmentation fault)`, `timed out`.
std::string to_text(const Exit& exit);

/// Why a process, or what it needs, could not be made, from errno; with the limit that was met, and how to raise it.
std::string why_not_started(int error);

struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is a path or a name to find on PATH
  std::map<std::string, std::string> environment;  ///< added to ours
  std::filesystem::path directory;                 ///< empty: ours
  std::size_t capture_limit = 64 * 1024;           ///< captured output beyond it is cut in the middle
  bool own_group = true;                           ///< a session of its own, killed as one group; false: stays in ours
  bool discards_output = false;                    ///< its stdout is /dev/null
  std::function<bool(std::string_view)> keeps = {};  ///< which lines of stdout `run` keeps, whatever is cut
  bool signals_others = true;                        ///< false: kept from that as far as the system can (SignalBounds)
  bool awaits_all = false;                           ///< what it leaves running has a moment to end
  std::int64_t memory_bytes = 0;                     ///< each process of it may have (RLIMIT_DATA); 0: as ours
};

/// A program cannot be started because the file does not exist or is not a program.
class NoProgram : public Error {
 public:
  using Error::Error;
};

/// A program cannot be started because its command line or its environment is too long.
class TooLong : public Error {
 public:
  using Error::Error;
};

/// So many seconds as a time of the steady clock, which can count no more than some hundreds of years.
inline std::chrono::steady_clock::duration ticks(double seconds) {
  constexpr double kLongest = 1e9;
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds < kLongest ? seconds : kLongest));
}

/// Child processes and signals as one stream of events, for one thread, and the time in which they come. Each child has
/// a stdin we can write lines to, a stdout read as lines, and a stderr that is captured. Tests have a host of their
/// own.
class ProcessHost {
 public:
  using Id = int;
  using Clock = std::chrono::steady_clock;

  struct Line {
    Id id;
    std::string text;
  };
  /// The last event of a child. `captured` is its stderr, cut in the middle.
  struct Ended {
    Id id;
    Exit exit;
    std::string captured;
    ResourceUse use = {};
  };
  /// SIGINT, SIGTERM or SIGHUP came for us.
  struct Interrupted {
    int signal;
  };
  using Event = std::variant<Line, Ended, Interrupted>;

  virtual ~ProcessHost() = default;

  /// Starts a child. Throws NoProgram naming the program; TooLong; or Error(environment), with the limit that was met,
  /// if the system cannot start it.
  virtual Id start(const Command& command) = 0;
  /// Writes a line to its stdin. It is not an error if the child no longer reads.
  virtual void send(Id id, std::string_view line) = 0;
  /// Sets a deadline, counted from now, which replaces any earlier one; nullopt removes it. At the deadline the child's
  /// group is killed.
  virtual void set_deadline(Id id, std::optional<Clock::duration> from_now) = 0;
  /// Kills the child's group. Its Ended event follows.
  virtual void kill(Id id) = 0;
  /// The children that have not ended yet.
  virtual std::vector<Id> running() const = 0;

  /// The next event; nullopt when `until` has passed first. What has come already is told in any case.
  virtual std::optional<Event> wait(std::optional<Clock::time_point> until) = 0;
  virtual Clock::time_point now() const = 0;
};

/// The system's processes. Owns every child it started: none outlives it. When a child exits its whole group is killed,
/// then it is reaped, then what it left behind outside its group is killed where this process adopts orphans, then its
/// pipes are drained briefly.
class Processes : public ProcessHost {
 public:
  /// With `catch_signals` SIGINT, SIGTERM and SIGHUP become events while this lives.
  explicit Processes(bool catch_signals);
  ~Processes() override;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  Id start(const Command& command) override;
  void send(Id id, std::string_view line) override;
  /// No more lines will be sent.
  void close_stdin(Id id);
  /// Asks the child's group to end, by SIGTERM.
  void ask_to_end(Id id);
  void set_deadline(Id id, std::optional<Clock::duration> from_now) override;
  void kill(Id id) override;
  std::vector<Id> running() const override;
  std::optional<Event> wait(std::optional<Clock::time_point> until) override;
  Clock::time_point now() const override { return Clock::now(); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Finished {
  Exit exit;
  std::string output;    ///< stdout, cut in the middle at the capture limit
  std::string kept;      ///< the lines that Command::keeps takes, 1 MiB of them and the next one
  std::string captured;  ///< stderr, likewise
  ResourceUse use;
};

/// The file of a program as a process would be started from it: a path, or a name that is looked for on PATH. Throws
/// NoProgram.
std::string find_program(const std::string& name);

/// Runs one command to its end. Several threads may, in a program that adopts no orphans. Throws as Processes::start.
Finished run(const Command& command);

/// What the person is told who interrupted a run.
inline constexpr const char* kInterrupted = "tune: interrupted; the same command continues from here";

/// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, end this process at once, with the message and the
/// exit code of an interrupted run. While a Processes object catches them, they become its events instead.
void end_on_signals();

}  // namespace tune::platform
