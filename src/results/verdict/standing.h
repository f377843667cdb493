#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/verdict/verdict.h"

namespace tune::results {

/// A time or value counts as noisy if half its interval is more of it than this.
inline constexpr double kWide = 0.02;
/// A loss beyond this says only that little is known.
inline constexpr double kVeryMuch = 0.5;

/// How the winner of a tuning stands beside the others, and what is open of that. Precondition: there is a winner. What
/// it is made from must outlive it.
struct Standing {
  Standing(const report::Summary& its_summary, const TuningOutcome& its_outcome, const Demands& its_demands);

  Decision decision() const;
  /// Why it is not known to be the best, in a few words; empty: it is.
  std::string why_open() const;
  /// The specs that may be faster, or better, by more than the accuracy.
  std::vector<const Ranked*> open_rows() const;
  /// Whether its time is known as well as was asked for.
  bool knows_its_time() const;
  /// Whether the time budget let no other spec be tried, which tells nothing of the others.
  bool has_tried_one_in_time() const;
  /// How many rounds it takes to tell so many specs apart. Precondition: finals were held.
  int fewest_rounds() const;
  /// What made the times uncertain: heat, other programs, the host; empty: nothing that is known.
  std::string noise_cause() const;
  /// Whether it is ranked by times, or they are one of several objectives.
  bool is_about_times() const;
  /// How noisy it is: half the interval of the time or value that matters, over it.
  std::optional<double> noise_width() const;
  /// Whether it is a whole command so short that the start of a process hides how specs differ.
  bool has_short_runs() const;

  const report::Summary* summary;
  const TuningOutcome* outcome;
  const Demands* demands;
  const Ranked* winner;
  bool by_time;    ///< it is ranked by what follows from its time
  bool by_rounds;  ///< the rounds of the finals compared what the objective follows from
  double accuracy;
  double seconds;
  std::optional<double> time_width;  ///< half the interval of its time, over it
  std::optional<double> width;       ///< that of what it is ranked by
  std::optional<double> loss;        ///< see Verdict::loss
};

/// `12 %`, `0.6 %`
std::string percent(double share);
/// The same of a bound, which is rounded up.
std::string percent_at_most(double share);

}  // namespace tune::results
