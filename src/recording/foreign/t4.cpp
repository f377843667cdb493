#include "recording/foreign/t4.h"

#include <cmath>

#include "recording/foreign/kernel_tuner_cache.h"
#include "wire/json.h"

namespace tune::recording {
namespace {

using ordered_json = nlohmann::ordered_json;

/// JSON cannot hold bytes that are not UTF-8; they are replaced with the replacement character.
std::string compact(const ordered_json& j) { return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

const char* invalidity_of(const Outcome& outcome) {
  if (std::holds_alternative<Measurement>(outcome)) return "correct";
  const auto* failure = std::get_if<Failure>(&outcome);
  if (failure == nullptr) return "constraints";
  if (failure->cause == Cause::timed_out) return "timeout";
  if (failure->cause == Cause::reported && failure->stage == Stage::start) return "constraints";
  if (failure->is_wrong_result()) return "correctness";
  return failure->stage == Stage::build ? "compile" : "runtime";
}

ordered_json measurement(const std::string& name, double value, const char* unit) {
  return {{"name", name}, {"value", value}, {"unit", unit}};
}

ordered_json to_result(const RecordedTrial& trial, const Recording& recording, const std::string& timestamp) {
  ordered_json configuration = ordered_json::object(), measurements = ordered_json::array();
  for (const Setting& setting : trial.settings)
    configuration[setting.name] = ordered_json(nlohmann::json(setting.value));
  // Who reads T4 takes an empty list of times of a spec that was measured for an error, and a missing time for one that
  // the list has: where the launches are not known, their typical time stands for them, and for a time that there is
  // not, a text.
  ordered_json launches = ordered_json::array();
  for (const double launch : trial.launches) launches.push_back(launch * 1e3);
  if (const auto* measured = std::get_if<Measurement>(&trial.outcome)) {
    if (launches.empty()) launches.push_back(measured->timing.typical() * 1e3);
    measurements.push_back(measurement("time", measured->timing.typical() * 1e3, "ms"));
    for (const auto& [name, value] : measured->metrics)
      if (std::isfinite(value)) measurements.push_back(measurement(name, value, ""));
  } else {
    measurements.push_back({{"name", "time"}, {"value", kernel_tuner_error(trial.outcome)}, {"unit", ""}});
  }
  const double build = trial.build_seconds * 1e3;
  const char* invalidity = invalidity_of(trial.outcome);
  const bool correct = std::string_view(invalidity) == "correct";
  ordered_json times = {{"compilation_time", build},
                        {"compilation", build},
                        {"benchmark", trial.measure_seconds * 1e3},
                        {"framework", 0.0},
                        {"search_algorithm", 0.0},
                        {"validation", 0.0},
                        {"runtimes", std::move(launches)}};
  ordered_json result = {{"timestamp", timestamp},
                         {"configuration", std::move(configuration)},
                         {"times", std::move(times)},
                         {"invalidity", invalidity},
                         {"correctness", correct ? 1 : 0},
                         {"measurements", std::move(measurements)},
                         {"objectives", recording.objectives}};
  if (const auto* failure = std::get_if<Failure>(&trial.outcome)) result["message"] = failure->headline();
  return result;
}

}  // namespace

std::string to_t4(const Recording& recording, const std::string& timestamp) {
  ordered_json metadata = {{"timeunit", "milliseconds"},
                           {"device", recording.device.name},
                           {"kernel", recording.kernel},
                           {"problem", recording.problem}};
  if (recording.time.value_or(TimeRule()) != TimeRule()) metadata["statistic"] = to_text(*recording.time);
  std::string text = "{\"schema_version\": \"1.0.0\",\n\"metadata\": " + compact(metadata) + ",\n\"results\": [";
  const char* separator = "\n";
  for (const RecordedTrial& trial : recording.trials) {
    text += separator;
    text += compact(to_result(trial, recording, timestamp));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace tune::recording
