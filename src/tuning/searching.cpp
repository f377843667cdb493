#include "tuning/searching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

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

search::StrategyChoice choice_of(const SearchRules& rules) {
  return rules.strategy ? *rules.strategy : search::strategies().front();
}

std::unique_ptr<search::Strategy> only_spec(std::int64_t mesh_idx, const Space& space) {
  const auto size = space.product_size();
  if (mesh_idx < 0 || (size && mesh_idx >= *size))
    throw Error(
        ExitCode::bad_input,
        fmt::format("--spec {}: there is no such mesh_idx; the grid has {} points, from 0 on, and --dry-run lists "
                    "the valid ones",
                    mesh_idx, points_text(space)));
  const auto point = space.at(mesh_idx);
  if (const auto* rejection = std::get_if<Rejection>(&point))
    throw Error(ExitCode::none_valid,
                fmt::format("--spec {} is pruned: {}; --dry-run lists the valid specs", mesh_idx, rejection->reason));
  return std::make_unique<search::Listed>(std::deque{std::get<Spec>(point)});
}

/// Bytes per second; 0: not known.
double bandwidth_of(const Device& device) {
  const auto found = device.properties.find("memory_bandwidth");
  return found == device.properties.end() ? 0 : number_of(found->second).value_or(0);
}

}  // namespace

bool wants_search(const SearchRules& rules, std::optional<std::int64_t> size) {
  if (rules.in_mesh_order || rules.spec) return false;
  if (rules.strategy) return rules.strategy->name != "exhaustive";
  return rules.time_budget || (rules.max_evals && (!size || *rules.max_evals < *size));
}

std::optional<CostModel> model_for(const SearchRules& rules, const Plan& plan, const Device& device) {
  const bool by_time = plan.objective == "time" || plan.objective == "gflops";
  const search::StrategyChoice choice = choice_of(rules);
  if (!by_time || choice.name != "auto" || choice.option("model") == 0) return std::nullopt;
  return CostModel::of(plan, device);
}

search::Predict seconds_by(const CostModel& model, const ValidSpecs& specs) {
  return [model, &specs](const search::Point& point) -> std::optional<double> {
    const auto prediction = model.predict(specs.spec(point));
    return prediction ? std::optional(prediction->seconds) : std::nullopt;
  };
}

std::unique_ptr<search::Strategy> make_strategy(const SearchRules& rules, ValidSpecs specs, std::vector<Spec> first,
                                                const Objective& objective, const std::optional<CostModel>& model) {
  auto strategy = std::make_unique<search::SpecSearch>(
      std::move(specs), std::move(first), [&objective](const Trial& trial) { return cost_of(objective, trial); });
  std::unique_ptr<search::Prior> prior;
  if (model) prior = std::make_unique<search::Prior>(strategy->specs(), seconds_by(*model, strategy->specs()));
  auto search = search::make_search(choice_of(rules), strategy->specs(), rules.seed, prior.get());
  strategy->set_search(std::move(search), std::move(prior));
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
                                               const std::optional<Grid>& grid, const Objective& objective,
                                               const std::function<const Device&()>& device) {
  if (rules.spec) return only_spec(*rules.spec, plan.space);
  if (rules.auto_clocks) return at_chosen_clocks(rules, grid->specs, grid->default_spec, objective);
  const bool searches = wants_search(rules, grid->specs.size());
  const auto model = searches ? model_for(rules, plan, device()) : std::nullopt;
  std::vector<Spec> first;
  if (rules.default_first && grid->default_spec) first.push_back(*grid->default_spec);
  // A model knows more than the winners of other shapes, but for what the nearest one tells of the kernel.
  const bool knows = model && !rules.first.empty() && model->predict(rules.first.front());
  for (const Spec& spec : std::span(rules.first).first(knows ? 1 : rules.first.size()))
    if (std::ranges::find(first, spec.mesh_idx, &Spec::mesh_idx) == first.end()) first.push_back(spec);
  if (searches) return make_strategy(rules, grid->specs, std::move(first), objective, model);
  return std::make_unique<search::Exhaustive>(grid->specs, std::move(first));
}

double merit_near_memory_bound(double share, const Plan& plan, const Objective& objective, const Device& device) {
  const double bytes = bytes_of(plan.problem), bandwidth = bandwidth_of(device);
  if (!objective.follows_time() || bandwidth <= 0 || bytes <= 0)
    throw Error(ExitCode::bad_input,
                "--stop-within needs to know the best there can be: for the objectives time and gflops of a problem "
                "with known bytes on a device with a known memory_bandwidth, and in --simulate; --time-budget ends a "
                "run otherwise");
  const double seconds = bytes / bandwidth;
  return objective.maximize() ? flops_of(plan.problem) / seconds / 1e9 * (1 - share) : seconds / (1 - share);
}

}  // namespace tune::tuning
