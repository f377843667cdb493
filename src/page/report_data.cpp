#include "page/report_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/peak.h"
#include "model/problem_size.h"
#include "model/statistics/objective.h"
#include "model/statistics/same_code.h"
#include "wire/json.h"

namespace tune::page {
namespace {

using nlohmann::json;

/// A recording whose trials have numbers of their own, in order of merit.
struct RankedRun {
  std::vector<Trial> trials;
  std::optional<Finals> finals;
  Ranking ranking;
};

/// Whether the recorded numbers tell the specs apart.
bool has_numbers(const recording::Recording& recording) {
  std::set<std::int64_t> seen;
  return std::ranges::all_of(recording.trials, [&](const recording::RecordedTrial& trial) {
    return trial.mesh_idx >= 0 && seen.insert(trial.mesh_idx).second;
  });
}

std::vector<Trial> trials_of(const recording::Recording& recording) {
  const bool numbered = has_numbers(recording);
  std::vector<Trial> trials;
  for (const recording::RecordedTrial& trial : recording.trials)
    trials.push_back({Spec{numbered ? trial.mesh_idx : std::ssize(trials), trial.settings},
                      recording::printed_outcome(recording, trial)});
  return trials;
}

/// The recorded finals, if all specs that met there are among the trials.
std::optional<Finals> complete_finals_of(const recording::Recording& recording, std::span<const Trial> trials) {
  std::optional<Finals> finals = recording.finals;
  if (!finals) return finals;
  const recording::RecordedTrials recorded(recording);
  for (Finalist& finalist : finals->finalists) {
    if (!finalist.entrant.is_spec()) continue;
    const recording::RecordedTrial* found = recorded.find(finalist.entrant.spec.params);
    if (found == nullptr) return std::nullopt;
    finalist.entrant.spec = trials[static_cast<std::size_t>(found - recording.trials.data())].spec;
  }
  return finals;
}

RankedRun ranked(const recording::Recording& recording, const Objective& objective) {
  RankedRun run{trials_of(recording), {}, {}};
  run.finals = complete_finals_of(recording, run.trials);
  if (run.finals) objective.keep_own_costs(*run.finals);
  const std::optional<Spec> today = run.finals ? default_of(*run.finals) : std::nullopt;
  const Finals* finals = run.finals ? &*run.finals : nullptr;
  for (Trial& trial : run.trials)
    if (const Failure* why = wrong_result_of(finals, trial.spec.mesh_idx)) trial.outcome = *why;
  run.ranking = rank(run.trials, merits_of(run.trials, objective, finals), finals, same_code(run.trials, today));
  return run;
}

/// Operations and bytes of the problem, and the device's limits.
json limits_json(const recording::Recording& recording, const Plan& plan) {
  const std::string size = problem_size_text(plan.problem, plan.constants);
  const bool told = recording.flops > 0 || recording.bytes > 0;
  const bool same = recording.problem.empty() || recording.problem == size;
  const auto either = [&](double recorded, double planned) { return told ? recorded : same ? planned : 0; };
  const auto bandwidth = recording.device.properties.find("memory_bandwidth");
  const bool known = bandwidth != recording.device.properties.end();
  return {{"flops", either(recording.flops, flops_of(plan.problem))},
          {"bytes", either(recording.bytes, bytes_of(plan.problem))},
          {"peak_flops", either(recording.peak_flops, peak_flops(recording.device, plan.problem))},
          {"bandwidth", known ? number_of(bandwidth->second).value_or(0) : 0}};
}

json interval_json(const Interval& interval) { return {interval.low, interval.high}; }

/// The names of parameters with their values, and where each value stands in its list.
class ParameterLists {
 public:
  explicit ParameterLists(const std::vector<Parameter>& parameters) : parameters_(&parameters) {}

  json lists() const {
    json all = json::array();
    for (const Parameter& parameter : *parameters_)
      all.push_back({{"name", parameter.name}, {"run_time", parameter.run_time}, {"values", parameter.values}});
    return all;
  }

