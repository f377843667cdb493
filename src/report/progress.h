#pragma once
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trial.h"

namespace tune::report {

/// Where progress goes. With `quiet` nowhere.
struct ProgressStyle {
  bool quiet = false;
  bool terminal = false;                    ///< one line, rewritten; else plain lines
  int width = 80;                           ///< columns of the terminal
  std::chrono::seconds plain_interval{30};  ///< between plain lines without a new best
};

/// How the sweep is going, for a person: `12/72 | 3.1/s | best 0.984400 ms (39) | 2 failed | building 4 | measuring 41
/// | ETA 0:19`. Rate and ETA count only what this run does, not what the journal answered. Knows no clock: callers pass
/// the time. Uses no colours.
class Progress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `total`: specs to come, if known. `deadline`: when the run's time budget ends.
  Progress(std::ostream& out, ProgressStyle style, std::optional<std::int64_t> total, Time start,
           std::optional<Time> deadline = std::nullopt);

  /// A spec is done; `best`: it is the best so far by the run's objective.
  void tell(const Trial& trial, bool best, Time now);
  void set_activity(Activity activity, Time now);
  /// What runs after the sweep, such as `finals: round 3`, in place of activity, rate and ETA.
  void set_stage(std::string stage, Time now);
  /// What is the best after all, in place of the sweep's.
  void set_best(double seconds, std::int64_t mesh_idx) { best_ = {seconds, mesh_idx}; }
  /// Call every second or so, so that the line does not look frozen.
  void tick(Time now);
  /// Prints a line that stays, above the progress line.
  void say(std::string_view line, Time now);
  /// Prints the last state as a line that stays, and nothing from then on.
  void finish(Time now);

 private:
  std::string line(Time now) const;
  std::string eta(Time now) const;
  std::optional<double> rate(Time now) const;
  void draw(Time now);
  void print_plain(Time now);

  std::ostream& out_;
  ProgressStyle style_;
  std::optional<std::int64_t> total_;
  Time start_;
  std::optional<Time> deadline_;
  Time last_output_;
  Activity activity_;
  std::string stage_;
  std::int64_t done_ = 0;
  std::int64_t recorded_ = 0;
  std::int64_t failed_ = 0;
  std::optional<std::pair<double, std::int64_t>> best_;  ///< seconds, mesh_idx
  bool finished_ = false;
};

}  // namespace tune::report
