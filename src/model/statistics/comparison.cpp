#include "model/statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

namespace tune {
namespace {

constexpr double kTailOfOne = 0.025;
constexpr double kQuantileOfOne = 1.959964;
constexpr double kDeviationOverMedian = 1.4826;  // of a normal distribution: its standard deviation over its MAD

/// The value beyond which a normal variable lies with this probability.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2) / 2 > tail ? low : high) = middle;
  }
  return high;
}

/// By how much intervals are widened to hold together.
double widening(std::size_t comparisons) {
  const auto count = static_cast<double>(std::max<std::size_t>(comparisons, 1));
  return normal_quantile(kTailOfOne / count) / kQuantileOfOne;
}

bool has_interval(const ComparedSpec& row) {
  return row.before && row.now && row.before->interval && row.now->interval;
}

Change change_of(const ComparedSpec& row, double threshold, double least_slowdown) {
  if (!row.before) return row.now ? Change::works : Change::unknown;
  if (!row.now) return Change::fails;
  if (!row.interval) return Change::unknown;
  const bool may_be_chance = !row.paired && row.interval->low < row.interval->high;
  if (row.interval->low > std::max(1 + threshold, may_be_chance ? least_slowdown : 0)) return Change::slower;
  if (row.interval->high > 1 + threshold) return Change::open;
  if (row.interval->low <= 1 && row.interval->high >= 1) return Change::noise;
  return *row.ratio < 1 / (1 + threshold) ? Change::faster : Change::small;
}

/// Whether it has more than four significant digits, which a clock of whole ms does not give.
bool is_precise(double value) {
  const double four_digits = value * std::pow(10, 3 - std::floor(std::log10(value)));
  return std::fabs(four_digits - std::round(four_digits)) > 1e-6 * four_digits;
}

/// Whether both have one measurement, as a journal and its best.yaml do, which has six digits: where a time and an end
/// of its interval have as many, they are hardly ever the same in two runs.
bool is_same_measurement(const Estimate& before, const Estimate& now) {
  if (!before.interval || !now.interval) return false;
  const double then[] = {before.seconds, before.interval->low, before.interval->high};
  const double again[] = {now.seconds, now.interval->low, now.interval->high};
  const auto equal = [](double a, double b) { return std::fabs(a - b) <= 5e-6 * std::fabs(a); };
  return std::ranges::equal(then, again, equal) && std::ranges::count_if(then, is_precise) >= 2;
}

/// That of a record with itself.
void set_equal(ComparedSpec& row) {
  row.paired = true;
  row.ratio = 1;
  row.interval = Interval{1, 1};
}

void judge_row(ComparedSpec& row, double threshold, const ComparedShape& shape, double widened) {
  if (row.change == Change::only_before || row.change == Change::only_now) return;
  if (!row.paired && row.before && row.now) row.ratio = row.now->seconds / row.before->seconds;
  if (!row.paired && has_interval(row))
    row.interval = ratio_interval(*row.before, *row.now, shape.process_noise, widened);
  row.change = change_of(row, threshold, shape.least_slowdown);
}

/// The largest ratio first; of what became faster, the smallest.
std::tuple<Change, double, std::int64_t> place_of(const ComparedSpec& row) {
  const double ratio = row.ratio.value_or(1);
  return {row.change, row.change == Change::faster ? ratio : -ratio, row.entrant.spec.mesh_idx};
}

}  // namespace

bool is_regression(Change change) { return change == Change::slower || change == Change::fails; }

std::size_t regressions(const RunComparison& comparison) {
  const auto counts = [](const ComparedSpec& row) { return is_regression(row.change); };
  std::size_t count = 0;
  for (const ComparedShape& shape : comparison.shapes) {
    if (!shape.best.empty() && counts(shape.best.front())) ++count;
    count += static_cast<std::size_t>(std::ranges::count_if(shape.specs, counts));
  }
  return count;
}

Answer is_slower(const RunComparison& comparison) {
  if (regressions(comparison) > 0) return Answer::yes;
  if (comparison.shapes.empty()) return Answer::open;
  const auto is_open = [&](const ComparedShape& shape) {
    const ComparedSpec& best = shape.best.front();
    return best.change == Change::open ||
           (best.change == Change::unknown &&
            ((best.ratio && *best.ratio > 1 + comparison.threshold) || !comparison.why_recorded.empty()));
  };
  return std::ranges::any_of(comparison.shapes, is_open) ? Answer::open : Answer::no;
}

Interval ratio_interval(const Estimate& before, const Estimate& now, double process_noise, double widened) {
  const auto distance = [](double from, double to) { return std::log(to / from); };
  const double between = kQuantileOfOne * process_noise;
  const double down =
      std::hypot(distance(now.interval->low, now.seconds), distance(before.seconds, before.interval->high), between);
  const double up =
      std::hypot(distance(now.seconds, now.interval->high), distance(before.interval->low, before.seconds), between);
  const double ratio = now.seconds / before.seconds;
  return {ratio * std::exp(-widened * down), ratio * std::exp(widened * up)};
}

void judge(RunComparison& comparison) {
  std::size_t best = 0, specs = 0;
  for (ComparedShape& shape : comparison.shapes) {
    for (auto* rows : {&shape.best, &shape.specs})
      for (ComparedSpec& row : *rows)
        if (row.before && row.now && (comparison.same_run || is_same_measurement(*row.before, *row.now)))
          set_equal(row);
    best += static_cast<std::size_t>(std::ranges::count_if(shape.best, has_interval));
    specs += static_cast<std::size_t>(std::ranges::count_if(shape.specs, has_interval));
  }
  for (ComparedShape& shape : comparison.shapes) {
    for (ComparedSpec& row : shape.best) judge_row(row, comparison.threshold, shape, widening(best));
    for (ComparedSpec& row : shape.specs) judge_row(row, comparison.threshold, shape, widening(specs));
    std::ranges::sort(shape.specs, {}, place_of);
  }
}

double process_noise(std::span<const std::vector<double>> ratios) {
  std::vector<double> distances;
  for (const std::vector<double>& run : ratios) {
    if (run.size() < 3) continue;
    std::vector<double> logs;
    for (const double ratio : run) logs.push_back(std::log(ratio));
    const double middle = median(logs);
    for (const double log : logs) distances.push_back(std::abs(log - middle));
  }
  if (distances.empty()) return 0;
  const double few = 1 + 3 / static_cast<double>(distances.size());
  return few * kDeviationOverMedian * median(std::move(distances));
}

}  // namespace tune
