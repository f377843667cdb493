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

// No longer than the clock can count.
std::chrono::duration<double> limit_of(double seconds) { return std::chrono::duration<double>(std::min(seconds, 1e9)); }

constexpr std::size_t kTop = 20;

/// It has the files of known devices.
std::filesystem::path folder_of_devices() {
  return platform::folder_of_executable().parent_path() / "share" / "tune" / "configs" / "devices";
}

bool wants_colors(const Options& options, int descriptor) {
  if (options.color != Options::Color::automatic) return options.color == Options::Color::always;
  const char* none = std::getenv("NO_COLOR");
  return (none == nullptr || *none == '\0') && platform::takes_escapes(descriptor);
}

}  // namespace

std::string name_of_input(const Options& options) {
  return options.yaml.empty() ? "the command behind --" : options.yaml.front().string();
}

config::LoadOptions load_options(const Options& options) {
  config::LoadOptions load;
  load.command = options.tuned_command;
  load.shell = options.shell;
  load.whole = options.whole;
  load.warmup = options.warmup;
  load.prepare = options.prepare;
  load.cleanup = options.cleanup;
  load.params = options.params;
  load.new_params = options.new_params;
  load.m = options.m;
  load.n = options.n;
  load.k = options.k;
  load.backend = options.backend;
  load.objectives = options.objectives;
  load.problem = options.problem;
  load.configuration = options.configuration;
  return load;
}

std::optional<std::filesystem::path> device_file(const Options& options) {
  if (!options.device_file) return std::nullopt;
  return config::find_device_file(*options.device_file, folder_of_devices());
}

tuning::GridRules grid_rules(const Options& options) {
  tuning::GridRules rules;
  rules.file = name_of_input(options);
  rules.one_spec = options.spec.has_value();
  rules.bounded = options.max_evals || options.time_budget;
  rules.may_sample = rules.one_spec || (rules.bounded && !options.dry_run);
  rules.wants_default = options.tune;
  // Of a list of sizes the sizes are divided.
  if (options.partition && !options.shapes) {
    rules.part = options.partition->index;
    rules.parts = options.partition->count;
  }
  return rules;
}

tuning::SearchRules search_rules(const Options& options) {
  tuning::SearchRules rules;
  rules.spec = options.spec;
  rules.in_mesh_order = options.dry_run || options.build_only;
  rules.default_first = options.tune;
  rules.strategy = options.strategy;
  rules.max_evals = options.max_evals;
  rules.time_budget = options.time_budget;
  rules.seed = options.seed;
  rules.auto_clocks = options.auto_clocks && !rules.in_mesh_order;
  return rules;
}

tuning::MachineRules machine_rules(const Options& options, const results::Outputs& outputs) {
  using Need = tuning::MachineRules::Need;
  tuning::MachineRules rules;
  rules.need = options.build_only ? Need::compiler : options.dry_run ? Need::names : Need::device;
  rules.journal = outputs.journal;
  rules.device_file = device_file(options);
  rules.known_devices = folder_of_devices();
  rules.arch = options.arch;
  if (!options.cluster.launcher) rules.devices = options.devices;  // of agents, each chooses its own
  return rules;
}

tuning::LookupRules resume_rules(const Options& options) {
  tuning::LookupRules rules;
  // Whoever asks for one spec, or for what failed specs leave, wants to see it fail, and wants a time in full.
  rules.failures_again = options.retry_failed || options.spec || options.keep;
  rules.share_processes = options.share_processes;
  rules.cut_slow = options.tune && !options.spec;
  rules.timeout_build = options.timeout_build;
  rules.timeout_run = options.timeout_run;
  return rules;
}

results::OutputRules output_rules(const Options& options, std::string suffix) {
  results::OutputRules rules;
  rules.prefix = options.output;
  rules.kt_cache = options.kt_cache;
  rules.t4 = options.t4;
  rules.best = options.tune;
  rules.best_ending = options.best_ending.value_or(rules.best_ending);
  rules.kbench = options.kbench_files;
  rules.tuning_results = options.tuning_results;
  rules.yamls = options.yaml;
  rules.command = options.tuned_command;
  rules.suffix = std::move(suffix);
  // An audit repeats the tuning of each shape as if it were the only one.
  rules.journal_of_all = options.makes_several() && !options.audit;
  if (rules.journal_of_all && options.partition)
    rules.part = fmt::format("-part{}of{}", options.partition->index, options.partition->count);
  return rules;
}

results::LogRules log_rules(const Options& options, const results::Outputs& outputs) {
  return {outputs.logs, options.keep.value_or("")};
}

