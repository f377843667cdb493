#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/streams.h"
#include "commands/commands.h"
#include "commands/rules.h"
#include "exec/kept_files.h"
#include "flow/failure_logs.h"
#include "report/build_table.h"
#include "report/losses.h"

namespace tune::commands {
namespace {

Failure unlaunchable(const std::string& why) { return {Stage::start, Cause::reported, why, {}}; }

/// Queues the builds of the specs, one for each row. Specs that cannot be launched are lost.
std::vector<report::BuildRow> queue_builds(search::Strategy& strategy, std::size_t most, exec::MeasureService& service) {
  std::vector<report::BuildRow> rows;
  for (auto spec = strategy.ask(); spec && rows.size() < most; spec = strategy.ask()) {
    report::BuildRow& row = rows.emplace_back(report::BuildRow{std::move(*spec), {}, {}, {}});
    try {
      for (const wire::KernelLaunch& launch : service.requests().measure(row.spec).launches)
        if (!launch.block.empty()) row.dynamic = std::max(row.dynamic.value_or(0), launch.shared);
      service.builds().want(row.spec);
    } catch (const exec::Unlaunchable& error) {
      row.loss = unlaunchable(error.what());
    }
  }
  return rows;
}

/// Fills in what the build of a row tells, and why its spec is not valid.
void judge(report::BuildRow& row, exec::MeasureService& service) {
  if (row.loss) return;
  const exec::Builder::Result& result = *service.builds().find(row.spec);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    row.loss = *failure;
    return;
  }
  const auto& artifact = std::get<exec::Artifact>(result);
  row.info = service.builds().info_of(row.spec, artifact);
  if (auto reason = service.requests().pruned_after_build(row.spec, row.info))
    row.loss = PrunedAfterBuild{std::move(*reason), row.info};
  else if (auto fault = service.builds().launch_fault(service.requests().measure(row.spec).launches, artifact))
    row.loss = Failure{Stage::load, Cause::reported, std::move(*fault), {}};
}

void keep(const report::BuildRow& row, exec::MeasureService& service) {
  const Failure* failure = row.loss ? std::get_if<Failure>(&*row.loss) : nullptr;
  if (service.options().keep.empty() || (failure != nullptr && failure->stage == Stage::start)) return;
  const std::filesystem::path folder = service.options().keep / std::to_string(row.spec.mesh_idx);
  const std::filesystem::path& source = service.requests().plan().file;
  const auto* artifact = std::get_if<exec::Artifact>(service.builds().find(row.spec));
  const std::filesystem::path built = artifact != nullptr ? artifact->path : "";
  if (failure != nullptr) return exec::keep_files(folder, built, source, *failure);
  exec::keep_files(folder, {built, source});
}

/// The spec with whose parameters the reference kernel is built; null if the problem has none, or there is no spec.
const Spec* spec_of_reference(const Plan& plan, std::span<const report::BuildRow> rows) {
  if (!std::holds_alternative<Custom>(plan.problem) || plan.kernel.empty()) return nullptr;
  const auto row = std::ranges::find_if(rows, [](const report::BuildRow& each) { return !each.loss; });
  return row == rows.end() ? nullptr : &row->spec;
}

/// Throws Error(bad_input) if the reference kernel cannot be built or launched.
void require_reference(const Spec& spec, exec::MeasureService& service) {
  const exec::Builder::Result& result = *service.builds().find_intact_reference(spec);
  const auto refuse = [&](const char* what, const std::string& why) {
    throw Error(ExitCode::bad_input, fmt::format("{} cannot be {}: {}", service.reference().name(), what, why));
  };
  if (const auto* failure = std::get_if<Failure>(&result)) return refuse("built", failure->headline());
  const auto launches = service.requests().reference(spec).launches;
  if (const auto fault = service.builds().launch_fault(launches, std::get<exec::Artifact>(result)))
    refuse("launched", *fault);
}

std::vector<Trial> lost_in(std::span<const report::BuildRow> rows) {
  std::vector<Trial> lost;
  for (const report::BuildRow& row : rows)
    if (row.loss) lost.push_back({row.spec, *row.loss});
  return lost;
}

void print(const Options& options, const Target& target, const flow::Findings& findings,
           std::span<const report::BuildRow> rows) {
  const std::vector<Trial> lost = lost_in(rows);
  const report::Logs logs = flow::write_logs(log_rules(options, target.outputs), lost);
  std::string text;
  if (!options.quiet) text = report::build_table(rows) + report::pruned_text(findings.pruned);
  text += report::losses_text(lost, reproducing_command(options), logs);
  base::print(fmt::format("{}Number of valid built specs: {} (out of {})\n", text, rows.size() - lost.size(),
                          rows.size()));
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
  std::vector<report::BuildRow> rows = queue_builds(*strategy, most, service);
  const Spec* reference = spec_of_reference(target.plan(), rows);
  if (reference != nullptr) service.builds().find_intact_reference(*reference);
  service.finish_builds();
  for (report::BuildRow& row : rows) {
    judge(row, service);
    keep(row, service);
  }
  print(options, target, findings, rows);
  if (!target.outputs.csv.empty()) {
    target.outputs.make_folders();
    flow::write_csv(target.outputs.csv, target.plan().space, target.plan().name, rows);
  }
  if (reference != nullptr) require_reference(*reference, service);
  const bool any = std::ranges::any_of(rows, [](const report::BuildRow& row) { return !row.loss; });
  return any ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace tune::commands
