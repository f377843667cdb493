#include "exec/request/request_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "exec/request/spec_launches.h"
#include "model/device_setting.h"
#include "model/program.h"
#include "model/values/error.h"
#include "platform/process/process.h"
#include "platform/store/store.h"

namespace tune::exec {
namespace {

// A file that a command names may also be one that it writes.
bool is_script(const std::filesystem::path& file) {
  constexpr std::string_view kEndings[] = {".py", ".sh", ".jl", ".pl", ".rb", ".lua", ".js", ".R"};
  std::ifstream stream(file);
  char start[2] = {};
  return std::ranges::find(kEndings, file.extension().string()) != std::end(kEndings) ||
         (stream.read(start, sizeof start) && start[0] == '#' && start[1] == '!');
}

// The contents of the programs that a command starts: of its first word, and of a file that is its second, such as a
// script. What else it reads and writes is not known.
platform::SourceHash hash_of_command(const Plan& plan) {
  platform::Hash hash;
  platform::SourceHash result;
  const auto add = [&](const std::filesystem::path& file, bool is_program) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    if (is_program || is_script(file)) result.files.identity(file);
    hash.add(platform::hash_file(file));
  };
  for (const std::string& program : programs_of(plan)) add(platform::find_program(program), true);
  const CommandLine& run = plan.program()->run;
  if (!run.is_shell && run.words.size() > 1) add(run.words[1], false);
  result.hex = hash.hex();
  return result;
}

// Of compilers that are often only a small program that starts the one in use, as those of pip and rustup are.
std::string version_behind(const std::filesystem::path& program) try {
  constexpr std::string_view kFrontEnds[] = {"mojo", "rustc", "cargo"};
  const std::string name = program.filename().string();
  if (std::ranges::find(kFrontEnds, name) == std::end(kFrontEnds) || platform::find_program(name) != program) return "";
  platform::Command command;
  command.argv = {program.string(), "--version"};
  return platform::run(command).output;
} catch (const Error&) {
  return "";
}

/// The programs and scripts among the words before and after a program's command.
std::vector<std::filesystem::path> files_around(const ProgramRules& rules) {
  std::vector<std::filesystem::path> files;
  for (const Words* words : {&rules.prefix, &rules.suffix})
    for (const std::string& word : *words) {
      const bool is_first = words == &rules.prefix && &word == &words->front();
      const std::filesystem::path file(is_first ? platform::find_program(word) : word);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored) && (is_first || is_script(file))) files.push_back(file);
    }
  return files;
}

platform::SourceHash hash_of_source(const Plan& plan, const std::filesystem::path& file) {
  if (plan.is_command()) return hash_of_command(plan);
  const platform::HeaderSearch search = platform::header_search(plan.build, plan.backend(), file);
  platform::SourceHash result = platform::hash_sources(file, search);
  for (const std::filesystem::path& program : search.named)
    if (const std::string version = version_behind(program); !version.empty())
      result.named = platform::Hash().add(result.named).add(version).hex();
  if (const ProgramPlan* program = plan.program())
    for (const std::filesystem::path& file_around : files_around(*program))
      result.named = platform::Hash().add(result.named).add(result.files.identity(file_around)).hex();
  for (const std::filesystem::path& needed : plan.build.depends) result.files.identity(needed);
  return result;
}

std::vector<wire::KernelLaunch> launches_of_reference(const Plan& plan, const Launch& kernel, const Spec& spec) try {
  return launches_of(plan, {kernel}, spec, WhichLaunches::all, "reference");
} catch (const Unlaunchable& error) {
  throw Unlaunchable(fmt::format("reference kernel '{}' cannot be launched: {}", kernel.kernel, error.what()));
}

}  // namespace

platform::Sources sources_of(const Plan& plan, const std::filesystem::path& file) {
  return platform::read_sources(file, platform::header_search(plan.build, plan.backend(), file));
}

