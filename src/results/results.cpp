#include "results/results.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/problem_size.h"
#include "model/program.h"
#include "model/values/error.h"
#include "platform/files/file.h"
#include "report/csv.h"
#include "report/shown_text.h"
#include "report/table.h"
#include "results/kbench_files.h"

namespace tune::results {
namespace fs = std::filesystem;
namespace {

/// All of them, if they are several.
std::vector<Objective> objectives_of(const Plan& plan, const Objective& first) {
  std::vector<Objective> objectives;
  if (!plan.other_objectives.empty()) objectives.push_back(first);
  for (const std::string& name : plan.other_objectives) objectives.emplace_back(plan, name);
  return objectives;
}

std::string argument_of_show(const fs::path& journal) {
  return (journal.extension() == ".jsonl" ? journal.parent_path() / journal.stem() : journal).string();
}

}  // namespace

Results::Results(ResultsRules rules, const config::Loaded& loaded, const Objective& objective,
                 const TuningOutcome& outcome)
    : rules_(std::move(rules)),
      loaded_(&loaded),
      objective_(&objective),
      outcome_(&outcome),
      objectives_(objectives_of(loaded.plan, objective)),
      summary_(unjudged()) {
  if (!rules_.judged) return;
  verdict_ = verdict_of(summary_, outcome, rules_.demands);
  summary_.verdict = verdict_->lines;
  summary_.decision = verdict_->decision;
}

/// All that is said of the run, with the verdict that it has if it is a recorded one.
report::Summary Results::unjudged() const {
  const Plan& plan = loaded_->plan;
  report::Summary summary;
  static_cast<report::Look&>(summary) = rules_;
  if (summary.problem.empty()) summary.problem = problem_size_text(plan.problem, plan.constants);
  summary.verdict = outcome_->verdict;
  summary.decision = outcome_->decision;
  summary.name = plan.name;
  summary.file = plan.file_as_written;
  summary.winner = outcome_->finals.has_winner();
  summary.specs = outcome_->specs;
  summary.varying = report::varying_parameters(plan.space);
  summary.trials = outcome_->trials;
  summary.ranking = ranking();
  summary.unranked = unranked();
  summary.other_state = plan.measure.state == PowerState::burst ? PowerState::sustained : PowerState::burst;
  summary.pruned = outcome_->pruned;
  summary.best_command = best_command(summary.ranking);
  summary.logs = outcome_->logs;
  summary.run = argument_of_show(rules_.journal);
  summary.columns = columns();
  if (!objective_->by_time()) summary.ranked_by = objective_->name();
  for (const Objective& each : objectives_) summary.objectives.push_back(each.name());
  if (!summary.ranking.rows.empty()) summary.figures = figures(summary.ranking.rows.front());
  summary.notes = outcome_->notes.texts();
  summary.elapsed_seconds = outcome_->elapsed_seconds;
  return summary;
}

ExitCode Results::code() const {
  ExitCode code = any() ? ExitCode::ok : ExitCode::none_valid;
  if (rules_.demands.right_results && any_wrong()) code = worse(code, ExitCode::check_failed);
  if (!any() || !verdict_ || !verdict_->asked) return code;
  if (outcome_->comparison && outcome_->comparison->old_failed) return worse(code, ExitCode::none_valid);
  if (verdict_->decision == Decision::fail) return worse(code, ExitCode::check_failed);
  return verdict_->decision == Decision::undecided ? worse(code, ExitCode::undecided) : code;
}

// The time of the finals follows from that of the winner in all rounds, also for a spec that left before the last.
Measurement Results::shown(const Ranked& row) const {
  Measurement measurement = measurement_after(row.timed(), outcome_->finals.held());
  if (row.finals_result) measurement.timing.chosen = row.finals_result->time.seconds;
  return measurement;
}

Ranking Results::ranking() const {
  const Finals* finals = outcome_->finals.held();
  SameCode same;
  if (rules_.tuned) same = same_code(outcome_->trials, outcome_->default_spec);
  Ranking ranking = rank(outcome_->trials, merits_of(outcome_->trials, *objective_, finals), finals, std::move(same));
  for (Ranked& row : ranking.rows)
    if (row.finals_result) row.objective = objective_->merit(row.timed().spec, shown(row)).value;
  if (!objectives_.empty()) mark_front(ranking);
  if (!outcome_->default_spec) return ranking;
  // Today's configuration competes as a spec; its result is shown as a baseline too.
  for (const Ranked& row : ranking.rows)
    if (row.finals_result && row.trial->spec.mesh_idx == outcome_->default_spec->mesh_idx) {
      const Entrant baseline{row.trial->spec, Entrant::Kind::baseline, "default"};
      ranking.baselines.insert(ranking.baselines.begin(), {baseline, row.finals_result});
      break;
    }
  return ranking;
}

// One that was stopped early is placed by its time.
std::map<std::int64_t, std::string> Results::unranked() const {
  if (!outcome_->unranked.empty()) return outcome_->unranked;
  std::map<std::int64_t, std::string> reasons;
  for (const Trial& trial : outcome_->trials) {
    if (!trial.measurement() || trial.measurement()->timing.stopped_early) continue;
    std::string why = objective_->why_none(trial.spec, measurement_after(trial, outcome_->finals.held()));
    if (!why.empty()) reasons.emplace(trial.spec.mesh_idx, std::move(why));
  }
  return reasons;
}

// The time of a spec that was timed less than asked for is not known well enough to be compared with the others.
void Results::mark_front(Ranking& ranking) const {
  std::vector<std::vector<double>> costs;
  for (const Ranked& row : ranking.rows) {
    std::vector<double>& cost = costs.emplace_back();
    for (const Objective& objective : objectives_) {
      const Merit merit = objective.merit(row.trial->spec, shown(row));
      const bool early = row.trial->measurement()->timing.stopped_early;
      cost.push_back(early || row.same_as != nullptr ? std::nan("") : merit.cost());
    }
  }
  const std::vector<bool> on_front = pareto_front(costs);
  for (std::size_t i = 0; i < costs.size(); ++i) ranking.rows[i].on_front = on_front[i];
}

std::vector<std::pair<std::string, double>> Results::values(const Ranked& row) const {
  std::vector<std::pair<std::string, double>> values;
  for (const Objective& objective : objectives_.empty() ? std::vector{*objective_} : objectives_)
    values.emplace_back(objective.name(), objective.merit(row.timed().spec, shown(row)).value);
  return values;
}

/// Those of the values that do not follow from the time.
std::vector<std::pair<std::string, double>> Results::figures(const Ranked& row) const {
  std::vector<std::pair<std::string, double>> figures = values(row);
  std::erase_if(figures, [&](const auto& each) { return Objective(loaded_->plan, each.first).by_time(); });
  return figures;
}

std::vector<config::FrontPoint> Results::front() const {
  std::vector<config::FrontPoint> points;
  for (const Ranked& row : summary_.ranking.rows)
    if (row.on_front) points.push_back({row.trial->spec, values(row)});
  return points;
}

std::vector<report::Column> Results::columns() const {
  std::vector<report::Column> columns;
  const Plan& plan = loaded_->plan;
  if (const double flops = flops_of(plan.problem); flops > 0) columns.push_back(report::arithmetic_column(flops));
  std::set<std::string> taken;
  for (const Metric& metric : plan.metrics) {
    taken.insert(metric.name);
    columns.push_back(
        {metric.name, [objective = objective_, &metric](const Spec& spec, const Measurement& measurement) {
           return spec.params.empty() ? std::nan("") : objective->metric(metric, spec, measurement);
         }});
  }
  std::set<std::string> measured;
  for (const Trial& trial : outcome_->trials)
    if (const Measurement* measurement = trial.measurement())
      for (const auto& [name, value] : measurement->metrics) measured.insert(name);
  if (const double flops = flops_of(plan.problem); flops > 0 && measured.contains("energy")) {
    columns.push_back(report::efficiency_column(flops));
    columns.back().objective = is_objective("gflops_per_watt");
  }
  const auto add_product = [&](const Objective& objective) {
    if (!objective.is_product() || !taken.insert(objective.name()).second) return;
    columns.push_back({objective.name(), [product = &objective](const Spec& spec, const Measurement& measurement) {
                         return product->merit(spec, measurement).value;
                       }});
  };
  add_product(*objective_);
  for (const Objective& objective : objectives_) add_product(objective);
  for (const std::string& name : measured)
    if (!taken.contains(name)) columns.push_back(report::measured_column(name));
  // A program may report what its row has already, such as its parameters.
  const std::vector<std::string> parameters = parameter_names(plan.space);
  std::set<std::string> titles(parameters.begin(), parameters.end());
  for (report::Column& column : columns) {
    column.objective = column.objective || is_objective(column.name);
    if (report::is_fixed_column(column.name) || titles.contains(column.name)) column.name += " (reported)";
    titles.insert(column.name);
  }
  return columns;
}

bool Results::is_objective(const std::string& name) const {
  return objective_->name() == name || std::ranges::find(objectives_, name, &Objective::name) != objectives_.end();
}

bool Results::any_wrong() const { return std::ranges::any_of(outcome_->trials, &Trial::is_wrong); }

std::pair<double, std::int64_t> Results::winner() const {
  const Ranked& first = summary_.ranking.rows.front();
  return {first.time().seconds, first.trial->spec.mesh_idx};
}

std::string Results::best_command(const Ranking& ranking) const {
  const Plan& plan = loaded_->plan;
  if (!plan.is_command() || ranking.rows.empty() || !outcome_->finals.has_winner()) return "";
  const Spec& best = ranking.rows.front().trial->spec;
  Placeholders values = values_in_commands(plan.space, best);
  values["args"] = arguments_of(plan, best);
  const ProgramPlan& program = *plan.program();
  if (program.run.is_shell) return expand_command(program.run.words, true, values).back();
  Words words = program.prefix;
  for (const Words* more : {&program.run.words, &program.suffix}) words.insert(words.end(), more->begin(), more->end());
  values[kSpecNumber] = {std::to_string(best.mesh_idx)};
  return typed_line(expand_command(words, false, values));
}

std::string Results::text() const { return report::result_text(summary_); }

config::BestResult Results::best(const Device& device) const {
  const Ranked& row = summary_.ranking.rows.front();
  const Measurement& sweep = *row.trial->measurement();
  config::BestResult best;
  best.winner = row.trial->spec;
  best.time = row.time();
  best.launches = row.finals_result ? row.finals_result->launches : sweep.timing.count;
  best.checked = sweep.checked;
  best.tie = row.finals_result && row.finals_result->tie;
  Measurement decided = sweep;
  decided.timing.chosen = best.time.seconds;
  if (row.finals_result) decided.metrics = row.finals_result->metrics;
  for (const report::Column& column : summary_.columns)
    if (const double value = column.value(best.winner, decided); std::isfinite(value))
      best.figures.emplace_back(column.name, value);
  for (const RankedBaseline& baseline : summary_.ranking.baselines)
    if (baseline.finals_result) best.ratios.emplace_back(baseline.entrant.name, baseline.finals_result->ratio);
  best.verdict = verdict_;
  best.front = front();
  best.artifact_hash = sweep.build.artifact_hash;
  if (!sweep.build.key.empty() && loaded_->source.root.find("file") != nullptr)
    best.store_path = fs::path(sweep.build.key) / traits_of(loaded_->plan.backend()).artifact;
  best.code = sweep.build.code;
  best.finals_interrupted = outcome_->finals.interrupted;
  if (rules_.time != TimeRule()) best.statistic = to_text(rules_.time);
  best.command = summary_.best_command;
  best.device = device;
  if (!best.artifact_hash.empty()) best.compiler = rules_.compiler;
  best.vendor_library = rules_.vendor_library;
  best.source_hash = rules_.source_hash;
  return best;
}

void Results::write_files(const Outputs& outputs, const Device& device) const {
  std::optional<Error> failure;
  const auto attempt = [&](const fs::path& path, const auto& write) {
    try {
      if (!path.empty()) write();
    } catch (const Error& error) {
      failure.emplace(error.code(), (failure ? failure->what() + std::string("\n") : "") + error.what());
    }
  };
  attempt(outputs.csv, [&] { write_csv(outputs.csv, loaded_->plan.space, *outcome_, summary_); });
  attempt(outputs.text, [&] { platform::write_file(outputs.text, kbench_text(summary_)); });
  attempt(outputs.failures, [&] { platform::write_file(outputs.failures, kbench_failures(summary_)); });
  const auto write_best = [&] {
    const fs::path folder = fs::absolute(outputs.best).parent_path();
    platform::write_file(outputs.best, config::write_best(loaded_->source, loaded_->plan, best(device), folder));
  };
  if (any()) attempt(outputs.best, write_best);
  if (failure) throw Error(*failure);
}

}  // namespace tune::results
