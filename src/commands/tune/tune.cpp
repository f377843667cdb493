#include "commands/tune/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "commands/messages.h"
#include "commands/tune/agent_plan.h"
#include "commands/tune/earlier_result.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "commands/tune/tune_rules.h"
#include "exec/cluster/agent_site.h"
#include "exec/evaluate/local_site.h"
#include "exec/process/stage_times.h"
#include "model/peak.h"
#include "model/problem_size.h"
#include "platform/files/user_folders.h"
#include "results/live_page.h"
#include "results/report_data.h"
#include "results/rerun_comparison.h"
#include "results/results_record.h"
#include "tuning/artifact_copy.h"
#include "tuning/finals_stage.h"
#include "tuning/forecast.h"
#include "tuning/measuring.h"
#include "tuning/stored_baseline.h"

namespace tune::commands {
namespace {

constexpr double kWorthAnEstimate = 60;  // seconds

std::uintmax_t bytes_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) bytes += entry->file_size(error);
  return bytes;
}

void require_journal(const results::Outputs& outputs) {
  if (!outputs.journal.empty()) return;
  throw Error(ExitCode::environment,
              "there is no folder for the journal: HOME is not set and this user has no home; give --output PREFIX, "
              "or set XDG_STATE_HOME");
}

void note_journal(const recording::Journal& journal, results::Notices& notes) {
  if (!journal.locked()) notes.journal_cannot_be_locked(journal.path());
  notes.said(journal.damaged().texts(journal.path().string()));
  if (const auto foreign = journal.foreign()) notes.trials_are_of_another_version(journal.path(), *foreign);
}

void note_machine(const tuning::Machine& machine, const exec::Requests& requests, results::Notices& notes) {
  notes.said(requests.hello().remarks);
  if (!requests.remark().empty()) notes.said(requests.remark());
  if (!machine.probe_failure().empty()) notes.device_is_the_journals(machine.probe_failure());
}

results::LiveRuns live_runs(const Target& target) {
  return {target.plan().name, {target.outputs.journal}, [&target](const recording::Recording& recording) {
            return results::report_data(recording, target.plan(), target.outputs.journal.filename().string());
          }};
}

/// Throws Error(bad_input).
void require_artifact(const TuneOptions& options, const Target& target, const exec::Requests& requests,
                      const std::optional<tuning::Grid>& grid) {
  if (!options.artifact) return;
  if (!requests.has_build())
    throw Error(ExitCode::bad_input, "--artifact: nothing is built for " + target.plan().file_as_written +
                                         ", which runs as it is; leave the option out");
  std::error_code ignored;
  if (std::filesystem::exists(*options.artifact, ignored) && !std::filesystem::is_directory(*options.artifact, ignored))
    throw Error(ExitCode::bad_input, "--artifact " + options.artifact->string() + " is no folder; choose another");
  if (!options.tune && !options.search.spec && grid->specs.size() != 1)
    throw Error(ExitCode::bad_input,
                "--artifact copies what was built for one spec; add --tune to find the best, or "
                "choose one with --spec N");
}

