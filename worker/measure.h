#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "wire/messages.h"

namespace tune {

/// How often a kernel is launched, and when its time is known well enough. Knows nothing of kernels and clocks: both
/// are functions, so that a test decides what a launch takes.
///
/// Launches before the first that is timed are the warm-up, the checked one among them. With an exact count
/// (`Go::launches`, the finals) that many launches are timed after it. Otherwise:
/// - A first launch of more than twice the best time so far (and more than `cutoff` times) is the only one; beyond
///   `cutoff` times the best there are three, and the fastest decides. A short first launch is repeated before it is
///   held against a spec, because thread pools, page faults and other processes weigh that much: on the CPU 0.1 s.
/// - After the warm-up, launches are timed until the 95 % confidence interval of the median is within 0.5 % on either
///   side. Limits, the earlier overriding the later: that whole interval lies beyond `cutoff` times the best
///   (`stopped_early`); `max_seconds` have passed; `min_launches` are not reached. Where slow specs are cut, one whose
///   whole interval lies beyond 1.05 times the best needs no more than these: it cannot win.
class Sampler {
 public:
  using Seconds = std::function<double()>;

  /// `launch` prepares and runs one launch and returns its time; `now` is a clock, in seconds. `short_launch`: a first
  /// launch of less is repeated before it counts against a spec.
  Sampler(const MeasureRules& rules, const wire::Go& go, Seconds launch, Seconds now, double short_launch = 0.1);

  /// `first` is the time of the launch that was checked; 0 if there was none.
  Timing run(double first);
  /// What run() returns if the first launches show that the spec is too slow; nullopt if it must be timed.
  std::optional<Timing> run_if_hopeless(double first);

 private:
  bool slower_than(double factor, double seconds) const;
  bool is_hopeless(double first);
  double launch();
  Timing exactly(std::int64_t count);
  Timing until_precise();
  bool is_precise_enough() const;
  void warm_up();

  MeasureRules rules_;
  wire::Go go_;
  Seconds launch_;
  Seconds now_;
  double short_launch_;
  int launched_ = 0;
  std::vector<double> times_;
};

/// A clock that is never set back.
double seconds_now();

/// How many launches of a kernel that takes this long are timed as one: so many that the resolution of events and what
/// they add (1.3 us on an H200) are not the figure.
std::int64_t launches_per_sample(double launch_seconds);

}  // namespace tune
