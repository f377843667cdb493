#include "commands/tune/tune.h"

#include <fmt/format.h>

#include <iostream>

#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "commands/tune/agent_plan.h"
#include "commands/tune/compared_baseline.h"
#include "commands/tune/end_notes.h"
#include "commands/tune/estimate_notice.h"
#include "commands/tune/job_journal.h"
#include "commands/tune/rules.h"
#include "exec/evaluate/local_executor.h"
#include "exec/process/stage_times.h"
#include "page/live_page.h"
#include "page/report_data.h"
#include "platform/files/streams.h"
#include "tuning/export.h"
#include "tuning/finals_stage.h"
#include "tuning/measuring.h"
#include "tuning/stored_baseline.h"
#include "tuning/tuning.h"

namespace tune::commands {
namespace {

/// Passes on what happens in a tuning: to the journal, to the person who waits, and to the files of other tools.
class JobObserver : public exec::RunObserver {
 public:
  /// All must outlive this.
  JobObserver(recording::Journal& journal, const exec::RequestFactory& requests, report::Progress& progress,
              tuning::Exporter& exporter, EstimateNotice& estimate)
      : journal_(&journal), requests_(&requests), progress_(&progress), exporter_(&exporter), estimate_(&estimate) {}

  void started(const Spec& spec, std::size_t device) override {
    journal_->append(wire::StartedRecord{requests_->trial_id(spec), spec.mesh_idx, static_cast<int>(device)});
  }
  void waits() override { journal_->note_end(); }
  void finished(const Trial& trial) override {
    exporter_->add(trial);
    estimate_->add(trial);
  }
  void distrusts(const std::string& why) override { journal_->append(wire::DistrustRecord{why}); }
  void news(const std::string& text) override { progress_->say(text, now()); }
  void warning(const std::string& text) override { progress_->warn(text, now()); }

