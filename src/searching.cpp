#include "searching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/error.h"
#include "search/exhaustive.h"
#include "search/listed.h"
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

std::unique_ptr<Strategy> only_spec(std::int64_t mesh_idx, const Space& space) {
  const auto size = space.product_size();
  if (mesh_idx < 0 || (size && mesh_idx >= *size))
    throw Error(ExitCode::bad_input,
                fmt::format("--spec {}: there is no such mesh_idx; the grid has {} points, and the first is 0",
                            mesh_idx, points_text(space)));
  const auto point = space.at(mesh_idx);
  if (const auto* rejection = std::get_if<Rejection>(&point))
    throw Error(ExitCode::bad_input,
                fmt::format("--spec {} is pruned: {}; --dry-run lists the valid specs", mesh_idx, rejection->reason));
  return std::make_unique<Listed>(std::deque{std::get<Spec>(point)});
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

std::unique_ptr<Strategy> strategy_for(const Options& options, const Plan& plan, const std::optional<Survey>& survey,
                                       const Objective& objective) {
  if (options.spec) return only_spec(*options.spec, plan.space);
  std::vector<Spec> first;
  if (options.tune && survey->default_spec) first.push_back(*survey->default_spec);
  if (wants_search(options, survey->specs.size()))
    return make_strategy(options, survey->specs, std::move(first), objective);
  return std::make_unique<Exhaustive>(survey->specs, std::move(first));
}

}  // namespace tune
