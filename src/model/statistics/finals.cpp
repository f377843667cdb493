#include "model/statistics/finals.h"

#include <algorithm>
#include <cmath>

#include "model/statistics/stats.h"

namespace tune {

const Finalist* find_spec(const Finals& finals, std::int64_t mesh_idx) {
  const auto found = std::ranges::find_if(finals.finalists, [&](const Finalist& f) { return f.entrant.is(mesh_idx); });
  return found == finals.finalists.end() ? nullptr : &*found;
}

const Failure* wrong_result_of(const Finals* finals, std::int64_t mesh_idx) {
  const Finalist* finalist = finals != nullptr ? find_spec(*finals, mesh_idx) : nullptr;
  const bool is_wrong = finalist != nullptr && finalist->failure && finalist->failure->is_wrong_result();
  return is_wrong ? &*finalist->failure : nullptr;
}

std::optional<Spec> default_of(const Finals& finals) {
  for (const Finalist& finalist : finals.finalists)
    if (finalist.entrant.is_default()) return finalist.entrant.spec;
  return std::nullopt;
}

Measurement measurement_after(const Trial& trial, const Finals* finals) {
  Measurement measurement = *trial.measurement();
  const Finalist* finalist = finals != nullptr ? find_spec(*finals, trial.spec.mesh_idx) : nullptr;
  if (finalist == nullptr || finalist->failure) return measurement;
  if (finished(*finalist)) measurement.timing.chosen = median_seconds(*finalist);
  for (const auto& [name, value] : finalist->metrics) measurement.metrics[name] = value;
  return measurement;
}

bool finished(const Finalist& finalist) {
  return !finalist.failure && !finalist.rounds.empty() &&
         std::ranges::all_of(finalist.rounds, [](const auto& round) { return is_valid_time(round.second.seconds); });
}

bool all_failed(const Finals& finals) {
  const auto is_spec = [](const Finalist& f) { return f.entrant.is_spec(); };
  return std::ranges::any_of(finals.finalists, is_spec) &&
         std::ranges::none_of(finals.finalists, [&](const Finalist& f) { return is_spec(f) && !f.failure; });
}

void drop_costs(Finals& finals) {
  for (Finalist& finalist : finals.finalists)
    for (auto& [number, round] : finalist.rounds) round.cost.reset();
}

bool has_costs(const Finalist& finalist) {
  return std::ranges::any_of(finalist.rounds, [](const auto& round) { return round.second.cost.has_value(); });
}

std::vector<double> costs_of(const Finalist& finalist) {
  std::vector<double> costs;
  for (const auto& [number, round] : finalist.rounds)
    if (round.cost) costs.push_back(*round.cost);
  return costs;
}

std::vector<double> seconds_of(const Finalist& finalist) {
  std::vector<double> seconds;
  for (const auto& [number, round] : finalist.rounds) seconds.push_back(round.seconds);
  return seconds;
}

double median_seconds(const Finalist& finalist) { return median(seconds_of(finalist)); }

double median_cost(const Finalist& finalist) {
  return has_costs(finalist) ? median(costs_of(finalist)) : median_seconds(finalist);
}

double relative_width(const Finalist& finalist) {
  return relative_width(Estimate{median_seconds(finalist), median_interval(seconds_of(finalist))}).value_or(INFINITY);
}

double ratio_of_costs(double cost, double other) {
  constexpr double kBeyondRatios = 1e9;
  if (cost == other) return 1;
  if (cost * other > 0) return cost > 0 ? cost / other : other / cost;
  return cost > other ? kBeyondRatios : 1 / kBeyondRatios;
}

}  // namespace tune