RequestFactory::RequestFactory(const Plan& plan, wire::Hello hello, std::uint64_t seed)
    : plan_(&plan), hello_(std::move(hello)), seed_(seed) {
  std::vector<std::filesystem::path> files = files_of(plan);
  if (files.empty()) files.emplace_back();
  for (const std::filesystem::path& file : files) {
    platform::SourceHash hash = hash_of_source(plan, file);
    Identity identity(plan, hello_, seed, hash);
    files_.add(hash.files);
    sources_.push_back({file, std::move(hash), std::move(identity)});
  }
}

const RequestFactory::Source& RequestFactory::source_of(const Spec& spec) const {
  return *std::ranges::find(sources_, file_of(*plan_, spec.params), &Source::file);
}

std::string RequestFactory::source_hash() const {
  if (sources_.size() == 1) return sources_.front().hash.hex;
  platform::Hash hash;
  for (const Source& source : sources_) hash.add(source.hash.hex);
  return hash.hex();
}

std::string RequestFactory::remark() const {
  const auto found =
      std::ranges::find_if(sources_, [](const Source& each) { return !each.hash.macro_include.empty(); });
  if (found == sources_.end() || !plan_->build.depends.empty()) return {};
  return found->hash.macro_include +
         " includes by a macro: when that header changes, nothing is built anew; name it in build.depends";
}

std::vector<Define> RequestFactory::defines(const Spec& spec) const {
  const bool cpp = !plan_->is_program() || language_of(plan_->file);
  std::vector<Define> all;
  const auto add = [&](const Setting& setting) {
    if (setting.run_time) return;
    if (!cpp) return all.push_back({setting.name, to_text(setting.value)});
    for (Define& define : to_defines(setting.name, setting.value)) all.push_back(std::move(define));
  };
  for (const Setting& setting : spec.params) add(setting);
  for (const Setting& setting : plan_->space.derived(spec))
    if (std::ranges::find(plan_->build.not_compiled, setting.name) == plan_->build.not_compiled.end()) add(setting);
  const auto* gemm = std::get_if<Gemm>(&plan_->problem);
  for (const std::string& name : plan_->build.defines) {
    if (gemm != nullptr && name == "epilogue")
      for (const std::string& macro : epilogue_macros(*gemm)) all.push_back({macro, "1"});
    else if (gemm != nullptr && (name == "scale_a" || name == "scale_b"))
      for (const std::string& macro : scale_macros(*gemm, name)) all.push_back({macro, "1"});
    else if (gemm != nullptr && name == "groups")
      for (const std::string& macro : group_macros(*gemm)) all.push_back({macro, "1"});
    else
      add({name, plan_->constants.at(name), false});
  }
  return all;
}

std::string RequestFactory::build_key(const Spec& spec) const {
  return source_of(spec).identity.of_build(defines(spec));
}

std::string RequestFactory::trial_id(const Spec& spec) const {
  return source_of(spec).identity.of_trial(spec.params, build_key(spec));
}

std::string RequestFactory::code_of(const Spec& spec, const std::string& artifact_hash) const {
  if (artifact_hash.empty()) return "";
  return Identity::of_code(artifact_hash, kernel_run(spec), arguments_of(*plan_, spec), device_settings(spec));
}

wire::BuildRequest RequestFactory::build(const Spec& spec) const {
  wire::BuildRequest request;
  request.source = source_of(spec).file.string();
  for (const auto& folder : plan_->build.include) request.include.push_back(folder.string());
  request.flags = plan_->build.flags;
  request.defines = defines(spec);
  request.arch = hello_.device.arch;
  if (const KernelPlan* kernel = plan_->kernel())
    request.launches = launches_of(*plan_, kernel->launches, spec, WhichLaunches::all);
  request.problem = plan_->problem;
  request.command = plan_->build.command;
  return request;
}

wire::KernelRun RequestFactory::kernel_run(const Spec& spec) const {
  const KernelPlan* kernel = plan_->kernel();
  if (kernel == nullptr) return {};
  return {launches_of(*plan_, kernel->launches, spec, WhichLaunches::taken), workspace_bytes_of(*plan_, spec),
          kernel->workspace && kernel->workspace->zero, kernel->zero_c};
}

