#pragma once
#include <functional>
#include <vector>

#include "wire/messages.h"

namespace tune {

/// How often a kernel is launched, and when its time is known well enough. Knows nothing of kernels and clocks: both
/// are functions, so that a test decides what a launch takes.
///
/// With an exact count (`Go::launches`, the finals) that many launches are timed after the warm-up. Otherwise:
/// - A first launch of more than twice the best time so far (and more than `cutoff` times) is the only one; beyond
///   `cutoff` times the best there are three, and the fastest decides. A first launch shorter than 0.1 s is repeated
///   before it is held against a spec, because thread pools, page faults and other processes weigh that much.
/// - After the warm-up, launches are timed until the 95 % confidence interval of the median is within 0.5 % on either
///   side. Limits, the earlier overriding the later: that whole interval lies beyond `cutoff` times the best
///   (`stopped_early`); `max_seconds` have passed; `min_launches` are not reached. Where slow specs are cut, one whose
///   whole interval lies beyond 1.05 times the best needs no more than these: it cannot win.
class Sampler {
 public:
  using Seconds = std::function<double()>;

  /// `launch` prepares and runs one launch and returns its time; `now` is a clock, in seconds.
  Sampler(const MeasureRules& rules, const wire::Go& go, Seconds launch, Seconds now);

  /// `first` is the time of the launch that was checked; 0 if there was none.
  Timing run(double first);

 private:
  bool slower_than(double factor, double seconds) const;
  bool is_hopeless(double first);
  Timing exactly(std::int64_t count);
  Timing until_precise();
  bool is_precise_enough() const;
  void warm_up();

  MeasureRules rules_;
  wire::Go go_;
  Seconds launch_;
  Seconds now_;
  std::vector<double> times_;
};

}  // namespace tune
