#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/evaluate/finals_run.h"
#include "exec/request/request_factory.h"
#include "model/statistics/objective.h"
#include "results/notices.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// The most specs that take part in finals, unless --finalists asks for more: the best by the sweep, and more of those
/// that were disturbed in it. In 150 finals of up to 24, each winner was one of the best 16 by the sweep
/// (configs/recorded/finalists.py).
inline constexpr int kMostFinalists = 16, kMostWithDisturbed = 24;

/// Whether all kernels take 1 ms or more on a GPU that is timed in bursts: launches of one hardly differ.
bool are_steady(const Plan& plan, const Objective& objective, std::span<const Trial> trials);
/// All specs within this share of the best are finalists: the times of the sweep and of the finals may differ by that
/// much. It is 0.05 for steady kernels, and 0.15 otherwise.
double finals_margin(const Plan& plan, const Objective& objective, std::span<const Trial> trials);

/// The contenders of the finals, the most important first.
struct Contenders {
  std::vector<wire::Contender> specs, baselines;

  std::size_t count() const { return specs.size() + baselines.size(); }
  /// The specs, and then the baselines.
  std::vector<wire::Contender> all() const;
};

/// The specs that the sweep would dismiss although only a disturbance may have made them slow: they are too far behind
/// the best for the finals, visibly waited for others (Measurement::clean_seconds), and would be near enough without
/// that. What disturbs a launch can only make it longer.
/// Those that take least without it come first; one stands for all with the same code. None if specs are not ranked by
/// time alone, or where nothing is known of disturbances.
std::vector<const Trial*> disturbed_specs(std::span<const Trial> trials, const Plan& plan, const Objective& objective,
                                          const std::optional<Spec>& today);

/// The best specs of the sweep, `finalists` at least, today's configuration, and the disturbed ones.
std::vector<wire::Contender> choose_specs(std::span<const Trial> trials, const Plan& plan, const Objective& objective,
                                          const std::optional<Spec>& today, int finalists);
/// The plan's baselines, which are tried as specs are, but for those that are among the `stored` ones; and these.
/// Throws as Tuner::try_one.
std::vector<wire::Contender> try_baselines(Tuner& tuner, const Plan& plan, std::vector<wire::Contender> stored,
                                           results::Notices& notes);

/// The fastest spec of those that took no part, if in the sweep it took less time than any of them in the finals (on a
/// GPU, whose power state may be another, less than two thirds): the device is not what it was then. Null: there is
/// none.
const Trial* overlooked_spec(std::span<const Trial> trials, const Finals& finals, Backend backend,
                             const std::optional<Spec>& today);

/// Keeps as many as the device has memory for, or one where the device admits `one_process` at a time. Precondition:
/// there is a spec.
void cut_to_memory(Contenders& contenders, const exec::RequestFactory& requests, bool one_process,
                   results::Notices& notes);
/// Finds out which specs were slow in the sweep. Precondition: specs are ranked by time, and there is one.
void mark_slow(Contenders& contenders, std::span<const Trial> trials);
/// Leaves these out, but not today's configuration.
void leave_out_slow(Contenders& contenders);
/// How long a round of them all takes, by these rules and by the sweep. Precondition: there is a spec.
double round_seconds(const Contenders& contenders, std::span<const Trial> trials, const exec::FinalsRules& rules);
/// Keeps as many as can be timed in the rounds that a verdict needs, by these rules, in the seconds left. Of the best
/// two specs, the baselines and today's configuration it keeps as many as can be timed once, but at least one.
/// Precondition: there is a spec.
void cut_to_time(Contenders& contenders, std::span<const Trial> trials, const exec::FinalsRules& rules,
                 double seconds_left);

}  // namespace tune::tuning
