#pragma once
#include <optional>
#include <span>
#include <vector>

#include "exec/finals_runner.h"
#include "exec/requests.h"
#include "flow/notes.h"
#include "model/statistics/objective.h"
#include "tuner.h"

namespace tune::flow {

/// All within this share of the best are finalists: what the sweep times in one state of a device and the finals in
/// another may differ by that much.
inline constexpr double kFinalsMargin = 0.15;
inline constexpr int kMostFinalists = 24;

/// Who is to meet in the finals, in the order of importance.
struct Contenders {
  std::vector<exec::Contender> specs, baselines;

  std::size_t count() const { return specs.size() + baselines.size(); }
  /// The specs, and then the baselines.
  std::vector<exec::Contender> all() const;
};

/// The best specs of the sweep, `finalists` at least, and today's configuration.
std::vector<exec::Contender> choose_specs(std::span<const Trial> trials, const Objective& objective,
                                          const std::optional<Spec>& today, int finalists);
/// The plan's baselines, which are tried as specs are. Throws as Tuner::try_one.
std::vector<exec::Contender> try_baselines(Tuner& tuner, const Plan& plan, Notes& notes);

/// Keeps as many as the device has memory for, or one where the device admits `one_process` at a time. Precondition:
/// there is a spec.
void cut_to_memory(Contenders& contenders, const exec::Requests& requests, bool one_process, Notes& notes);
/// Keeps as many as can be timed once in the seconds left, but at least one. Precondition: there is a spec.
void cut_to_time(Contenders& contenders, std::span<const Trial> trials, double seconds_left, Notes& notes);

}  // namespace tune::flow
