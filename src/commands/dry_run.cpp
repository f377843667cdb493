#include <fmt/format.h>

#include "base/streams.h"
#include "commands/commands.h"
#include "commands/rules.h"
#include "report/losses.h"
#include "report/text.h"

namespace tune::commands {
namespace {

ExitCode count(const Options& options, const Target& target) {
  const ValidSpecs specs(target.plan().space, config::restrictions(target.filters));
  const bool bounded = options.max_evals && *options.max_evals < specs.size();
  base::print(
      fmt::format("Number of valid specs: {}\n", bounded ? std::to_string(*options.max_evals) : specs.size_text()));
  return specs.size() > 0 ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace

ExitCode dry_run(const Options& options, Target& target) {
  if (options.quiet && !options.spec) return count(options, target);
  flow::Findings findings;
  const std::optional<flow::Grid> grid = target.grid(options, findings);
  base::print_warnings(findings.notes.warnings());
  const auto strategy = flow::strategy_for(search_rules(options), target.plan(), grid, target.objective);
  std::int64_t count = 0;
  for (auto spec = strategy->ask(); spec; spec = strategy->ask()) {
    if (options.max_evals && count == *options.max_evals) break;
    ++count;
    if (options.quiet) continue;
    std::vector<std::string> names;
    for (const Setting& setting : spec->params) names.push_back(setting.name);
    if (!base::print(fmt::format("{:>9} {}\n", spec->mesh_idx, report::settings_text(*spec, names)))) break;
  }
  if (!options.quiet) base::print(count > 0 ? report::pruned_text(findings.pruned) : grid->why_empty());
  base::print(fmt::format("Number of valid specs: {}\n", count));
  return count > 0 ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace tune::commands
