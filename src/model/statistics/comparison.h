#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/statistics/entrant.h"
#include "model/statistics/stats.h"

/// Comparison of two results of the same specs: what has changed by more than noise.
namespace tune {

/// What became of a spec or of the best one, in order of importance. `slower`: by more than the threshold, beyond
/// doubt; `open`: perhaps slower by more; `small`: changed beyond noise, but not by more than the threshold.
enum class Change { fails, slower, open, faster, works, small, noise, unknown, only_before, only_now };
inline constexpr std::array<std::string_view, 10> kChanges = {
    "fails now",           "slower",       "slower or not is open", "faster",      "works now",
    "below the threshold", "within noise", "noise not known",       "only in old", "only in new"};
constexpr std::string_view to_text(Change change) { return kChanges[static_cast<std::size_t>(change)]; }

/// One row of a comparison.
struct ComparedSpec {
  Entrant entrant = {};  ///< of the best: that of the new result; of a baseline, no spec
  Spec old_spec = {};    ///< of the best: that of the old result
  std::optional<Estimate> before, now;
  std::string failure = {};  ///< why the new result has no time
  std::optional<double> ratio = {};
  std::optional<Interval> interval = {};  ///< of the ratio
  bool paired = false;                    ///< ratio and interval are given: from rounds in which both were timed, or of
                                          ///< an objective other than the time
  bool same_code = false;                 ///< of the best: both are the same build, measured in the same way
  Change change = Change::unknown;
};

/// The results for one problem. Rows are in order of importance: what fails or is slower comes first.
struct ComparedShape {
  std::string problem;               ///< 4096x4096x4096; empty: not known
  std::vector<std::string> varying;  ///< the parameters after whose values specs are called
  std::vector<ComparedSpec> best;    ///< the best of both; behind it baselines that both timed
  std::vector<ComparedSpec> specs;
  /// The standard deviation of the logarithm of the ratio of two times of one spec, each in a process of its own, that
  /// is not due to the noise of launches; 0: not known.
  double process_noise = 0;
  /// Times of different runs show a slowdown only beyond this factor, unless they have no noise.
  double least_slowdown = 1;
};

/// One of the two results.
struct ComparedRun {
  std::string file, kernel, device;
  std::string statistic = {};  ///< what of a spec's launches the sweep's times are; empty: the file does not say
};

struct RunComparison {
  ComparedRun before, now;
  double threshold = 0;
  std::vector<ComparedShape> shapes;
  std::vector<std::string> warnings;
  std::string why_recorded = {};  ///< why the old one, which was to be timed again, stands with its recorded time
  std::string next = {};          ///< what tells more of the best where that is open; empty: what tells more elsewhere
  bool same_run = false;          ///< both are the same record, so that nothing can have changed
  std::string label = {};         ///< what the finals call the old one; empty: they did not time it
  bool with_spec = false;         ///< the old one is a spec of the same run, and `before.file` its values
  bool old_failed = false;        ///< such a one, and it has no time
};

/// How the best of a run compares with an earlier result. Precondition: one problem is compared.
inline const ComparedSpec& best_of(const RunComparison& comparison) { return comparison.shapes.front().best.front(); }
/// Whether the change is one that a check is to fail for: slower by more than the threshold, or a new failure.
bool is_regression(Change change);
/// Of the best and of the specs; baselines are compared for what they say of the machine.
std::size_t regressions(const RunComparison& comparison);
/// Whether anything became slower. `open`: nothing has, but the best of a problem may be slower by more than the
/// threshold, or is so by times whose noise is not known, or there was nothing to compare. Where both were to be timed
/// in turns, unknown noise alone leaves it open.
enum class Answer { no, open, yes };
Answer is_slower(const RunComparison& comparison);

/// Where the ratio of two medians with known intervals lies, as judge() has it for one row, which this may widen.
Interval ratio_interval(const Estimate& before, const Estimate& now, double process_noise = 0, double widened = 1);

/// Fills in ratios, intervals and changes, and sorts the specs.
///
/// The logarithms of two medians with known 95 % intervals differ by d; the ends of the interval of d are as far from
/// it as the square root of the sum of squares of the distances of the two ends from their medians (Zou and Donner,
/// Statistics in Medicine 27, 2008) and of 1.96 times the noise between processes. For several rows these distances are
/// widened by the ratio of the quantiles of the normal distribution, so that the intervals of all rows of one kind
/// (specs; best ones and baselines) hold together with a probability of 95 % (Bonferroni). A change is beyond noise if
/// the interval does not contain 1; it is slower if all of the interval is beyond the threshold.
void judge(RunComparison& comparison);

/// The noise between processes, from the ratios of two times of the same specs in one run, a list per run: 1.48 times
/// the median distance of their logarithms from the median of their run, and the more the fewer ratios there are (by a
/// factor of 1 + 3/n, about as Student's t widens). Runs with less than three ratios tell nothing.
double process_noise(std::span<const std::vector<double>> ratios);

}  // namespace tune
