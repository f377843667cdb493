#include "tuning/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/values/text.h"

namespace tune::tuning {
namespace {

constexpr std::int64_t kMostCounted = 20'000;  // specs; to look at each takes about a microsecond
constexpr std::int64_t kMostAsked = 256;       // specs; to identify one takes about 20 us
constexpr double kHour = 3600;
constexpr double kMebibyte = 1 << 20;
constexpr double kLeastFinals = 1;  // seconds
constexpr double kSure = 2;         // standard errors of a mean

std::string compiled(const Spec& spec) {
  std::string text;
  for (const Setting& setting : spec.params)
    if (!setting.run_time) text += setting.name + '=' + to_text(setting.value) + '\n';
  return text;
}

/// `40 s`, `21 min`, `3.2 h`.
std::string number_text(double seconds, double largest) {
  if (largest < 100) return fmt::format("{:.0f}", std::max(seconds, 1.0));
  return largest < 2 * kHour ? fmt::format("{:.0f}", std::max(seconds / 60, 1.0))
                             : fmt::format("{:.1f}", seconds / kHour);
}

std::string range_text(const Forecast::Range& range) {
  const char* unit = range.high < 100 ? "s" : range.high < 2 * kHour ? "min" : "h";
  const std::string low = number_text(range.low, range.high), high = number_text(range.high, range.high);
  return low == high ? fmt::format("{} {}", high, unit) : fmt::format("{} to {} {}", low, high, unit);
}

}  // namespace

std::optional<std::int64_t> count_builds(const Grid& grid, std::int64_t specs) {
  const auto mappings = grid.plan->space.mappings();
  const bool any_run_time = std::ranges::any_of(mappings, [](const Space::Mapping& mapping) {
    return std::ranges::any_of(mapping.parameters, &Parameter::run_time);
  });
  if (!any_run_time) return specs;
  if (specs < grid.specs.size() || specs > kMostCounted) return std::nullopt;
  std::set<std::string> different;
  for (std::int64_t i = 0; i < specs; ++i) different.insert(compiled(grid.specs.spec(i)));
  return std::ssize(different);
}

void Forecast::ask(const Grid& grid, const std::function<const Trial*(const Spec&)>& find) {
  const std::int64_t size = grid.specs.size(), asked = std::min(size, kMostAsked);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < asked; ++i) {
    // By parts and not by products, which could be too large.
    const Trial* trial = find(grid.specs.spec(size / asked * i + size % asked * i / asked));
    if (trial == nullptr) continue;
    ++found;
    add(*trial);
  }
  exact_ = asked == size && work_.specs == size;
  known_ =
      exact_ ? found
             : std::llround(static_cast<double>(found) / static_cast<double>(asked) * static_cast<double>(work_.specs));
  from_journal_ = is_ready();
  asked_ = from_journal_ ? samples_ : 0;
  if (from_journal_) return;
  samples_ = built_ = 0;
  build_sum_ = measure_sum_ = measure_squares_ = 0;
}

void Forecast::add_artifact(std::uintmax_t bytes) {
  ++artifacts_;
  artifact_bytes_ += static_cast<double>(bytes);
}

// What the journal recorded of an artifact that was there already says nothing of builds.
void Forecast::add(const Trial& trial) {
  if (trial.measure_seconds <= 0) return;
  ++samples_;
  measure_sum_ += trial.measure_seconds;
  measure_squares_ += trial.measure_seconds * trial.measure_seconds;
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr || measurement->build.seconds <= 0) return;
  ++built_;
  build_sum_ += measurement->build.seconds;
}

std::string Forecast::work_text() const {
  std::string text = plural(work_.specs, "spec");
  if (work_.builds && *work_.builds > 0) text += ", " + plural(*work_.builds, "build");
  if (known_ > 0) text += fmt::format("; the journal knows {}{} of the specs", exact_ ? "" : "about ", known_);
  return text;
}

double Forecast::to_come() const { return static_cast<double>(std::max<std::int64_t>(work_.specs - known_, 0)); }

double Forecast::builds_to_come() const {
  if (work_.specs == 0) return 0;
  return to_come() * static_cast<double>(work_.builds.value_or(work_.specs)) / static_cast<double>(work_.specs);
}

double Forecast::build_seconds() const { return built_ == 0 ? 0 : builds_to_come() * build_sum_ / built_ / work_.jobs; }

double Forecast::disk_bytes() const { return artifacts_ == 0 ? 0 : builds_to_come() * artifact_bytes_ / artifacts_; }

Forecast::Range Forecast::timing() const {
  const double mean = measure_sum_ / samples_;
  const double variance = std::max(measure_squares_ / samples_ - mean * mean, 0.0);
  const double error = kSure * std::sqrt(variance / samples_);
  const double specs = to_come() / work_.devices;
  const double low = specs * std::max(mean - error, mean / 2), high = specs * (mean + error);
  const double finals = work_.finals ? work_.finals->seconds_after(high) : 0;
  return {low + std::min(kLeastFinals, finals), high + finals};
}

// Where both go on at the same time, one of them waits for the other.
Forecast::Range Forecast::range() const {
  const Range timing = this->timing();
  const double builds = build_seconds();
  if (work_.in_turn) return {builds + timing.low, builds + timing.high};
  return {std::max(builds, timing.low), std::max(builds, timing.high)};
}

bool Forecast::has_left(const Range& earlier) const {
  const double middle = (range().low + range().high) / 2;
  return middle < earlier.low || middle > earlier.high;
}

Forecast::Range Forecast::in_budget() const {
  const double most = work_.budget_seconds.value_or(INFINITY);
  return {std::min(range().low, most), std::min(range().high, most)};
}

/// `21 to 34 min = builds 9 min, timing 12 to 25 min with the finals`
std::string Forecast::parts() const {
  std::string text = range_text(range());
  if (const double builds = build_seconds(); builds >= 1)
    text += fmt::format(" = builds {}, timing {}", range_text({builds, builds}), range_text(timing()));
  return text + (work_.finals ? " with the finals" : "");
}

std::string Forecast::text() const {
  const Range one = in_budget(), all = {one.low * work_.tunings, one.high * work_.tunings};
  const bool bounded = range().high > one.high;
  std::string text = "estimate: ";
  if (work_.tunings > 1)
    text += fmt::format("{} for {} tunings, if all are like this one{}", range_text(all), work_.tunings,
                        bounded ? ", within the --time-budget of each" : "");
  else if (bounded)
    text += fmt::format("at most {}, the --time-budget; all {} specs would take {}", range_text({one.high, one.high}),
                        work_.specs, parts());
  else
    text += parts();
  text += from_journal_ ? fmt::format("; from {} specs in the journal", samples_)
                        : fmt::format("; from the first {} specs", samples_);
  if (const double bytes = disk_bytes(); bytes >= kMebibyte && work_.tunings == 1 && !bounded)
    text += bytes < 1024 * kMebibyte ? fmt::format("; disk {:.0f} MiB of builds", bytes / kMebibyte)
                                     : fmt::format("; disk {:.1f} GiB of builds", bytes / kMebibyte / 1024);
  if (all.high > kHour && !work_.budget_seconds)
    text +=
        "; shorter: --time-budget 30m searches, --max-evals N tries fewer specs, and Ctrl-C costs nothing, because the "
        "same command goes on from there";
  return text;
}

std::string Forecast::answer() const {
  if (all_known()) return work_text() + ": nothing is left to be timed";
  return work_text() + "; " + (is_ready() ? text() : "time unknown: the journal knows too few of them");
}

}  // namespace tune::tuning
