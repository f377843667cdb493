#include "recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "model/expression/cell.h"
#include "model/statistics/stats.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "recording/recording_text.h"
#include "recording/text/json_text.h"
#include "recording/text/text_file.h"

namespace tune::recording {
namespace {

bool is_numeric(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// What the steps between the values suggest, as `pow2` and `range` say it in a tuning file.
Kind kind_of(const std::vector<Value>& values) {
  std::vector<double> numbers;
  for (const Value& value : values) {
    if (!is_numeric(value)) return Kind::categorical;
    numbers.push_back(to_cell(value).to_real());
  }
  std::sort(numbers.begin(), numbers.end());
  if (numbers.size() < 3) return Kind::ordinal;
  bool equal_steps = true, equal_ratios = numbers.front() > 0;
  for (std::size_t i = 2; i < numbers.size(); ++i) {
    equal_steps &= numbers[i] - numbers[i - 1] == numbers[1] - numbers[0];
    equal_ratios = equal_ratios && numbers[i] * numbers[0] == numbers[i - 1] * numbers[1];
  }
  if (equal_ratios) return Kind::ratio;
  return equal_steps ? Kind::interval : Kind::ordinal;
}

std::string settings_key(std::span<const Setting> settings) {
  std::string key;
  for (const Setting& setting : settings) key += setting.name + '=' + exact_text(setting.value) + '\n';
  return key;
}

bool has_similar(const std::vector<Value>& values) {
  std::set<std::string> texts;
  return !std::ranges::all_of(values, [&](const Value& value) { return texts.insert(key_text(value)).second; });
}

// The last record of a spec counts, in the place of the first.
void drop_repeated(std::vector<RecordedTrial>& trials) {
  std::unordered_map<std::string, std::size_t> seen;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto [first, is_new] = seen.emplace(settings_key(trials[i].settings), kept);
    if (!is_new) {
      trials[first->second] = std::move(trials[i]);
    } else {
      if (kept != i) trials[kept] = std::move(trials[i]);
      ++kept;
    }
  }
  trials.resize(kept);
}

Recording::Format format_of(std::string_view text) {
  using enum Recording::Format;
  const std::string_view start = text.substr(0, text.find('\n'));
  if (start.starts_with("mesh_idx,name,status,")) return csv;
  if (start.find("\"record\":") != std::string_view::npos) return journal;
  JsonMembers members(text);
  while (const auto member = members.next()) {
    if (member->key == "results") return t4;
    if (member->key == "cache" || member->key == "tune_params_keys") return kernel_tuner;
    if (member->cut) break;
  }
  throw BadJson(text.data(),
                "this is no recorded run: neither a journal or CSV file of tune, nor a cache file of Kernel Tuner, nor "
                "T4 results");
}

/// A journal's reader passes over lines that are none.
void require_utf8(std::string_view text) {
  const std::size_t at = find_no_utf8(text);
  if (at == std::string_view::npos) return;
  throw BadJson(text.data() + at,
                fmt::format("the byte {} is no UTF-8; save the file as UTF-8", line_with_escapes(text.substr(at, 1))));
}

using JournalReading = std::function<std::vector<Recording>(std::string_view text)>;

/// What a file holds: of our own journal a recording per kernel and problem, or what else is read of it; else one.
std::vector<Recording> parts_of(std::string_view text, const std::string& file,
                                const JournalReading& read_ours = read_journal) try {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(ExitCode::bad_input, file + ": the recording is empty");
  const Recording::Format format = format_of(text);
  if (format == Recording::Format::journal) return read_ours(text);
  require_utf8(text);
  if (format == Recording::Format::kernel_tuner) return {read_kernel_tuner(text)};
  return {format == Recording::Format::csv ? read_csv(text) : read_t4(text)};
} catch (const BadJson& bad) {
  throw_bad_recording(file, text, bad.at(), bad.what());
}

Recording completed(Recording recording, const std::string& file) {
  recording.file = file;
  if (recording.trials.empty()) throw Error(ExitCode::bad_input, file + ": the recording holds no trial");
  // The results of a run tell its grid, and have each spec once.
  if (recording.run && recording.run->results) return recording;
  for (RecordedTrial& trial : recording.trials)  // sums of what each reader bounds
    for (double* seconds : {&trial.build_seconds, &trial.measure_seconds}) *seconds = std::min(*seconds, kLongest / 2);
  drop_repeated(recording.trials);
  for (Parameter& parameter : recording.parameters) {
    parameter.kind = kind_of(parameter.values);
    // Only Kernel Tuner's header says in which order the values stand in the grid.
    if (recording.format != Recording::Format::kernel_tuner && std::ranges::all_of(parameter.values, is_numeric))
      std::ranges::sort(parameter.values, {}, [](const Value& value) { return to_cell(value).to_real(); });
  }
  if (recording.objectives.empty()) recording.objectives = {"time"};
  return recording;
}

/// What a problem of so many operations tells of a time and of an energy.
void add_rates(double flops, Measurement& measurement) {
  if (!(flops > 0)) return;
  measurement.metrics.emplace(figure_name("gflops"), flops / measurement.timing.typical() / 1e9);
  if (const auto energy = measurement.metrics.find("energy"); energy != measurement.metrics.end() && energy->second > 0)
    measurement.metrics.emplace(figure_name("gflops_per_watt"), flops / energy->second / 1e9);
}

}  // namespace

std::string figure_name(const std::string& objective) {
  if (objective == "gflops") return "GFLOP/s";
  return objective == "gflops_per_watt" ? "GFLOPS/W" : objective;
}

void throw_bad_recording(const std::string& file, std::string_view text, const char* at, const std::string& why) {
  const auto line = 1 + std::count(text.data(), std::clamp(at, text.data(), text.data() + text.size()), '\n');
  throw Error(ExitCode::bad_input, fmt::format("{}:{}: {}", file, line, why));
}

bool is_time(double seconds) { return seconds > 1e-15 && seconds < kLongest; }

double to_seconds(std::string_view milliseconds) {
  const double value = to_number(milliseconds);
  if (!(value > 0) || !std::isfinite(value))
    throw BadJson(milliseconds.data(), fmt::format("the time {} is not positive and finite", milliseconds));
  if (!is_time(value / 1e3)) throw BadJson(milliseconds.data(), fmt::format("no launch takes {} ms", milliseconds));
  return value / 1e3;
}

Timing timing_of(double seconds, std::vector<double> launches) {
  std::erase_if(launches, [](double value) { return !is_time(value); });
  Timing timing;
  if (launches.empty()) {
    timing.count = 1;
    timing.min = timing.mean = timing.p95 = seconds;
  } else {
    timing = summarize(launches, false);
  }
  timing.median = seconds;
  return timing;
}

Failure failure_of(const std::string& name) {
  const Stage stage = name == "CompilationFailedConfig" ? Stage::build
                      : name == "InvalidConfig"         ? Stage::start
                                                        : Stage::measure;
  return {stage, Cause::reported, name};
}

std::optional<Stage> stage_named(std::string_view name) {
  for (const Stage stage : {Stage::start, Stage::build, Stage::load, Stage::check, Stage::measure})
    if (to_text(stage) == name) return stage;
  return std::nullopt;
}

std::optional<Cause> cause_named(std::string_view name) {
  for (const Cause cause : {Cause::reported, Cause::crashed, Cause::timed_out, Cause::protocol})
    if (to_text(cause) == name) return cause;
  return std::nullopt;
}

void add_value(std::vector<Parameter>& parameters, const Setting& setting) {
  auto parameter = std::ranges::find(parameters, setting.name, &Parameter::name);
  if (parameter == parameters.end())
    parameter = parameters.insert(parameters.end(), {setting.name, setting.run_time, Kind::ordinal, {}});
  if (std::ranges::find(parameter->values, setting.value) == parameter->values.end())
    parameter->values.push_back(setting.value);
}

RecordedTrial to_recorded(Trial trial) {
  RecordedTrial recorded;
  recorded.settings = std::move(trial.spec.params);
  recorded.mesh_idx = trial.spec.mesh_idx;
  if (const auto* measurement = trial.measurement()) {
    recorded.build_seconds = measurement->build.seconds;
    recorded.measure_seconds = measurement->timing.mean * static_cast<double>(measurement->timing.count);
  } else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome)) {
    recorded.build_seconds = pruned->build.seconds;
  }
  if (trial.measure_seconds > 0) recorded.measure_seconds = trial.measure_seconds;
  recorded.outcome = std::move(trial.outcome);
  return recorded;
}

