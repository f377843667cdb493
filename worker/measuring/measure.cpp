#include "measuring/measure.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "model/statistics/stats.h"

namespace tune::worker {
namespace {

constexpr double kSingleLaunchFactor = 4;
constexpr std::size_t kSlowLaunches = 3, kSlowLaunchesOfGpu = 2;
constexpr double kRepeated = 0.02;       // seconds; several times what a scheduler lets another process run on a core
constexpr double kTimePrecision = 0.01;  // the finals decide between what is closer
constexpr double kContention = 1.05;
constexpr double kBeyondFinals = 1.2;  // the finals are for specs within 1.15 times the best

bool is_precise(const std::vector<double>& times, double step) {
  const Interval interval = median_interval(times);
  const double middle = median(times);
  const double enough = std::max(kTimePrecision * middle, step);
  return interval.high - middle <= enough && middle - interval.low <= enough;
}

}  // namespace

Sampler::Sampler(const MeasureRules& rules, const wire::Go& go, Seconds launch, Seconds now, First first)
    : rules_(rules), go_(go), launch_(std::move(launch)), now_(std::move(now)), first_(first) {}

Timing Sampler::run(double first) {
  if (go_.launches > 0) return exactly(go_.launches);
  if (const auto timing = run_if_hopeless(first)) return *timing;
  if (!first_.counts) times_.clear();
  warm_up();
  return until_precise();
}

std::optional<Timing> Sampler::run_if_hopeless(double first) {
  if (first > 0)
    launched_ += first_.launches;
  else
    first = launch();
  if (!is_hopeless(first)) return std::nullopt;
  return summarize(times_, true);
}

bool Sampler::slower_than(double factor, double seconds) const {
  return rules_.cutoff > 0 && go_.best_seconds > 0 && seconds > factor * go_.best_seconds;
}

/// Leaves in times_ what the verdict rests on.
bool Sampler::is_hopeless(double first) {
  const bool repeats = slower_than(rules_.cutoff, first) && first < first_.short_seconds;
  if (repeats) {
    const double end = now_() + kRepeated;
    do first = std::min(first, launch());
    while (slower_than(rules_.cutoff, first) && now_() < end);
  }
  times_ = {first};
  if (decides_alone(rules_, go_, first)) return true;
  if (!slower_than(rules_.cutoff, first)) {
    if (repeats) times_.clear();  // the fastest of several is no sample
    return false;
  }
  if (first_.launches > 1 && slower_than(rules_.cutoff, first - first_.loading)) return true;
  const std::size_t enough = first_.launches > 1 ? kSlowLaunchesOfGpu : kSlowLaunches;
  const auto spent = [&] { return std::accumulate(times_.begin(), times_.end(), 0.0); };
  while (times_.size() < enough && spent() < rules_.max_seconds) times_.push_back(launch());
  return slower_than(rules_.cutoff, *std::min_element(times_.begin(), times_.end()));
}

bool Sampler::is_precise_enough() const {
  return is_precise(times_, first_.step) || slower_than(kContention, median_interval(times_).low);
}

double Sampler::launch() {
  ++launched_;
  return launch_();
}

void Sampler::warm_up() {
  while (launched_ < rules_.warmup) launch();
}

Timing Sampler::exactly(std::int64_t count) {
  if (first_.launches > 1) launched_ = first_.launches;
  warm_up();
  for (std::int64_t i = 0; i < count; ++i) times_.push_back(launch());
  return summarize(times_, false);
}

Timing Sampler::until_precise() {
  const double start = now_() - std::accumulate(times_.begin(), times_.end(), 0.0);
  const auto out_of_time = [&] { return now_() - start >= rules_.max_seconds; };
  if (!times_.empty() && out_of_time()) return summarize(times_, false);
  const auto min_launches = static_cast<std::size_t>(std::max(1, rules_.min_launches));
  // Short launches are so many that looking at all of them after each would cost more than the launches.
  for (std::size_t next_look = kSlowLaunches;;) {
    times_.push_back(launch());
    const bool last = out_of_time();
    if (times_.size() < next_look && !last) continue;
    next_look = times_.size() + 1 + times_.size() / 16;
    if (times_.size() >= kSlowLaunches) {
      const double fastest = median_interval(times_).low;
      if (slower_than(rules_.cutoff, fastest)) return summarize(times_, true);
      if (first_.launches > 1 && slower_than(kBeyondFinals, fastest)) return summarize(times_, false);
    }
    if (last || (times_.size() >= min_launches && is_precise_enough())) return summarize(times_, false);
  }
}

bool decides_alone(const MeasureRules& rules, const wire::Go& go, double seconds) {
  return rules.cutoff > 0 && go.best_seconds > 0 &&
         seconds > std::max(rules.cutoff, kSingleLaunchFactor) * go.best_seconds;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t nanoseconds_now() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

}  // namespace tune::worker