wire::ProgramRun RequestFactory::program_run(const Spec& spec) const {
  wire::ProgramRun run{source_of(spec).file.string(), arguments_of(*plan_, spec),
                       values_in_commands(plan_->space, spec), *plan_->program()};
  if (uses(run.rules.prefix, kSpecNumber)) run.values.emplace(kSpecNumber, Words{std::to_string(spec.mesh_idx)});
  return run;
}

wire::MeasureRequest RequestFactory::request_of(decltype(wire::MeasureRequest::what) what) const {
  wire::MeasureRequest request;
  request.what = std::move(what);
  request.problem = plan_->problem;
  request.seed = seed_;
  request.measure = plan_->measure;
  request.gauges = sets_device(plan_->space);  // they tell whether the device kept the clocks that it was given
  return request;
}

wire::MeasureRequest RequestFactory::measure(const Spec& spec) const {
  return plan_->is_program() ? request_of(program_run(spec)) : request_of(kernel_run(spec));
}

wire::MeasureRequest RequestFactory::vendor(bool best) const { return request_of(wire::VendorRun{best}); }

// The reference kernel of several sources is that of the first.
Spec RequestFactory::reference_spec(const Spec& spec) const {
  if (const auto* trusted = std::get_if<TrustedSpec>(&plan_->kernel()->reference)) return {-1, trusted->settings};
  Spec result = spec;
  for (Setting& setting : result.params)
    if (!plan_->candidates.empty() && setting.name == kFileParameter) setting.value = Value(plan_->candidates[0].name);
  return result;
}

wire::BuildRequest RequestFactory::reference_build(const Spec& spec) const {
  wire::BuildRequest request = build(reference_spec(spec));
  if (const auto* kernel = std::get_if<Launch>(&plan_->kernel()->reference))
    request.launches = launches_of_reference(*plan_, *kernel, spec);
  return request;
}

std::string RequestFactory::reference_build_key(const Spec& spec) const {
  const std::string key = build_key(reference_spec(spec));
  const auto* kernel = std::get_if<Launch>(&plan_->kernel()->reference);
  return kernel != nullptr ? Identity::of_reference_build(key, *kernel) : key;
}

wire::ReferenceRequest RequestFactory::reference(const Spec& spec) const {
  wire::ReferenceRequest request;
  request.problem = plan_->problem;
  request.seed = seed_;
  if (!std::holds_alternative<Custom>(plan_->problem)) return request;
  request.launches = reference_build(spec).launches;
  const wire::KernelRun like = kernel_run(reference_spec(spec));
  request.workspace_bytes = like.workspace_bytes;
  request.zero_workspace = like.zero_workspace;
  request.strict = plan_->measure.strict;
  return request;
}

std::optional<std::string> RequestFactory::pruned_after_build(const Spec& spec, const BuildInfo& build) const {
  if (plan_->prune_after_build.empty()) return std::nullopt;
  std::vector<Value> slots = plan_->space.environment(spec);
  const std::size_t known = slots.size();
  slots.resize(static_cast<std::size_t>(plan_->result_names.size()));
  std::vector<bool> told(slots.size(), true);
  std::fill(told.begin() + static_cast<std::ptrdiff_t>(known), told.end(), false);
  for (const auto& [name, value] : build.properties)
    if (const auto slot = plan_->result_names.find(name)) {
      slots[static_cast<std::size_t>(*slot)] = value;
      told[static_cast<std::size_t>(*slot)] = true;
    }
  for (const Constraint& rule : plan_->prune_after_build) {
    const auto used = rule.expression.used_slots();
    if (!std::ranges::all_of(used, [&](int slot) { return told[static_cast<std::size_t>(slot)]; })) continue;
    EvalFailure failure;
    if (rule.expression.holds(slots, failure)) continue;
    if (!failure) return rule.reason;
    return "cannot evaluate: " + rule.expression.explain(failure, slots);
  }
  return std::nullopt;
}

}  // namespace tune::exec