  /// One index per parameter; -1 for a parameter that the spec does not have.
  json indices(const Spec& spec) const {
    json all = json::array();
    for (const Parameter& parameter : *parameters_) {
      const Value* value = spec.find(parameter.name);
      const auto at = value ? std::ranges::find(parameter.values, *value) : parameter.values.end();
      all.push_back(at == parameter.values.end() ? -1 : at - parameter.values.begin());
    }
    return all;
  }

 private:
  const std::vector<Parameter>* parameters_;
};

/// Why specs failed or were pruned, each reason once.
class Reasons {
 public:
  std::size_t index(const std::string& stage, const std::string& cause, const std::string& reason) {
    const json entry = {{"stage", stage}, {"cause", cause}, {"reason", reason}};
    const auto [found, is_new] =
        known_.emplace(entry.dump(-1, ' ', false, json::error_handler_t::replace), known_.size());
    if (is_new) all_.push_back(entry);
    return found->second;
  }
  std::size_t of(const Trial& trial) {
    if (const Failure* failure = trial.failure())
      return index(std::string(to_text(failure->stage)), std::string(to_text(failure->cause)), failure->kind);
    return index("pruned after build", "", std::get<PrunedAfterBuild>(trial.outcome).reason);
  }
  const json& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> known_;
  json all_ = json::array();
};

std::map<std::string, double> figures_of(const Trial& trial, const Plan& plan, const Objective& objective) {
  const Measurement& measurement = *trial.measurement();
  std::map<std::string, double> figures = measurement.metrics;
  figures.insert(measurement.build.properties.begin(), measurement.build.properties.end());
  for (const Metric& metric : plan.metrics)
    if (const double value = objective.metric(metric, trial.spec, measurement); std::isfinite(value))
      figures[metric.name] = value;
  return figures;
}

void add_measured(json& spec, const Measurement& measurement) {
  const Timing& timing = measurement.timing;
  spec["seconds"] = timing.typical();
  if (const auto interval = known_interval(timing)) spec["interval"] = interval_json(*interval);
  if (timing.count > 0) spec["launches"] = timing.count;
  if (timing.stopped_early) spec["early"] = true;
  if (measurement.checked) spec["checked"] = true;
}

/// `seconds_by_then`: how long the run had lasted when the spec was done.
json spec_json(const Trial& trial, double seconds_by_then, const ParameterLists& parameters, Reasons& reasons) {
  json spec = {{"idx", trial.spec.mesh_idx}, {"values", parameters.indices(trial.spec)}, {"at", seconds_by_then}};
  if (const Measurement* measurement = trial.measurement())
    add_measured(spec, *measurement);
  else
    spec["reason"] = reasons.of(trial);
  return spec;
}

void add_places(json& specs, const RankedRun& run) {
  std::map<const Trial*, std::size_t> places;
  for (std::size_t i = 0; i < run.ranking.rows.size(); ++i) {
    const Ranked& row = run.ranking.rows[i];
    json& spec = specs[static_cast<std::size_t>(row.trial - run.trials.data())];
    spec["place"] = i + 1;
    if (row.finals_result) spec["finals"] = row.finals_result->time.seconds;
    if (row.finals_result && row.finals_result->time.interval)
      spec["finals_interval"] = interval_json(*row.finals_result->time.interval);
    if (row.finals_result && row.finals_result->tie) spec["note"] = "tie";
    if (row.same_as != nullptr) spec["note"] = "same code as " + std::to_string(row.same_as->spec.mesh_idx);
    if (row.failed_in_finals != nullptr) spec["note"] = "failed in the finals";
  }
}

json specs_json(const recording::Recording& recording, const RankedRun& run, const ParameterLists& parameters,
                Reasons& reasons) {
  const bool has_clock =
      std::ranges::any_of(recording.trials, [](const recording::RecordedTrial& trial) { return trial.at > 0; });
  json specs = json::array();
  double passed = 0;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const recording::RecordedTrial& recorded = recording.trials[i];
    passed += recorded.build_seconds + recorded.measure_seconds;
    specs.push_back(spec_json(run.trials[i], has_clock ? recorded.at : passed, parameters, reasons));
  }
  add_places(specs, run);
  return specs;
}

/// `more`, `less`, or nothing where nobody says which is better.
std::string better_of(const std::string& figure, const Plan& plan, const Objective& objective) {
  std::optional<bool> maximize;
  for (const Metric& metric : plan.metrics)
    if (metric.name == figure) maximize = metric.maximize;
  if (figure == objective.name()) maximize = objective.maximize();
  if (maximize) return *maximize ? "more" : "less";
  return more_is_better(figure) ? "more" : figure == "energy" ? "less" : "";
}

/// Adds the figures that any spec has: to the run their names and which values are better, and to the specs their
/// values in the order of the names.
void add_figures(json& run, std::span<const Trial> trials, const Plan& plan, const Objective& objective) {
  std::vector<std::map<std::string, double>> figures;
  std::set<std::string> names;
  for (const Trial& trial : trials) {
    figures.push_back(trial.measurement() ? figures_of(trial, plan, objective) : std::map<std::string, double>());
    for (const auto& [name, value] : figures.back()) names.insert(name);
  }
  run["figures"] = names;
  run["better"] = json::array();
  for (const std::string& name : names) run["better"].push_back(better_of(name, plan, objective));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].measurement()) continue;
    json values = json::array();
    for (const std::string& name : names) {
      const auto found = figures[i].find(name);
      values.push_back(found == figures[i].end() ? json() : json(found->second));
    }
    run["specs"][i]["figures"] = std::move(values);
  }
}

