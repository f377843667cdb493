#include "wire/records.h"

#include <cmath>

#include "wire/json.h"

namespace tune {

using nlohmann::json;

namespace {

constexpr const char* kShared = "shared";

// Parameters by name, run-time ones with their `$`.
json to_object(const std::vector<Setting>& params) {
  json j = json::object();
  for (const Setting& setting : params) j[(setting.run_time ? "$" : "") + setting.name] = setting.value;
  return j;
}

std::vector<Setting> from_object(const json& j) {
  std::vector<Setting> params;
  for (const auto& [key, value] : j.items()) {
    const bool run_time = key.starts_with('$');
    params.push_back({key.substr(run_time ? 1 : 0), value.get<Value>(), run_time});
  }
  return params;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measurement, timing, checked, max_error, metrics, build, device, scaled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Failure, stage, cause, message, log)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PrunedAfterBuild, reason, build)

void to_json(json& j, const Spec& spec) { j = {{"mesh_idx", spec.mesh_idx}, {"params", to_object(spec.params)}}; }

void from_json(const json& j, Spec& spec) {
  spec = {j.at("mesh_idx").get<std::int64_t>(), from_object(j.at("params"))};
}

void to_json(json& j, const Trial& trial) {
  j = trial.spec;
  j["seconds"] = trial.seconds;
  if (trial.measure_seconds > 0) j["measure_seconds"] = trial.measure_seconds;
  if (const auto* measured = trial.measurement()) {
    j["measured"] = *measured;
    j["measured"]["process"] = measured->shared ? kShared : "own";
  }
  if (const auto* failed = trial.failure()) j["failed"] = *failed;
  if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome)) j["pruned"] = *pruned;
}

void from_json(const json& j, Trial& trial) {
  trial.spec = j.get<Spec>();
  trial.seconds = j.value("seconds", 0.0);
  trial.measure_seconds = j.value("measure_seconds", 0.0);
  if (j.contains("measured")) {
    auto measurement = j.at("measured").get<Measurement>();
    // Journals of before held the times of the device itself, and the factor beside them.
    scale_times(measurement, j.at("measured").value("scale", 1.0));
    measurement.shared = j.at("measured").value("process", "") == kShared;
    trial.outcome = std::move(measurement);
  } else if (j.contains("pruned")) {
    trial.outcome = j.at("pruned").get<PrunedAfterBuild>();
  } else {
    trial.outcome = j.at("failed").get<Failure>();
  }
}

void to_json(json& j, const Finalist& finalist) {
  j = finalist.spec;
  j["label"] = finalist.label;
  j["rounds"] = finalist.rounds;  // pairs of number and seconds
  j["launches"] = finalist.launches;
  j["metrics"] = finalist.metrics;
  if (!finalist.remarks.empty()) j["remarks"] = finalist.remarks;
  if (finalist.failure) j["failed"] = *finalist.failure;
  if (finalist.is_default) j["default"] = true;
  if (finalist.eliminated_after > 0) j["eliminated_after"] = finalist.eliminated_after;
  if (finalist.other_state_seconds) j["other_state_seconds"] = *finalist.other_state_seconds;
}

// What is no time, or no round, makes the whole record none: what it says could not be trusted.
void from_json(const json& j, Finalist& finalist) {
  finalist.spec = j.get<Spec>();
  finalist.label = j.value("label", "");
  finalist.rounds = j.value("rounds", std::map<int, double>());
  for (const auto& [round, seconds] : finalist.rounds)
    if (round < 1 || !std::isfinite(seconds) || seconds <= 0) throw std::invalid_argument("a round without a time");
  finalist.launches = j.value("launches", std::int64_t{0});
  finalist.metrics = j.value("metrics", std::map<std::string, double>());
  finalist.remarks = j.value("remarks", std::vector<std::string>());
  if (j.contains("failed")) finalist.failure = j.at("failed").get<Failure>();
  finalist.is_default = j.value("default", false);
  finalist.eliminated_after = j.value("eliminated_after", 0);
  if (j.contains("other_state_seconds")) finalist.other_state_seconds = j.at("other_state_seconds").get<double>();
}

void to_json(json& j, const Finals& finals) {
  j = {{"finalists", finals.finalists}, {"cores", finals.cores}};
  if (finals.others_running) j["others_running"] = *finals.others_running;
}

void from_json(const json& j, Finals& finals) {
  finals.finalists = j.at("finalists").get<std::vector<Finalist>>();
  finals.cores = j.value("cores", 0);
  if (j.contains("others_running")) finals.others_running = j.at("others_running").get<double>();
}

namespace wire {

// The probe's answer in full, because later runs may have to do with it alone.
static void to_json(json& j, const RunRecord& run) {
  j = {{"protocol", run.protocol},
       {"name", run.name},
       {"problem", run.problem},
       {"command", run.command},
       {"host", run.host},
       {"process", run.process},
       {"hello", json::parse(encode(Event(run.hello)))}};
}

static void from_json(const json& j, RunRecord& run) {
  run.protocol = j.at("protocol").get<int>();
  run.name = j.value("name", "");
  run.problem = j.value("problem", "");
  run.command = j.value("command", std::vector<std::string>());
  run.host = j.value("host", "");
  run.process = j.value("process", 0);
  const Event event = decode_event(j.at("hello").dump());
  const auto* hello = std::get_if<Hello>(&event);
  if (hello == nullptr) throw Malformed("what it calls hello is another message");
  run.hello = *hello;
}

std::string encode(const Record& record) {
  json j;
  if (const auto* run = std::get_if<RunRecord>(&record)) {
    j = *run;
    j["record"] = "run";
  } else if (const auto* trial = std::get_if<TrialRecord>(&record)) {
    j = trial->trial;
    j["record"] = "trial";
    j["id"] = trial->id;
  } else if (const auto* finals = std::get_if<FinalsRecord>(&record)) {
    j = finals->finals;
    j["record"] = "finals";
    j["id"] = finals->id;
  }
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Record decode_record(std::string_view line) {
  const json j = parse_json(line);
  if (!j.is_object()) throw Malformed("not a JSON object");
  try {
    const std::string sort = j.at("record").get<std::string>();
    if (sort == "run") return j.get<RunRecord>();
    if (sort == "trial") return TrialRecord{j.at("id").get<std::string>(), j.get<Trial>()};
    if (sort == "finals") return FinalsRecord{j.at("id").get<std::string>(), j.get<Finals>()};
    throw Malformed("unknown record '" + sort + "'");
  } catch (const json::exception& error) {
    throw Malformed(fault_of(error));
  } catch (const std::invalid_argument& error) {
    throw Malformed(error.what());
  }
}

}  // namespace wire
}  // namespace tune
