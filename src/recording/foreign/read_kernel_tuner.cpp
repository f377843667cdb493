// A Kernel Tuner cache file: one JSON object with the search space in front and one entry per configuration in `cache`.
// It is appended to while Kernel Tuner runs, so that it may end behind any byte; what is whole before is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "recording/recording_text.h"

namespace tune::recording {
namespace {

std::vector<std::string> to_names(std::string_view json) {
  if (is_string(json)) return {to_string(json)};
  std::vector<std::string> names;
  JsonMembers members(json);
  while (const auto member = members.next()) names.push_back(to_string(member->value));
  return names;
}

/// `[4096, 4096]`, `4096` or a text.
std::string problem_text(std::string_view json) {
  if (is_string(json)) return to_string(json);
  if (is_number(json)) return std::string(json);
  std::vector<std::string> sizes;
  JsonMembers members(json);
  while (const auto member = members.next())
    sizes.push_back(is_string(member->value) ? to_string(member->value) : std::string(member->value));
  return fmt::format("{}", fmt::join(sizes, "x"));
}

/// The parameters in the order of `tune_params_keys`, which is that of the objects too, mostly.
std::vector<Parameter> to_parameters(std::string_view keys, std::string_view values) {
  std::vector<Parameter> parameters;
  for (std::string& name : to_names(keys)) parameters.push_back({std::move(name), false, Kind::ordinal, {}});
  JsonMembers members(values);
  while (const auto member = members.next()) {
    const std::string name = name_of(*member);
    const auto parameter = std::ranges::find(parameters, name, &Parameter::name);
    if (parameter == parameters.end())
      throw BadJson(member->key.data(), fmt::format("'{}' of tune_params is none of tune_params_keys", name));
    JsonMembers list(member->value);
    while (const auto value = list.next())
      add_value(parameters, {parameter->name, to_parameter_value(value->value), false});
  }
  return parameters;
}

/// Reads entries of one file: what is the same for all of them is looked up once.
class EntryReader {
 public:
  explicit EntryReader(Recording& recording) : recording_(&recording) {
    for (const Parameter& parameter : recording.parameters)
      blank_.push_back({parameter.name, std::int64_t{0}, parameter.run_time});
    found_.resize(blank_.size());
  }

  RecordedTrial read(const JsonMembers::Member& entry) {
    RecordedTrial trial;
    trial.settings = blank_;
    std::fill(found_.begin(), found_.end(), false);
    Measurement measurement;
    std::vector<double> launches;
    std::string_view time;
    std::string error;
    std::array<std::string, 3> told;  // of a failure that tune wrote: stage, cause, message
    std::size_t next = 0;
    JsonMembers members(entry.value);
    while (const auto member = members.next()) {
      const std::string_view value = member->value;
      const std::string key = name_of(*member);
      if (const auto index = parameter_index(key, next); index < blank_.size()) {
        trial.settings[index].value = to_parameter_value(value);
        found_[index] = true;
        next = index + 1;
      } else if (key == "time") {
        time = value;
      } else if (key == "times") {
        launches = to_numbers(value);
      } else if (key == "__error__") {
        error = to_string(value);
      } else if (key == "stage" || key == "cause" || key == "message") {
        if (is_string(value)) told[key == "stage" ? 0 : key == "cause" ? 1 : 2] = to_string(value);
      } else if (is_string(value)) {
        // The old form of a failure stands in place of the objective.
        if (value.ends_with("Config\"")) error = to_string(value);
      } else if (is_number(value)) {
        add_figure(trial, measurement, key, value);
      }
    }
    finish(trial, entry, std::move(measurement), std::move(launches), time, error);
    refine(trial, told);
    return trial;
  }

 private:
  /// What Kernel Tuner's three sorts of failure do not tell.
  static void refine(RecordedTrial& trial, const std::array<std::string, 3>& told) {
    auto* failure = std::get_if<Failure>(&trial.outcome);
    if (failure == nullptr) return;
    *failure = {stage_named(told[0]).value_or(failure->stage), cause_named(told[1]).value_or(failure->cause),
                told[2].empty() ? failure->message : told[2]};
  }

