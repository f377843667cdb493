#include "config/reader/load.h"

#include "config/reader/source.h"

namespace tune::config {
namespace {

bool leave_specs_alone(const LoadSettings& user) {
  const bool runs_alike = !user.shell && !user.whole && !user.warmup && !user.prepare && !user.cleanup;
  return runs_alike && user.params.empty() && user.new_params.empty() && !user.m && !user.n && !user.k && !user.shape &&
         !user.backend && user.problem.empty() && !user.configuration;
}

}  // namespace

Loaded load(std::span<const std::filesystem::path> yamls, const LoadRules& rules) {
  Diagnostics diagnostics;
  const bool is_command = !rules.command.empty();
  const bool launched = rules.measured_here && rules.file_must_exist;
  Source source = is_command ? source_of_command(rules) : read_source(yamls, launched, diagnostics);
  std::vector<Setting> chosen = apply_overrides(rules, source.root, diagnostics);
  std::optional<RecordedResult> result;
  if (yamls.size() == 1 && leave_specs_alone(rules)) result = read_result(source.root, diagnostics);
  Plan plan = interpret(source, rules, diagnostics);
  plan.yaml =
      is_command ? std::filesystem::path(plan.name) : std::filesystem::absolute(yamls.front()).lexically_normal();
  if (plan.space.product_size() != 1) result.reset();
  warn_of_unused_parameters(plan, source, diagnostics);
  plan.build.not_compiled = values_not_in_source(plan, source);
  return {std::move(plan), std::move(source), std::move(chosen), std::move(result), diagnostics.warnings()};
}

}  // namespace tune::config
