#include "results/results_record.h"

#include <cmath>

#include "model/statistics/verdict.h"
#include "model/values/text.h"
#include "recording/recorded_space.h"

namespace tune::results {
namespace {

using Figures = std::map<std::string, double>;

/// The metrics that expressions compute.
Figures computed(const Plan& plan, const Objective& objective, const Spec& spec, const Measurement& measurement) {
  Figures figures;
  for (const Metric& metric : plan.metrics) {
    if (!metric.expression) continue;
    const double value = objective.metric(metric, spec, measurement);
    if (std::isfinite(value)) figures.emplace(metric.name, value);
  }
  return figures;
}

void add_computed(Finals& finals, const report::Summary& summary, const Plan& plan, const Objective& objective) {
  const auto add = [&](Finalist& finalist, const Spec& spec, const FinalsResult& finals_result) {
    Measurement measurement;
    measurement.timing.median = finals_result.time.seconds;
    measurement.metrics = finals_result.metrics;
    for (const auto& [name, value] : computed(plan, objective, spec, measurement))
      finalist.metrics.insert_or_assign(name, value);
  };
  for (Finalist& finalist : finals.finalists) {
    for (const Ranked& row : summary.ranking.rows)
      if (row.finals_result && finalist.entrant.is(row.trial->spec.mesh_idx))
        add(finalist, row.trial->spec, *row.finals_result);
    for (const RankedBaseline& baseline : summary.ranking.baselines)
      if (!finalist.entrant.is_spec() && baseline.entrant.name == finalist.entrant.name && baseline.finals_result &&
          !baseline.entrant.spec.params.empty())
        add(finalist, baseline.entrant.spec, *baseline.finals_result);
  }
}

std::vector<Metric> without_expressions(std::vector<Metric> metrics) {
  for (Metric& metric : metrics) metric.expression.reset();
  return metrics;
}

std::vector<wire::ResultsRecord::Tried> tried_of(const TuningOutcome& outcome, const Plan& plan,
                                                 const Objective& objective,
                                                 const std::function<std::string(const Spec&)>& id_of) {
  std::vector<wire::ResultsRecord::Tried> all;
  for (const Trial& trial : outcome.trials) {
    all.push_back({id_of(trial.spec), trial.spec.mesh_idx});
    if (!trial.measurement()) continue;
    Measurement measurement = *trial.measurement();
    measurement.timing = timing_of_figures(measurement.timing);
    all.back().metrics = computed(plan, objective, trial.spec, measurement);
  }
  return all;
}

/// The first line of a verdict begins with it.
std::optional<Decision> decision_in(std::string_view line) {
  return enumerator<Decision>(kDecisions, line.substr(0, line.find(':')));
}

}  // namespace

wire::ResultsRecord record_of(const Results& results, const config::Loaded& loaded, const Objective& objective,
                              const TuningOutcome& outcome, bool part,
                              const std::function<std::string(const Spec&)>& id_of) {
  const Plan& plan = loaded.plan;
  const report::Summary& summary = results.summary();
  wire::ResultsRecord record;
  record.file = summary.file;
  record.backend = plan.backend();
  if (plan.is_command()) record.run = plan.program()->run;
  record.flops = flops_of(plan.problem);
  record.bytes = bytes_of(plan.problem);
  record.state = plan.measure.state;
  record.time = summary.time;
  record.objectives = {objective.name()};
  record.objectives.insert(record.objectives.end(), plan.other_objectives.begin(), plan.other_objectives.end());
  record.metrics = without_expressions(plan.metrics);
  for (const Space::Mapping& mapping : plan.space.mappings()) record.mappings.push_back(mapping.parameters);
  record.tuned = summary.tuned;
  record.part = part;
  record.command = summary.command;
  if (summary.specs) record.specs = summary.specs->text();
  if (outcome.default_spec) record.default_idx = outcome.default_spec->mesh_idx;
  record.trials = tried_of(outcome, plan, objective, id_of);
  if (const Finals* finals = outcome.finals.held(); finals != nullptr)
    add_computed(record.finals.emplace(*finals), summary, plan, objective);
  record.finals_interrupted = outcome.finals.interrupted;
  record.pruned = summary.pruned;
  record.unranked = summary.unranked;
  record.logs = summary.logs;
  record.notes = summary.notes;
  record.verdict = summary.verdict;
  record.elapsed_seconds = summary.elapsed_seconds;
  return record;
}

Plan plan_of(const recording::JournalRun& run) {
  const wire::ResultsRecord& results = *run.results;
  Plan plan;
  plan.name = run.begin.name;
  plan.file_as_written = results.file;
  if (results.backend == Backend::program)
    plan.subject = ProgramPlan{{results.run}, !results.run.empty()};
  else
    plan.subject = KernelPlan{run.begin.name, results.backend};
  if (results.flops > 0) plan.problem = Custom{{}, results.flops, results.bytes, 0};
  plan.space = recording::space_of(results);
  plan.result_names = plan.space.names();
  plan.measure.state = results.state;
  plan.objective = results.objectives.front();
  plan.other_objectives.assign(results.objectives.begin() + 1, results.objectives.end());
  plan.metrics = results.metrics;
  return plan;
}

TuningOutcome outcome_of(const recording::JournalRun& run) {
  const wire::ResultsRecord& results = *run.results;
  TuningOutcome outcome;
  outcome.trials = run.trials;
  for (Trial& trial : outcome.trials)
    if (auto* measurement = std::get_if<Measurement>(&trial.outcome)) choose_time(measurement->timing, results.time);
  outcome.specs = Natural::parse(results.specs);
  if (results.default_idx >= 0) outcome.default_spec = Spec{results.default_idx, {}};
  if (results.finals)
    outcome.finals.state = HeldFinals{*results.finals};
  else
    outcome.finals.state = NoFinals{NoFinals::Why::not_recorded};
  outcome.finals.interrupted = results.finals_interrupted;
  outcome.fail_wrong_finalists();
  outcome.pruned = results.pruned;
  outcome.unranked = results.unranked;
  outcome.logs = results.logs;
  outcome.notes.add(results.notes);
  outcome.verdict = results.verdict;
  if (!results.verdict.empty()) outcome.decision = decision_in(results.verdict.front());
  outcome.elapsed_seconds = results.elapsed_seconds;
  return outcome;
}

}  // namespace tune::results
