#include "recording/comparison_json.h"

#include "wire/json.h"

namespace tune::recording {
namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json json_of(const Spec& spec) {
  ordered_json params = ordered_json::object();
  for (const Setting& setting : spec.params)
    params[(setting.run_time ? "$" : "") + setting.name] = ordered_json(nlohmann::json(setting.value));
  return params;
}

void add_time(ordered_json& row, const std::string& name, const std::optional<Estimate>& time) {
  if (!time) return;
  row[name + "_ms"] = time->seconds * 1e3;
  if (time->interval) row[name + "_interval_ms"] = {time->interval->low * 1e3, time->interval->high * 1e3};
}

ordered_json json_of(const ComparedSpec& compared) {
  ordered_json row = ordered_json::object();
  if (!compared.entrant.is_spec()) row["name"] = compared.entrant.name;
  if (compared.entrant.kind == Entrant::Kind::best) row["old_params"] = json_of(compared.old_spec);
  if (!compared.entrant.spec.params.empty()) row["params"] = json_of(compared.entrant.spec);
  add_time(row, "old", compared.before);
  add_time(row, "new", compared.now);
  if (compared.ratio) row["ratio"] = *compared.ratio;
  if (compared.interval) row["interval"] = {compared.interval->low, compared.interval->high};
  row["verdict"] = std::string(to_text(compared.change));
  row["regression"] = is_regression(compared.change);
  if (!compared.failure.empty()) row["failure"] = compared.failure;
  return row;
}

ordered_json json_of(const ComparedShape& shape) {
  ordered_json baselines = ordered_json::array(), specs = ordered_json::array();
  for (std::size_t i = 1; i < shape.best.size(); ++i) baselines.push_back(json_of(shape.best[i]));
  for (const ComparedSpec& row : shape.specs) specs.push_back(json_of(row));
  return {{"problem", shape.problem},
          {"process_noise", shape.process_noise},
          {"best", json_of(shape.best.front())},
          {"baselines", std::move(baselines)},
          {"specs", std::move(specs)}};
}

ordered_json json_of(const ComparedRun& run) {
  ordered_json j = {{"file", run.file}, {"kernel", run.kernel}, {"device", run.device}};
  if (!run.statistic.empty()) j["statistic"] = run.statistic;
  return j;
}

}  // namespace

std::string to_json(const RunComparison& comparison) {
  ordered_json shapes = ordered_json::array();
  for (const ComparedShape& shape : comparison.shapes) shapes.push_back(json_of(shape));
  const ordered_json all = {{"format", "tune diff"},
                            {"version", 1},
                            {"old", json_of(comparison.before)},
                            {"new", json_of(comparison.now)},
                            {"threshold", comparison.threshold},
                            {"regressions", regressions(comparison)},
                            {"undecided", is_slower(comparison) == Answer::open},
                            {"warnings", comparison.warnings},
                            {"shapes", std::move(shapes)}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tune::recording
