#include "commands/tune.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "commands/agent_plan.h"
#include "commands/commands.h"
#include "commands/earlier_result.h"
#include "commands/on_stderr.h"
#include "commands/rules.h"
#include "exec/agent_site.h"
#include "exec/local_site.h"
#include "exec/stage_times.h"
#include "flow/artifact_copy.h"
#include "flow/finals_stage.h"
#include "flow/live_page.h"
#include "flow/measuring.h"
#include "flow/memory_bound.h"
#include "flow/printed_results.h"
#include "flow/repetition.h"
#include "flow/report_data.h"
#include "flow/stored_baseline.h"
#include "flow/user_folders.h"
#include "flow/workload.h"
#include "model/peak.h"
#include "model/problem_size.h"
#include "search/listed.h"

namespace tune::commands {
namespace {

constexpr std::int64_t kSearchedPerDevice = 4;  // keeps builds ahead of the device, and the search informed

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

std::chrono::steady_clock::duration ticks(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

std::unique_ptr<search::Strategy> strategy_of(const Options& options, const TuneOrders& orders, const Target& target,
                                              const std::optional<flow::Grid>& grid, flow::Notes& notes) {
  if (orders.only.empty()) {
    flow::SearchRules rules = search_rules(options);
    rules.say = [&notes](const std::string& text) { notes.said(text); };
    if (grid) rules.first = flow::specs_among(*grid, orders.first, target.shape.value_or(config::Shape{}));
    return flow::strategy_for(rules, target.plan(), grid, target.objective);
  }
  return std::make_unique<search::Listed>(std::deque<Spec>(orders.only.begin(), orders.only.end()));
}

std::int64_t count_of(const Options& options, const TuneOrders& orders, const std::optional<flow::Grid>& grid) {
  if (!orders.only.empty()) return std::ssize(orders.only);
  const std::int64_t count = options.spec ? 1 : grid->specs.size();
  return std::min(count, options.max_evals.value_or(count));
}

TunerRules tuner_rules(const Options& options, const TuneOrders& orders, const Target& target,
                       const std::optional<flow::Grid>& grid, const Device& device, std::size_t devices) {
  TunerRules rules;
  rules.max_evals = options.max_evals;
  rules.time_budget = options.time_budget;
  if (rules.time_budget && options.tune && options.finals)
    *rules.time_budget -= std::min(*rules.time_budget / 4, options.finals_budget.value_or(flow::kFinalsSeconds));
  if (options.stop_within)
    rules.enough = flow::merit_near_memory_bound(*options.stop_within, target.plan(), target.objective, device);
  rules.cut_slow = options.tune && !orders.in_full;
  rules.keep_going = options.keep_going;
  rules.jobs = jobs(options);
  if (!options.spec && flow::wants_search(search_rules(options), grid->specs.size()))
    rules.most_out = kSearchedPerDevice * std::max<std::int64_t>(static_cast<std::int64_t>(devices), 1);
  return rules;
}

/// Whether the run times the one spec of a best.yaml again, which is compared with what the file says of it.
bool repeats_result(const Options& options, const Target& target) {
  return target.loaded.result && !options.tune && !options.audit;
}

/// What can be foreseen of the run's end. One spec without anything to compare it with meets nobody in finals.
report::RunLimits limits_of(const Options& options, const Target& target, const TunerRules& rules, std::int64_t count) {
  report::RunLimits limits;
  if (rules.time_budget) limits.sweep = now() + ticks(*rules.time_budget);
  if (options.time_budget) limits.run = now() + ticks(*options.time_budget);
  const bool several = options.tune && (count > 1 || !target.plan().baselines.empty());
  if (!options.finals || (!several && !repeats_result(options, target))) return limits;
  limits.finals_seconds = options.finals_budget.value_or(flow::kFinalsSeconds);
  limits.finals_as_sweep = target.plan().backend == Backend::program && !options.finals_budget;
  return limits;
}

flow::FinalsStageRules finals_rules(const Options& options, const Target& target, bool one_process,
                                    report::Progress::Time sweep_began, std::vector<exec::Contender> stored) {
  flow::FinalsStageRules rules;
  rules.finalists = options.finalists;
  rules.seed = options.seed;
  rules.again = [&options](const Failure& failure, bool repeated) {
    return options.retry_failed || flow::has_lapsed(failure, repeated, options.timeout_build, options.timeout_run);
  };
  rules.one_process = one_process;
  rules.hold = options.finals;
  rules.alone = repeats_result(options, target);
  rules.budget = options.finals_budget;
  rules.time_budget = options.time_budget;
  if (options.time_budget) rules.deadline = sweep_began + ticks(*options.time_budget);
  rules.noise = options.noise;
  rules.stored = std::move(stored);
  return rules;
}

void require_journal(const flow::Outputs& outputs) {
  if (!outputs.journal.empty()) return;
  throw Error(ExitCode::environment,
              "there is no folder for the journal: HOME is not set and this user has no home; give --output PREFIX, "
              "or set XDG_STATE_HOME");
}

void note_journal(const Journal& journal, flow::Notes& notes) {
  if (!journal.locked()) notes.journal_cannot_be_locked(journal.path());
  notes.said(journal.damaged().texts(journal.path().string()));
  if (const auto foreign = journal.foreign()) notes.trials_are_of_another_version(journal.path(), *foreign);
}

void note_machine(const flow::Machine& machine, const exec::Requests& requests, flow::Notes& notes) {
  notes.said(requests.hello().remarks);
  if (!requests.remark().empty()) notes.said(requests.remark());
  if (!machine.probe_failure().empty()) notes.device_is_the_journals(machine.probe_failure());
}

flow::LiveRuns live_runs(const Target& target) {
  return {target.plan().name, {target.outputs.journal}, [&target](const interop::Recording& recording) {
            return flow::report_data(recording, target.plan(), target.outputs.journal.filename().string());
          }};
}

void begin_run(Journal& journal, const Options& options, const TuneOrders& orders, const Target& target,
               const exec::Requests& requests, flow::Notes& notes) {
  if (orders.anew) journal.clear();
  note_journal(journal, notes);
  note_machine(target.machine, requests, notes);
  const bool fresh = options.fresh || repeats_result(options, target);
  if (const Plan& plan = target.plan(); target.machine.probe_failure().empty())
    journal.append(wire::RunRecord{wire::kProtocol, plan.name, options.command, flow::host_name(), ::getpid(),
                                   requests.hello(), problem_size_text(plan.problem, plan.constants), flow::timestamp(),
                                   fresh, target.shape ? config::to_text(*target.shape) : "", flops_of(plan.problem),
                                   bytes_of(plan.problem), peak_flops(requests.hello().device, plan.problem)});
  if (fresh) journal.forget_older();
}

/// Throws Error(bad_input).
void require_artifact(const Options& options, const Target& target, const exec::Requests& requests,
                      const std::optional<flow::Grid>& grid) {
  if (!options.artifact) return;
  if (!requests.has_build())
    throw Error(ExitCode::bad_input, "--artifact: nothing is built for " + target.plan().file_as_written +
                                         ", which runs as it is; leave the option out");
  std::error_code ignored;
  if (std::filesystem::exists(*options.artifact, ignored) && !std::filesystem::is_directory(*options.artifact, ignored))
    throw Error(ExitCode::bad_input, "--artifact " + options.artifact->string() + " is no folder; choose another");
  if (!options.tune && !options.spec && grid->specs.size() != 1)
    throw Error(ExitCode::bad_input,
                "--artifact copies what was built for one spec; add --tune to find the best, or "
                "choose one with --spec N");
}

exec::MeasureOptions measuring_options(const Options& options, const Target& target, const exec::Requests& requests,
                                       const std::vector<exec::ChosenDevice>& devices, Journal& journal,
                                       report::Progress& progress) {
  exec::MeasureOptions measure = measure_options(options, target.workers, target.plan().backend);
  measure.devices = devices;
  measure.announce = {[&progress](const std::string& text) { progress.say(text, now()); },
                      [&progress](const std::string& text) { progress.warn(text, now()); }};
  measure.note_started = [&requests, &journal](const Spec& spec, std::size_t device) {
    journal.append(wire::StartedRecord{requests.trial_id(spec), spec.mesh_idx, static_cast<int>(device)});
  };
  measure.note_waiting = [&journal] { journal.note_end(); };
  return measure;
}

/// The devices of this machine, or of the first agent's. Throws Error(bad_input).
std::vector<exec::ChosenDevice> chosen_devices(const Options& options, Target& target) {
  const wire::Hello& machine = target.hello();
  const bool of_agents = target.workers.cluster() != nullptr && machine.devices.empty();
  return exec::choose_devices(of_agents ? std::nullopt : options.devices, machine);
}

/// Throws Error(environment) if the machine could not be probed.
std::unique_ptr<exec::Site> site_of(const Options& options, const Target& target, const exec::Requests& requests,
                                    const std::vector<exec::ChosenDevice>& devices, Journal& journal,
                                    report::Progress& progress) {
  if (const std::string& why = target.machine.probe_failure(); !why.empty()) throw Error(ExitCode::environment, why);
  if (exec::Cluster* cluster = target.workers.cluster())
    return std::make_unique<exec::AgentSite>(*cluster, requests, agent_plan(options, target, requests),
                                             store_places(options),
                                             [&progress](const std::string& text) { progress.say(text, now()); });
  return std::make_unique<exec::LocalSite>(requests,
                                           measuring_options(options, target, requests, devices, journal, progress));
}

void note_repetition(const flow::ResultsRules& rules, const Target& target, const wire::Hello& machine,
                     flow::Findings& findings) {
  const flow::Results results(rules, target.loaded, target.objective, findings);
  if (!results.any()) return;
  flow::note_repetition(*target.loaded.result, results.best(machine.device), target.plan(), findings.notes);
}

/// A grid of more values takes more room than what was found in it.
bool is_huge(const wire::ResultsRecord& results) {
  constexpr std::size_t kMostValues = 1'000'000;
  std::size_t values = 0;
  for (const std::vector<Parameter>& mapping : results.mappings)
    for (const Parameter& parameter : mapping) values += parameter.values.size();
  return values > kMostValues;
}

// A full disk costs what was measured now no more: it is printed, and the files say why they cannot be written.
void remember_results(Journal& journal, const wire::ResultsRecord& results) try {
  if (!is_huge(results)) journal.append(results);
} catch (const Error&) {
}

void print_usage(const flow::Measuring& measuring, bool programs, double finals_seconds) {
  const std::optional<exec::Usage> spent = measuring.started() ? measuring.started()->usage() : std::nullopt;
  if (!spent) return;
  exec::Usage usage = *spent;
  usage.finals_seconds = finals_seconds;
  usage.programs = programs;
  print_wrapped(exec::to_text(usage));
}

}  // namespace

Tuned tune(const Options& options, Target& target, const TuneOrders& orders) {
  const Plan& plan = target.plan();
  Tuned tuned;
  flow::Findings& findings = tuned.findings;
  const std::optional<flow::Grid> grid = target.grid(options, findings);
  if (!orders.silent) print_warnings(findings.notes.warnings());
  if (!options.spec) grid->require_specs(name_of_input(options));
  const auto strategy = strategy_of(options, orders, target, grid, findings.notes);

  const wire::Hello& machine = target.hello();
  const std::vector<exec::ChosenDevice> devices = chosen_devices(options, target);
  const exec::Cluster* cluster = target.workers.cluster();
  const std::size_t count_of_devices = cluster ? static_cast<std::size_t>(cluster->devices()) : devices.size();
  const TunerRules rules = tuner_rules(options, orders, target, grid, machine.device, count_of_devices);
  const bool repeats = repeats_result(options, target);
  flow::Exporter exporter(target.outputs, plan, target.objective, machine.device, options.fresh || repeats);
  target.objective.require(machine.device);

  require_journal(target.outputs);
  std::optional<EarlierResult> earlier;
  if (options.baseline) earlier.emplace(options, plan, machine.device);
  std::optional<flow::LivePage> live;
  if (options.live) live.emplace(live_runs(target), *options.live);
  const exec::Requests requests(plan, machine, options.seed);
  require_artifact(options, target, requests, grid);
  std::unique_ptr<Journal> own;
  std::unique_ptr<Journal>& kept = orders.journal != nullptr ? *orders.journal : own;
  if (kept == nullptr) kept = std::make_unique<Journal>(target.outputs.journal);
  Journal& journal = *kept;
  begin_run(journal, options, orders, target, requests, findings.notes);

  const std::int64_t count = count_of(options, orders, grid);
  report::Progress progress(std::cerr, progress_style(options, plan), count, now(),
                            limits_of(options, target, rules, count));
  flow::Measuring measuring([&] { return site_of(options, target, requests, devices, journal, progress); });
  flow::Resume resume(journal, requests, target.objective, resume_rules(options));
  exec::ReplayRunner runner([&](const Spec& spec) { return resume.answer(spec); },
                            [&]() -> exec::Runner& { return measuring.site().runner(); }, resume.order(rules.most_out));
  Tuner tuner(target.objective, &requests, runner, &journal, progress, rules, now);
  tuner.set_listener([&](const Trial& trial) { exporter.add(trial); });

  if (grid && !grid->uncounted && !options.spec && orders.only.empty()) findings.specs = grid->specs.size_text();
  const auto sweep_began = now();
  flow::FinalsStage::Parts parts = {plan,    target.objective, requests,
                                    journal, progress,         [&]() -> exec::Site& { return measuring.site(); }};
  flow::ResultsRules how_shown = results_rules(options, target.outputs.csv);
  how_shown.compiler = machine.compiler;
  how_shown.vendor_library = machine.vendor_library;
  how_shown.source_hash = requests.source_hash();
  const auto decide = [&] {
    flow::remeasure_distrusted(tuner, measuring, resume, findings.notes);
    if (!options.tune && !repeats) return;
    std::vector<exec::Contender> stored =
        flow::stored_baselines(requests, store_places(options), options.baseline, findings.notes);
    flow::FinalsStage(parts, finals_rules(options, target, devices.front().one_process, sweep_began, std::move(stored)),
                      findings)
        .hold(tuner);
    if (!findings.finals) flow::confirm_best(tuner, measuring, resume, target.objective);
  };
  const auto last_note = [&] {
    flow::note_recorded(findings, journal, requests, findings.notes);
    if (cluster == nullptr) flow::note_other_device(findings.trials, devices.front().id, findings.notes);
    if (repeats)
      note_repetition(how_shown, target, machine, findings);
    else
      flow::note_device_of_file(target.loaded.source, machine.device, plan, findings.notes);
    if (!options.output) findings.notes.journal_is_at(journal.path());
  };
  const auto write = [&](const flow::Results& results) {
    flow::write_files(results, target.outputs, machine.device, exporter);
  };
  const auto remember = [&](const flow::Results& results) {
    if (!target.machine.probe_failure().empty()) return;  // then the journal knows of no run
    remember_results(journal,
                     flow::record_of(results, target.loaded, target.objective, findings, options.partition.has_value(),
                                     [&](const Spec& spec) { return requests.trial_id(spec); }));
  };
  const flow::Tuning tuning = {.loaded = target.loaded,
                               .objective = target.objective,
                               .results = how_shown,
                               .tuner = tuner,
                               .strategy = *strategy,
                               .progress = progress,
                               .now = now,
                               .started = target.started,
                               .journal = &journal,
                               .decide = decide,
                               .last_note = last_note,
                               .write = write,
                               .remember = remember,
                               .silent = orders.silent,
                               .logs = log_rules(options, target.outputs)};
  const flow::Results results = flow::sweep_and_print(tuning, findings);
  if (!options.quiet) print_usage(measuring, plan.backend == Backend::program, findings.finals_seconds);
  journal.flush(true);
  tuned.code = flow::write_results(results, target.outputs, machine.device, exporter, demands(options));
  if (earlier && results.any()) tuned.code = std::max(tuned.code, earlier->compare(plan, machine.device, findings));
  if (!options.makes_several()) journal.note_complete();
  if (options.artifact && results.any())
    flow::copy_artifact(measuring.site(), *results.rows().front().trial, target.outputs.artifact);
  tuned.rows = results.rows();
  if (options.tune && results.any()) {
    tuned.best = results.best(machine.device);
    tuned.date = findings.finals_date.value_or(journal.date_of(requests.trial_id(tuned.best->winner)));
  }
  tuned.started_workers = measuring.started() != nullptr;
  return tuned;
}

}  // namespace tune::commands
