#include "commands/tune/rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "commands/installation.h"
#include "commands/tune/source_check.h"
#include "model/program.h"
#include "platform/process/process.h"
#include "platform/process/terminal.h"
#include "report/shown_text.h"
#include "tuning/searching.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

constexpr int kSearchedPerDevice = 4;  // keeps builds ahead of the device, and the search informed

// One spec without anything to compare it with meets nobody in finals.
std::optional<FinalsSettings> finals_to_come(const Target& target, std::int64_t count) {
  const bool several = target.options.tune && (count > 1 || !target.plan().baselines.empty());
  if (!target.options.finals.hold || !(several || repeats_result(target))) return std::nullopt;
  return target.options.finals;
}

}  // namespace

std::string name_of_input(const SharedOptions& options) {
  return options.yaml.empty() ? "the command behind --" : options.yaml.front().string();
}

tuning::MachineRules machine_rules(const SharedOptions& options, const Job& job, const results::Outputs& outputs) {
  using Need = tuning::MachineRules::Need;
  tuning::MachineRules rules;
  rules.need = options.mode == Mode::build_only ? Need::compiler
               : options.mode == Mode::dry_run  ? Need::names
                                                : Need::device;
  rules.journal = outputs.journal;
  rules.known_devices = folder_of_devices();
  if (!options.on_agents()) rules.devices = job.devices;  // of agents, each chooses its own
  return rules;
}

results::OutputRules output_rules(const SharedOptions& options, const Job& job) {
  results::OutputRules rules;
  rules.prefix = job.prefix;
  rules.best = options.tune;
  rules.yamls = options.yaml;
  rules.command = job.load.command;
  rules.suffix = job.file_suffix();
  rules.journal_of_all = options.makes_several() && !job.silent;
  if (rules.journal_of_all && options.partition)
    rules.part = fmt::format("-part{}of{}", options.partition->index, options.partition->count);
  return rules;
}

std::string prefix_in_state_folder(const TuneOptions& options, const std::string& ending) {
  std::filesystem::path journal = results::Outputs(options.outputs, output_rules(options, options.job)).journal;
  return journal.replace_extension("").string() + "-" + ending;
}

results::ResultsRules results_rules(const SharedOptions& options, const Job& job, const std::filesystem::path& csv) {
  results::ResultsRules rules = printed_results(options.terminal);
  rules.command = reproducing_command(options, job);
  rules.tuned = options.tune;
  rules.time = options.sweep.time;
  rules.all_in = csv.string();
  rules.demands = options.demands;
  rules.judged = options.tune;
  return rules;
}

report::ProgressStyle progress_style(const SharedOptions& options, const Job& job, const Plan& plan) {
  report::ProgressStyle style;
  style.quiet = job.quiet;
  // A log line would break into the rewritten lines.
  style.terminal = platform::takes_escapes(STDERR_FILENO) && !options.terminal.verbose;
  style.colors = wants_colors(options.terminal, STDERR_FILENO);
  style.columns = [] { return platform::terminal_columns(STDERR_FILENO); };
  style.varying = report::varying_parameters(plan.space);
  return style;
}

exec::WorkerRules worker_rules(const SharedOptions& options, const exec::Workers& workers, Backend backend) {
  exec::WorkerRules rules{options.measure};
  rules.worker = workers.require(backend);
  rules.store = store_places(options.store);
  return rules;
}

void keep_processes_in(std::shared_ptr<exec::WorkerPool>& pool, exec::WorkerRules& rules) {
  if (pool == nullptr) pool = std::make_shared<exec::WorkerPool>(rules.worker, rules.deadlines);
  rules.pool = pool;
  rules.keeps_processes = true;
}

std::vector<std::string> command_line(std::vector<std::string> given, const std::vector<std::string>& command) {
  given.insert(given.begin(), "tune");
  if (!command.empty()) given.emplace_back("--");
  given.insert(given.end(), command.begin(), command.end());
  return given;
}

std::vector<std::string> reproducing_command(const SharedOptions& options, const Job& job) {
  return command_line(job.given(options.given).words(cli::OptionText::Repeated::for_spec), job.load.command);
}

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

bool repeats_result(const Target& target) { return target.loaded.result && !target.options.tune; }

std::unique_ptr<search::Strategy> strategy_of(Target& target, const std::optional<tuning::Grid>& grid,
                                              results::Notices& notes) {
  const Job& job = target.job;
  if (!job.only.empty()) return std::make_unique<search::Listed>(std::deque<Spec>(job.only.begin(), job.only.end()));
  std::vector<Spec> first;
  if (grid) first = tuning::specs_among(*grid, job.first, job.shape().value_or(config::Shape{}));
  return tuning::strategy_for(
      job.search, target.options.tune, first, target.plan(), grid, target.objective,
      [&]() -> const Device& { return target.hello().device; }, [&notes](const std::string& text) { notes.add(text); });
}

std::int64_t count_of(const Job& job, const std::optional<tuning::Grid>& grid) {
  if (!job.only.empty()) return std::ssize(job.only);
  const std::int64_t count = job.search.spec ? 1 : grid->specs.size();
  return std::min(count, job.search.max_evals.value_or(count));
}

tuning::TunerRules tuner_rules(const Target& target, const std::optional<tuning::Grid>& grid, const Device& device,
                               std::size_t devices) {
  const tuning::SearchSettings& search = target.job.search;
  tuning::TunerRules rules{target.options.sweep};
  // That the first specs are not built says nothing of the others.
  if (!target.options.measure.builds) rules.keep_going = true;
  rules.max_evals = search.max_evals;
  rules.sweep_budget = search.time_budget;
  if (rules.sweep_budget && target.options.tune)
    *rules.sweep_budget -= target.options.finals.reserved_of(*rules.sweep_budget);
  if (search.stop_within)
    rules.enough = tuning::merit_near_memory_bound(*search.stop_within, target.plan(), target.objective, device);
  rules.cut_slow = target.options.tune && !target.job.in_full;
  if (const std::vector<std::string> misfits = misfits_of_source(target.plan()); !misfits.empty())
    rules.flaw = misfits[0];
  rules.jobs = target.options.measure.jobs;
  const int all_devices = std::max(static_cast<int>(devices), 1);
  if (rules.sweep_budget && !is_built(target.plan()))
    rules.most_out = all_devices;  // others would wait for the device, and the sweep for them
  else if (!search.spec && tuning::wants_search(search, grid->specs.size()))
    rules.most_out = kSearchedPerDevice * all_devices;
  return rules;
}

report::RunLimits limits_of(const Target& target, const tuning::TunerRules& rules, std::int64_t count) {
  report::RunLimits limits;
  if (rules.sweep_budget) limits.sweep = now() + platform::ticks(*rules.sweep_budget);
  if (target.job.search.time_budget) limits.run = now() + platform::ticks(*target.job.search.time_budget);
  limits.finals = finals_to_come(target, count);
  return limits;
}

tuning::Work work_to_do(const Target& target, const std::optional<tuning::Grid>& grid, bool has_build,
                        std::int64_t count, std::size_t devices) {
  tuning::Work work;
  work.specs = count;
  if (!has_build) work.builds = 0;
  if (has_build && grid) work.builds = tuning::count_builds(*grid, count);
  work.in_turn = !is_gpu(target.plan().backend());
  work.jobs = target.options.measure.jobs;
  work.devices = static_cast<int>(std::max<std::size_t>(devices, 1));
  work.finals = finals_to_come(target, count);
  work.tunings = std::max(target.job.estimated_tunings, 1);
  work.budget_seconds = target.job.search.time_budget;
  return work;
}

}  // namespace tune::commands
