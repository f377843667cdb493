#include "tuning/searching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/values/error.h"
#include "search/exhaustive.h"
#include "search/listed.h"
#include "search/spec_search.h"
#include "search/strategies.h"
#include "tuning/clock_search.h"

namespace tune::tuning {
namespace {

std::optional<double> cost_of(const Objective& objective, const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr) return std::nullopt;
  const Merit merit = objective.merit(trial.spec, *measurement);
  if (!std::isfinite(merit.value)) return std::nullopt;
  return merit.maximize ? -merit.value : merit.value;
}

std::unique_ptr<search::Strategy> only_spec(std::int64_t mesh_idx, const Space& space) {
  const auto size = space.product_size();
  if (mesh_idx < 0 || (size && mesh_idx >= *size))
    throw Error(ExitCode::bad_input,
                fmt::format("--spec {}: there is no such mesh_idx; the grid has {} points, and the first is 0",
                            mesh_idx, points_text(space)));
  const auto point = space.at(mesh_idx);
  if (const auto* rejection = std::get_if<Rejection>(&point))
    throw Error(ExitCode::none_valid,
                fmt::format("--spec {} is pruned: {}; --dry-run lists the valid specs", mesh_idx, rejection->reason));
  return std::make_unique<search::Listed>(std::deque{std::get<Spec>(point)});
}

}  // namespace

bool wants_search(const SearchRules& rules, std::optional<std::int64_t> size) {
  if (rules.in_mesh_order || rules.spec) return false;
  if (rules.strategy) return rules.strategy->name != "exhaustive";
  return rules.time_budget || (rules.max_evals && (!size || *rules.max_evals < *size));
}

std::unique_ptr<search::Strategy> make_strategy(const SearchRules& rules, ValidSpecs specs, std::vector<Spec> first,
                                                const Objective& objective) {
  auto strategy = std::make_unique<search::SpecSearch>(
      std::move(specs), std::move(first), [&objective](const Trial& trial) { return cost_of(objective, trial); });
  const search::StrategyChoice choice = rules.strategy ? *rules.strategy : search::strategies().front();
  strategy->set_search(search::make_search(choice, strategy->specs(), rules.seed));
  return strategy;
}

std::unique_ptr<search::Strategy> at_chosen_clocks(const SearchRules& rules, ValidSpecs specs,
                                                   const std::optional<Spec>& pilot, const Objective& objective) {
  const auto among = [rules, &objective](ValidSpecs left) -> std::unique_ptr<search::Strategy> {
    if (wants_search(rules, left.size())) return make_strategy(rules, std::move(left), {}, objective);
    std::deque<Spec> listed;
    for (std::int64_t i = 0; i < left.size(); ++i) listed.push_back(left.spec(i));
    return std::make_unique<search::Listed>(std::move(listed));
  };
  return std::make_unique<ClockSearch>(std::move(specs), pilot, objective, among, rules.say);
}

std::unique_ptr<search::Strategy> strategy_for(const SearchRules& rules, const Plan& plan,
                                               const std::optional<Grid>& grid, const Objective& objective) {
  if (rules.spec) return only_spec(*rules.spec, plan.space);
  if (rules.auto_clocks) return at_chosen_clocks(rules, grid->specs, grid->default_spec, objective);
  std::vector<Spec> first;
  if (rules.default_first && grid->default_spec) first.push_back(*grid->default_spec);
  for (const Spec& spec : rules.first)
    if (std::ranges::find(first, spec.mesh_idx, &Spec::mesh_idx) == first.end()) first.push_back(spec);
  if (wants_search(rules, grid->specs.size())) return make_strategy(rules, grid->specs, std::move(first), objective);
  return std::make_unique<search::Exhaustive>(grid->specs, std::move(first));
}

}  // namespace tune::tuning