json finalist_json(const Finalist& finalist, const FinalsResult* finals_result) {
  json rounds = json::array();
  for (const auto& [number, round] : finalist.rounds) rounds.push_back({number, round.seconds});
  json j = {{"label", label_of(finalist.entrant)},
            {"idx", finalist.entrant.spec.mesh_idx},
            {"rounds", std::move(rounds)},
            {"figures", finalist.metrics}};
  if (finalist.entrant.is_default()) j["default"] = true;
  if (finalist.eliminated_after > 0) j["left_after"] = finalist.eliminated_after;
  if (finalist.failure) j["failure"] = finalist.failure->headline();
  if (finals_result == nullptr) return j;
  j["seconds"] = finals_result->time.seconds;
  if (finals_result->time.interval) j["interval"] = interval_json(*finals_result->time.interval);
  return j;
}

json finals_json(const RankedRun& run) {
  json all = json::array();
  if (!run.finals) return all;
  for (const Finalist& finalist : run.finals->finalists) {
    const FinalsResult* finals_result = nullptr;
    for (const Ranked& row : run.ranking.rows)
      if (row.finals_result && finalist.entrant.is(row.trial->spec.mesh_idx)) finals_result = &*row.finals_result;
    for (const RankedBaseline& baseline : run.ranking.baselines)
      if (!finalist.entrant.is_spec() && baseline.finals_result && baseline.entrant.name == finalist.entrant.name)
        finals_result = &*baseline.finals_result;
    all.push_back(finalist_json(finalist, finals_result));
  }
  return all;
}

}  // namespace

std::string report_data(const recording::Recording& recording, const Plan& plan, const std::string& file) {
  const Objective objective(plan);
  const RankedRun run = ranked(recording, objective);
  const ParameterLists parameters(recording.parameters);
  Reasons reasons;
  const std::string planned = problem_size_text(plan.problem, plan.constants);
  const bool wall_clock =
      std::ranges::any_of(recording.trials, [](const recording::RecordedTrial& trial) { return trial.at > 0; });
  json j = {{"name", plan.name},
            {"problem", recording.problem.empty() ? planned : recording.problem},
            {"file", file},
            {"date", recording.date.substr(0, recording.date.find('.'))},
            {"device", recording.device},
            {"objective", {{"name", objective.name()}, {"maximize", objective.maximize()}}},
            {"wall_clock", wall_clock},
            {"limits", limits_json(recording, plan)},
            {"params", parameters.lists()},
            {"specs", specs_json(recording, run, parameters, reasons)},
            {"finals", finals_json(run)}};
  if (recording.time.value_or(TimeRule()) != TimeRule()) j["statistic"] = to_text(*recording.time);
  if (!recording.verdict.empty()) j["verdict"] = recording.verdict;
  j["reasons"] = reasons.all();
  add_figures(j, run.trials, plan, objective);
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tune::page
