#include "run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <iterator>
#include <limits>

#include "audit.h"
#include "base/log.h"
#include "config/device_file.h"
#include "convert.h"
#include "exchange.h"
#include "memory_bound.h"
#include "model/problem_size.h"
#include "model/shown.h"
#include "places.h"
#include "recall.h"
#include "report/losses.h"
#include "report/text.h"
#include "search/listed.h"
#include "searching.h"
#include "simulate.h"
#include "simulate_bench.h"
#include "streams.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

constexpr double kReservedForFinals = 30;       // seconds, of a time budget, but no more than a quarter of it
constexpr std::int64_t kSearchedPerDevice = 4;  // keeps builds ahead of the device, and the search informed

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

std::chrono::steady_clock::duration ticks(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// No longer than the clock can count.
std::chrono::duration<double> seconds_of(double timeout) {
  return std::chrono::duration<double>(std::min(timeout, 1e9));
}

report::ProgressStyle progress_style(const Options& options) {
  report::ProgressStyle style;
  style.quiet = options.quiet;
  // A log line would break into the rewritten line.
  style.terminal = ::isatty(STDERR_FILENO) && !options.verbose;
  if (const char* columns = std::getenv("COLUMNS")) style.width = std::max(20, std::atoi(columns));
  return style;
}

std::string file_suffix(const std::optional<Shape>& shape) {
  std::string suffix;
  if (shape)
    for (const Setting& setting : shape->settings) suffix += "-" + setting.name + to_text(setting.value);
  return suffix;
}

// What is asked of the processes of kernels. Throws Error(bad_input) where the backend cannot do it.
void guard(const Options& options, Plan& plan) {
  if (options.strict && plan.backend != Backend::cpu)
    throw Error(
        ExitCode::bad_input,
        fmt::format("--check strict protects the buffers of CPU kernels; the backend is {}", to_text(plan.backend)));
  if (options.memory && plan.backend != Backend::cpu && plan.backend != Backend::program)
    throw Error(ExitCode::bad_input,
                fmt::format("--memory limits CPU kernels and programs; the backend is {}", to_text(plan.backend)));
  plan.measure.strict = options.strict;
  plan.measure.memory_bytes = options.memory.value_or(0);
}

// A shape for which there is no spec does not keep the others from being tuned.
ExitCode tune_shape(const Options& options, Workers& workers, const Shape& shape) try {
  return Run(options, workers, shape).execute();
} catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  print_error(error.what());
  return error.code();
}

}  // namespace

Run::Run(const Options& options, Workers& workers, const std::optional<Shape>& shape, RunOrders orders)
    : options_(&options),
      workers_(&workers),
      orders_(std::move(orders)),
      started_(now()),
      outputs_(options, file_suffix(shape)),
      machine_(options, workers, outputs_.journal),
      loaded_(load(options.yaml, load_options(shape))),
      objective_(loaded_.plan),
      filters_(parse_filters(options.filters, loaded_.plan.space)) {
  loaded_.plan.measure.energy = objective_.energy(options.tune);
  guard(options, loaded_.plan);
  std::vector<fs::path> inputs = options.yaml;
  inputs.push_back(loaded_.plan.file);
  std::ranges::copy(loaded_.plan.build.depends, std::back_inserter(inputs));
  for (const auto& file : {options.shapes, options.device_file})
    if (file) inputs.push_back(*file);
  for (const Baseline& baseline : loaded_.plan.baselines)
    if (!baseline.file.empty()) inputs.push_back(baseline.file);
  outputs_.must_not_be(inputs);
}

Run::~Run() = default;

LoadOptions Run::load_options(const std::optional<Shape>& shape) {
  LoadOptions load;
  load.params = options_->params;
  load.m = options_->m;
  load.n = options_->n;
  load.k = options_->k;
  load.shape = shape;
  load.backend = options_->backend;
  load.objectives = options_->objectives;
  load.state = options_->state;
  if (!options_->dry_run && !options_->build_only) load.run_seconds = options_->timeout_run;
  load.file_must_exist = !options_->dry_run;
  load.present = [this](Backend backend) { return machine_.present(backend); };
  load.limits = [this](Backend backend) { return machine_.limiting_device(backend); };
  load.probe = [this](Backend backend) { return machine_.device(backend); };
  return load;
}

