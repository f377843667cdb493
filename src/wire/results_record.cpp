// The record of what a run printed at its end.
#include <algorithm>

#include "wire/record_json.h"

namespace tune {

using nlohmann::json;

TUNE_JSON_NAMES(Kind, kKinds)
TUNE_JSON_NAMES(Statistic, kStatistics)

namespace {

bool is_lower_case(const Value& value) {
  const auto* boolean = std::get_if<Bool>(&value);
  return boolean != nullptr && boolean->lower_case;
}

json parameter_object(const Parameter& parameter) {
  json j = {{"name", (parameter.run_time ? "$" : "") + parameter.name},
            {"kind", parameter.kind},
            {"values", parameter.values}};
  if (std::ranges::any_of(parameter.values, is_lower_case)) j["lower_case"] = true;  // true, not True
  return j;
}

Parameter parameter_from(const json& j) {
  Parameter parameter;
  parameter.name = j.at("name").get<std::string>();
  parameter.run_time = parameter.name.starts_with('$');
  if (parameter.run_time) parameter.name.erase(0, 1);
  parameter.kind = j.at("kind").get<Kind>();
  parameter.values = j.at("values").get<std::vector<Value>>();
  for (Value& value : parameter.values)
    if (auto* boolean = std::get_if<Bool>(&value)) boolean->lower_case = j.value("lower_case", false);
  if (parameter.values.empty()) refuse("the parameter " + parameter.name + " has no values");
  return parameter;
}

std::vector<Parameter> mapping_from(const json& j) {
  if (!j.is_array()) refuse("a mapping of the grid is no list");
  std::vector<Parameter> mapping;
  for (const json& parameter : j) mapping.push_back(parameter_from(parameter));
  return mapping;
}

json mappings_array(const std::vector<std::vector<Parameter>>& mappings) {
  json array = json::array();
  for (const std::vector<Parameter>& mapping : mappings) {
    array.push_back(json::array());
    for (const Parameter& parameter : mapping) array.back().push_back(parameter_object(parameter));
  }
  return array;
}

json metric_object(const Metric& metric) {
  json j = {{"name", metric.name}};
  if (metric.maximize) j["maximize"] = *metric.maximize;
  return j;
}

Metric metric_from(const json& j) {
  Metric metric{j.at("name").get<std::string>(), {}, {}};
  if (j.contains("maximize")) metric.maximize = j.at("maximize").get<bool>();
  return metric;
}

json tried_array(const wire::ResultsRecord::Tried& tried) {
  json j = {tried.id, tried.mesh_idx};
  if (!tried.metrics.empty()) j.push_back(tried.metrics);
  return j;
}

wire::ResultsRecord::Tried tried_from(const json& j) {
  if (!j.is_array() || j.size() < 2) refuse("a trial is no pair of identity and mesh_idx");
  wire::ResultsRecord::Tried tried{j[0].get<std::string>(), to_integer(j[1], "'mesh_idx'", -1, INT64_MAX)};
  if (j.size() > 2) tried.metrics = j[2].get<std::map<std::string, double>>();
  return tried;
}

json pruned_array(const GridScan::Pruned& pruned) { return {pruned.reason, pruned.count, pruned.first_mesh_idx}; }

GridScan::Pruned pruned_from(const json& j) {
  if (!j.is_array() || j.size() != 3) refuse("what was pruned is no list of three");
  return {j[0].get<std::string>(), to_integer(j[1], "a count", 0, INT64_MAX),
          to_integer(j[2], "'mesh_idx'", -1, INT64_MAX)};
}

template <class Element, class To>
json array_of(const std::vector<Element>& elements, To to) {
  json array = json::array();
  for (const Element& element : elements) array.push_back(to(element));
  return array;
}

template <class From>
auto list_at(const json& j, const char* key, From from) {
  std::vector<decltype(from(j))> elements;
  if (!j.contains(key)) return elements;
  if (!j.at(key).is_array()) refuse(std::string("'") + key + "' is no list");
  for (const json& element : j.at(key)) elements.push_back(from(element));
  return elements;
}

}  // namespace

namespace wire {

void to_json(json& j, const ResultsRecord& results) {
  j = {{"file", results.file},
       {"backend", results.backend},
       {"flops", results.flops},
       {"bytes", results.bytes},
       {"state", results.state},
       {"objectives", results.objectives},
       {"metrics", array_of(results.metrics, metric_object)},
       {"mappings", mappings_array(results.mappings)},
       {"tuned", results.tuned},
       {"command", results.command},
       {"specs", results.specs},
       {"trials", array_of(results.trials, tried_array)},
       {"pruned", array_of(results.pruned, pruned_array)},
       {"unranked", results.unranked},
       {"logs", results.logs},
       {"notes", results.notes},
       {"elapsed_seconds", results.elapsed_seconds}};
  if (!results.run.words.empty()) j["run"] = results.run;
  if (!results.verdict.empty()) j["verdict"] = results.verdict;
  if (results.time.statistic != Statistic::median) j["statistic"] = results.time.statistic;
  if (results.time.without_outliers) j["without_outliers"] = true;
  if (results.part) j["part"] = true;
  if (results.default_idx >= 0) j["default"] = results.default_idx;
  if (results.finals) j["finals"] = *results.finals;
  if (results.finals_interrupted) j["finals_interrupted"] = true;
}

void from_json(const json& j, ResultsRecord& results) {
  const ResultsRecord unset;
  results.file = j.value("file", "");
  results.backend = j.value("backend", unset.backend);
  results.run = j.value("run", unset.run);
  results.flops = j.value("flops", 0.0);
  results.bytes = j.value("bytes", 0.0);
  results.state = j.value("state", unset.state);
  results.time = {j.value("statistic", Statistic::median), j.value("without_outliers", false)};
  results.objectives = j.value("objectives", unset.objectives);
  if (results.objectives.empty()) refuse("'objectives' is empty");
  results.metrics = list_at(j, "metrics", metric_from);
  results.mappings = list_at(j, "mappings", mapping_from);
  results.tuned = j.value("tuned", false);
  results.part = j.value("part", false);
  results.command = j.value("command", unset.command);
  results.specs = j.value("specs", "");
  results.default_idx = integer_at(j, "default", 0, INT64_MAX, -1);
  results.trials = list_at(j, "trials", tried_from);
  results.finals_interrupted = j.value("finals_interrupted", false);
  if (j.contains("finals"))
    results.finals = results.finals_interrupted ? finals_at_any_time(j.at("finals")) : j.at("finals").get<Finals>();
  results.pruned = list_at(j, "pruned", pruned_from);
  results.unranked = j.value("unranked", unset.unranked);
  results.logs = j.value("logs", unset.logs);
  results.notes = j.value("notes", unset.notes);
  results.verdict = j.value("verdict", unset.verdict);
  results.elapsed_seconds = seconds_at(j, "elapsed_seconds");
}

}  // namespace wire
}  // namespace tune
