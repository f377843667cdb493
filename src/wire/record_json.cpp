#include "wire/record_json.h"

#include <algorithm>
#include <cstdint>

#include "model/statistics/sequential.h"

namespace tune {

using nlohmann::json;

void refuse(const std::string& why) { throw std::invalid_argument(why); }

// The library would take true for a number, and cut what does not fit.
std::int64_t to_integer(const json& j, const std::string& what, std::int64_t least, std::int64_t most) {
  const bool fits = j.is_number_integer() && !(j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX);
  if (!fits || j.get<std::int64_t>() < least || j.get<std::int64_t>() > most)
    refuse(what + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return j.get<std::int64_t>();
}

std::int64_t integer_at(const json& j, const char* key, std::int64_t least, std::int64_t most, std::int64_t otherwise) {
  const auto found = j.find(key);
  return found == j.end() ? otherwise : to_integer(*found, std::string("'") + key + "'", least, most);
}

double seconds_at(const json& j, const char* key) {
  const auto found = j.find(key);
  if (found == j.end()) return 0;
  if (!found->is_number() || found->get<double>() < 0) refuse(std::string("'") + key + "' is no time");
  return found->get<double>();
}

namespace {

constexpr const char* kShared = "shared";

/// Requires a valid build time of a spec that was measured or pruned.
void require_build_time(const json& outcome) {
  if (const auto build = outcome.find("build"); build != outcome.end()) seconds_at(*build, "seconds");
}

void require_times(const json& timing) {
  for (const char* key : {"min", "mean", "p95", "ci_low", "ci_high"}) seconds_at(timing, key);
  if (seconds_at(timing, "median") <= 0) refuse("the time of the spec is not positive");
  integer_at(timing, "count", 0, INT64_MAX, 0);
}

// Older versions wrote the seconds without the round's number.
bool is_of_older_version(const json& rounds) {
  return !rounds.empty() && std::ranges::all_of(rounds, [](const json& round) { return round.is_number(); });
}

/// Values by the round's number; times are `positive`.
std::map<int, double> values_by_round(const json& j, bool positive = true) {
  if (!j.is_array()) refuse("'rounds' is no list");
  if (is_of_older_version(j)) throw wire::OlderFinals("it holds finals of an older version");
  std::map<int, double> values;
  for (const json& round : j) {
    if (!round.is_array() || round.size() != 2) refuse("a round is no pair of number and seconds");
    const auto number = to_integer(round[0], "a round's number", 1, SequentialIntervals::looks().back());
    if (!round[1].is_number() || (positive && round[1].get<double>() <= 0))
      refuse("round " + std::to_string(number) + " has no " + (positive ? "time" : "cost"));
    if (!values.emplace(static_cast<int>(number), round[1].get<double>()).second)
      refuse("round " + std::to_string(number) + " is there twice");
  }
  return values;
}

/// Three lists of pairs of number and value: the seconds of all rounds, the others of some.
void write_rounds(json& j, const std::map<int, FinalsRound>& rounds) {
  std::map<int, double> seconds, clean, costs;
  for (const auto& [number, round] : rounds) {
    seconds[number] = round.seconds;
    if (round.clean_seconds) clean[number] = *round.clean_seconds;
    if (round.cost) costs[number] = *round.cost;
  }
  j["rounds"] = std::move(seconds);
  if (!clean.empty()) j["clean_rounds"] = std::move(clean);
  if (!costs.empty()) j["costs"] = std::move(costs);
}

std::map<int, FinalsRound> rounds_from(const json& j) {
  std::map<int, FinalsRound> rounds;
  if (j.contains("rounds"))
    for (const auto& [number, seconds] : values_by_round(j.at("rounds"))) rounds[number].seconds = seconds;
  const auto round_of = [&](int number, const char* what) -> FinalsRound& {
    const auto found = rounds.find(number);
    if (found == rounds.end()) refuse("round " + std::to_string(number) + " has only a " + what);
    return found->second;
  };
  if (j.contains("clean_rounds"))
    for (const auto& [number, seconds] : values_by_round(j.at("clean_rounds")))
      round_of(number, "clean time").clean_seconds = seconds;
  if (j.contains("costs"))
    for (const auto& [number, cost] : values_by_round(j.at("costs"), false)) round_of(number, "cost").cost = cost;
  return rounds;
}

std::string name_of(const Finalist& finalist) {
  return finalist.entrant.is_spec() ? "spec " + std::to_string(finalist.entrant.spec.mesh_idx) : finalist.entrant.name;
}

// A spec that came through was timed in every round, one that lost in every round until it left, and a baseline in
// every round until it rested; those that are not the winner rest when it is decided. What lacks rounds otherwise is
// gone, and its times would be compared with others'.
void require_all_rounds(const std::vector<Finalist>& finalists, int decided_after) {
  int last = 0;
  for (const Finalist& finalist : finalists)
    if (finalist.entrant.is_spec() && !finalist.failure && !finalist.rounds.empty())
      last = std::max(last, finalist.rounds.rbegin()->first);
  for (const Finalist& finalist : finalists) {
    if (finalist.failure) continue;
    const auto count = static_cast<int>(finalist.rounds.size());
    if (!finalist.rounds.empty() && finalist.rounds.rbegin()->first != count)
      refuse("a round of " + name_of(finalist) + " is missing");
    if (!finalist.entrant.is_spec()) continue;
    const int expected = finalist.eliminated_after > 0 ? finalist.eliminated_after : last;
    if (count != expected && count != decided_after)
      refuse(name_of(finalist) + " has " + std::to_string(count) + " rounds instead of " + std::to_string(expected) +
             ", and no failure");
  }
}

// Parameters by name, run-time ones with their `$`.
json to_object(const std::vector<Setting>& params) {
  json j = json::object();
  for (const Setting& setting : params) j[(setting.run_time ? "$" : "") + setting.name] = setting.value;
  return j;
}

std::vector<Setting> from_object(const json& j) {
  if (!j.is_object()) refuse("'params' is no object");
  std::vector<Setting> params;
  for (const auto& [key, value] : j.items()) {
    const bool run_time = key.starts_with('$');
    params.push_back({key.substr(run_time ? 1 : 0), value.get<Value>(), run_time});
  }
  return params;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measurement, timing, checked, max_error, metrics, build, device, scaled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PrunedAfterBuild, reason, build)

void to_json(json& j, const FailureFacts& facts) {
  j = json::object();
  if (facts.exit_code != 0) j["exit_code"] = facts.exit_code;
  if (facts.signal != 0) j["signal"] = facts.signal;
  if (facts.limit_seconds > 0) j["limit_seconds"] = facts.limit_seconds;
  if (facts.machine_suspected) j["machine_suspected"] = true;
  if (facts.not_tried) j["not_tried"] = true;
}

void from_json(const json& j, FailureFacts& facts) {
  if (!j.is_object()) refuse("'facts' is no object");
  facts.exit_code = static_cast<int>(integer_at(j, "exit_code", 0, UINT8_MAX, 0));
  facts.signal = static_cast<int>(integer_at(j, "signal", 0, INT8_MAX, 0));
  facts.limit_seconds = seconds_at(j, "limit_seconds");
  facts.machine_suspected = j.value("machine_suspected", false);
  facts.not_tried = j.value("not_tried", false);
}

void to_json(json& j, const Failure& failure) {
  j = {{"stage", failure.stage}, {"cause", failure.cause}, {"message", failure.message}, {"log", failure.log}};
  if (failure.facts != FailureFacts()) j["facts"] = failure.facts;
}

void from_json(const json& j, Failure& failure) {
  const Failure unset;
  failure = {j.value("stage", unset.stage), j.value("cause", unset.cause), j.value("message", unset.message),
             j.value("log", unset.log), j.value("facts", unset.facts)};
}

void to_json(json& j, const Spec& spec) { j = {{"mesh_idx", spec.mesh_idx}, {"params", to_object(spec.params)}}; }

void from_json(const json& j, Spec& spec) {
  spec = {to_integer(j.at("mesh_idx"), "'mesh_idx'", -1, INT64_MAX), from_object(j.at("params"))};
}

void to_json(json& j, const Trial& trial) {
  j = trial.spec;
  j["seconds"] = trial.seconds;
  if (trial.measure_seconds > 0) j["measure_seconds"] = trial.measure_seconds;
  if (const auto* measured = trial.measurement()) {
    j["measured"] = *measured;
    j["measured"]["process"] = measured->shared ? kShared : "own";
    if (!measured->name.empty()) j["measured"]["name"] = measured->name;
    if (measured->clean_seconds > 0) j["measured"]["clean_seconds"] = measured->clean_seconds;
  }
  if (const auto* failed = trial.failure()) j["failed"] = *failed;
  if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome)) j["pruned"] = *pruned;
}

void from_json(const json& j, Trial& trial) {
  trial.spec = j.get<Spec>();
  trial.seconds = seconds_at(j, "seconds");
  trial.measure_seconds = seconds_at(j, "measure_seconds");
  if (j.contains("measured")) {
    require_times(j.at("measured").at("timing"));
    require_build_time(j.at("measured"));
    auto measurement = j.at("measured").get<Measurement>();
    // Older journals held the device's own times, and the factor next to them.
    scale_times(measurement, j.at("measured").value("scale", 1.0));
    measurement.shared = j.at("measured").value("process", "") == kShared;
    measurement.clean_seconds = seconds_at(j.at("measured"), "clean_seconds");
    measurement.name = j.at("measured").value("name", "");
    trial.outcome = std::move(measurement);
  } else if (j.contains("pruned")) {
    require_build_time(j.at("pruned"));
    trial.outcome = j.at("pruned").get<PrunedAfterBuild>();
  } else {
    trial.outcome = j.at("failed").get<Failure>();
  }
}

void to_json(json& j, const Finalist& finalist) {
  j = finalist.entrant.spec;
  j["label"] = label_of(finalist.entrant);
  write_rounds(j, finalist.rounds);
  j["launches"] = finalist.launches;
  j["metrics"] = finalist.metrics;
  if (!finalist.remarks.empty()) j["remarks"] = finalist.remarks;
  if (finalist.failure) j["failed"] = *finalist.failure;
  if (finalist.entrant.is_default()) j["default"] = true;
  if (finalist.eliminated_after > 0) j["eliminated_after"] = finalist.eliminated_after;
  if (finalist.other_state_seconds) j["other_state_seconds"] = *finalist.other_state_seconds;
}

void from_json(const json& j, Finalist& finalist) {
  finalist.entrant = entrant_of(j.value("label", ""));
  finalist.entrant.spec = j.get<Spec>();
  if (finalist.entrant.is_spec() && j.value("default", false)) finalist.entrant.kind = Entrant::Kind::current_default;
  finalist.rounds = rounds_from(j);
  finalist.launches = integer_at(j, "launches", 0, INT64_MAX, 0);
  finalist.metrics = j.value("metrics", std::map<std::string, double>());
  finalist.remarks = j.value("remarks", std::vector<std::string>());
  if (j.contains("failed")) finalist.failure = j.at("failed").get<Failure>();
  finalist.eliminated_after =
      static_cast<int>(integer_at(j, "eliminated_after", 0, SequentialIntervals::looks().back(), 0));
  if (j.contains("other_state_seconds")) finalist.other_state_seconds = seconds_at(j, "other_state_seconds");
}

void to_json(json& j, const Finals& finals) {
  j = {{"finalists", finals.finalists}, {"cores", finals.cores}};
  if (finals.others_running) j["others_running"] = *finals.others_running;
  if (finals.stolen_cores > 0) j["stolen_cores"] = finals.stolen_cores;
  j["accuracy"] = finals.accuracy;
  if (!finals.objective.empty()) j["objective"] = finals.objective;
  if (finals.decided_after > 0) j["decided_after"] = finals.decided_after;
  if (finals.seconds > 0) j["seconds"] = finals.seconds;
  if (finals.room) j["room"] = *finals.room;
}

Finals finals_at_any_time(const json& j) {
  Finals finals;
  finals.finalists = j.at("finalists").get<std::vector<Finalist>>();
  finals.cores = static_cast<int>(integer_at(j, "cores", 0, INT32_MAX, 0));
  if (j.contains("others_running")) finals.others_running = seconds_at(j, "others_running");
  if (j.contains("stolen_cores")) finals.stolen_cores = seconds_at(j, "stolen_cores");
  finals.objective = j.value("objective", "");
  // Older versions took the default, or the lowest mesh_idx, among those that tie.
  finals.accuracy = j.contains("accuracy") ? seconds_at(j, "accuracy") : kEquivalence;
  finals.decided_after = static_cast<int>(integer_at(j, "decided_after", 0, SequentialIntervals::looks().back(), 0));
  if (j.contains("seconds")) finals.seconds = seconds_at(j, "seconds");
  if (j.contains("room")) finals.room = seconds_at(j, "room");
  return finals;
}

void from_json(const json& j, Finals& finals) {
  finals = finals_at_any_time(j);
  require_all_rounds(finals.finalists, finals.decided_after);
}

}  // namespace tune
