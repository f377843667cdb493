#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "commands/preview/build_rows.h"
#include "commands/print_messages.h"
#include "commands/tune/launched_row.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "commands/tune/source_check.h"
#include "exec/build/kept_files.h"
#include "exec/request/spec_launches.h"
#include "model/program.h"
#include "model/values/error.h"
#include "platform/files/streams.h"
#include "report/failure_summary.h"
#include "report/text_page.h"
#include "results/outputs.h"

namespace tune::commands {
namespace {

/// Queues the builds of the specs, one for each row. Specs that cannot be launched are lost.
std::vector<report::BuildRow> queue_builds(search::Strategy& strategy, std::size_t most,
                                           exec::MeasureService& service) {
  std::vector<report::BuildRow> rows;
  for (auto spec = strategy.ask(); spec && rows.size() < most; spec = strategy.ask()) {
    rows.push_back(launched_row(std::move(*spec), service.requests()));
    if (!rows.back().loss) service.builds().want(rows.back().spec);
  }
  return rows;
}

void keep(const report::BuildRow& row, exec::MeasureService& service) {
  const Failure* failure = row.loss ? std::get_if<Failure>(&*row.loss) : nullptr;
  if (service.rules().keep.empty() || (failure != nullptr && failure->stage == Stage::start)) return;
  const std::filesystem::path folder = service.rules().keep / std::to_string(row.spec.mesh_idx);
  const std::filesystem::path& source = file_of(service.requests().plan(), row.spec.params);
  const auto* artifact = std::get_if<exec::Artifact>(service.builds().find(row.spec));
  const std::filesystem::path built = artifact != nullptr ? artifact->path : "";
  if (failure != nullptr) return exec::keep_files(folder, built, source, *failure);
  exec::keep_files(folder, {built, source});
}

/// The spec with whose parameters the reference kernel is built; null if the problem has none, or there is no spec.
const Spec* spec_of_reference(const Plan& plan, std::span<const report::BuildRow> rows) {
  const auto row = std::ranges::find_if(rows, [](const report::BuildRow& each) { return !each.loss; });
  return builds_reference(plan) && row != rows.end() ? &row->spec : nullptr;
}

void print(const Target& target, const results::TuningOutcome& outcome, std::span<const report::BuildRow> rows) {
  const std::vector<Trial> lost = lost_in(rows);
  const report::Logs logs = results::write_logs(target.outputs.logs, target.options.measure.keep, lost);
  const report::ListLook look = list_look(target.options, target.plan());
  report::TextPage page(look.width, look.colors);
  if (const auto columns = report::build_columns(rows, look); !target.job.quiet && !columns.empty()) {
    for (const std::string& line : report::grid_lines(columns)) page.row(line);
    page.prose(report::constants_text(rows.front().spec, look));
  }
  if (!target.job.quiet) page.losses(report::pruned_lines(outcome.pruned));
  page.losses(report::loss_lines(lost, reproducing_command(target.options, target.job), logs));
  std::vector<std::int64_t> specs;
  for (const report::BuildRow& row : rows) specs.push_back(row.spec.mesh_idx);
  if (!target.options.measure.keep.empty()) page.prose(kept_text(target.options.measure.keep, specs));
  page.prose(fmt::format("Number of valid built specs: {} (out of {})", rows.size() - lost.size(), rows.size()));
  platform::print_escaped(page.text());
}

}  // namespace

ExitCode build_only(Target& target) {
  results::TuningOutcome outcome;
  const std::optional<tuning::Grid> grid = target.grid(outcome);
  print_warnings(outcome.notes.warnings);
  print_warnings(misfits_of_source(target.plan()));
  if (!target.job.search.spec) grid->require_specs(name_of_input(target.options));
  const exec::RequestFactory requests(target.plan(), target.hello(), target.job.search.seed);
  const auto strategy = tuning::in_mesh_order(target.job.search.spec, target.options.tune, target.plan(), grid);
  exec::MeasureService service(requests, worker_rules(target.options, target.workers, target.plan().backend()));
  const auto most =
      static_cast<std::size_t>(target.job.search.max_evals.value_or(std::numeric_limits<std::int64_t>::max()));
  std::vector<report::BuildRow> rows = queue_builds(*strategy, most, service);
  const Spec* reference = spec_of_reference(target.plan(), rows);
  try {
    if (reference != nullptr) service.builds().find_or_build_reference(*reference);
  } catch (const exec::Unlaunchable& error) {
    throw Error(ExitCode::bad_input, fmt::format("{}: {}", name_of_input(target.options), error.what()));
  }
  service.finish_builds();
  for (report::BuildRow& row : rows) {
    judge(row, service);
    keep(row, service);
  }
  print(target, outcome, rows);
  if (!target.outputs.csv.empty())
    results::write_csv(target.outputs.csv, target.plan().space, target.filters, target.plan().name, rows);
  if (const auto fault = reference != nullptr ? reference_fault(*reference, service) : std::nullopt)
    throw Error(ExitCode::bad_input, *fault);
  const bool any = std::ranges::any_of(rows, [](const report::BuildRow& row) { return !row.loss; });
  return any ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace tune::commands
