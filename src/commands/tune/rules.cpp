#include "commands/tune/rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "config/reader/device_file.h"
#include "platform/files/user_folders.h"
#include "platform/process/terminal.h"
#include "report/text.h"

namespace tune::commands {
namespace {

constexpr std::size_t kTop = 20;

bool wants_colors(const TerminalOptions& terminal, int descriptor) {
  using enum TerminalOptions::Color;
  if (terminal.color != automatic) return terminal.color == always;
  const char* none = std::getenv("NO_COLOR");
  return (none == nullptr || *none == '\0') && platform::takes_escapes(descriptor);
}

}  // namespace

std::filesystem::path folder_of_configs() {
  return platform::folder_of_executable().parent_path() / "share" / "tune" / "configs";
}

std::filesystem::path folder_of_devices() { return folder_of_configs() / "devices"; }

std::string name_of_input(const TuneOptions& options) {
  return options.yaml.empty() ? "the command behind --" : options.yaml.front().string();
}

std::optional<std::filesystem::path> device_file(const TuneOptions& options) {
  if (!options.device_file) return std::nullopt;
  return config::find_device_file(*options.device_file, folder_of_devices());
}

tuning::GridRules grid_rules(const TuneOptions& options, const tuning::SearchRules& search) {
  tuning::GridRules rules;
  rules.file = name_of_input(options);
  rules.one_spec = search.spec.has_value();
  rules.bounded = search.max_evals || search.time_budget;
  rules.may_sample = rules.one_spec || (rules.bounded && options.mode != Mode::dry_run);
  rules.wants_default = options.tune;
  // Of a list of sizes the sizes are divided.
  if (options.partition && !options.shapes) {
    rules.part = options.partition->index;
    rules.parts = options.partition->count;
  }
  return rules;
}

tuning::MachineRules machine_rules(const TuneOptions& options, const Job& job, const results::Outputs& outputs) {
  using Need = tuning::MachineRules::Need;
  tuning::MachineRules rules;
  rules.need = options.mode == Mode::build_only ? Need::compiler
               : options.mode == Mode::dry_run  ? Need::names
                                                : Need::device;
  rules.journal = outputs.journal;
  rules.device_file = device_file(options);
  rules.known_devices = folder_of_devices();
  rules.arch = options.arch;
  if (!options.on_agents()) rules.devices = job.devices;  // of agents, each chooses its own
  return rules;
}

tuning::LookupRules lookup_rules(const TuneOptions& options, const Job& job) {
  tuning::LookupRules rules;
  // Whoever asks for one spec, or for what failed specs leave, wants to see it fail, and wants a time in full.
  rules.failures_again = job.retry_failed || job.search.spec || !options.measure.keep.empty();
  rules.share_processes = options.measure.share_processes;
  rules.cut_slow = options.tune && !job.search.spec;
  rules.timeout_build = options.measure.deadlines.build.count();
  rules.timeout_run = options.measure.deadlines.run.count();
  return rules;
}

results::OutputRules output_rules(const TuneOptions& options, const Job& job) {
  results::OutputRules rules = options.outputs;
  rules.prefix = job.prefix;
  rules.best = options.tune;
  rules.yamls = options.yaml;
  rules.command = options.load.command;
  rules.suffix = job.file_suffix();
  rules.journal_of_all = options.makes_several() && !options.audited;
  if (rules.journal_of_all && options.partition)
    rules.part = fmt::format("-part{}of{}", options.partition->index, options.partition->count);
  return rules;
}

results::LogRules log_rules(const TuneOptions& options, const results::Outputs& outputs) {
  return {outputs.logs, options.measure.keep};
}

results::ResultsRules printed_results(const TerminalOptions& terminal) {
  results::ResultsRules rules;
  rules.width = platform::terminal_columns(STDOUT_FILENO);
  rules.colors = wants_colors(terminal, STDOUT_FILENO);
  rules.top = terminal.top.value_or(kTop);
  return rules;
}

results::ResultsRules results_rules(const TuneOptions& options, const Job& job, const std::filesystem::path& csv) {
  results::ResultsRules rules = printed_results(options.terminal);
  rules.command = reproducing_command(options, job);
  rules.tuned = options.tune;
  rules.time = options.time;
  rules.csv = csv;
  rules.demands = options.demands;
  rules.judged = options.tune;
  return rules;
}

report::ListLook list_look(const TuneOptions& options, const Plan& plan) {
  return {plan.name, report::varying_parameters(plan.space), platform::terminal_columns(STDOUT_FILENO),
          wants_colors(options.terminal, STDOUT_FILENO)};
}

report::ProgressStyle progress_style(const TuneOptions& options, const Job& job, const Plan& plan) {
  report::ProgressStyle style;
  style.quiet = job.quiet;
  // A log line would break into the rewritten lines.
  style.terminal = platform::takes_escapes(STDERR_FILENO) && !options.terminal.verbose;
  style.colors = wants_colors(options.terminal, STDERR_FILENO);
  style.columns = [] { return platform::terminal_columns(STDERR_FILENO); };
  style.varying = report::varying_parameters(plan.space);
  return style;
}

platform::StorePlaces store_places(const StoreOptions& options) {
  platform::StorePlaces places;
  if (const std::filesystem::path cache = platform::cache_folder(); !cache.empty()) places.folder = cache / "store";
  places.limit = kStoreLimit;
  if (options.store) places = {*options.store, true, {}};
  if (options.limit) places.limit = *options.limit;
  if (options.base_store) places.base = *options.base_store;
  return places;
}

exec::MeasureOptions measure_options(const TuneOptions& options, const exec::Workers& workers, Backend backend) {
  exec::MeasureOptions measure = options.measure;
  measure.builds = !options.run_only;
  measure.worker = workers.require(backend);
  measure.store = store_places(options.store);
  return measure;
}

exec::Workers find_workers(const exec::Deadlines& deadlines, exec::OtherMachines* others) {
  return {platform::folder_of_executable(), deadlines.run, others};
}

std::vector<std::string> reproducing_command(const TuneOptions& options, const Job& job) {
  std::vector<std::string> words = {"tune"};
  const std::vector<std::string> given = job.given(options).words(cli::OptionText::Repeated::for_spec);
  words.insert(words.end(), given.begin(), given.end());
  if (!options.load.command.empty()) words.push_back("--");
  words.insert(words.end(), options.load.command.begin(), options.load.command.end());
  return words;
}

}  // namespace tune::commands