  std::size_t parameter_index(std::string_view key, std::size_t next) const {
    if (next < blank_.size() && blank_[next].name == key) return next;
    for (std::size_t i = 0; i < blank_.size(); ++i)
      if (blank_[i].name == key) return i;
    return blank_.size();
  }

  static void add_figure(RecordedTrial& trial, Measurement& measurement, std::string_view key, std::string_view value) {
    const double number = to_number(value);
    const auto cost = [&] {
      if (!(number >= 0) || !(number / 1e3 < kLongest))
        throw BadJson(value.data(), fmt::format("{} is {}: a duration cannot be", key, value));
      return number / 1e3;
    };
    if (key == "compile_time") {
      trial.build_seconds = cost();
    } else if (key == "verification_time" || key == "benchmark_time") {
      trial.measure_seconds += cost();
      if (key == "verification_time" && number > 0) measurement.checked = true;
    } else if (key != "strategy_time" && key != "framework_time" && std::isfinite(number)) {
      measurement.metrics.emplace(key, number);
    }
  }

  void finish(RecordedTrial& trial, const JsonMembers::Member& entry, Measurement measurement,
              std::vector<double> launches, std::string_view time, std::string error) const {
    const auto missing = std::ranges::find(found_, false);
    if (missing != found_.end())
      throw BadJson(entry.key.data(), fmt::format("the entry {} lacks the parameter {}", entry.key,
                                                  blank_[static_cast<std::size_t>(missing - found_.begin())].name));
    for (const Setting& setting : trial.settings) add_value(recording_->parameters, setting);
    if (error.empty() && is_string(time)) error = to_string(time);
    if (!error.empty()) {
      trial.outcome = failure_of(error);
      return;
    }
    if (time.empty()) throw BadJson(entry.key.data(), fmt::format("the entry {} has no time", entry.key));
    for (double& launch : launches) launch /= 1e3;
    measurement.timing = timing_of(to_seconds(time), launches);
    trial.launches = std::move(launches);
    measurement.build.seconds = trial.build_seconds;
    add_energy(measurement);
    trial.outcome = std::move(measurement);
  }

  /// Kernel Tuner's NVML observer records power, in W, or energy, in J.
  static void add_energy(Measurement& measurement) {
    auto& metrics = measurement.metrics;
    const auto energy = metrics.find("nvml_energy"), power = metrics.find("nvml_power");
    if (energy != metrics.end())
      metrics.emplace("energy", energy->second);
    else if (power != metrics.end())
      metrics.emplace("energy", power->second * measurement.timing.median);
  }

  Recording* recording_;
  std::vector<Setting> blank_;
  std::vector<bool> found_;
};

}  // namespace

Recording read_kernel_tuner(std::string_view text) {
  Recording recording;
  recording.format = Recording::Format::kernel_tuner;
  std::string_view keys, values, cache;
  std::vector<std::string> run_time;  // this and `statistic` are members of our own
  JsonMembers header(text);
  while (const auto member = header.next()) {
    const std::string_view value = member->value;
    if (member->key == "device_name") recording.device.name = to_string(value);
    if (member->key == "kernel_name") recording.kernel = to_string(value);
    if (member->key == "problem_size") recording.problem = problem_text(value);
    if (member->key == "objective") recording.objectives = to_names(value);
    if (member->key == "tune_params_keys") keys = value;
    if (member->key == "tune_params") values = value;
    if (member->key == "run_time_params") run_time = to_names(value);
    if (member->key == "statistic" && is_string(value)) recording.time = time_rule_named(to_string(value));
    if (member->key == "cache") cache = value;
  }
  if (keys.empty() || values.empty() || cache.empty())
    throw BadJson(text.data() + text.size(), "the file ends before the first entry of the cache");
  recording.parameters = to_parameters(keys, values);
  for (Parameter& parameter : recording.parameters)
    parameter.run_time = std::ranges::find(run_time, parameter.name) != run_time.end();
  EntryReader reader(recording);
  JsonMembers entries(cache);
  while (const auto entry = entries.next()) {
    if (entry->cut) break;
    recording.trials.push_back(reader.read(*entry));
  }
  return recording;
}

}  // namespace tune::recording
