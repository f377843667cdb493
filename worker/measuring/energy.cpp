#include "measuring/energy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "backend.h"

namespace tune::worker {
namespace {

constexpr double kLeastShareOfPower = 0.1;
constexpr std::int64_t kMostPerBatch = 10'000;

/// The counter at one of its steps.
struct Step {
  double joules, seconds;
  std::int64_t launches;
};

/// Half the width of the 95 % interval of the mean of a counter's steps. A step that is seen late is too long, and the
/// next one too short by as much, so the mean is known at least as well as this.
double half_width(const std::vector<double>& values) {
  constexpr std::size_t kFewest = 5;
  constexpr double kDeviations = 2.8;  // of five values; of more it is less
  if (values.size() < kFewest) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return kDeviations * std::sqrt(squares / (count - 1) / count);
}

constexpr int kEnergyRounds = 3;  // of finals in which it decides nothing

}  // namespace

EnergyMeter::EnergyMeter(std::function<void(std::int64_t)> launch, std::function<std::optional<double>()> counter,
                         Seconds now, double batch)
    : launch_(std::move(launch)), counter_(std::move(counter)), now_(std::move(now)), batch_(batch) {}

std::optional<EnergyMeter::Result> EnergyMeter::run(double launch_seconds, double limit) const {
  const auto fitting = static_cast<std::int64_t>(batch_ / std::max(launch_seconds, 1e-9));
  const std::int64_t batch = std::clamp<std::int64_t>(fitting, 1, kMostPerBatch);
  std::optional<double> before = counter_();
  std::optional<Step> first;
  double last_step = now_();
  launch_(batch);
  std::vector<double> of_steps;  ///< joules per launch
  Step previous{};
  for (std::int64_t done = batch; before; done += batch) {
    launch_(batch);
    const std::optional<double> joules = counter_();
    const double now = now_();
    if (joules == before) {
      if (now - last_step > std::max(kPatience, 3 * launch_seconds)) return std::nullopt;
      continue;
    }
    before = joules;
    last_step = now;
    if (!joules) continue;
    const Step step{*joules, now, done};
    if (!first) {
      first = previous = step;
      continue;
    }
    of_steps.push_back((step.joules - previous.joules) / static_cast<double>(step.launches - previous.launches));
    previous = step;
    const std::int64_t launches = done - first->launches;
    Result result{(*joules - first->joules) / static_cast<double>(launches), half_width(of_steps), launches, false};
    const double seconds = now - first->seconds;
    const bool suffices = std::ssize(of_steps) >= kStepsToGiveUp && seconds >= kSecondsToGiveUp;
    result.stopped_early = suffices && limit > 0 && result.joules > limit;
    if (result.stopped_early || seconds >= kWindow) return result;
  }
  return std::nullopt;
}

double hopeless_seconds(double best_joules, double power_limit_w) {
  return best_joules / (kLeastShareOfPower * power_limit_w);
}

bool EnergyRounds::begin(const wire::Go& go, const wire::Measured& measured) {
  using Energy = MeasureRules::Energy;
  if (rule_ == Energy::never || measured.timing.stopped_early) return false;
  return rule_ == Energy::always || (go.launches > 0 && rounds_++ < kEnergyRounds);
}

void EnergyRounds::do_without(const std::string& why, wire::Measured& measured) const {
  const std::string text = "energy is not measured: " + why;
  if (rule_ == MeasureRules::Energy::always) throw SpecFailure(Stage::measure, text);
  if (rounds_ == kEnergyRounds && !told_) measured.remarks.push_back(text);
}

void EnergyRounds::note(const EnergyMeter::Result& energy, double clock_mhz, wire::Measured& measured) {
  told_ = true;
  measured.metrics["energy"] = energy.joules;
  if (energy.half_width > 0) measured.metrics["energy_error"] = energy.half_width;
  if (clock_mhz > 0) measured.metrics["energy_clock_mhz"] = clock_mhz;
  measured.timing.stopped_early = energy.stopped_early;
}

wire::Go with_time_limit(wire::Go go, double cutoff, const Monitor* monitor) {
  if (go.best_joules <= 0 || cutoff <= 0) return go;
  const auto limit = monitor != nullptr ? monitor->power_limit_w() : std::nullopt;
  if (limit) go.best_seconds = hopeless_seconds(go.best_joules, *limit) / cutoff;
  return go;
}

}  // namespace tune::worker
