#include "config/reader/load.h"

#include "config/reader/interpreter.h"
#include "config/reader/source.h"

namespace tune::config {
namespace {

bool leave_specs_alone(const LoadOptions& options) {
  const bool runs_alike = !options.shell && !options.whole && !options.warmup && !options.prepare && !options.cleanup;
  return runs_alike && options.params.empty() && options.new_params.empty() && !options.m && !options.n && !options.k &&
         !options.shape && !options.backend && options.problem.empty() && !options.configuration;
}

}  // namespace

Loaded load(std::span<const std::filesystem::path> yamls, const LoadOptions& options) {
  Diagnostics diagnostics;
  const bool is_command = !options.command.empty();
  const bool launched = options.measured_here && options.file_must_exist;
  Source source = is_command ? source_of_command(options) : read_source(yamls, launched, diagnostics);
  std::vector<Setting> chosen = apply_overrides(options, source.root, diagnostics);
  std::optional<RecordedResult> result;
  if (yamls.size() == 1 && leave_specs_alone(options)) result = read_result(source.root, diagnostics);
  Plan plan = Interpreter(source, options, diagnostics).run();
  plan.yaml =
      is_command ? std::filesystem::path(plan.name) : std::filesystem::absolute(yamls.front()).lexically_normal();
  if (plan.space.product_size() != 1) result.reset();
  warn_of_unused_parameters(plan, source, diagnostics);
  plan.build.not_compiled = values_not_in_source(plan, source);
  return {std::move(plan), std::move(source), std::move(chosen), std::move(result), diagnostics.warnings()};
}

}  // namespace tune::config
