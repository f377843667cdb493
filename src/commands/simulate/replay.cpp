#include "commands/simulate/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "recording/recorded_space.h"
#include "report/shown_text.h"

namespace tune::commands {

namespace {

bool is_numbered(const recording::Recording& recording) {
  std::set<std::int64_t> numbers;
  return std::ranges::all_of(recording.trials, [&](const recording::RecordedTrial& trial) {
    return trial.mesh_idx >= 0 && numbers.insert(trial.mesh_idx).second;
  });
}

}  // namespace

Replay::Replay(const recording::Recording& recording, const Plan& plan, const Objective& objective, Change change)
    : recording_(&recording),
      plan_(&plan),
      objective_(&objective),
      change_(std::move(change)),
      trials_(recording),
      is_numbered_(is_numbered(recording)) {}

Trial Replay::answer(const Spec& spec) {
  const recording::RecordedTrial* recorded = trials_.find(spec.params);
  if (recorded == nullptr) throw unknown(spec);
  const double seconds = recorded->build_seconds + recorded->measure_seconds;
  clock_ += std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(std::min(seconds, 1e6)));
  Outcome outcome = change_ ? change_(spec, recorded->outcome, *objective_) : recorded->outcome;
  return {spec, std::move(outcome), seconds, true, recorded->measure_seconds};
}

Error Replay::unknown(const Spec& spec) const {
  std::vector<std::string> names;
  for (const Setting& setting : spec.params) names.push_back(setting.name);
  return {ExitCode::bad_input,
          fmt::format("{}: spec {} ({}) is not in the recording; narrow the grid with --param or --filter, or leave "
                      "--yaml out to search what was recorded",
                      recording_->file, spec.mesh_idx, report::settings_text(spec, names))};
}

std::optional<Merit> Replay::merit(const Spec& spec) const {
  const auto* measurement = std::get_if<Measurement>(&trials_.find(spec.params)->outcome);
  if (measurement == nullptr) return std::nullopt;
  const Merit merit = objective_->merit(spec, *measurement);
  return std::isfinite(merit.value) ? std::optional(merit) : std::nullopt;
}

std::optional<std::int64_t> Replay::recorded_idx(const Spec& spec) const {
  return is_numbered_ ? std::optional(trials_.find(spec.params)->mesh_idx) : std::nullopt;
}

std::optional<Merit> Replay::best(const ValidSpecs& specs) const {
  std::optional<Merit> best;
  for (const Space::Point& point : recording::points_of(*recording_, plan_->space)) {
    if (!specs.contains(point)) continue;
    const auto recorded = merit(specs.spec(point));
    if (recorded && (!best || recorded->cost() < best->cost())) best = recorded;
  }
  return best;
}

std::optional<double> Replay::near_best(const ValidSpecs& specs, double share) const {
  const std::optional<Merit> recorded = best(specs);
  if (!recorded) return std::nullopt;
  const bool scaled_down = recorded->maximize == (recorded->value > 0);
  return scaled_down ? recorded->value * (1 - share) : recorded->value / (1 - share);
}

}  // namespace tune::commands