results::ResultsRules results_rules(const Options& options, const std::filesystem::path& csv) {
  results::ResultsRules rules;
  rules.command = reproducing_command(options);
  rules.tuned = options.tune;
  rules.width = platform::terminal_columns(STDOUT_FILENO);
  rules.colors = wants_colors(options, STDOUT_FILENO);
  rules.top = options.top.value_or(kTop);
  rules.time = options.time;
  rules.csv = csv;
  rules.demands = {options.compare, options.accuracy, options.noise};
  rules.judged = options.tune;
  return rules;
}

report::ListLook list_look(const Options& options, const Plan& plan) {
  return {plan.name, report::varying_parameters(plan.space), platform::terminal_columns(STDOUT_FILENO),
          wants_colors(options, STDOUT_FILENO)};
}

report::ProgressStyle progress_style(const Options& options, const Plan& plan) {
  report::ProgressStyle style;
  style.quiet = options.quiet;
  // A log line would break into the rewritten lines.
  style.terminal = platform::takes_escapes(STDERR_FILENO) && !options.verbose;
  style.colors = wants_colors(options, STDERR_FILENO);
  style.columns = [] { return platform::terminal_columns(STDERR_FILENO); };
  style.varying = report::varying_parameters(plan.space);
  return style;
}

platform::StorePlaces store_places(const Options& options) {
  platform::StorePlaces places;
  if (const std::filesystem::path cache = platform::cache_folder(); !cache.empty()) places.folder = cache / "store";
  places.limit = kStoreLimit;
  if (options.store) places = {*options.store, true, {}};
  if (options.store_limit) places.limit = *options.store_limit;
  if (options.base_store) places.base = *options.base_store;
  return places;
}

exec::MeasureOptions measure_options(const Options& options, const exec::Workers& workers, Backend backend) {
  exec::MeasureOptions measure;
  measure.worker = workers.require(backend);
  measure.store = store_places(options);
  if (options.keep) measure.keep = *options.keep;
  measure.deadlines = {limit_of(options.timeout_build), limit_of(options.timeout_run)};
  measure.jobs = jobs(options);
  measure.share_processes = options.share_processes;
  measure.turns = options.turns;
  return measure;
}

int jobs(const Options& options) {
  return options.jobs > 0 ? options.jobs : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

exec::Workers find_workers(const Options& options, exec::Cluster* cluster) {
  return {platform::folder_of_executable(), limit_of(options.timeout_run), cluster};
}

std::vector<std::string> reproducing_command(const Options& options) {
  std::vector<std::string> words = {"tune"};
  const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
  for (const std::filesystem::path& yaml : options.yaml) add("--yaml", yaml.string());
  if (options.simulate) add("--simulate", options.simulate->string());
  if (options.build_only) words.push_back("--build-only");
  if (options.dry_run) words.push_back("--dry-run");
  if (options.arch) add("--arch", *options.arch);
  if (options.device_file) add("--device-file", options.device_file->string());
  if (options.devices) add("--devices", *options.devices);
  for (const std::string& objective : options.objectives) add("--objective", objective);
  if (options.strict) add("--check", "strict");
  if (options.memory) add("--memory", fmt::format("{}M", static_cast<double>(*options.memory) / (1 << 20)));
  if (options.state) add("--state", std::string(to_text(*options.state)));
  for (const std::string& param : options.params) add("--param", param);
  for (const std::string& param : options.new_params) add("--add-param", param);
  for (const std::string& entry : options.problem) add("--problem", entry);
  if (options.configuration) add("--config_str", *options.configuration);
  if (options.m) add("-m", std::to_string(*options.m));
  if (options.n) add("-n", std::to_string(*options.n));
  if (options.k) add("-k", std::to_string(*options.k));
  if (options.shapes) add("--shapes", options.shapes->string());
  if (options.seed != 0) add("--seed", std::to_string(options.seed));
  if (options.timeout_build != Options().timeout_build)
    add("--timeout-build", fmt::format("{}", options.timeout_build));
  if (options.timeout_run != Options().timeout_run) add("--timeout-run", fmt::format("{}", options.timeout_run));
  if (options.backend) add("--backend", std::string(to_text(*options.backend)));
  if (options.shell) words.push_back("--shell");
  if (options.whole) words.push_back("--whole");
  if (options.warmup) add("--warmup", std::to_string(*options.warmup));
  if (options.prepare) add("--prepare", *options.prepare);
  if (options.cleanup) add("--cleanup", *options.cleanup);
  if (!options.tuned_command.empty()) words.push_back("--");
  words.insert(words.end(), options.tuned_command.begin(), options.tuned_command.end());
  return words;
}

}  // namespace tune::commands
