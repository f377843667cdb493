#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/error.h"

namespace tune {

/// How a process ended.
struct Exit {
  int code = 0;
  int signal = 0;          ///< not 0: killed by it, and `code` means nothing
  bool timed_out = false;  ///< we killed it at its deadline
  bool unreaped = false;   ///< it, or what it started, was still there 10 s after SIGKILL (stuck in the kernel)
  bool clean() const { return code == 0 && signal == 0 && !timed_out && !unreaped; }
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
  bool own_group = true;                           ///< a process group of its own, killed as one; false: stays in ours
  bool signals_others = true;                      ///< false: as far as the system can keep it from that (SignalBounds)
};

/// A program cannot be started because it is not there, or is none.
class NoProgram : public Error {
 public:
  using Error::Error;
};

/// Child processes and signals as one stream of events, for one thread. Owns every child it started: none outlives it.
/// Each child has a stdin we can write lines to, a stdout read as lines, and a stderr that is captured.
/// When a child exits its whole group is killed, then it is reaped, then what it left behind outside its group is
/// killed where this process adopts orphans, then its pipes are drained briefly.
class Processes {
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
  };
  /// SIGINT, SIGTERM or SIGHUP came for us.
  struct Interrupted {
    int signal;
  };
  using Event = std::variant<Line, Ended, Interrupted>;

  /// With `catch_signals` SIGINT, SIGTERM and SIGHUP become events while this lives.
  explicit Processes(bool catch_signals);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Starts a child. Throws NoProgram naming the program; or Error(environment), with the limit that was met, if the
  /// system cannot start it.
  Id start(const Command& command);
  /// Writes a line to its stdin; a child that no longer reads is no error.
  void send(Id id, std::string_view line);
  /// No more lines will be sent.
  void close_stdin(Id id);
  /// From now on; replaces any earlier deadline. nullopt: none. At the deadline its group is killed.
  void set_deadline(Id id, std::optional<Clock::duration> from_now);
  /// Kills its group. Its Ended follows.
  void kill(Id id);

  /// The next event; nullopt when `until` has passed first.
  std::optional<Event> wait(std::optional<Clock::time_point> until);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Finished {
  Exit exit;
  std::string output;    ///< stdout, cut in the middle at the capture limit
  std::string captured;  ///< stderr, likewise
};

/// Runs one command to its end. Throws as Processes::start.
Finished run(const Command& command);

}  // namespace tune
