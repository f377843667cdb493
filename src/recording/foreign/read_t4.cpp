// T4 results: a list of configurations with their times, what became of them, and measurements. Kernel Tuner, KTT and
// the schema spell a few members differently.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recording/recording_text.h"

namespace tune::recording {
namespace {

/// Units of the file: seconds per unit.
double seconds_per(std::string_view unit, const char* at) {
  if (unit == "seconds" || unit == "s") return 1;
  if (unit == "milliseconds" || unit == "miliseconds" || unit == "Milliseconds" || unit == "ms") return 1e-3;
  if (unit == "microseconds" || unit == "Microseconds" || unit == "us") return 1e-6;
  if (unit == "nanoseconds" || unit == "Nanoseconds" || unit == "ns") return 1e-9;
  throw BadJson(at, fmt::format("unknown unit of time '{}'", unit));
}

Failure failure_of_invalidity(const std::string& invalidity) {
  if (invalidity == "compile") return {Stage::build, Cause::reported, "the build failed", {}};
  if (invalidity == "timeout") return {Stage::measure, Cause::timed_out, "timed out", {}};
  if (invalidity == "correctness") return {Stage::check, Cause::reported, "wrong result", {}};
  if (invalidity == "constraints") return {Stage::start, Cause::reported, "against the constraints", {}};
  return {Stage::measure, Cause::reported, "failed at run time", {}};
}

class ResultReader {
 public:
  ResultReader(Recording& recording, double unit) : recording_(&recording), unit_(unit) {}

  RecordedTrial read(const JsonMembers::Member& result) {
    trial_ = {};
    measurement_ = {};
    launches_.clear();
    time_ = 0;
    std::string invalidity, message;
    bool configured = false;
    JsonMembers members(result.value);
    while (const auto member = members.next()) {
      if (member->key == "configuration") {
        read_configuration(member->value);
        configured = true;
      } else if (member->key == "times") {
        read_times(member->value);
      } else if (member->key == "invalidity") {
        invalidity = to_string(member->value);
      } else if (member->key == "message" && is_string(member->value)) {
        message = to_string(member->value);  // a member of our own
      } else if (member->key == "measurements") {
        read_measurements(member->value);
      } else if (member->key == "objectives" && recording_->objectives.empty()) {
        JsonMembers names(member->value);
        while (const auto name = names.next()) recording_->objectives.push_back(to_string(name->value));
      }
    }
    if (!configured || invalidity.empty())
      throw BadJson(result.value.data(), "a result needs `configuration` and `invalidity`");
    for (const Setting& setting : trial_.settings) add_value(recording_->parameters, setting);
    finish(result, invalidity);
    if (auto* failure = std::get_if<Failure>(&trial_.outcome); failure != nullptr && !message.empty())
      *failure = {failure->stage, failure->cause, message};
    return std::move(trial_);
  }

 private:
  void read_configuration(std::string_view json) {
    JsonMembers members(json);
    while (const auto member = members.next()) {
      const std::string name = name_of(*member);
      if (std::ranges::find(trial_.settings, name, &Setting::name) != trial_.settings.end())
        throw BadJson(member->value.data(), "the parameter " + name + " has two values");
      trial_.settings.push_back({name, to_parameter_value(member->value), false});
    }
  }

  double duration(const JsonMembers::Member& member) const {
    const double value = to_number(member.value);
    if (!(value >= 0) || !(value * unit_ < kLongest))
      throw BadJson(member.value.data(), fmt::format("{} is {}: a duration cannot be", member.key, member.value));
    return value * unit_;
  }

  void read_times(std::string_view json) {
    double launched = 0, benchmark = 0;
    JsonMembers members(json);
    while (const auto member = members.next()) {
      // Files of our own have both, with the same value.
      if (member->key == "compilation" || member->key == "compilation_time") trial_.build_seconds = duration(*member);
      if (member->key == "validation" || member->key == "validation_time") {
        trial_.measure_seconds += duration(*member);
        measurement_.checked = trial_.measure_seconds > 0;
      }
      if (member->key == "benchmark" || member->key == "benchmark_time") benchmark = duration(*member);
      if (member->key != "runtimes") continue;
      for (const double launch : to_numbers(member->value)) {
        launches_.push_back(launch * unit_);
        if (is_time(launch * unit_)) launched += launch * unit_;
      }
    }
    trial_.measure_seconds += benchmark > 0 ? benchmark : launched;
  }

  void read_measurements(std::string_view json) {
    JsonMembers list(json);
    while (const auto item = list.next()) {
      std::string name, unit;
      std::string_view value;
      JsonMembers members(item->value);
      while (const auto member = members.next()) {
        if (member->key == "name") name = to_string(member->value);
        if (member->key == "unit" && is_string(member->value)) unit = to_string(member->value);
        if (member->key == "value") value = member->value;
      }
      if (!is_number(value)) continue;
      if (name == "time" || name == "Time")
        time_ = to_seconds(value) * 1e3 * (unit.empty() ? unit_ : seconds_per(unit, value.data()));
      else if (const double number = to_number(value); std::isfinite(number))
        measurement_.metrics.emplace(name, number);
    }
  }

  void finish(const JsonMembers::Member& result, const std::string& invalidity) {
    if (invalidity != "correct") {
      trial_.outcome = failure_of_invalidity(invalidity);
      return;
    }
    if (time_ == 0 && launches_.empty()) throw BadJson(result.value.data(), "a correct result without a time");
    const double seconds = time_ > 0 ? time_ : summarize_mean();
    if (!is_time(seconds)) throw BadJson(result.value.data(), fmt::format("no launch takes {} s", seconds));
    measurement_.timing = timing_of(seconds, launches_);
    trial_.launches = launches_;
    measurement_.build.seconds = trial_.build_seconds;
    trial_.outcome = std::move(measurement_);
  }

  double summarize_mean() const {
    double sum = 0;
    for (const double launch : launches_) sum += launch;
    return sum / static_cast<double>(launches_.size());
  }

  Recording* recording_;
  double unit_;
  RecordedTrial trial_;
  Measurement measurement_;
  std::vector<double> launches_;
  double time_ = 0;
};

}  // namespace

Recording read_t4(std::string_view text) {
  Recording recording;
  recording.format = Recording::Format::t4;
  std::string_view results;
  double unit = 1e-3;
  JsonMembers header(text);
  while (const auto member = header.next()) {
    if (member->key == "results") results = member->value;
    if (member->key != "metadata") continue;
    JsonMembers metadata(member->value);
    while (const auto item = metadata.next()) {
      if (item->key == "timeunit") unit = seconds_per(to_string(item->value), item->value.data());
      if (item->key == "device" && is_string(item->value)) recording.device.name = to_string(item->value);
      if (item->key == "kernel" && is_string(item->value)) recording.kernel = to_string(item->value);
      if (item->key == "problem" && is_string(item->value)) recording.problem = to_string(item->value);
      if (item->key == "statistic" && is_string(item->value)) recording.time = time_rule_named(to_string(item->value));
    }
  }
  ResultReader reader(recording, unit);
  JsonMembers entries(results);
  while (const auto entry = entries.next()) {
    if (entry->cut) break;
    recording.trials.push_back(reader.read(*entry));
  }
  return recording;
}

}  // namespace tune::recording
