#include "searching.h"

#include <algorithm>
#include <cmath>

#include "search/spec_search.h"
#include "search/strategies.h"

namespace tune {
namespace {

std::optional<double> cost_of(const Objective& objective, const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr) return std::nullopt;
  const Merit merit = objective.merit(trial.spec, *measurement);
  if (!std::isfinite(merit.value)) return std::nullopt;
  return merit.maximize ? -merit.value : merit.value;
}

}  // namespace

bool wants_search(const Options& options, std::optional<std::int64_t> size) {
  if (options.dry_run || options.build_only || options.spec) return false;
  if (options.strategy) return options.strategy->name != "exhaustive";
  return options.time_budget || (options.max_evals && (!size || *options.max_evals < *size));
}

std::unique_ptr<Strategy> make_strategy(const Options& options, ValidSpecs specs, std::vector<Spec> first,
                                        const Objective& objective) {
  auto strategy = std::make_unique<SpecSearch>(std::move(specs), std::move(first),
                                               [&objective](const Trial& trial) { return cost_of(objective, trial); });
  const StrategyChoice choice = options.strategy ? *options.strategy : strategies().front();
  strategy->set_search(make_search(choice, strategy->specs(), options.seed));
  return strategy;
}

}  // namespace tune
