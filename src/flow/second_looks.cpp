#include "flow/second_looks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "flow/contenders.h"
#include "model/statistics/same_code.h"

namespace tune::flow {
namespace {

constexpr double kShare = 0.05;         // of the sweep's measuring
constexpr double kLeastBudget = 0.5;    // seconds; a sweep that is that short would have no look at all
constexpr double kVisible = 1.05;       // times as long as alone, more than the best
constexpr double kSameClock = 0.97;     // of the best's
constexpr double kLeastSeconds = 1e-9;  // of a look
constexpr const char* kClock = "clock_mhz";

/// A time that was measured in full counts more than one that was stopped early.
bool is_faster(const Measurement& a, const Measurement& b) {
  if (a.timing.stopped_early != b.timing.stopped_early) return b.timing.stopped_early;
  return a.timing.typical() < b.timing.typical();
}

Trial merged(const Trial& before, Trial now) {
  Trial trial = now.measurement() != nullptr && is_faster(*now.measurement(), *before.measurement()) ? now : before;
  if (now.measurement() != nullptr) {
    auto& clean = std::get<Measurement>(trial.outcome).clean_seconds;
    clean = std::max(before.measurement()->clean_seconds, now.measurement()->clean_seconds);
  }
  trial.recorded = false;
  trial.look_seconds = std::max(now.measure_seconds, kLeastSeconds);
  return trial;
}

/// What is known of disturbances, compared with the best spec of the sweep.
class Disturbances {
 public:
  Disturbances(std::span<const Trial> trials, const Plan& plan, const Objective& objective)
      : trials_(trials), reach_(1 + finals_margin(plan, objective, trials)) {
    const std::vector<Merit> merits = possible_merits(trials, objective);
    same_ = same_code(trials, std::nullopt);
    for (const Trial* trial : choose_finalists(trials, merits, 1, reach_ - 1, static_cast<int>(trials.size()), same_))
      near_.insert(trial->spec.mesh_idx);
    const auto first = choose_finalists(trials, merits, 1, 0, 1);
    if (!first.empty()) best_ = first.front()->measurement();
  }

  /// Near enough to the best for the finals, as far as it was timed.
  bool is_near(const Trial& trial) const { return near_.contains(code_of(trial)); }

  /// The same for all specs with the same code, of which one look is enough.
  std::int64_t code_of(const Trial& trial) const {
    const auto same = same_.find(trial.spec.mesh_idx);
    return same == same_.end() ? trial.spec.mesh_idx : same->second;
  }

  /// The least that a spec can take alone, if it was disturbed and would be near the best; 0: it was not, or would not.
  double bound(const Trial& trial) const {
    const Measurement* measurement = trial.measurement();
    if (best_ == nullptr || measurement == nullptr || is_near(trial)) return 0;
    const double clean = clean_seconds(*measurement), best = clean_seconds(*best_);
    if (clean <= 0 || best <= 0 || clean > reach_ * best) return 0;
    return measurement->timing.min / clean > kVisible * best_->timing.min / best ? clean : 0;
  }

 private:
  double clean_seconds(const Measurement& measurement) const {
    const auto own = measurement.metrics.find(kClock), best = best_->metrics.find(kClock);
    if (own == measurement.metrics.end() || best == best_->metrics.end()) return measurement.clean_seconds;
    const double ratio = own->second / best->second;
    return measurement.clean_seconds * (ratio < kSameClock ? ratio : 1);
  }

  std::span<const Trial> trials_;
  double reach_;
  SameCode same_;
  std::set<std::int64_t> near_;
  const Measurement* best_ = nullptr;
};

/// Those that have had no second look, as many as half of the time that is left suffices for, or one: if they are
/// disturbed again, they take longer than expected.
std::set<std::int64_t> chosen(std::span<const Trial> trials, const Disturbances& disturbances) {
  std::multimap<double, const Trial*> suspects;
  double budget = 0, spent = 0;
  for (const Trial& trial : trials) {
    budget += kShare * trial.measure_seconds;
    spent += trial.look_seconds;
    if (const double bound = disturbances.bound(trial); bound > 0 && trial.look_seconds == 0)
      suspects.emplace(bound, &trial);
  }
  const double left = std::max(budget, kLeastBudget) - spent;
  std::set<std::int64_t> specs, codes;
  double expected = 0;
  for (const auto& [bound, trial] : suspects) {
    if (codes.contains(disturbances.code_of(*trial))) continue;
    expected += trial->measure_seconds * bound / trial->measurement()->timing.min;
    if (expected > (specs.empty() ? left : left / 2)) break;
    codes.insert(disturbances.code_of(*trial));
    specs.insert(trial->spec.mesh_idx);
  }
  return specs;
}

}  // namespace

SecondLooks look_again(Tuner& tuner, const Plan& plan, const Objective& objective) {
  SecondLooks looks;
  if (!objective.by_time()) return looks;
  for (std::set<std::int64_t> specs;;) {
    specs = chosen(tuner.trials(), Disturbances(tuner.trials(), plan, objective));
    const auto is_chosen = [&](const Trial& trial) { return specs.contains(trial.spec.mesh_idx); };
    if (specs.empty() || tuner.repeat(is_chosen, merged) == 0) break;
  }
  const Disturbances now(tuner.trials(), plan, objective);
  std::set<std::int64_t> left;
  for (const Trial& trial : tuner.trials()) {
    if (trial.look_seconds > 0) ++looks.looked;
    if (trial.look_seconds > 0 && now.is_near(trial)) ++looks.came_back;
    if (now.bound(trial) > 0) left.insert(now.code_of(trial));
  }
  looks.left = static_cast<int>(left.size());
  return looks;
}

}  // namespace tune::flow
