#include "commands/simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "commands/installation.h"
#include "commands/print_messages.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "config/reader/device_file.h"
#include "config/reader/filter.h"
#include "exec/evaluate/recorded_runner.h"
#include "model/problem_size.h"
#include "recording/recorded_space.h"
#include "results/recorded_plan.h"
#include "search/strategy.h"
#include "tuning/tuning.h"

namespace tune::commands {
namespace {

bool has_sizes(const TuneOptions& options) { return options.job.load.m || options.job.load.n || options.job.load.k; }

/// Without a tuning file, sizes choose one of the problems of a journal.
bool sizes_choose(const TuneOptions& options, const recording::Recording& recording) {
  return options.yaml.empty() && has_sizes(options) && recording.format == recording::Recording::Format::journal;
}

/// The file that --device-file means. Throws Error(bad_input).
std::optional<std::filesystem::path> known_device_file(const TuneOptions& options) {
  if (!options.machine.device_file) return std::nullopt;
  return config::find_device_file(*options.machine.device_file, folder_of_devices());
}

results::RecordedPlanRules plan_rules(const TuneOptions& options, const std::filesystem::path& file,
                                      const recording::Recording& recording) {
  results::RecordedPlanRules rules = {file, options.yaml, options.job.load, known_device_file(options)};
  rules.load.state.reset();  // the recorded times are of a state of their own
  if (sizes_choose(options, recording)) rules.load.m = rules.load.n = rules.load.k = std::nullopt;
  return rules;
}

std::string other_problems_note(const recording::Recording& last, std::size_t problems) {
  if (problems < 2) return "";
  return fmt::format(
      "{} is of {} problems, and this is the last, {}; -m, -n and -k choose another, if it has these sizes", last.file,
      problems, last.problem);
}

/// A journal may be of several problems: the one that the tuning file and the command line name counts, or else the
/// last. Without a tuning file, sizes name it, and the grid is that of the tuning that the journal has seen last, if it
/// tells that.
recording::Recording chosen_recording(const TuneOptions& options, const std::filesystem::path& file,
                                      std::string& note) {
  if (options.yaml.empty()) {
    if (options.job.load.m && options.job.load.n && options.job.load.k)
      return recording::read_run(
          file, {{}, true, fmt::format("M{}-N{}-K{}", *options.job.load.m, *options.job.load.n, *options.job.load.k)});
    recording::Recording recording = recording::read_run(file, {{}, true});
    if (sizes_choose(options, recording))
      throw Error(ExitCode::bad_input, "-m, -n and -k choose a recorded problem together; give all three");
    note = other_problems_note(recording, recording.problems);
    return recording;
  }
  std::vector<recording::Recording> recordings = recording::read_recordings(file);
  if (recordings.size() > 1) {
    recording::Recording of_any_problem = recordings.back();
    of_any_problem.problem.clear();
    const Plan plan = results::load_recorded_plan(of_any_problem, plan_rules(options, file, of_any_problem)).plan;
    const auto named =
        std::ranges::find(recordings, problem_size_text(plan.problem, plan.constants), &recording::Recording::problem);
    if (named != recordings.end()) return std::move(*named);
  }
  note = other_problems_note(recordings.back(), recordings.size());
  if (recordings.back().problem.empty() && recordings.size() == 1 && has_sizes(options))
    note = fmt::format("{} does not say of which problem it is, so nothing shows that its times are for these sizes",
                       recordings.back().file);
  return std::move(recordings.back());
}

results::Outputs outputs_of(const TuneOptions& options) {
  results::OutputRules rules = output_rules(options, options.job);
  rules.journal = false;
  results::Outputs outputs(options.outputs, rules);
  std::vector<std::filesystem::path> inputs = options.yaml;
  inputs.push_back(options.simulate);
  outputs.must_not_be(inputs);
  return outputs;
}

report::ProgressStyle no_progress() {
  report::ProgressStyle style;
  style.quiet = true;
  return style;
}

/// The specs that pass the filters, from the tuning file's grid or from the recorded ones.
ValidSpecs wanted_specs(const TuneOptions& options, const Plan& plan, const recording::Recording& recording,
                        results::TuningOutcome& outcome) {
  const std::vector<config::Filter>& filters = outcome.filters = config::parse_filters(options.filters, plan.space);
  if (!options.yaml.empty()) {
    tuning::Grid grid(plan, filters, false);
    outcome.pruned = grid.pruned;
    outcome.default_spec = grid.default_spec;
    if (grid.specs.size() == 0) throw Error(ExitCode::none_valid, "no spec is left\n" + text_of(grid.why_empty()));
    return std::move(grid.specs);
  }
  std::vector<Space::Point> points = recording::points_of(recording, plan.space);
  std::erase_if(points, [&](const Space::Point& point) { return !config::matches(filters, plan.space.spec(point)); });
  return {plan.space, std::move(points)};
}

/// Readers know specs by the numbers of the recorded run, and ties are decided by them; but a tuning file has its own.
void number_as_recorded(Spec& spec, const TuneOptions& options, const Replay& replay) {
  if (options.yaml.empty()) spec.mesh_idx = replay.recorded_idx(spec).value_or(spec.mesh_idx);
}

/// Of a search among the specs, on the recorded device or the one that is named instead.
std::optional<CostModel> cost_model(const TuneOptions& options, const ValidSpecs& specs, const Plan& plan,
                                    const recording::Recording& recording) {
  if (!tuning::wants_search(options.job.search, specs.size())) return std::nullopt;
  const auto file = known_device_file(options);
  return tuning::model_for(options.job.search, plan, file ? config::read_device(*file) : recording.device);
}

std::unique_ptr<search::Strategy> strategy_of(const TuneOptions& options, const ValidSpecs& specs, const Plan& plan,
                                              const Objective& objective, const std::optional<CostModel>& model,
                                              const Replay& replay, results::TuningOutcome& outcome) {
  const tuning::SearchSettings& search = options.job.search;
  if (search.auto_clocks && specs.size() > 0)
    return tuning::at_chosen_clocks(search, specs, outcome.default_spec, objective,
                                    [&outcome](const std::string& text) { outcome.notes.add(text); });
  if (tuning::wants_search(search, specs.size())) return tuning::make_strategy(search, specs, {}, objective, model);
  std::deque<Spec> listed;
  for (std::int64_t i = 0; i < specs.size(); ++i) {
    const Spec spec = specs.spec(i);
    Spec numbered = spec;
    number_as_recorded(numbered, options, replay);
    if (!search.spec || numbered.mesh_idx == *search.spec) listed.push_back(spec);
  }
  if (listed.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("no spec of {} is left to be simulated", plan.yaml.filename().string()));
  return std::make_unique<search::Listed>(std::move(listed));
}

/// Recorded finals count if all who met there are among the specs of this replay: then the best is theirs.
void take_finals(Finals finals, const Space& space, const Objective& objective, std::span<const Trial> trials,
                 results::TuningOutcome& outcome) {
  objective.keep_own_costs(finals);
  for (Finalist& finalist : finals.finalists) {
    if (!finalist.entrant.is_spec()) continue;
    const auto point = space.point(Spec{-1, finalist.entrant.spec.params});
    const auto idx = point ? space.spec(*point).mesh_idx : -1;
    const Trial* trial = find_trial(trials, idx);
    if (trial == nullptr) {
      outcome.notes.add(
          "the recorded finals are ignored: one of their contenders is not among the specs of this simulation");
      return;
    }
    finalist.entrant.spec = trial->spec;
    if (finalist.entrant.is_default()) outcome.default_spec = trial->spec;
  }
  outcome.finals.state = results::HeldFinals{std::move(finals)};
}

void note_recording(const recording::Recording& recording, const std::string& choice, bool finals_wanted,
                    results::TuningOutcome& outcome) {
  results::Notices& notes = outcome.notes;
  if (!choice.empty()) notes.add(choice);
  if (finals_wanted && recording.has_older_finals)
    notes.add(recording.file + ": its finals are ignored, because an older version of tune recorded them");
  notes.add(recording.damaged.texts(recording.file));
  notes.add(fmt::format("simulated: {} of the {} specs of {}{}; seconds are those of the recording",
                        outcome.trials.size(), recording.trials.size(), recording.file,
                        recording.device.name.empty() ? "" : " on " + recording.device.name));
}

bool wants_finals(const TuneOptions& options) { return options.tune && options.finals.hold; }

/// Decides among the trials, which have the numbers of the recorded run from then on.
void decide(const TuneOptions& options, const recording::Recording& recording, const Space& space,
            const Objective& objective, const Replay& replay, std::vector<Trial>& trials,
            results::TuningOutcome& outcome) {
  if (wants_finals(options) && recording.finals) take_finals(*recording.finals, space, objective, trials, outcome);
  const auto number = [&](Spec& spec) { number_as_recorded(spec, options, replay); };
  for (Trial& trial : trials) number(trial.spec);
  if (outcome.default_spec) number(*outcome.default_spec);
  using Why = results::NoFinals::Why;
  results::HeldFinals* held = outcome.finals.held();
  if (held == nullptr) {
    outcome.finals.state = results::NoFinals{options.finals.hold ? Why::recorded_times_decide : Why::not_wanted};
    return;
  }
  for (Finalist& finalist : held->finalists)
    if (finalist.entrant.is_spec()) number(finalist.entrant.spec);
}

std::optional<SimulatedWinner> winner_of(const Trial& chosen, const recording::Recording& recording,
                                         const ValidSpecs& specs, const Replay& replay, const Objective& objective) {
  const auto best = replay.best(specs), own = replay.merit(chosen.spec);
  if (!best || !own) return std::nullopt;
  if (!(best->value > 0) || !(own->value > 0))
    throw Error(ExitCode::bad_input,
                fmt::format("{}: {} is 0 or negative, so that nothing can be said relative to the best", recording.file,
                            objective.name()));
  return SimulatedWinner{chosen, best->maximize ? best->value / own->value : own->value / best->value};
}

struct Simulated {
  ExitCode code;
  std::optional<SimulatedWinner> winner;  ///< of an audit
};

/// Tunes on a recorded run. For an audit, which has hooks, nothing is printed or written.
Simulated tune_on_recording(const TuneOptions& options, const std::filesystem::path& file,
                            const SimulationHooks* audit) {
  // What is tuned.
  std::string choice;  // what a user is to know of it
  const recording::Recording recording = chosen_recording(options, file, choice);
  const config::Loaded loaded = results::load_recorded_plan(recording, plan_rules(options, file, recording));
  const Plan& plan = loaded.plan;
  const Objective objective(plan);
  results::TuningOutcome outcome;
  const ValidSpecs specs = wanted_specs(options, plan, recording, outcome);
  const tuning::SearchSettings& search = options.job.search;

  // Who answers: the recording, of which the best is the best there can be.
  Replay replay(recording, plan, objective, audit != nullptr ? audit->answer : Replay::Change());
  const auto enough = search.stop_within ? replay.near_best(specs, *search.stop_within) : std::nullopt;
  exec::RecordedRunner runner([&](const Spec& spec) { return replay.answer(spec); },
                              [&]() -> exec::Runner& { throw replay.unknown({}); });

  // Who asks.
  const std::optional<CostModel> model = cost_model(options, specs, plan, recording);
  const std::unique_ptr<search::Strategy> strategy =
      strategy_of(options, specs, plan, objective, model, replay, outcome);
  report::Progress progress(std::cerr, no_progress(), std::nullopt, replay.now());
  tuning::TunerRules rules{options.sweep};
  rules.keep_going = true;
  rules.max_evals = search.max_evals;
  rules.sweep_budget = search.time_budget;
  rules.enough = enough;
  tuning::Tuner tuner(objective, runner, progress, rules, [&] { return replay.now(); });

  // What is written.
  const results::Outputs outputs = audit != nullptr ? results::Outputs({}, {.journal = false}) : outputs_of(options);
  if (audit == nullptr) print_warnings(loaded.warnings);
  tuning::Exporter exporter(outputs, plan, objective, recording.device, options.sweep.time);
  if (!search.spec) outcome.specs = specs.exact_size();

  // Try, and decide.
  const Trial* chosen = nullptr;  // the outcome takes the trials over as they are
  const bool audit_chooses = audit != nullptr && audit->choose;
  tuner.sweep(*strategy);
  const bool can_decide = tuner.systematic_failure().empty();  // else specs are still out
  if (can_decide && audit_chooses)
    chosen = audit->choose(tuner.trials(), plan, objective);
  else if (can_decide)
    decide(options, recording, plan.space, objective, replay, tuner.trials(), outcome);

  // Say what was found, and write it.
  tuning::take_trials(tuner, {}, std::chrono::duration<double>(replay.now() - Replay::Time()).count(), outcome);
  for (const Trial& trial : outcome.trials) exporter.add(trial);
  note_recording(recording, choice, wants_finals(options), outcome);
  tuning::note_model(model, outcome);
  if (options.tune) tuning::note_trials(plan, outcome);
  results::ResultsRules shown = results_rules(options, options.job, outputs.csv);
  shown.problem = recording.problem;
  const results::Results results(shown, loaded, objective, outcome);
  if (audit == nullptr) tuning::print(results);
  tuning::write_files(results, outputs, recording.device, outcome.trials, exporter);
  if (!audit_chooses && results.any()) chosen = results.rows().front().trial;
  if (audit == nullptr || chosen == nullptr) return {results.code(), std::nullopt};
  return {results.code(), winner_of(*chosen, recording, specs, replay, objective)};
}

}  // namespace

ExitCode simulate(const TuneOptions& options) { return tune_on_recording(options, options.simulate, nullptr).code; }

std::optional<SimulatedWinner> simulated_winner(const TuneOptions& options, const std::filesystem::path& recording,
                                                const SimulationHooks& hooks) {
  return tune_on_recording(options, recording, &hooks).winner;
}

}  // namespace tune::commands
