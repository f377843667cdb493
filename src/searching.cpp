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

std::vector<Restriction> restrictions(std::span<const Filter> filters) {
  std::vector<Restriction> found;
  for (const Filter& filter : filters) {
    if (std::ranges::find(found, filter.name, &Restriction::name) != found.end()) continue;
    std::vector<Value> values;
    for (const Filter& other : filters)
      if (other.name == filter.name) values.push_back(other.value);
    found.push_back(
        {filter.name, [values](const Value& value) { return std::ranges::find(values, value) != values.end(); }});
  }
  return found;
}

std::optional<Spec> first_with(const Space& space, std::span<const Setting> settings) {
  std::vector<Restriction> wanted;
  for (const Setting& setting : settings)
    wanted.push_back({setting.name, [value = setting.value](const Value& other) { return other == value; }});
  const ValidSpecs specs(space, wanted);
  if (specs.size() == 0) return std::nullopt;
  return specs.spec(0);
}

}  // namespace tune
