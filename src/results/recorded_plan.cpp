#include "results/recorded_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "config/reader/device_file.h"
#include "model/problem_size.h"
#include "model/values/error.h"
#include "recording/recorded_space.h"
#include "results/results_record.h"

namespace tune::results {
namespace {

void set_objectives(Plan& plan, const recording::Recording& recording, const std::vector<std::string>& written) {
  std::vector<std::string> known = recording::figures_of(recording);
  if (std::ranges::find(known, "energy") != known.end()) known.insert(known.end(), {"edp", "ed2p"});
  known.push_back("time");
  for (const Metric& metric : plan.metrics) known.push_back(metric.name);
  for (const std::string& name : written)
    if (std::ranges::find(known, name) == known.end())
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: the recording has no figure '{}' to be the objective; it has {}", recording.file,
                              name, fmt::join(known, ", ")));
  plan.objective = written.front();
  plan.other_objectives.assign(written.begin() + 1, written.end());
}

config::Loaded plan_of_files(const recording::Recording& recording, const RecordedPlanRules& rules) {
  config::LoadRules load{rules.load};
  load.figures = recording::figures_of(recording);
  load.file_must_exist = false;
  load.measured_here = false;
  std::optional<Device> from_file;
  if (rules.device_file) from_file = config::read_device(*rules.device_file);
  load.probe = [&](Backend) {
    if (from_file) return *from_file;
    if (!recording.device.properties.empty()) return recording.device;
    throw Error(ExitCode::bad_input, recording.file +
                                         ": the recording does not tell the properties of its device, "
                                         "which an expression uses; give them with --device-file");
  };
  config::Loaded loaded = config::load(rules.yamls, load);
  // Who replays a recording without saying what for wants what it was recorded for.
  const bool silent = load.objectives.empty() && loaded.source.root.find("objective") == nullptr;
  if (silent && recording.format != recording::Recording::Format::journal)
    set_objectives(loaded.plan, recording, recording.objectives);
  return loaded;
}

config::Loaded plan_of_recording(const recording::Recording& recording, const RecordedPlanRules& rules) {
  const config::LoadSettings& settings = rules.load;
  if (!settings.params.empty() || !settings.new_params.empty() || settings.m || settings.n || settings.k)
    throw Error(ExitCode::bad_input,
                "--param, --add-param, -m, -n and -k change a tuning file's grid; give it with --yaml");
  config::Loaded loaded;
  const bool has_results = recording.run && recording.run->results;
  if (has_results)
    loaded.plan = plan_of(*recording.run);
  else
    loaded.plan.space = recording::space_of(recording);
  loaded.plan.name = recording.kernel.empty() ? rules.recording.stem().string() : recording.kernel;
  if (auto* kernel = std::get_if<KernelPlan>(&loaded.plan.subject)) kernel->name = loaded.plan.name;
  loaded.plan.yaml = rules.recording;
  loaded.plan.file_as_written = rules.recording.string();
  loaded.source.folder = std::filesystem::absolute(rules.recording).parent_path();
  loaded.source.root = config::make_mapping({});
  loaded.source.root.set("name", config::make_text(loaded.plan.name, {}));
  if (!has_results || !settings.objectives.empty())
    set_objectives(loaded.plan, recording, settings.objectives.empty() ? recording.objectives : settings.objectives);
  return loaded;
}

void must_be_of_the_same_kernel(const Plan& plan, const recording::Recording& recording) {
  const KernelPlan* kernel = plan.kernel();
  if (recording.kernel.empty() || recording.kernel == plan.name || (kernel && recording.kernel == kernel->name)) return;
  throw Error(ExitCode::bad_input, fmt::format("{}: the recording is of '{}', and {} tunes '{}'{}", recording.file,
                                               recording.kernel, plan.yaml.filename().string(), plan.name,
                                               kernel == nullptr ? "" : fmt::format(" (kernel '{}')", kernel->name)));
}

void must_be_of_the_same_problem(const Plan& plan, const recording::Recording& recording) {
  const std::string wanted = problem_size_text(plan.problem, plan.constants);
  if (recording.format != recording::Recording::Format::journal || recording.problem.empty() || wanted.empty()) return;
  if (recording.problem != wanted)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the recording is of the problem {}, and {} has {}", recording.file, recording.problem,
                            plan.yaml.filename().string(), wanted));
}

