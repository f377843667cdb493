#include "flow/database_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/database_file.h"
#include "model/values/error.h"

namespace tune::flow {
namespace {

Database database_with_results(const std::filesystem::path& path) {
  Database database = config::read_database(path);
  if (database.results.empty()) throw Error(ExitCode::bad_input, path.string() + ": the database has no results");
  return database;
}

Measurement measurement_of(const TunedResult& result) {
  Measurement measurement;
  measurement.timing.median = result.seconds;
  if (result.interval) {
    measurement.timing.ci_low = result.interval->low;
    measurement.timing.ci_high = result.interval->high;
  }
  measurement.checked = result.checked;
  for (const auto& [label, ratio] : result.ratios) measurement.metrics[label + " / best"] = ratio;
  return measurement;
}

interop::Recording recording_of(const ResultKey& key, const TunedResult& result, const std::string& file) {
  interop::Recording recording;
  recording.file = file;
  recording.device.name = key.group.device.name;
  recording.device.driver = key.group.device.driver;
  recording.device.arch = key.group.device.arch;
  recording.kernel = key.group.kernel;
  recording.problem = problem_of_result(key);
  recording.date = result.date;
  recording.objectives = {"time"};
  for (const Setting& setting : result.params)
    recording.parameters.push_back({setting.name, setting.run_time, Kind::ordinal, {setting.value}});
  interop::RecordedTrial best;
  best.settings = result.params;
  best.outcome = measurement_of(result);
  best.mesh_idx = 0;
  recording.trials.push_back(std::move(best));
  return recording;
}

ProblemTimes times_of_result(const ResultKey& key, const TunedResult& result) {
  ProblemTimes times{key.group.kernel, problem_of_result(key), key.group.device.name, {}, 0, {}};
  times.specs.push_back({{0, result.params}, {}, KnownTime{result.seconds, result.interval}});
  for (const auto& [label, ratio] : result.ratios)
    times.baselines.emplace_back(label, KnownTime{result.seconds * ratio});
  return times;
}

}  // namespace

std::string problem_of_result(const ResultKey& key) {
  std::string text = to_text(key.sizes);
  for (const auto& [name, value] : key.group.problem)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::vector<interop::Recording> read_runs(const std::filesystem::path& path) {
  if (!config::is_database(path)) return interop::read_recordings(path);
  std::vector<interop::Recording> recordings;
  for (const auto& [key, result] : database_with_results(path).results)
    recordings.push_back(recording_of(key, result, path.string()));
  return recordings;
}

RunTimes times_of_database(const std::filesystem::path& path) {
  const Database database = database_with_results(path);
  std::vector<std::pair<const ResultKey*, const TunedResult*>> by_date;
  for (const auto& [key, result] : database.results) by_date.emplace_back(&key, &result);
  std::ranges::stable_sort(by_date, {}, [](const auto& entry) { return entry.second->date; });
  RunTimes run{path.string(), {}, {}};
  for (const auto& [key, result] : by_date) {
    ProblemTimes times = times_of_result(*key, *result);
    std::erase_if(run.problems, [&](const ProblemTimes& other) {
      return other.kernel == times.kernel && other.problem == times.problem && other.device == times.device;
    });
    run.problems.push_back(std::move(times));
  }
  return run;
}

}  // namespace tune::flow
