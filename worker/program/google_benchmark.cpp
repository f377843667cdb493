#include "program/google_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "model/statistics/stats.h"
#include "wire/messages.h"

namespace tune::worker {
namespace {

using nlohmann::json;
using wire::Malformed;

std::string text_of(const json& row, const char* key) {
  return row.contains(key) && row.at(key).is_string() ? row.at(key).get<std::string>() : "";
}

std::string benchmark_name(const json& row) {
  const std::string name = text_of(row, "run_name");
  return name.empty() ? text_of(row, "name") : name;
}

double number_of(const json& row, const char* key) {
  if (!row.contains(key) || !row.at(key).is_number())
    throw Malformed(fmt::format("the benchmark '{}' in the result file has no number '{}'", benchmark_name(row), key));
  return row.at(key).get<double>();
}

double seconds_of_unit(const json& row) {
  const std::string unit = text_of(row, "time_unit");
  for (const auto& [name, seconds] : {std::pair("ns", 1e-9), {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}})
    if (unit == name) return seconds;
  throw Malformed(
      fmt::format("the benchmark '{}' in the result file has the time unit '{}'", benchmark_name(row), unit));
}

/// The repetitions, or their median where the program wrote aggregates only.
std::vector<json> repetitions_of(const json& document) {
  std::vector<json> runs, medians;
  for (const json& row : document.at("benchmarks")) {
    if (!row.is_object()) continue;
    if (text_of(row, "run_type") != "aggregate")
      runs.push_back(row);
    else if (text_of(row, "aggregate_name") == "median")
      medians.push_back(row);
  }
  return runs.empty() ? medians : runs;
}

void require_one(const std::vector<json>& runs) {
  if (runs.empty()) throw Malformed("no benchmark in the result file: --benchmark_filter must choose one");
  for (const json& run : runs) {
    if (benchmark_name(run) != benchmark_name(runs[0]))
      throw Malformed(
          fmt::format("the result file has the benchmarks '{}' and '{}': --benchmark_filter must choose one",
                      benchmark_name(runs[0]), benchmark_name(run)));
    for (const char* key : {"error_message", "skip_message"})
      if (const std::string message = text_of(run, key); !message.empty())
        throw Malformed(fmt::format("the benchmark '{}' stopped: {}", benchmark_name(run), message));
  }
}

/// What google-benchmark writes of every benchmark, besides times and counters.
bool is_counter(const std::string& key, const json& value) {
  static const std::vector<std::string> kKnown = {"family_index", "per_family_instance_index",
                                                  "repetitions",  "repetition_index",
                                                  "threads",      "iterations",
                                                  "real_time",    "cpu_time"};
  return value.is_number() && std::ranges::find(kKnown, key) == kKnown.end();
}

}  // namespace

bool is_google_benchmark(const json& document) {
  return document.is_object() && document.contains("context") && document.contains("benchmarks") &&
         document.at("benchmarks").is_array();
}

json row_of_google_benchmark(const json& document) {
  const std::vector<json> runs = repetitions_of(document);
  require_one(runs);
  const double unit = seconds_of_unit(runs[0]);
  const auto values = [&](const char* key) {
    std::vector<double> all;
    for (const json& run : runs) all.push_back(number_of(run, key));
    return all;
  };
  const std::vector<double> times = values("real_time"), iterations = values("iterations");
  json row = {{"name", benchmark_name(runs[0])},
              {"time", median(times) * unit},
              {"cpu_ms", median(values("cpu_time")) * unit * 1e3}};
  row["iters"] = std::accumulate(iterations.begin(), iterations.end(), 0.0);
  row["min"] = std::ranges::min(times) * unit;
  row["mean"] = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()) * unit;
  for (const auto& [key, value] : runs[0].items())
    if (is_counter(key, value)) row[key] = median(values(key.c_str()));
  return row;
}

}  // namespace tune::worker