// How many specs there are, what prunes the others, and whether there is anything to do.
void Run::survey() {
  survey_ = survey_for(*options_, loaded_.plan, filters_, findings_.notes);
  if (!survey_) return;
  findings_.pruned = survey_->pruned;
  findings_.default_spec = survey_->default_spec;
}

void Run::require_specs() const {
  if (options_->spec || survey_->specs.size() > 0) return;
  throw Error(ExitCode::none_valid, fmt::format("{}: no spec is left of {} points\n{}", options_->yaml.front().string(),
                                                points_text(loaded_.plan.space), survey_->why_empty()));
}

std::unique_ptr<Strategy> Run::strategy() const {
  if (orders_.only.empty()) return strategy_for(*options_, loaded_.plan, survey_, objective_);
  return std::make_unique<Listed>(std::deque<Spec>(orders_.only.begin(), orders_.only.end()));
}

ExitCode Run::execute() {
  if (options_->dry_run) return dry_run();
  return options_->build_only ? build_only() : tune();
}

ExitCode Run::dry_run() {
  if (options_->quiet && !options_->spec) return count();
  survey();
  const auto asked = strategy();
  std::int64_t count = 0;
  for (auto spec = asked->ask(); spec; spec = asked->ask()) {
    if (options_->max_evals && count == *options_->max_evals) break;
    ++count;
    if (options_->quiet) continue;
    std::vector<std::string> names;
    for (const Setting& setting : spec->params) names.push_back(setting.name);
    if (!print(fmt::format("{:>9} {}\n", spec->mesh_idx, report::settings_text(*spec, names)))) break;
  }
  if (!options_->quiet) print(count > 0 ? report::pruned_text(findings_.pruned) : survey_->why_empty());
  print(fmt::format("Number of valid specs: {}\n", count));
  return count > 0 ? ExitCode::ok : ExitCode::none_valid;
}

ExitCode Run::count() const {
  const ValidSpecs specs(loaded_.plan.space, restrictions(filters_));
  const bool bounded = options_->max_evals && *options_->max_evals < specs.size();
  print(fmt::format("Number of valid specs: {}\n", bounded ? std::to_string(*options_->max_evals) : specs.size_text()));
  return specs.size() > 0 ? ExitCode::ok : ExitCode::none_valid;
}

void Run::open_journal() {
  const wire::Hello& machine = hello();
  objective_.require(machine.device);
  if (outputs_.journal.empty())
    throw Error(ExitCode::environment,
                "there is no folder for the journal: HOME is not set and this user has no home; give --output PREFIX, "
                "or set XDG_STATE_HOME");
  devices_ = choose_devices(options_->devices, machine);
  requests_ = std::make_unique<Requests>(loaded_.plan, machine, options_->seed);
  journal_ = std::make_unique<Journal>(outputs_.journal);
  if (orders_.anew) journal_->clear();
  if (!journal_->locked())
    findings_.notes.push_back(outputs_.journal.string() +
                              ": cannot be locked on its file system; let no other run use it");
  std::ranges::copy(journal_->damaged().texts(outputs_.journal.string()), std::back_inserter(findings_.notes));
  if (const auto foreign = journal_->foreign())
    findings_.notes.push_back(fmt::format(
        "{}: {} trials are of another version of tune (protocol {}, not {}); they are kept, and measured again",
        outputs_.journal.string(), foreign->trials, foreign->protocol, wire::kProtocol));
  std::ranges::copy(machine.remarks, std::back_inserter(findings_.notes));
  if (!requests_->remark().empty()) findings_.notes.push_back(requests_->remark());
  if (!machine_.probe_failure().empty()) {
    findings_.notes.push_back("the device is the one the journal remembers, because " + machine_.probe_failure());
    return;
  }
  journal_->append(wire::RunRecord{wire::kProtocol, loaded_.plan.name, options_->command, host_name(), ::getpid(),
                                   machine, problem_size_text(loaded_.plan.problem, loaded_.plan.constants)});
}

