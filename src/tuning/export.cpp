#include "tuning/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/problem_size.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "recording/foreign/t4.h"

namespace tune::tuning {
namespace fs = std::filesystem;

namespace {

using recording::figure_name;

/// One list of parameters, the values of all mappings of the union joined.
std::vector<Parameter> parameters_of(const Plan& plan) {
  const auto mappings = plan.space.mappings();
  std::vector<Parameter> parameters = mappings.front().parameters;
  for (const Space::Mapping& mapping : mappings) {
    bool same = mapping.parameters.size() == parameters.size();
    for (std::size_t i = 0; same && i < parameters.size(); ++i) {
      same = mapping.parameters[i].name == parameters[i].name;
      for (const Value& value : mapping.parameters[i].values)
        if (same && std::ranges::find(parameters[i].values, value) == parameters[i].values.end())
          parameters[i].values.push_back(value);
    }
    if (!same)
      throw Error(ExitCode::bad_input,
                  plan.yaml.filename().string() +
                      ": the mappings of params do not have the same parameters in the same order, "
                      "as the format of --kt-cache demands");
  }
  return parameters;
}

// A program is to be started, and other tools start what the file's permissions allow.
void keep_executable(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  const auto has = [&](const fs::path& file, fs::perms right) {
    return (fs::status(file, ignored).permissions() & right) != fs::perms::none;
  };
  if (!has(from, fs::perms::owner_exec)) return;
  fs::perms added = fs::perms::owner_exec;
  if (has(to, fs::perms::group_read)) added |= fs::perms::group_exec;
  if (has(to, fs::perms::others_read)) added |= fs::perms::others_exec;
  fs::permissions(to, added, fs::perm_options::add, ignored);
}

exec::Artifact artifact_of(exec::Executor& executor, const Spec& spec) try {
  return executor.artifact(spec);
} catch (const Error& error) {
  throw Error(error.code(), std::string("--artifact: ") + error.what());
}

}  // namespace

Exporter::Exporter(const results::Outputs& outputs, const Plan& plan, const Objective& objective, const Device& device,
                   const TimeRule& time)
    : t4_(outputs.t4), plan_(&plan), objective_(&objective) {
  if (outputs.kt_cache.empty() && t4_.empty()) return;
  recording_.device = device;
  recording_.time = time;
  recording_.kernel = plan.is_program() ? plan.name : plan.kernel()->name;
  recording_.problem = problem_size_text(plan.problem, plan.constants);
  recording_.objectives = {figure_name(plan.objective)};
  for (const std::string& name : plan.other_objectives) recording_.objectives.push_back(figure_name(name));
  if (outputs.kt_cache.empty()) return;
  recording_.parameters = parameters_of(plan);
  std::vector<std::string> figures;
  if (flops_of(plan.problem) > 0) figures.push_back(figure_name("gflops"));
  for (const Metric& metric : plan.metrics) figures.push_back(metric.name);
  const std::string& first = recording_.objectives.front();
  if (first != "time" && std::ranges::find(figures, first) == figures.end()) figures.push_back(first);
  cache_ = std::make_unique<recording::KernelTunerCache>(outputs.kt_cache, recording_, std::move(figures));
}

recording::RecordedTrial Exporter::recorded(const Trial& trial) const {
  recording::RecordedTrial recorded = recording::to_recorded(trial);
  recorded.measure_seconds = trial.measure_seconds;  // 0 if that is not known, as these files have it
  auto* measurement = std::get_if<Measurement>(&recorded.outcome);
  if (measurement == nullptr) return recorded;
  const auto add = [&](const std::string& name, double value) {
    if (std::isfinite(value)) measurement->metrics.insert_or_assign(name, value);
  };
  if (const double flops = flops_of(plan_->problem); flops > 0)
    add(figure_name("gflops"), flops / measurement->timing.typical() / 1e9);
  for (const Metric& metric : plan_->metrics)
    add(metric.name, objective_->metric(metric, trial.spec, *trial.measurement()));
  if (plan_->objective == "gflops_per_watt")
    add(figure_name(plan_->objective), objective_->merit(trial.spec, *trial.measurement()).value);
  return recorded;
}

void Exporter::add(const Trial& trial) {
  if (cache_) cache_->add(recorded(trial), platform::timestamp(), !trial.recorded && !trial.may_work_again());
}

void Exporter::finish(std::span<const Trial> trials) {
  // The finals may have found wrong what the sweep could time.
  for (const Trial& trial : trials)
    if (cache_ && trial.is_wrong()) cache_->add(recorded(trial), platform::timestamp(), true);
  if (cache_) cache_->close();
  cache_.reset();
  if (t4_.empty()) return;
  for (const Trial& trial : trials) recording_.trials.push_back(recorded(trial));
  platform::write_file(t4_, recording::to_t4(recording_, platform::timestamp()));
}

void copy_artifact(exec::Executor& executor, const Trial& trial, const fs::path& file) {
  const exec::Artifact artifact = artifact_of(executor, trial.spec);
  platform::write_file(file, platform::read_file(artifact.path));
  keep_executable(artifact.path, file);
  const bool same = artifact.info.artifact_hash == trial.measurement()->build.artifact_hash;
  platform::print(fmt::format("artifact: {}{}\n", line_with_escapes(file.string()),
                              same ? "" : " (built again, with other bytes than those that were timed)"));
}

}  // namespace tune::tuning
