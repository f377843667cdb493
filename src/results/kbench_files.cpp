#include "results/kbench_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/fitted_table.h"
#include "wire/json.h"

namespace tune::results {
namespace {

using ordered_json = nlohmann::ordered_json;

std::vector<const Trial*> in_mesh_order(std::span<const Trial> trials) {
  std::vector<const Trial*> ordered;
  for (const Trial& trial : trials)
    if (!std::holds_alternative<PrunedAfterBuild>(trial.outcome)) ordered.push_back(&trial);
  std::ranges::sort(ordered, {}, [](const Trial* trial) { return trial->spec.mesh_idx; });
  return ordered;
}

std::int64_t measured(const std::vector<const Trial*>& trials) {
  return std::ranges::count_if(trials, [](const Trial* trial) { return trial->measurement() != nullptr; });
}

std::string kind_of(const Failure& failure) {
  if (failure.stage == Stage::build) return "build";
  return failure.cause == Cause::timed_out ? "timeout" : "execution";
}

std::string said(const Failure& failure) {
  const bool contains = failure.message.find(failure.log) != std::string::npos;
  return contains ? failure.message : failure.message + "\n" + failure.log;
}

ordered_json params_of(const Spec& spec) {
  ordered_json params = ordered_json::object();
  for (const Setting& setting : spec.params)
    params[(setting.run_time ? "$" : "") + setting.name] = ordered_json(nlohmann::json(setting.value));
  return params;
}

/// sample/BM=64/$SPLIT=2 for a sample.cu
std::string spec_text(const report::Summary& summary, const Spec& spec) {
  std::string text = std::filesystem::path(summary.file).stem();
  for (const Setting& setting : spec.params)
    text += fmt::format("/{}{}={}", setting.run_time ? "$" : "", setting.name, to_text(setting.value));
  return text;
}

struct Row {
  const Spec* spec;
  std::string name;
  double milliseconds;
  std::int64_t iters;
  const Measurement* measurement = nullptr;  ///< of which the columns are; null: the row has none
};

std::string table(const report::Summary& summary, const std::vector<Row>& rows,
                  std::span<const report::Column> columns) {
  std::vector<report::GridColumn> grid = {{"mesh_idx", 1, {}}, {"name", 2, {}}, {"met (ms)", 2, {}}, {"iters", 2, {}}};
  for (const report::Column& column : columns) grid.push_back({column.name, 2, {}});
  grid.push_back({"spec", 2, {}});
  for (const Row& row : rows) {
    std::vector<std::string> cells = {fmt::format("{}", row.spec->mesh_idx), row.name,
                                      fmt::format("{:.6f}", row.milliseconds), fmt::format("{}", row.iters)};
    for (const report::Column& column : columns) {
      const double value = column.value(*row.spec, *row.measurement);
      cells.push_back(std::isfinite(value) ? fmt::format("{:.6f}", value) : "");
    }
    cells.push_back(spec_text(summary, *row.spec));
    for (std::size_t i = 0; i < cells.size(); ++i) grid[i].cells.push_back(std::move(cells[i]));
  }
  return report::grid_text(grid);
}

double build_seconds(const Trial& trial) { return trial.measurement() ? trial.measurement()->build.seconds : 0; }

std::string builds_text(const report::Summary& summary, const std::vector<const Trial*>& trials) {
  std::vector<Row> rows;
  for (const Trial* trial : trials) rows.push_back({&trial->spec, "build", build_seconds(*trial) * 1e3, 1});
  return "Build time stats:\n" + table(summary, rows, {});
}

std::string failures_text(const std::vector<const Trial*>& trials, const std::string& rule) {
  const std::size_t failed = trials.size() - static_cast<std::size_t>(measured(trials));
  if (failed == 0) return "";
  std::string text = fmt::format("{}Number of invalid specs: {} (out of {})\n", rule, failed, trials.size());
  for (const Trial* trial : trials)
    if (const Failure* failure = trial->failure())
      text += fmt::format("{}mesh_idx: [{}][{}]\n{}\n", rule, trial->spec.mesh_idx, params_of(trial->spec).dump(),
                          said(*failure));
  return text;
}

std::string times_text(const report::Summary& summary, const std::vector<const Trial*>& trials) {
  std::vector<Row> rows;
  for (const Trial* trial : trials)
    if (const Measurement* timed = trial->measurement())
      rows.push_back({&trial->spec, summary.name, timed->timing.typical() * 1e3, timed->timing.count, timed});
  return rows.empty() ? "" : table(summary, rows, summary.columns);
}

}  // namespace

std::string kbench_failures(const report::Summary& summary) {
  const std::vector<const Trial*> trials = in_mesh_order(summary.trials);
  ordered_json failures = ordered_json::array();
  for (const Trial* trial : trials)
    if (const Failure* failure = trial->failure())
      failures.push_back({{"mesh_idx", trial->spec.mesh_idx},
                          {"params", params_of(trial->spec)},
                          {"failure_type", kind_of(*failure)},
                          {"exec_stderr", said(*failure)},
                          {"exec_stdout", ""}});
  const ordered_json file = {{"spec_name", summary.name},
                             {"spec_file", summary.file},
                             {"num_valid", measured(trials)},
                             {"num_total", trials.size()},
                             {"failures", std::move(failures)}};
  return file.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string kbench_text(const report::Summary& summary) {
  const std::string rule = std::string(80, '-') + "\n";
  const std::vector<const Trial*> trials = in_mesh_order(summary.trials);
  return rule + builds_text(summary, trials) + rule + fmt::format("Running ['{}']\n", summary.file) +
         failures_text(trials, rule) + rule +
         fmt::format("Number of valid executed specs: {} (out of {})\n", measured(trials), trials.size()) +
         times_text(summary, trials) + rule + fmt::format("Total elapsed time (s): {:.3f}\n", summary.elapsed_seconds);
}

}  // namespace tune::results