 private:
  recording::Journal* journal_;
  const exec::RequestFactory* requests_;
  report::Progress* progress_;
  tuning::Exporter* exporter_;
  EstimateNotice* estimate_;
};

page::LiveRuns live_runs(const Target& target) {
  return {target.plan().name,
          {target.outputs.journal},
          recording::read_recordings,
          [&target](const recording::Recording& recording) {
            return page::report_data(recording, target.plan(), target.outputs.journal.filename().string());
          }};
}

/// Throws Error(bad_input).
void require_artifact(const Target& target, const exec::RequestFactory& requests,
                      const std::optional<tuning::Grid>& grid) {
  if (!target.options.artifact) return;
  if (!requests.has_build())
    throw Error(ExitCode::bad_input, "--artifact: nothing is built for " + target.plan().file_as_written +
                                         ", which runs as it is; leave the option out");
  std::error_code ignored;
  if (std::filesystem::exists(*target.options.artifact, ignored) &&
      !std::filesystem::is_directory(*target.options.artifact, ignored))
    throw Error(ExitCode::bad_input,
                "--artifact " + target.options.artifact->string() + " is no folder; choose another");
  if (!target.options.tune && !target.job.search.spec && grid->specs.size() != 1)
    throw Error(ExitCode::bad_input,
                "--artifact copies what was built for one spec; add --tune to find the best, or "
                "choose one with --spec N");
}

/// The devices of this machine, or of the first agent's. Throws Error(bad_input).
std::vector<exec::ChosenDevice> chosen_devices(Target& target) {
  const wire::Hello& machine = target.hello();
  const bool of_agents = target.workers.others() != nullptr && machine.devices.empty();
  return exec::choose_devices(of_agents ? std::nullopt : target.job.devices, machine);
}

std::optional<tuning::Grid> examined_grid(const Target& target, results::TuningOutcome& outcome) {
  std::optional<tuning::Grid> grid = target.grid(outcome);
  const Job& job = target.job;
  if (!job.silent) print_warnings(outcome.notes.warnings);
  if (!job.search.spec) grid->require_specs(name_of_input(target.options));
  if (grid && !grid->uncounted && !job.search.spec && job.only.empty()) outcome.specs = grid->specs.exact_size();
  return grid;
}

const wire::Hello& suitable_machine(Target& target) {
  const wire::Hello& hello = target.hello();
  target.objective.require(hello.device);
  require_journal(target.outputs);
  return hello;
}

std::size_t count_of_devices(const Target& target, const std::vector<exec::ChosenDevice>& devices) {
  const exec::OtherMachines* others = target.workers.others();
  return others != nullptr ? static_cast<std::size_t>(others->devices()) : devices.size();
}

/// Whether two programs are compared, which may have changed in files that nobody knows of.
bool compares_programs(const Target& target) {
  return target.plan().is_program() && !target.options.baseline_spec.empty();
}

std::optional<ComparedBaseline> compared_baseline(const Target& target, const Device& device) {
  const std::optional<std::string> label = target.compared_with();
  if (!label) return std::nullopt;
  if (!target.job.baseline) return ComparedBaseline(*label, target.options.threshold, target);
  const std::filesystem::path& named = *target.job.baseline;
  const bool by_user = !target.job.silent;
  if (by_user && !target.options.finals.hold && tuning::names_artifact(named))
    cli::refuse(
        fmt::format("--no-finals would compare a new time with the recorded one of {}; without it, finals time both in "
                    "turns. tune diff compares recorded times",
                    named.string()));
  auto baseline = std::make_optional<ComparedBaseline>(named, target.options.threshold, target, device);
  for (const std::string& note : baseline->notes()) print_wrapped("note: " + note);
  if (by_user) tuning::require_stored(named, store_places(target.options.store));
  return baseline;
}

std::unique_ptr<page::LivePage> live_page(const Target& target) {
  if (!target.options.live) return nullptr;
  return std::make_unique<page::LivePage>(live_runs(target), *target.options.live);
}

/// Builds and times specs: this machine, or agents. Throws Error(environment) if the machine could not be probed.
std::unique_ptr<exec::Executor> executor_for(const Target& target, const exec::RequestFactory& requests,
                                             const std::vector<exec::ChosenDevice>& devices, bool share_processes,
                                             exec::RunObserver& observer) {
  if (const std::string& why = target.machine.probe_failure(); !why.empty()) throw Error(ExitCode::environment, why);
  if (exec::OtherMachines* others = target.workers.others(); others != nullptr)
    return others->executor(requests, agent_plan(target, requests, share_processes), store_places(target.options.store),
                            observer);
  exec::WorkerRules rules = worker_rules(target.options, target.workers, target.plan().backend());
  rules.devices = devices;
  rules.share_processes = share_processes;
  rules.observer = &observer;
  if (target.job.pool != nullptr) keep_processes_in(*target.job.pool, rules);
  return std::make_unique<exec::LocalExecutor>(requests, std::move(rules));
}

/// Tells a person what is to be done, and later how long it will take.
void begin_estimate(EstimateNotice& estimate, const Target& target, const std::optional<tuning::Grid>& grid,
                    const recording::Journal& journal, const exec::RequestFactory& requests, std::int64_t count) {
  const Job& job = target.job;
  if (job.quiet || job.silent || job.search.spec || job.estimated_tunings <= 0 || grid->uncounted || count <= 1) return;
  // Where there is one estimate for all sizes, there is no line for each.
  const std::string heading =
      target.options.makes_several() ? "" : fmt::format("{} on {}", target.plan().name, requests.hello().device.name);
  estimate.begin(*grid, journal, requests, heading);
}

results::ResultsRules how_shown(const Target& target, const exec::RequestFactory& requests,
                                const results::TuningOutcome& outcome) {
  results::ResultsRules shown = results_rules(target.options, target.job, target.outputs.csv);
  if (outcome.ended_early) shown.all_in.clear();  // the files of an earlier, complete run stay as they are
  shown.demands.finals_budget = target.options.finals.budget;
  shown.demands.time_budget = target.job.search.time_budget;
  if (target.options.makes_several())
    shown.label = target.job.label();
  else
    shown.journal = target.outputs.journal;
  shown.compiler = requests.hello().compiler;
  shown.vendor_library = requests.hello().vendor_library;
  shown.source_hash = requests.source_hash();
  return shown;
}

void end_progress(report::Progress& progress, const results::Results& results, const Objective& objective) {
  if (results.summary().tuned && results.any()) {
    const Ranked& best = results.rows().front();
    progress.set_best(best.trial->spec, results.winner().first, tuning::figure_text(objective, best.objective));
  }
  progress.finish(now());
}

// All is written by now: what prevents this costs nothing else.
void print_usage(exec::Executor* executor, const Target& target, const results::TuningOutcome& outcome) try {
  const std::optional<exec::Usage> spent = executor != nullptr ? executor->usage() : std::nullopt;
  if (!spent) return;
  exec::Usage usage = *spent;
  if (const auto* held = outcome.finals.held(); held != nullptr && !held->date) usage.finals_seconds = held->seconds;
  usage.programs = target.plan().is_program();
  print_wrapped(exec::to_text(usage));
} catch (const Error&) {
}

void print_kept(const std::filesystem::path& folder, const results::TuningOutcome& outcome) {
  std::vector<std::int64_t> failed;
  for (const Trial& trial : outcome.trials)
    if (trial.failure() != nullptr) failed.push_back(trial.spec.mesh_idx);
  platform::print(kept_text(folder, failed));
}

tuning::FinalsJob finals_job(const Target& target, const exec::RequestFactory& requests, recording::Journal& journal,
                             report::Progress& progress, tuning::Measuring& measuring, const exec::ChosenDevice& device,
                             report::Progress::Time sweep_began) {
  const SharedOptions& options = target.options;
  const Job& job = target.job;
  tuning::FinalsJob finals{
      options.finals, options.measure.deadlines, target.plan(), target.objective, requests, journal, progress,
      measuring};
  finals.retry_failed = job.retry_failed;
  finals.one_process = device.one_process;
  finals.alone = repeats_result(target) || (job.baseline && !target.objective.by_time());
  finals.one_of_several = options.makes_several();
  finals.accuracy = options.demands.accuracy.value_or(kAccuracy);
  finals.width = options.demands.noise;
  finals.finalists = job.only.empty() ? options.finals.finalists : static_cast<int>(job.only.size());
  finals.time_budget = job.search.time_budget;
  if (finals.time_budget) finals.deadline = sweep_began + platform::ticks(*finals.time_budget);
  if (const auto label = target.compared_with())
    finals.question = wire::Question{*label, options.threshold.value_or(results::ComparisonRules().threshold)};
  return finals;
}

/// Decides among the trials: with --tune in finals.
void decide(tuning::FinalsJob job, const Target& target, tuning::Tuner& tuner, results::TuningOutcome& outcome) {
  tuning::remeasure_distrusted(tuner, job.measuring, outcome.notes);
  if (!target.options.tune && !repeats_result(target)) return;
  job.stored =
      tuning::stored_baselines(job.requests, store_places(target.options.store), target.job.baseline, outcome.notes);
  tuning::decide_in_finals(job, tuner, outcome);
  if (outcome.finals.held() == nullptr) tuning::confirm_best(tuner, job.measuring, target.objective);
}

/// What is printed and copied once the files are written.
void finish(const Target& target, const results::Results& results, const results::TuningOutcome& outcome,
            tuning::Measuring& measuring, recording::Journal& journal) {
  if (outcome.comparison && !target.job.silent) print_comparison(*outcome.comparison);
  if (!target.options.makes_several()) journal.note_complete();
  if (target.options.artifact && results.any())
    tuning::copy_artifact(measuring.executor(), *results.rows().front().trial, target.outputs.artifact);
  if (!target.job.silent && !target.options.measure.keep.empty()) print_kept(target.options.measure.keep, outcome);
  if (!target.job.quiet) print_usage(measuring.started(), target, outcome);
}

/// What callers are told of it.
void set_results(Tuned& tuned, const results::Results& results, const SharedOptions& options,
                 const exec::RequestFactory& requests, const recording::Journal& journal,
                 const EstimateNotice& estimate, const tuning::Measuring& measuring) {
  tuned.estimated = estimate.was_printed();
  tuned.started_workers = measuring.started() != nullptr;
  tuned.code = results.code();
  tuned.verdict = results.verdict();
  tuned.rows = results.rows();
  if (!options.tune || !results.any()) return;
  tuned.best = results.best(requests.hello().device);
  const results::HeldFinals* held = tuned.outcome.finals.held();
  const auto* recorded = journal.find(requests.trial_id(tuned.best->winner));
  tuned.date = held != nullptr && held->date ? *held->date : recorded != nullptr ? recorded->date : "";
}

}  // namespace

Tuned tune(Target& target) {
  const Job& job = target.job;
  Tuned tuned;
  results::TuningOutcome& outcome = tuned.outcome;

  // What is tuned, and for which machine.
  const std::optional<tuning::Grid> grid = examined_grid(target, outcome);
  const std::unique_ptr<search::Strategy> strategy = strategy_of(target, grid, outcome.notes);
  const std::int64_t count = count_of(job, grid);
  const wire::Hello& machine = suitable_machine(target);
  const std::vector<exec::ChosenDevice> devices = chosen_devices(target);
  const std::size_t device_count = count_of_devices(target, devices);
  const tuning::TunerRules rules = tuner_rules(target, grid, machine.device, device_count);

  // What is known already.
  const bool fresh = target.options.demands.fresh || repeats_result(target) || compares_programs(target);
  tuning::Exporter exporter(target.outputs, target.plan(), target.objective, machine.device, target.options.sweep.time);
  const std::optional<ComparedBaseline> baseline = compared_baseline(target, machine.device);
  const std::unique_ptr<page::LivePage> live = live_page(target);
  const exec::RequestFactory requests(target.plan(), machine, job.search.seed);
  require_artifact(target, requests, grid);
  std::unique_ptr<recording::Journal> own_journal;
  recording::Journal& journal = begin_journal(target, requests, fresh, own_journal, outcome.notes);
  const tuning::LookupRules lookup = trusted_lookup(target.options, job, journal, outcome.notes);

  // Who is told of what happens.
  report::Progress progress(std::cerr, progress_style(target.options, job, target.plan()), count, now(),
                            limits_of(target, rules, count));
  EstimateNotice estimate(work_to_do(target, grid, requests.has_build(), count, device_count),
                          store_places(target.options.store).folder, progress);
  JobObserver observer(journal, requests, progress, exporter, estimate);

  // Who answers: the journal, and for what it does not know this machine or agents, which start nothing before that.
  tuning::Measuring measuring(journal, requests, target.objective, lookup, rules.most_out, [&] {
    return executor_for(target, requests, devices, lookup.share_processes, observer);
  });
  tuning::Tuner tuner(target.objective, measuring.runner(), progress, rules, now, observer,
                      tuning::Tuner::Record{requests, journal});

  // Try, and decide.
  begin_estimate(estimate, target, grid, journal, requests, count);
  const tuning::JobEnd end = tuning::run_job(journal, [&, began = now()] {
    tuner.sweep(*strategy);
    if (tuner.systematic_failure().empty())
      decide(finals_job(target, requests, journal, progress, measuring, devices.front(), began), target, tuner,
             outcome);
  });
  if (end.by_error && tuner.trials().empty()) end.rethrow();  // it has not begun, so there is nothing to print

  // Say what was found, however it ended.
  tuning::take_trials(tuner, end, std::chrono::duration<double>(now() - target.started).count(), outcome);
  const results::ResultsRules shown = how_shown(target, requests, outcome);
  note_at_the_end(target, grid, shown, requests, devices.front(), baseline, journal, outcome);
  const results::Results results(shown, target.loaded, target.objective, outcome);
  end_progress(progress, results, target.objective);
  if (!job.silent) tuning::print(results);

  // Write it, and say what else is of interest then.
  remember(results, target, requests, outcome, journal);
  if (end.complete()) journal.flush(true);
  if (!outcome.ended_early) tuning::write_files(results, target.outputs, machine.device, outcome.trials, exporter);
  end.rethrow();
  finish(target, results, outcome, measuring, journal);
  set_results(tuned, results, target.options, requests, journal, estimate, measuring);
  return tuned;
}

Tuned tune_one_of_several(Target& target) try { return tune(target); } catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  print_wrapped(error.what());
  return {};
}

}  // namespace tune::commands