int Run::jobs() const {
  return options_->jobs > 0 ? options_->jobs : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

MeasureService& Run::measure_service() {
  if (measure_service_) return *measure_service_;
  if (!machine_.probe_failure().empty()) throw Error(ExitCode::environment, machine_.probe_failure());
  MeasureOptions options;
  options.worker = workers_->require(loaded_.plan.backend);
  if (const fs::path cache = cache_folder(); !cache.empty()) options.store.folder = cache / "store";
  if (options_->store) options.store = {*options_->store, true, {}};
  if (options_->base_store) options.store.base = *options_->base_store;
  if (options_->keep) options.keep = *options_->keep;
  options.deadlines = {seconds_of(options_->timeout_build), seconds_of(options_->timeout_run)};
  options.jobs = jobs();
  if (!devices_.empty()) options.devices = devices_;
  options.share_processes = options_->share_processes;
  options.turns = options_->turns;
  options.say = [this](const std::string& text) {
    if (progress_) progress_->say(text, now());
  };
  options.note_started = [this](const Spec& spec, std::size_t device) {
    journal_->append(wire::StartedRecord{requests_->trial_id(spec), spec.mesh_idx, static_cast<int>(device)});
  };
  options.note_waiting = [this] { journal_->note_end(); };
  measure_service_ = std::make_unique<MeasureService>(*requests_, std::move(options));
  return *measure_service_;
}

WorkerRunner& Run::worker_runner() {
  if (!worker_runner_) worker_runner_ = std::make_unique<WorkerRunner>(measure_service());
  return *worker_runner_;
}

ExitCode Run::build_only() {
  survey();
  require_specs();
  requests_ = std::make_unique<Requests>(loaded_.plan, hello(), options_->seed);
  std::vector<Trial> lost;
  std::vector<Spec> specs;
  const auto asked = strategy();
  const auto wanted = static_cast<std::size_t>(options_->max_evals.value_or(std::numeric_limits<std::int64_t>::max()));
  std::size_t tried = 0;
  for (auto spec = asked->ask(); spec && tried < wanted; spec = asked->ask(), ++tried) {
    try {
      measure_service().builds().want(*spec);
      specs.push_back(std::move(*spec));
    } catch (const Unlaunchable& error) {
      lost.push_back({*spec, Failure{Stage::start, Cause::reported, error.what(), {}}});
    }
  }
  measure_service().finish_builds();
  for (const Spec& spec : specs) {
    const Builder::Result& result = *measure_service().builds().find(spec);
    if (const auto* failure = std::get_if<Failure>(&result)) {
      lost.push_back({spec, *failure});
      continue;
    }
    BuildInfo info = measure_service().builds().info_of(spec, std::get<Artifact>(result));
    if (auto reason = requests_->pruned_after_build(spec, info))
      lost.push_back({spec, PrunedAfterBuild{std::move(*reason), std::move(info)}});
  }
  print(fmt::format("{}Number of valid built specs: {} (out of {})\n",
                    report::losses_text(lost, reproducing_command(*options_)), tried - lost.size(), tried));
  return lost.size() < tried ? ExitCode::ok : ExitCode::none_valid;
}

Contest Run::contest() {
  Contest::Parts parts = {loaded_.plan, objective_, *requests_,
                          *journal_,    *progress_, [this]() -> MeasureService& {
                            return measure_service(); }};
  const auto again = [this](const Failure& failure, bool repeated) {
    return options_->retry_failed || has_lapsed(failure, repeated, options_->timeout_build, options_->timeout_run);
  };
  ContestRules rules;
  rules.finalists = options_->finalists;
  rules.seed = options_->seed;
  rules.again = again;
  rules.one_process = devices_.front().one_process;
  rules.hold = options_->finals;
  rules.budget = options_->finals_budget;
  rules.time_budget = options_->time_budget;
  if (options_->time_budget) rules.deadline = sweep_began_ + ticks(*options_->time_budget);
  rules.noise = options_->noise;
  return {std::move(parts), std::move(rules), findings_};
}

TunerRules Run::tuner_rules() {
  const wire::Hello& machine = hello();
  TunerRules rules;
  rules.max_evals = options_->max_evals;
  rules.time_budget = options_->time_budget;
  if (rules.time_budget && options_->tune && options_->finals)
    *rules.time_budget -= std::min(*rules.time_budget / 4, options_->finals_budget.value_or(kReservedForFinals));
  if (options_->stop_within)
    rules.enough = merit_near_memory_bound(*options_->stop_within, loaded_.plan, objective_, machine.device);
  rules.cut_slow = options_->tune && !orders_.in_full;
  rules.keep_going = options_->keep_going;
  rules.jobs = jobs();
  if (!options_->spec && wants_search(*options_, survey_->specs.size()))
    rules.most_out =
        kSearchedPerDevice * std::max<std::int64_t>(std::ssize(choose_devices(options_->devices, machine)), 1);
  return rules;
}

ExitCode Run::tune() {
  survey();
  require_specs();
  const auto asked = strategy();
  const TunerRules rules = tuner_rules();
  Exchange exchange(outputs_, loaded_.plan, objective_, hello().device);
  open_journal();
  std::int64_t total = options_->spec ? 1 : survey_->specs.size();
  if (options_->max_evals) total = std::min(total, *options_->max_evals);
  if (!orders_.only.empty()) total = std::ssize(orders_.only);
  progress_ = std::make_unique<report::Progress>(std::cerr, progress_style(*options_), total, now());

  ReplayRunner runner([this](const Spec& spec) { return known(spec); }, [this]() -> Runner& { return worker_runner(); },
                      recorded_order(rules));
  Tuner tuner(objective_, requests_.get(), runner, journal_.get(), *progress_, rules, now);
  tuner.set_listener([&](const Trial& trial) { exchange.add(trial); });
  sweep_began_ = now();
  try {
    try_specs(tuner, *asked);
  } catch (...) {
    // Whatever ended the run, what was found is said; the files of an earlier, complete run stay as they are.
    findings_.notes.push_back("this run ended early and wrote no CSV or YAML; the same command continues it");
    conclude(tuner);
    throw;
  }
  if (!tuner.systematic_failure().empty())
    findings_.notes.push_back(tuner.systematic_failure() + "\n(--keep-going tries the others all the same)");
  const Conclusion conclusion = conclude(tuner);
  if (worker_runner_ && !options_->quiet) {
    Usage usage = worker_runner_->usage();
    usage.finals_seconds = findings_.finals_seconds;
    remark(to_text(usage));
  }
  journal_->flush(true);
  conclusion.write_files(outputs_, hello().device);
  exchange.finish();
  if (options_->compare && conclusion.any_wrong()) return ExitCode::check_failed;
  if (const auto why = options_->noise ? conclusion.too_uncertain(*options_->noise) : std::nullopt) {
    print_error(*why);
    return ExitCode::check_failed;
  }
  return conclusion.any() ? ExitCode::ok : ExitCode::none_valid;
}

// A kernel may be the cause of SIGTERM and SIGHUP, and of a process that nothing can kill: such an end is left without
// a record, as a kill is.
void Run::try_specs(Tuner& tuner, Strategy& asked) try {
  tuner.sweep(asked);
  // After a systematic failure specs are still out, and there is nothing to decide.
  if (tuner.systematic_failure().empty()) mistrust_shared(tuner);
  if (options_->tune && tuner.systematic_failure().empty()) {
    contest().hold(tuner);
    if (!findings_.finals) confirm_best(tuner);
  }
  journal_->note_end();
} catch (const Interrupted& interrupted) {
  if (interrupted.signal == SIGINT) journal_->note_end();
  throw;
} catch (const DeviceLost&) {
  throw;
} catch (...) {
  journal_->note_end();
  throw;
}

std::optional<Trial> Run::known(const Spec& spec) {
  if (repeating_) return std::nullopt;
  if (auto trial = recall(spec, *journal_, *requests_, objective_, *options_)) return trial;
  auto trial = recall_ends(spec, *journal_, *requests_, *options_);
  if (trial) journal_->append(wire::TrialRecord{requests_->trial_id(spec), *trial});
  return trial;
}

RecordedOrder Run::recorded_order(const TunerRules& rules) const {
  if (rules.most_out == TunerRules().most_out) return {};
  return {static_cast<int>(rules.most_out),
          [this](const Spec& spec) { return journal_->place_of(requests_->trial_id(spec)); }};
}

// What took more than twice as long as a best that is not to be trusted may be good.
void Run::mistrust_shared(Tuner& tuner) {
  if (!worker_runner_ || worker_runner_->distrust().empty()) return;
  repeating_ = true;
  const std::int64_t count = tuner.repeat([](const Trial& trial) {
    const Measurement* measurement = trial.measurement();
    return measurement != nullptr && (measurement->shared || measurement->timing.stopped_early);
  });
  repeating_ = false;
  findings_.notes.push_back(
      fmt::format("{}; so every spec had a process of its own from there on, and those before were measured again: {}",
                  worker_runner_->distrust(), count));
}

// Another spec may be the best then.
void Run::confirm_best(Tuner& tuner) {
  for (std::vector<Trial>& trials = tuner.trials();;) {
    std::vector<Merit> merits;
    for (const Trial& trial : trials)
      merits.push_back(trial.measurement() ? objective_.merit(trial.spec, *trial.measurement()) : Merit{});
    const Ranking ranking = rank(trials, merits, nullptr);
    if (ranking.rows.empty() || !ranking.rows.front().trial->measurement()->shared) return;
    repeating_ = true;
    worker_runner().stop_sharing();
    trials[static_cast<std::size_t>(ranking.rows.front().trial - trials.data())] =
        tuner.try_one(ranking.rows.front().trial->spec);
    repeating_ = false;
  }
}

Conclusion Run::conclude(Tuner& tuner) {
  findings_.trials = std::move(tuner.trials());
  findings_.elapsed_seconds = std::chrono::duration<double>(now() - started_).count();
  if (auto note = note_on_other_device(findings_.trials, devices_.front().id); !note.empty())
    findings_.notes.push_back(std::move(note));
  if (!options_->output) findings_.notes.push_back("journal: " + shown_line(outputs_.journal.string()));
  Conclusion conclusion(*options_, loaded_, objective_, findings_);
  rows_ = conclusion.rows();
  if (options_->tune && conclusion.any()) progress_->set_best(conclusion.winner().first, conclusion.winner().second);
  progress_->finish(now());
  if (orders_.silent) return conclusion;
  print(conclusion.text());
  flush_results();
  return conclusion;
}

ExitCode run(const Options& options) {
  if (options.audit) return audit(options);
  if (options.convert) return convert(*options.convert, options.command);
  if (options.simulate) return simulate(options);
  if (options.simulate_bench) return simulate_bench(*options.simulate_bench);
  Workers workers(folder_of_executable(), seconds_of(options.timeout_run));
  if (options.probe) {
    print(write_device(workers.probe(options.backend.value_or(Backend::cpu)).device));
    return ExitCode::ok;
  }
  if (!options.shapes) return Run(options, workers, std::nullopt).execute();
  const std::vector<Shape> shapes = read_shapes(*options.shapes);
  for (const Shape& shape : shapes) Run(options, workers, shape);  // what is wrong with any is said before the first
  ExitCode worst = ExitCode::ok;
  for (const Shape& shape : shapes) {
    print(shown_line(to_text(shape)) + "\n");
    worst = std::max(worst, tune_shape(options, workers, shape));
  }
  return worst;
}

}  // namespace tune
