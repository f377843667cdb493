#include "commands/tune/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "commands/tune/rules.h"
#include "model/program.h"
#include "model/values/error.h"
#include "platform/process/process.h"
#include "tuning/stored_baseline.h"

namespace tune::commands {
namespace {

config::Loaded load_for(const SharedOptions& options, const Job& job, tuning::Machine& machine) {
  config::LoadRules rules{job.load};
  if (job.prefix) rules.profile = job.prefix->string() + job.file_suffix();
  if (!options.times_nothing()) rules.run_seconds = options.measure.deadlines.run.count();
  rules.file_must_exist = options.mode != Mode::dry_run;
  rules.present = [&](Backend backend) { return machine.present(backend); };
  rules.limits = [&](Backend backend) { return machine.limiting_device(backend); };
  rules.probe = [&](Backend backend) { return machine.device(backend); };
  return config::load(options.yaml, rules);
}

// What is asked of the processes of kernels. Throws Error(bad_input) where the backend cannot do it.
void guard(const SharedOptions& options, Plan& plan) {
  if (options.strict && (is_gpu(plan.backend()) || plan.is_program()))
    throw Error(
        ExitCode::bad_input,
        fmt::format("--check strict protects the buffers of CPU kernels; the backend is {}", to_text(plan.backend())));
  if (options.memory && is_gpu(plan.backend()))
    throw Error(ExitCode::bad_input,
                fmt::format("--memory limits CPU kernels and programs; the backend is {}", to_text(plan.backend())));
  plan.measure.strict = options.strict;
  plan.measure.memory_bytes = options.memory.value_or(0);
}

// Before anything is started. Throws Error(bad_input).
void require_programs(const Plan& plan) {
  if (const std::vector<std::string> missing = missing_programs(plan); !missing.empty())
    throw Error(ExitCode::bad_input, missing.front());
}

std::vector<std::filesystem::path> input_files(const SharedOptions& options, const Job& job, const Plan& plan) {
  std::vector<std::filesystem::path> inputs = options.yaml;
  std::ranges::copy(files_of(plan), std::back_inserter(inputs));
  std::ranges::copy(plan.build.depends, std::back_inserter(inputs));
  for (const auto& file : {options.shapes, options.machine.device_file, job.baseline})
    if (file) inputs.push_back(*file);
  for (const Baseline& baseline : plan.baselines)
    if (!baseline.file.empty()) inputs.push_back(baseline.file);
  return inputs;
}

/// Whether a shape sets one of these parameters, as a line of results does.
bool names_any(const std::optional<config::Shape>& shape, const std::vector<Setting>& settings) {
  return shape && std::ranges::any_of(settings, [&](const Setting& setting) {
           return std::ranges::find(shape->settings, setting.name, &Setting::name) != shape->settings.end();
         });
}

/// Whether the command line sets what `default:` does.
bool sets_default(const Job& job, const Plan& plan) {
  return job.load.configuration || names_any(job.shape(), plan.default_settings);
}

}  // namespace

std::vector<std::string> missing_programs(const Plan& plan) {
  std::vector<std::string> texts;
  std::set<std::string> programs = programs_of(plan);
  for (const Baseline& baseline : plan.baselines)
    if (const std::string program = program_of(plan, baseline); !program.empty()) programs.insert(program);
  for (const std::string& program : programs) try {
      platform::find_program(program);
    } catch (const platform::NoProgram& missing) {
      texts.push_back(fmt::format("{}: run: {}", plan.yaml.filename().string(), missing.what()));
    }
  return texts;
}

Target::Target(const SharedOptions& its_options, exec::Workers& its_workers, Job its_job)
    : options(its_options),
      workers(its_workers),
      job(std::move(its_job)),
      started(std::chrono::steady_clock::now()),
      outputs(options.outputs, output_rules(options, job)),
      machine(options.machine, machine_rules(options, job, outputs), workers),
      loaded(load_for(options, job, machine)),
      objective(loaded.plan),
      filters(config::parse_filters(options.filters, loaded.plan.space)) {
  for (const Setting& setting : loaded.chosen) filters.push_back({setting.name, setting.value});
  if (!options.baseline_spec.empty())
    loaded.plan.baselines.insert(loaded.plan.baselines.begin(),
                                 config::parse_baseline(options.baseline_spec, plan().space, filters));
  loaded.plan.measure.energy = objective.energy(options.tune);
  guard(options, loaded.plan);
  if (options.machine.device_file) machine.limiting_device(plan().backend());  // refuses one of another backend
  if (options.mode != Mode::dry_run) require_programs(loaded.plan);
  if (options.artifact)
    outputs.artifact = results::artifact_file(*options.artifact, plan(), job.file_suffix(), hello().device);
  outputs.must_not_be(input_files(options, job, loaded.plan));
}

std::optional<std::string> Target::compared_with() const {
  if (job.baseline) return tuning::label_of_named(plan(), *job.baseline);
  if (!options.baseline_spec.empty()) return plan().baselines.front().label;
  return std::nullopt;
}

void Target::add_warnings_to(std::vector<std::string>& warnings) const {
  for (const std::string& warning : loaded.warnings)
    if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

std::optional<tuning::Grid> Target::grid(results::TuningOutcome& outcome) const {
  tuning::GridRules rules;
  rules.file = name_of_input(options);
  rules.one_spec = job.search.spec.has_value();
  rules.bounded = job.search.max_evals || job.search.time_budget;
  rules.one_configuration = sets_default(job, plan());
  rules.wants_default = options.tune;
  // Of a list of sizes the sizes are divided.
  if (options.partition && !options.shapes) {
    rules.part = options.partition->index;
    rules.parts = options.partition->count;
  }
  std::optional<tuning::Grid> grid = tuning::examine_grid(rules, plan(), filters, outcome.notes);
  if (!grid) return grid;
  outcome.filters = filters;
  outcome.pruned = grid->pruned;
  outcome.default_spec = grid->default_spec;
  return grid;
}

std::optional<std::string> Target::default_fault() const {
  return sets_default(job, plan()) ? std::nullopt : tuning::default_fault(plan());
}

}  // namespace tune::commands