/// The devices of this machine, or of the first agent's. Throws Error(bad_input).
std::vector<exec::ChosenDevice> chosen_devices(const TuneOptions& options, Target& target) {
  const wire::Hello& machine = target.hello();
  const bool of_agents = target.workers.cluster() != nullptr && machine.devices.empty();
  return exec::choose_devices(of_agents ? std::nullopt : options.devices, machine);
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
void remember_results(recording::Journal& journal, const wire::ResultsRecord& results) try {
  if (!is_huge(results)) journal.append(results);
} catch (const Error&) {
}

/// A tuning. Its members are in the order in which each needs those before it.
class TuningRun {
 public:
  /// Prints the warnings and begins the run in the journal; nothing is built or timed yet.
  TuningRun(const TuneOptions& options, Target& target, const JobOptions& orders, results::Findings& findings)
      : options_(&options), target_(&target), orders_(&orders), findings_(&findings) {
    tuner_.set_listener([this](const Trial& trial) {
      exporter_.add(trial);
      estimate(trial);
    });
    if (grid_ && !grid_->uncounted && !options.search.spec && orders.only.empty())
      findings.specs = grid_->specs.size_text();
    if (options.makes_several()) how_shown_.label = label_of(target.shape, target.model);
    how_shown_.compiler = machine_->compiler;
    how_shown_.vendor_library = machine_->vendor_library;
    how_shown_.source_hash = requests_.source_hash();
  }

  TuningRun(const TuningRun&) = delete;
  TuningRun& operator=(const TuningRun&) = delete;

  results::Results run() {
    const tuning::Tuning tuning = {.loaded = target_->loaded,
                                   .objective = target_->objective,
                                   .results = how_shown_,
                                   .tuner = tuner_,
                                   .strategy = *strategy_,
                                   .progress = progress_,
                                   .now = now,
                                   .started = target_->started,
                                   .journal = journal_,
                                   .decide = [this] { decide(); },
                                   .last_note = [this] { note_at_the_end(); },
                                   .write = [this](const results::Results& results) { write(results); },
                                   .remember = [this](const results::Results& results) { remember(results); },
                                   .silent = orders_->silent,
                                   .logs = log_rules(*options_, target_->outputs)};
    announce();
    results::Results results = tuning::sweep_and_print(tuning, *findings_);
    journal_->flush(true);
    return results;
  }

  /// Writes what was asked for. `results` are those of run().
  void finish(const results::Results& results, Tuned& tuned) {
    const Device& device = machine_->device;
    tuned.code = tuning::write_results(results, target_->outputs, device, exporter_);
    tuned.verdict = results.verdict();
    if (findings_->comparison) print_comparison(*findings_->comparison);
    if (!options_->makes_several()) journal_->note_complete();
    if (options_->artifact && results.any())
      tuning::copy_artifact(measuring_.site(), *results.rows().front().trial, target_->outputs.artifact);
    tuned.rows = results.rows();
    if (options_->tune && results.any()) {
      tuned.best = results.best(device);
      tuned.date = findings_->finals_date.value_or(journal_->date_of(requests_.trial_id(tuned.best->winner)));
    }
    tuned.estimated = printed_estimate_;
    tuned.started_workers = measuring_.started() != nullptr;
    if (!options_->terminal.quiet) print_usage();
  }

 private:
  std::optional<tuning::Grid> examined_grid() {
    std::optional<tuning::Grid> grid = target_->grid(*options_, *findings_);
    if (!orders_->silent) print_warnings(findings_->notes.warnings());
    if (!options_->search.spec) grid->require_specs(name_of_input(*options_));
    return grid;
  }

  const wire::Hello* suitable_machine() {
    const wire::Hello& hello = target_->hello();
    target_->objective.require(hello.device);
    require_journal(target_->outputs);
    return &hello;
  }

  std::size_t count_of_devices() const {
    const exec::Cluster* cluster = target_->workers.cluster();
    return cluster != nullptr ? static_cast<std::size_t>(cluster->devices()) : devices_.size();
  }

  std::optional<EarlierResult> earlier_result() const {
    if (!options_->baseline) return std::nullopt;
    return EarlierResult(*options_, target_->plan(), machine_->device);
  }

  std::unique_ptr<results::LivePage> live_page() const {
    if (!options_->live) return nullptr;
    return std::make_unique<results::LivePage>(live_runs(*target_), *options_->live);
  }

  recording::Journal* begun_journal() {
    require_artifact(*options_, *target_, requests_, grid_);
    std::unique_ptr<recording::Journal>& kept = orders_->journal != nullptr ? *orders_->journal : own_journal_;
    if (kept == nullptr) kept = std::make_unique<recording::Journal>(target_->outputs.journal);
    if (orders_->anew) kept->clear();
    note_journal(*kept, findings_->notes);
    note_machine(target_->machine, requests_, findings_->notes);
    if (target_->machine.probe_failure().empty()) kept->append(run_record());
    if (fresh_) kept->forget_older();
    return kept.get();
  }

  wire::RunRecord run_record() const {
    const Plan& plan = target_->plan();
    return {wire::kProtocol,
            plan.name,
            options_->typed,
            platform::host_name(),
            ::getpid(),
            *machine_,
            problem_size_text(plan.problem, plan.constants),
            platform::timestamp(),
            fresh_,
            target_->shape ? config::to_text(*target_->shape) : "",
            flops_of(plan.problem),
            bytes_of(plan.problem),
            peak_flops(machine_->device, plan.problem)};
  }

  // A disagreement that the journal remembers forbids sharing processes.
  tuning::LookupRules rules_for_resuming() const {
    tuning::LookupRules rules = resume_rules(*options_);
    if (rules.share_processes && !journal_->distrust().empty()) {
      rules.share_processes = false;
      findings_->notes.sharing_was_distrusted(journal_->distrust());
    }
    return rules;
  }

  /// Throws Error(environment) if the machine could not be probed.
  std::unique_ptr<exec::Site> site() {
    if (const std::string& why = target_->machine.probe_failure(); !why.empty())
      throw Error(ExitCode::environment, why);
    const auto note_distrust = [this](const std::string& why) { journal_->append(wire::DistrustRecord{why}); };
    if (exec::Cluster* cluster = target_->workers.cluster()) {
      return std::make_unique<exec::AgentSite>(
          *cluster, requests_, agent_plan(*options_, *target_, requests_, resume_rules_.share_processes),
          store_places(options_->store), [this](const std::string& text) { progress_.say(text, now()); },
          note_distrust);
    }
    exec::MeasureOptions measure = measure_options(*options_, target_->workers, target_->plan().backend);
    measure.devices = devices_;
    measure.announce = {[this](const std::string& text) { progress_.say(text, now()); },
                        [this](const std::string& text) { progress_.warn(text, now()); }};
    measure.note_started = [this](const Spec& spec, std::size_t device) {
      journal_->append(wire::StartedRecord{requests_.trial_id(spec), spec.mesh_idx, static_cast<int>(device)});
    };
    measure.note_waiting = [this] { journal_->note_end(); };
    measure.note_distrust = note_distrust;
    measure.share_processes = resume_rules_.share_processes;
    return std::make_unique<exec::LocalSite>(requests_, std::move(measure));
  }

  tuning::Work work() const {
    tuning::Work work = work_to_do(*options_, *target_, grid_, requests_.has_build(), count_, count_of_devices());
    work.tunings = std::max(orders_->estimated_tunings, 1);
    return work;
  }

  // What is to be done, and how long that takes if the journal tells. A list of sizes would have a line for each, and
  // has one estimate for all.
  void announce() {
    const bool is_shown =
        !options_->terminal.quiet && !orders_->silent && !options_->search.spec && orders_->estimated_tunings > 0;
    estimated_ = !is_shown || grid_->uncounted;
    if (estimated_ || count_ < 2) return;
    forecast_.ask(*grid_, [this](const Spec& spec) {
      const wire::TrialRecord* record = journal_->find(requests_.trial_id(spec));
      return record != nullptr ? &record->trial : nullptr;
    });
    estimated_ = forecast_.all_known();
    if (estimated_) return;
    if (!options_->makes_several())
      print_wrapped(fmt::format("{} on {}: {}", target_->plan().name, machine_->device.name, forecast_.work_text()));
    print_estimate();
  }

  // As soon as it can be made, and once more when a twentieth is done, if it was wrong. What ends soon needs none.
  void print_estimate() {
    if (!forecast_.is_ready() || (first_estimate_ && !forecast_.has_a_twentieth())) return;
    estimated_ = forecast_.has_a_twentieth();
    const bool is_news = !first_estimate_ || forecast_.has_left(*first_estimate_);
    if (!first_estimate_) first_estimate_ = forecast_.range();
    const bool is_long = forecast_.range().high * orders_->estimated_tunings >= kWorthAnEstimate;
    if (!is_news || (!is_long && !printed_estimate_)) return;
    printed_estimate_ = true;
    progress_.say(forecast_.text(), now());
  }

  void estimate(const Trial& trial) {
    if (estimated_ || trial.recorded) return;
    forecast_.add(trial);
    const Measurement* measurement = trial.measurement();
    if (measurement != nullptr && measurement->build.seconds > 0)
      forecast_.add_artifact(bytes_in(store_places(options_->store).folder / measurement->build.key));
    print_estimate();
  }

  // What follows the sweep.
  void decide() {
    tuning::remeasure_distrusted(tuner_, measuring_, resume_, findings_->notes);
    if (!options_->tune && !repeats_) return;
    std::vector<exec::Contender> stored =
        tuning::stored_baselines(requests_, store_places(options_->store), options_->baseline, findings_->notes);
    const tuning::FinalsStage::Parts parts = {target_->plan(), target_->objective,
                                              requests_,       *journal_,
                                              progress_,       [this]() -> exec::Site& { return measuring_.site(); }};
    tuning::FinalsStage(
        parts, finals_rules(*options_, *target_, devices_.front().one_process, sweep_began_, std::move(stored)),
        *findings_)
        .hold(tuner_);
    if (!findings_->finals) tuning::confirm_best(tuner_, measuring_, resume_, target_->objective);
  }

  // What all trials are needed for.
  void note_at_the_end() {
    tuning::note_recorded(*findings_, *journal_, requests_, findings_->notes);
    if (target_->workers.cluster() == nullptr)
      tuning::note_other_device(findings_->trials, devices_.front().id, findings_->notes);
    if (repeats_)
      note_repetition();
    else
      results::note_device_of_file(name_of_input(*options_), target_->loaded.source, machine_->device,
                                   findings_->notes);
    if (earlier_ && findings_->no_winner.empty())
      findings_->comparison = earlier_->compare(target_->plan(), machine_->device, *findings_);
    note_stale_best();
    if (!options_->outputs.prefix) findings_->notes.journal_is_at(journal_->path());
    if (journal_->lost()) findings_->notes.journal_is_lost(journal_->path());
  }

  void note_stale_best() {
    std::error_code ignored;
    const std::filesystem::path& best = target_->outputs.best;
    if (best.empty() || !std::filesystem::exists(best, ignored)) return;
    if (!results::Results(how_shown_, target_->loaded, target_->objective, *findings_).any())
      findings_->notes.best_is_of_an_earlier_run(best);
  }

  void note_repetition() {
    const results::Results results(how_shown_, target_->loaded, target_->objective, *findings_);
    if (!results.any()) return;
    results::note_repetition(name_of_input(*options_), *target_->loaded.result, results.best(machine_->device),
                             target_->plan(), findings_->notes);
  }

  void write(const results::Results& results) {
    tuning::write_files(results, target_->outputs, machine_->device, exporter_);
  }

  void remember(const results::Results& results) {
    if (!target_->machine.probe_failure().empty()) return;  // then the journal knows of no run
    remember_results(*journal_, results::record_of(results, target_->loaded, target_->objective, *findings_,
                                                   options_->partition.has_value(),
                                                   [this](const Spec& spec) { return requests_.trial_id(spec); }));
  }

  // All is written by now: what prevents this costs nothing else.
  void print_usage() try {
    const std::optional<exec::Usage> spent = measuring_.started() ? measuring_.started()->usage() : std::nullopt;
    if (!spent) return;
    exec::Usage usage = *spent;
    usage.finals_seconds = findings_->finals_seconds;
    usage.programs = target_->plan().backend == Backend::program;
    print_wrapped(exec::to_text(usage));
  } catch (const Error&) {
  }

  const TuneOptions* options_;
  Target* target_;
  const JobOptions* orders_;
  results::Findings* findings_;

  std::optional<tuning::Grid> grid_ = examined_grid();
  std::unique_ptr<search::Strategy> strategy_ = strategy_of(*options_, *orders_, *target_, grid_, findings_->notes);
  const wire::Hello* machine_ = suitable_machine();
  std::vector<exec::ChosenDevice> devices_ = chosen_devices(*options_, *target_);
  tuning::TunerRules rules_ = tuner_rules(*options_, *orders_, *target_, grid_, machine_->device, count_of_devices());
  bool repeats_ = repeats_result(*options_, *target_);
  bool fresh_ = options_->fresh || repeats_;
  tuning::Exporter exporter_{target_->outputs, target_->plan(), target_->objective,
                             machine_->device, options_->time,  fresh_};
  std::optional<EarlierResult> earlier_ = earlier_result();
  std::unique_ptr<results::LivePage> live_ = live_page();
  exec::Requests requests_{target_->plan(), *machine_, options_->search.seed};
  std::unique_ptr<recording::Journal> own_journal_;
  recording::Journal* journal_ = begun_journal();
  std::int64_t count_ = count_of(*options_, *orders_, grid_);
  report::Progress progress_{std::cerr, progress_style(*options_, target_->plan()), count_, now(),
                             limits_of(*options_, *target_, rules_, count_)};
  tuning::Forecast forecast_{work()};
  std::optional<tuning::Forecast::Range> first_estimate_;
  bool estimated_ = false;  ///< no estimate is to come
  bool printed_estimate_ = false;
  tuning::Measuring measuring_{[this] { return site(); }};
  tuning::LookupRules resume_rules_ = rules_for_resuming();
  tuning::JournalLookup resume_{*journal_, requests_, target_->objective, resume_rules_};
  exec::ReplayRunner runner_{[this](const Spec& spec) { return resume_.answer(spec); },
                             [this]() -> exec::Runner& { return measuring_.site().runner(); },
                             resume_.order(rules_.most_out)};
  tuning::Tuner tuner_{target_->objective, &requests_, runner_, journal_, progress_, rules_, now};
  results::ResultsRules how_shown_ = results_rules(*options_, target_->outputs.csv);
  report::Progress::Time sweep_began_ = now();
};

}  // namespace

Tuned tune(const TuneOptions& options, Target& target, const JobOptions& orders) {
  Tuned tuned;
  TuningRun run(options, target, orders, tuned.findings);
  run.finish(run.run(), tuned);
  return tuned;
}

}  // namespace tune::commands
