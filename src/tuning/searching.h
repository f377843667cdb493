#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "model/cost/cost_model.h"
#include "model/statistics/objective.h"
#include "search/prior.h"
#include "search/strategies.h"
#include "search/strategy.h"
#include "tuning/grid.h"

namespace tune::tuning {

/// What a user says of the specs that a run is to try.
struct SearchSettings {
  std::optional<std::int64_t> spec;                ///< this one alone, by its mesh_idx
  std::optional<search::StrategyChoice> strategy;  ///< unset: `auto` where a search is wanted
  std::optional<std::int64_t> max_evals;
  std::optional<double> time_budget;  ///< seconds
  std::optional<double> stop_within;  ///< 0.01: a spec within 1 % of the best there can be is enough
  std::uint64_t seed = 0;
  bool auto_clocks = false;  ///< --clocks auto
};

/// Whether the settings ask for a search rather than for every spec: by name, or by a budget that is (or, for `size`
/// unknown, may be) too small for all.
bool wants_search(const SearchSettings& settings, std::optional<std::int64_t> size);

/// The strategy of the settings (or `auto`) over `specs`. It asks for those of `first` before the others, knows what
/// `model` predicts and optimizes `objective`, which must outlive it.
std::unique_ptr<search::Strategy> make_strategy(const SearchSettings& settings, ValidSpecs specs,
                                                std::vector<Spec> first, const Objective& objective,
                                                const std::optional<CostModel>& model = std::nullopt);
/// The model of cost that a search has: nullopt if it looks for something else than a short time, if the strategy uses
/// none, or if the plan or the device tells too little. `plan` must outlive it.
std::optional<CostModel> model_for(const SearchSettings& settings, const Plan& plan, const Device& device);

/// `--clocks auto`: one spec, `pilot` or the first, is measured at a few clocks, and at those that a model finds
/// promising then every one of these specs, or what a search among them asks for. `say` is told what was found out.
/// `objective` must outlive the strategy. Throws Error(bad_input) if no parameter is an SM clock, or if the objective
/// is not computed from energy.
std::unique_ptr<search::Strategy> at_chosen_clocks(const SearchSettings& settings, ValidSpecs specs,
                                                   const std::optional<Spec>& pilot, const Objective& objective,
                                                   std::function<void(const std::string&)> say);

/// `specs` must outlive it.
search::Predict seconds_by(const CostModel& model, const ValidSpecs& specs);

/// What a run tries: the one spec, what a search asks for, or all in mesh order; today's configuration before them if
/// it is wanted, and then those of `first`, which are specs of the grid. `grid` is there unless one spec was asked for;
/// it, `plan` and `objective` must outlive the strategy. `device` is asked only for a search. Throws Error(bad_input),
/// and as `device`.
std::unique_ptr<search::Strategy> strategy_for(const SearchSettings& settings, bool default_first,
                                               std::span<const Spec> first, const Plan& plan,
                                               const std::optional<Grid>& grid, const Objective& objective,
                                               const std::function<const Device&()>& device,
                                               std::function<void(const std::string&)> say);
/// The same without measuring, where there is nothing that a search could go by.
std::unique_ptr<search::Strategy> in_mesh_order(const std::optional<std::int64_t>& spec, bool default_first,
                                                const Plan& plan, const std::optional<Grid>& grid);

/// The merit within this share (0.01) of the best that the device's memory allows: no kernel reads and writes the bytes
/// of its problem faster. Throws Error(bad_input) if the objective, the problem or the device do not tell it.
double merit_near_memory_bound(double share, const Plan& plan, const Objective& objective, const Device& device);

}  // namespace tune::tuning
