#include <fmt/format.h>

#include <limits>

#include "base/streams.h"
#include "commands/commands.h"
#include "commands/rules.h"
#include "report/losses.h"

namespace tune::commands {
namespace {

/// Queues the builds of the specs. Specs that cannot be launched fail, and are added to `lost`.
std::vector<Spec> queue_builds(search::Strategy& strategy, std::size_t most, exec::MeasureService& service,
                               std::vector<Trial>& lost) {
  std::vector<Spec> queued;
  for (auto spec = strategy.ask(); spec && queued.size() + lost.size() < most; spec = strategy.ask()) {
    try {
      service.builds().want(*spec);
      queued.push_back(std::move(*spec));
    } catch (const exec::Unlaunchable& error) {
      Trial& trial = lost.emplace_back();
      trial.spec = std::move(*spec);
      trial.outcome = Failure{Stage::start, Cause::reported, error.what(), {}};
    }
  }
  return queued;
}

/// Why a spec is lost after its build: the build failed, or a rule prunes it. nullopt if the spec is valid.
std::optional<Outcome> loss(const Spec& spec, exec::MeasureService& service) {
  const exec::Builder::Result& result = *service.builds().find(spec);
  if (const auto* failure = std::get_if<Failure>(&result)) return *failure;
  BuildInfo info = service.builds().info_of(spec, std::get<exec::Artifact>(result));
  auto reason = service.requests().pruned_after_build(spec, info);
  if (!reason) return std::nullopt;
  return PrunedAfterBuild{std::move(*reason), std::move(info)};
}

}  // namespace

ExitCode build_only(const Options& options, Target& target) {
  flow::Findings findings;
  const std::optional<flow::Grid> grid = target.grid(options, findings);
  base::print_warnings(findings.notes.warnings());
  if (!options.spec) grid->require_specs(name_of_input(options));
  const exec::Requests requests(target.plan(), target.hello(), options.seed);
  const auto strategy = flow::strategy_for(search_rules(options), target.plan(), grid, target.objective);
  exec::MeasureService service(requests, measure_options(options, target.workers, target.plan().backend));
  const auto most = static_cast<std::size_t>(options.max_evals.value_or(std::numeric_limits<std::int64_t>::max()));
  std::vector<Trial> lost;
  const std::vector<Spec> queued = queue_builds(*strategy, most, service, lost);
  const std::size_t tried = queued.size() + lost.size();
  service.finish_builds();
  for (const Spec& spec : queued)
    if (auto outcome = loss(spec, service)) lost.push_back({spec, std::move(*outcome)});
  base::print(fmt::format("{}Number of valid built specs: {} (out of {})\n",
                          report::losses_text(lost, reproducing_command(options)), tried - lost.size(), tried));
  return lost.size() < tried ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace tune::commands
