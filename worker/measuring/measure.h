#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "wire/messages.h"

namespace tune::worker {

/// How often a kernel is launched, and when its time is known well enough. Knows nothing of kernels and clocks: both
/// are functions, so that a test decides what a launch takes.
///
/// Launches before the first that is timed are the warm-up, the checked one among them. With an exact count
/// (`Go::launches`, the finals) that many launches are timed after it. Otherwise:
/// - A first launch of more than four times the best time so far (and more than `cutoff` times) is the only one; beyond
///   `cutoff` times the best there are three, and the fastest decides. On a GPU the launches that were checked decide,
///   with another one where loading the code weighs. A short first launch is repeated before it is held against a spec,
///   for 20 ms if it stays too slow, because thread pools, page faults and other processes weigh that much; the fastest
///   counts.
/// - After the warm-up, at least `min_launches` are timed, and until the 95 % confidence interval of the median is
///   within 1 % on either side. If slow specs are stopped early, a spec whose whole interval lies beyond 1.05 times
///   the best need not be timed so precisely, because it cannot win. The timing stops even before `min_launches` when
///   the whole interval lies beyond `cutoff` times the best (`stopped_early`), or else when `max_seconds` have passed.
///   On a GPU it stops after three launches that are all beyond 1.2 times the best, too: that is no finalist.
class Sampler {
 public:
  using Seconds = std::function<double()>;

  /// How far the first launch, whose time is passed to run(), can be trusted.
  struct First {
    double short_seconds = 0.1;  ///< a launch of less is repeated before it counts against a spec
    int launches = 1;            ///< how many launches there have been, including it, of which it is the fastest. They
                                 ///< count towards the warm-up of an exact count
    double loading = 0;          ///< seconds that the first of these may have taken to load the code
    bool counts = false;         ///< it is a sample like any other, because no warm-up is asked for
    double step = 0;             ///< seconds; the clock tells times in such steps, so they are known no better
  };

  /// `launch` prepares and runs one launch and returns its time; `now` is a clock, in seconds.
  Sampler(const MeasureRules& rules, const wire::Go& go, Seconds launch, Seconds now, First first);

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
  First first_;
  int launched_ = 0;
  std::vector<double> times_;
};

/// Whether a single launch of this duration suffices to tell that the kernel cannot be among the best.
bool decides_alone(const MeasureRules& rules, const wire::Go& go, double seconds);

/// A clock that is never set back.
double seconds_now();
/// The same clock in integer nanoseconds, because a kernel may have changed the floating-point environment.
std::uint64_t nanoseconds_now();

}  // namespace tune::worker
