#include "energy.h"

#include <algorithm>
#include <utility>

namespace tune::worker {
namespace {

constexpr double kLeastShareOfPower = 0.1;
constexpr std::int64_t kMostPerBatch = 10'000;

/// The counter at one of its steps.
struct Step {
  double joules, seconds;
  std::int64_t launches;
};

}  // namespace

EnergyMeter::EnergyMeter(std::function<void(std::int64_t)> launch, std::function<std::optional<double>()> counter,
                         Seconds now)
    : launch_(std::move(launch)), counter_(std::move(counter)), now_(std::move(now)) {}

std::optional<EnergyMeter::Result> EnergyMeter::run(double launch_seconds, double limit) const {
  const auto fitting = static_cast<std::int64_t>(kBatch / std::max(launch_seconds, 1e-9));
  const std::int64_t batch = std::clamp<std::int64_t>(fitting, 1, kMostPerBatch);
  std::optional<double> before = counter_();
  std::optional<Step> first;
  double last_step = now_();
  launch_(batch);
  int steps = 0;
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
    if (!first) {
      first = Step{*joules, now, done};
      continue;
    }
    const std::int64_t launches = done - first->launches;
    Result result{(*joules - first->joules) / static_cast<double>(launches), launches, false};
    result.stopped_early = ++steps >= kStepsToGiveUp && limit > 0 && result.joules > limit;
    if (result.stopped_early || now - first->seconds >= kWindow) return result;
  }
  return std::nullopt;
}

double hopeless_seconds(double best_joules, double power_limit_w) {
  return best_joules / (kLeastShareOfPower * power_limit_w);
}

}  // namespace tune::worker