Outcome printed_outcome(const Recording& recording, const RecordedTrial& trial) {
  Outcome outcome = trial.outcome;
  auto* measurement = std::get_if<Measurement>(&outcome);
  if (measurement != nullptr && recording.time && recording.format == Recording::Format::journal)
    choose_time(measurement->timing, *recording.time);
  return outcome;
}

std::string key_text(const Value& value) {
  if (const auto* boolean = std::get_if<Bool>(&value)) return boolean->value ? "1" : "0";
  if (const auto* number = std::get_if<double>(&value);
      number && std::abs(*number) < 1e15 && *number == std::floor(*number))
    return std::to_string(static_cast<std::int64_t>(*number));
  return to_text(value);
}

std::string exact_text(const Value& value) {
  const auto* boolean = std::get_if<Bool>(&value);
  return to_yaml(boolean != nullptr ? Value(Bool{boolean->value}) : value);
}

std::filesystem::path run_file(const std::filesystem::path& named) {
  std::error_code ignored;
  const std::filesystem::path journal = named.string() + ".jsonl";
  if (std::filesystem::is_regular_file(named, ignored)) return named;
  const bool is_name = named.has_filename() && !named.has_extension() && !std::filesystem::exists(named, ignored) &&
                       !std::filesystem::exists(named.string() + ".yaml", ignored);
  return is_name || std::filesystem::is_regular_file(journal, ignored) ? journal : named;
}

