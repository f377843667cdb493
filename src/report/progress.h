#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/statistics/finals_settings.h"
#include "model/trial.h"
#include "report/progress_text.h"

namespace tune::report {

/// Where progress goes. With `quiet` nowhere.
struct ProgressStyle {
  bool quiet = false;
  bool terminal = false;  ///< a few lines, rewritten; else a plain line now and then
  bool colors = false;
  std::function<int()> columns = [] { return 80; };  ///< how wide the terminal is now
  std::vector<std::string> varying = {};             ///< the parameters after whose values specs are called
};

using ProgressTime = std::chrono::steady_clock::time_point;

/// What is known of a run's end when it begins.
struct RunLimits {
  std::optional<ProgressTime> sweep = {};     ///< after this time no spec is started
  std::optional<ProgressTime> run = {};       ///< when the finals end
  std::optional<FinalsSettings> finals = {};  ///< unset: there will be none
};

/// How the finals are going.
struct FinalsState {
  int round = 0;  ///< 0: the contenders are loaded
  int most_rounds = 0;
  std::size_t active = 0, contenders = 0;
  ProgressTime begin, end;
};

/// How a run is going, for a person. Rate and ETA count only what this run does, not what the journal answered; failed
/// specs count like all others. Knows no clock: callers pass the time.
class Progress {
 public:
  using Time = ProgressTime;

  /// `total`: specs to come, if known.
  Progress(std::ostream& out, ProgressStyle style, std::optional<std::int64_t> total, Time start,
           RunLimits limits = {});

  /// A spec is done; `best`: it is the best so far by the run's objective, whose value is `figure` unless that is
  /// empty.
  void tell(const Trial& trial, bool best, Time now, std::string_view figure = "");
  void set_activity(Activity activity, Time now);
  /// What runs after the sweep, in place of activity and rate.
  void set_finals(FinalsState finals, Time now);
  /// What is the best after all, in place of the sweep's; `figure` as in tell().
  void set_best(const Spec& spec, double seconds, std::string_view figure = "");
  /// Call every second or so, so that the line does not look frozen.
  void tick(Time now);
  /// Prints a line that stays, above the progress.
  void say(std::string_view line, Time now);
  /// The same with `warning: ` before it, in lines of the terminal's width, and also with `quiet`.
  void warn(std::string_view text, Time now);
  /// Prints the last state as a line that stays, and nothing from then on.
  void finish(Time now);

 private:
  Snapshot snapshot(Time now) const;
  double share(Time now) const;
  std::optional<double> rate(Time now) const;
  std::optional<double> seconds_left(Time now) const;
  std::optional<double> sweep_left(Time now) const;
  double finals_to_come(double sweep_left, Time now) const;
  void draw(Time now);
  void print_plain(Time now);
  std::string lines_of(std::string_view text) const;
  void print_above(const std::string& lines, Time now);
  std::string erased() const;

  std::ostream& out_;
  ProgressStyle style_;
  std::optional<std::int64_t> total_;
  Time start_;
  RunLimits limits_;
  Time last_output_;
  Time last_done_;                  ///< when a spec was
  std::vector<std::size_t> drawn_;  ///< the widths of the lines on the terminal
  Activity activity_;
  std::optional<FinalsState> finals_;
  Time finals_told_;  ///< when
  std::int64_t done_ = 0;
  std::int64_t recorded_ = 0;
  double measured_seconds_ = 0;
  std::map<std::string, std::int64_t> failed_;
  std::string best_, best_settings_;
  std::optional<Time> best_since_;
  bool finished_ = false;
};

}  // namespace tune::report
