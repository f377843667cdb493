#include "commands/database/database_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "database/database_file.h"
#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

database::Database database_with_results(const std::filesystem::path& path) {
  database::Database database = database::read_database(path);
  if (database.results.empty()) throw Error(ExitCode::bad_input, path.string() + ": the database has no results");
  return database;
}

Measurement measurement_of(const database::TunedResult& result) {
  Measurement measurement;
  measurement.timing.median = result.time.seconds;
  if (result.time.interval) {
    measurement.timing.ci_low = result.time.interval->low;
    measurement.timing.ci_high = result.time.interval->high;
  }
  measurement.checked = result.checked;
  for (const auto& [label, ratio] : result.ratios) measurement.metrics[label + " / best"] = ratio;
  return measurement;
}

recording::Recording recording_of(const database::ResultKey& key, const database::TunedResult& result,
                                  const std::string& file) {
  recording::Recording recording;
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
  recording::RecordedTrial best;
  best.settings = result.params;
  best.outcome = measurement_of(result);
  best.mesh_idx = 0;
  recording.trials.push_back(std::move(best));
  return recording;
}

results::ProblemTimes times_of_result(const database::ResultKey& key, const database::TunedResult& result) {
  results::ProblemTimes times{key.group.kernel, problem_of_result(key), key.group.device.name, {}, 0, {}};
  times.specs.push_back({{0, result.params}, {}, result.time});
  for (const auto& [label, ratio] : result.ratios)
    times.baselines.emplace_back(label, Estimate{result.time.seconds * ratio});
  return times;
}

}  // namespace

std::string problem_of_result(const database::ResultKey& key) {
  std::string text = database::to_text(key.sizes);
  for (const auto& [name, value] : key.group.problem)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::filesystem::path run_of_result(const std::filesystem::path& named) {
  std::filesystem::path file = recording::run_file(named);
  std::error_code ignored;
  if (!platform::is_yaml(file) || !std::filesystem::exists(file, ignored) || database::is_database(file)) return file;
  const std::filesystem::path yaml = file;
  if (std::filesystem::exists(file.replace_extension(".jsonl"), ignored)) return file;
  if (const auto shape = recording::shape_of_journal(yaml.parent_path() / yaml.stem())) return shape->file;
  throw Error(ExitCode::bad_input,
              fmt::format("{} is no run, and there is no journal {} of it; give the journal or the CSV file of a run",
                          yaml.string(), file.string()));
}

std::vector<recording::Recording> read_runs(const std::filesystem::path& path) {
  if (!database::is_database(path)) return recording::read_recordings(path);
  std::vector<recording::Recording> recordings;
  for (const auto& [key, result] : database_with_results(path).results)
    recordings.push_back(recording_of(key, result, path.string()));
  return recordings;
}

results::RecordedTimes read_times(const std::filesystem::path& path) {
  if (!database::is_database(path)) return results::read_recorded_times(path);
  const database::Database database = database_with_results(path);
  std::vector<std::pair<const database::ResultKey*, const database::TunedResult*>> by_date;
  for (const auto& [key, result] : database.results) by_date.emplace_back(&key, &result);
  std::ranges::stable_sort(by_date, {}, [](const auto& entry) { return entry.second->date; });
  results::RecordedTimes run{path.string(), {}, {}};
  for (const auto& [key, result] : by_date) {
    results::ProblemTimes times = times_of_result(*key, *result);
    std::erase_if(run.problems, [&](const results::ProblemTimes& other) {
      return other.kernel == times.kernel && other.problem == times.problem && other.device == times.device;
    });
    run.problems.push_back(std::move(times));
  }
  return run;
}

}  // namespace tune::commands
