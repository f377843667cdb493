#include "commands/tune/build_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "commands/messages.h"
#include "commands/tune/build_rows.h"
#include "commands/tune/settings.h"
#include "exec/device/measure_service.h"
#include "recording/journal.h"
#include "tuning/searching.h"

namespace tune::commands {
namespace {

constexpr std::int64_t kFirstSpecs = 8;  // most of them are asked for whatever the first results are

/// What the search for a target asks for before it knows any result; nothing where every spec is tried, or none is
/// valid.
std::vector<Spec> first_specs(const TuneOptions& options, Target& target) {
  results::TuningOutcome unused;
  const std::optional<tuning::Grid> grid = target.grid(options, unused);
  if (!grid || grid->specs.size() == 0 || !tuning::wants_search(target.job.search, grid->specs.size())) return {};
  const auto strategy = tuning::strategy_for(target.job.search, target.plan(), grid, target.objective,
                                             [&]() -> const Device& { return target.hello().device; });
  std::vector<Spec> specs;
  while (std::ssize(specs) < std::min(target.job.search.max_evals.value_or(kFirstSpecs), kFirstSpecs)) {
    std::optional<Spec> spec = strategy->ask();
    if (!spec) break;
    specs.push_back(std::move(*spec));
  }
  return specs;
}

exec::MeasureOptions rules_for(const TuneOptions& options, Target& target, std::shared_ptr<exec::WorkerPool>& pool) {
  exec::MeasureOptions rules = measure_options(options, target.workers, target.plan().backend);
  if (!is_gpu(target.plan().backend)) return rules;
  rules.devices = exec::choose_devices(target.job.devices, target.hello());
  if (!pool) pool = std::make_shared<exec::WorkerPool>(rules.worker, rules.deadlines);
  rules.pool = pool;
  rules.keeps_processes = true;
  return rules;
}

}  // namespace

void build_ahead(const TuneOptions& options, std::deque<Target>& targets, std::shared_ptr<exec::WorkerPool>& pool) {
  if (targets.size() < 2 || targets.front().workers.others() != nullptr) return;
  std::deque<exec::RequestFactory> requests;
  std::optional<exec::MeasureService> service;
  std::unordered_map<std::string, Trial> known;
  for (Target& target : targets) {
    const auto& own = requests.emplace_back(target.plan(), target.hello(), target.job.search.seed);
    if (!own.has_build() || target.hello().compiler.empty()) return;
    if (!service) {
      service.emplace(own, rules_for(options, target, pool));
      if (std::error_code none; !options.fresh && std::filesystem::exists(target.outputs.journal, none))
        known = recording::Journal::trials_of(target.outputs.journal);
    }
    for (const Spec& spec : first_specs(options, target))
      if (!known.contains(own.trial_id(spec)) && !launched_row(spec, own).loss)
        service->builds().builder().want(own.build_key(spec), own.build(spec));
  }
  exec::Builder& builder = service->builds().builder();
  if (builder.queued() > 0 && !options.terminal.quiet)
    print_wrapped(
        fmt::format("building {} kernels that the searches for {} sizes try first", builder.queued(), targets.size()));
  if (pool && builder.queued() > 0 && service->reference().stays_on_device()) service->reference().begin();
  service->finish_builds();
}

}  // namespace tune::commands