void must_have_the_same_parameters(const Plan& plan, const recording::Recording& recording) {
  std::vector<std::string> names;
  for (const Space::Mapping& mapping : plan.space.mappings())
    for (const Parameter& parameter : mapping.parameters) names.push_back(parameter.name);
  const auto fail = [&](const std::string& text) {
    throw Error(ExitCode::bad_input, fmt::format("{}: {}", recording.file, text));
  };
  for (const std::string& name : names)
    if (std::ranges::find(recording.parameters, name, &Parameter::name) == recording.parameters.end())
      fail(fmt::format("the recording does not know the parameter {} of {}", name, plan.yaml.filename().string()));
  for (const Parameter& parameter : recording.parameters)
    if (parameter.values.size() > 1 && std::ranges::find(names, parameter.name) == names.end())
      fail(fmt::format("the recording has {} values of {}, which is no parameter of {}", parameter.values.size(),
                       parameter.name, plan.yaml.filename().string()));
}

RecordedResults as_printed(const recording::JournalRun& run) {
  RecordedResults shown;
  shown.loaded.plan = plan_of(run);
  shown.outcome = outcome_of(run);
  shown.tuned = run.results->tuned;
  shown.time = run.results->time;
  shown.printed = true;
  shown.command = run.results->command;
  return shown;
}

/// The number that the run gave the spec, if it is known; else that in the space of what was recorded.
Trial trial_of(const recording::RecordedTrial& recorded, const Space& space) {
  const auto point = space.point(Spec{-1, recorded.settings});
  Trial trial{point ? space.spec(*point) : Spec{-1, recorded.settings}, recorded.outcome};
  for (const std::int64_t known : {recorded.listed_idx, recorded.mesh_idx})
    if (known >= 0) trial.spec.mesh_idx = known;
  trial.seconds = recorded.build_seconds + recorded.measure_seconds;
  return trial;
}

}  // namespace

config::Loaded load_recorded_plan(const recording::Recording& recording, const RecordedPlanRules& rules) {
  config::Loaded loaded = rules.yamls.empty() ? plan_of_recording(recording, rules) : plan_of_files(recording, rules);
  must_be_of_the_same_kernel(loaded.plan, recording);
  must_be_of_the_same_problem(loaded.plan, recording);
  must_have_the_same_parameters(loaded.plan, recording);
  return loaded;
}

RecordedResults recorded_results(const recording::Recording& recording, const std::filesystem::path& file) {
  if (recording.run && recording.run->results) return as_printed(*recording.run);
  RecordedResults shown;
  shown.loaded = load_recorded_plan(recording, {file, {}, {}, {}});
  shown.command = {"tune", "--simulate", file.string()};
  shown.time = recording.time.value_or(TimeRule());
  for (const recording::RecordedTrial& trial : recording.trials) {
    shown.outcome.trials.push_back(trial_of(trial, shown.loaded.plan.space));
    shown.outcome.elapsed_seconds += shown.outcome.trials.back().seconds;
  }
  if (recording.finals) {
    HeldFinals held{*recording.finals};
    Objective(shown.loaded.plan).keep_own_costs(held);
    shown.outcome.default_spec = default_of(held);
    shown.outcome.finals.state = std::move(held);
  }
  if (recording.run) {
    const std::vector<std::string>& words = recording.run->begin.command;
    shown.tuned = recording.finals || std::ranges::find(words, "--tune") != words.end();
  }
  return shown;
}

void place_rows(report::Summary& summary, const recording::Recording& recording, bool by_time) {
  std::map<std::int64_t, const recording::RecordedTrial*> placed;
  for (const recording::RecordedTrial& trial : recording.trials)
    if (trial.place > 0) placed.emplace(trial.listed_idx, &trial);
  if (placed.empty()) return;
  const auto place_of = [&](const Ranked& row) {
    const auto found = placed.find(row.trial->spec.mesh_idx);
    return found == placed.end() ? std::numeric_limits<std::int64_t>::max() : found->second->place;
  };
  std::ranges::stable_sort(summary.ranking.rows, {}, place_of);
  double best = 0;
  for (Ranked& row : summary.ranking.rows) {
    const auto found = placed.find(row.trial->spec.mesh_idx);
    const double seconds = found == placed.end() ? 0 : found->second->finals_seconds;
    if (!(seconds > 0)) continue;
    if (best == 0) best = seconds;
    row.finals_result =
        FinalsResult{seconds, {}, 0, row.trial->measurement()->metrics, seconds / best, 0, {}, false, {}};
    if (by_time) row.objective = seconds;
  }
}

}  // namespace tune::results