std::optional<ShapeOfJournal> shape_of_journal(const std::filesystem::path& prefix) {
  const std::string name = prefix.string();
  std::error_code ignored;
  for (std::size_t dash = name.rfind('-'); dash != std::string::npos && dash > 0; dash = name.rfind('-', dash - 1))
    if (const std::string file = name.substr(0, dash) + ".jsonl"; std::filesystem::is_regular_file(file, ignored))
      return ShapeOfJournal{file, name.substr(dash + 1)};
  return std::nullopt;
}

Recording read_printed_recording(const std::filesystem::path& path) {
  const auto read_ours = [](std::string_view text) { return std::vector{read_printed_journal(text)}; };
  Recording recording =
      completed(std::move(parts_of(read_text(path), path.string(), read_ours).front()), path.string());
  for (std::string& objective : recording.objectives) objective = figure_name(objective);
  for (RecordedTrial& trial : recording.trials) {
    trial.outcome = printed_outcome(recording, trial);
    if (auto* measurement = std::get_if<Measurement>(&trial.outcome)) add_rates(recording.flops, *measurement);
  }
  return recording;
}

std::vector<Recording> read_recordings(const std::filesystem::path& path) {
  return parse_recordings(read_text(path), path.string());
}

std::vector<Recording> parse_recordings(std::string_view text, const std::string& file) {
  std::vector<Recording> recordings = parts_of(text, file);
  // A problem for which nothing was tried says nothing of the others.
  if (std::ranges::any_of(recordings, [](const Recording& recording) { return !recording.trials.empty(); }))
    std::erase_if(recordings, [](const Recording& recording) { return recording.trials.empty(); });
  for (Recording& recording : recordings) recording = completed(std::move(recording), file);
  return recordings;
}

Recording read_run(const std::filesystem::path& path, const RunChoice& choice) {
  const auto read_ours = [&](std::string_view text) {
    return std::vector{read_journal_run(text, path.string(), choice)};
  };
  Recording recording =
      completed(std::move(parts_of(read_text(path), path.string(), read_ours).front()), path.string());
  if (choice.number && recording.format != Recording::Format::journal)
    throw Error(ExitCode::bad_input, path.string() + " is no journal, and holds one run; only a journal has several");
  return recording;
}

RecordedTrials::RecordedTrials(const Recording& recording) : recording_(&recording) {
  for (const Parameter& parameter : recording.parameters)
    if (parameter.values.size() > 1) telling_.push_back({&parameter, has_similar(parameter.values)});
  for (const RecordedTrial& trial : recording.trials) by_key_.emplace(key(trial.settings), &trial);
}

std::string RecordedTrials::key(std::span<const Setting> settings) const {
  std::string key;
  for (const auto& [parameter, exact] : telling_) {
    const auto setting = std::ranges::find(settings, parameter->name, &Setting::name);
    if (setting == settings.end()) continue;
    key += parameter->name + '=' + (exact ? exact_text(setting->value) : key_text(setting->value)) + '\n';
  }
  return key;
}

const RecordedTrial* RecordedTrials::find(std::span<const Setting> settings) const {
  for (const Setting& setting : settings) {
    const auto parameter = std::ranges::find(recording_->parameters, setting.name, &Parameter::name);
    if (parameter == recording_->parameters.end()) return nullptr;
    if (parameter->values.size() == 1 && key_text(parameter->values[0]) != key_text(setting.value)) return nullptr;
  }
  const auto found = by_key_.find(key(settings));
  return found == by_key_.end() ? nullptr : found->second;
}

}  // namespace tune::recording
