#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/trial.h"

/// Statistics of launch times.
namespace tune {

/// Whether a time is finite and above zero, as that of a launch has to be.
bool is_valid_time(double seconds);

/// The median; mean of the middle two for an even count. Precondition: not empty.
double median(std::vector<double> values);

/// A 95 % confidence interval of the median from order statistics (distribution-free). Below 6 values it is
/// [min, max], which covers less.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval median_interval(std::vector<double> values);
/// Whether it is so wide that it hardly tells how long something takes.
inline bool is_vague(const Interval& time) { return time.high > 3 * time.low; }
/// The same of the ratio of two times: nor does it tell which of them is shorter.
inline bool is_vague_ratio(const Interval& ratio) { return is_vague(ratio) && ratio.low <= 1 && ratio.high >= 1; }
/// That of the launches; unset where it is not known: one launch tells none, nor do programs and some recordings.
std::optional<Interval> known_interval(const Timing& timing);

/// How long something takes, in seconds, and the 95 % interval of that; unset where too few launches tell it.
struct Estimate {
  double seconds = 0;
  std::optional<Interval> interval = {};
};
Estimate estimate_of(const Timing& timing);
/// Half the interval, over the time; unset also where that is vague.
std::optional<double> relative_width(const Estimate& time);

/// How long a spec takes at least, as far as its launches tell: the low end of the interval, or the only time.
double least_seconds(const Timing& timing);
/// By which the figures of a row follow: of what was stopped early, by the least time that it takes.
Timing timing_of_figures(Timing timing);

/// Spearman's rank correlation, from -1 to 1; 0 where one of the lists is constant. Precondition: as many of both.
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// All figures of a list of launch times in seconds. Precondition: not empty, all finite and positive.
Timing summarize(std::span<const double> seconds, bool stopped_early);

}  // namespace tune
