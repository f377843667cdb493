#include "recording/foreign/kernel_tuner_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "model/values/error.h"
#include "platform/files/file.h"
#include "recording/text/json_text.h"
#include "recording/text/text_file.h"
#include "wire/json.h"

namespace tune::recording {
namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json to_ordered(const Value& value) { return ordered_json(nlohmann::json(value)); }

std::string dump(const ordered_json& j) { return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

/// The key of a trial: its values as Python writes them as text. Texts that look like another value are quoted, so that
/// 1 and "1" are two keys.
std::string key_of(const RecordedTrial& trial) {
  std::vector<std::string> values;
  for (const Setting& setting : trial.settings) {
    const auto* boolean = std::get_if<Bool>(&setting.value);
    const auto* text = std::get_if<std::string>(&setting.value);
    const bool is_like_another = text != nullptr && !std::holds_alternative<std::string>(parse_value(*text));
    values.push_back(boolean           ? (boolean->value ? "True" : "False")
                     : is_like_another ? "'" + *text + "'"
                                       : to_text(setting.value));
  }
  return fmt::format("{}", fmt::join(values, ","));
}

/// The key as it is written in a file.
std::string escaped_key(const RecordedTrial& trial) {
  const std::string quoted = dump(key_of(trial));
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<double> in_milliseconds(std::span<const double> seconds) {
  std::vector<double> times;
  for (const double each : seconds) times.push_back(each * 1e3);
  return times;
}

/// `[4096, 64]` for 4096x64, else the text.
ordered_json problem_of(const std::string& text) {
  ordered_json sizes = ordered_json::array();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (part.empty() || part.size() > 18 || part.find_first_not_of("0123456789") != std::string::npos) return text;
    sizes.push_back(std::stoll(part));
    begin = end + 1;
  }
  return sizes;
}

/// A program's figure may be called like a parameter, or like what the format itself tells of every entry.
std::string key_of_figure(const std::string& name, bool is_parameter) {
  static constexpr std::string_view kOwn[] = {
      "times",          "__error__",     "stage",          "cause",    "message", "compile_time", "verification_time",
      "benchmark_time", "strategy_time", "framework_time", "timestamp"};
  const bool taken = is_parameter || std::ranges::find(kOwn, name) != std::end(kOwn);
  return taken ? name + " (reported)" : name;
}

ordered_json& figure_of(ordered_json& entry, const RecordedTrial& trial, const std::string& name) {
  return entry[key_of_figure(name, std::ranges::find(trial.settings, name, &Setting::name) != trial.settings.end())];
}

void add_failure(ordered_json& entry, const RecordedTrial& trial, const std::string& objective,
                 const std::vector<std::string>& figures) {
  const std::string error = kernel_tuner_error(trial.outcome);
  entry["time"] = error;
  for (const std::string& figure : figures) figure_of(entry, trial, figure) = nullptr;
  // The dashboard tells failures by a text in place of the objective.
  figure_of(entry, trial, objective) = error;
  entry["__error__"] = error;
  if (const auto* failure = std::get_if<Failure>(&trial.outcome)) {
    entry["stage"] = to_text(failure->stage);
    entry["cause"] = to_text(failure->cause);
    entry["message"] = failure->headline();
  } else {
    entry["message"] = std::get<PrunedAfterBuild>(trial.outcome).reason;
  }
}

}  // namespace

const char* kernel_tuner_error(const Outcome& outcome) {
  const auto* failure = std::get_if<Failure>(&outcome);
  if (failure == nullptr || failure->stage == Stage::start) return "InvalidConfig";
  return failure->stage == Stage::build ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

std::string kernel_tuner_head(const Recording& recording) {
  ordered_json keys = ordered_json::array(), values = ordered_json::object(), run_time = ordered_json::array();
  for (const Parameter& parameter : recording.parameters) {
    keys.push_back(parameter.name);
    values[parameter.name] = ordered_json::array();
    for (const Value& value : parameter.values) values[parameter.name].push_back(to_ordered(value));
    if (parameter.run_time) run_time.push_back(parameter.name);
  }
  std::string head = "{\n";
  const auto line = [&](const char* key, const ordered_json& value) {
    head += fmt::format("\"{}\": {},\n", key, dump(value));
  };
  line("device_name", recording.device.name);
  line("kernel_name", recording.kernel);
  line("problem_size", problem_of(recording.problem));
  line("tune_params_keys", keys);
  line("tune_params", values);
  if (!run_time.empty()) line("run_time_params", run_time);
  const std::string& objective = recording.objectives.front();
  line("objective", key_of_figure(objective, values.contains(objective)));
  if (const TimeRule time = recording.time.value_or(TimeRule()); time != TimeRule()) line("statistic", to_text(time));
  return head + "\"cache\": {";
}

std::string kernel_tuner_entry(const RecordedTrial& trial, const std::string& objective,
                               const std::vector<std::string>& figures, const std::string& timestamp) {
  ordered_json entry;
  for (const Setting& setting : trial.settings) entry[setting.name] = to_ordered(setting.value);
  if (const auto* measurement = std::get_if<Measurement>(&trial.outcome)) {
    entry["time"] = measurement->timing.typical() * 1e3;
    if (!trial.launches.empty()) entry["times"] = in_milliseconds(trial.launches);
    for (const std::string& figure : figures) {
      const auto found = measurement->metrics.find(figure);
      const bool known = found != measurement->metrics.end() && std::isfinite(found->second);
      figure_of(entry, trial, figure) = known ? ordered_json(found->second) : ordered_json(nullptr);
    }
  } else {
    add_failure(entry, trial, objective, figures);
  }
  entry["compile_time"] = trial.build_seconds * 1e3;
  entry["verification_time"] = 0.0;
  entry["benchmark_time"] = trial.measure_seconds * 1e3;
  entry["strategy_time"] = 0.0;
  entry["framework_time"] = 0.0;
  entry["timestamp"] = timestamp;
  return fmt::format("{}: {}", dump(key_of(trial)), dump(entry));
}

std::string to_kernel_tuner(const Recording& recording, const std::string& timestamp) {
  std::set<std::string> figures;
  for (const RecordedTrial& trial : recording.trials) {
    if (trial.settings.size() != recording.parameters.size())
      throw Error(ExitCode::bad_input, recording.file +
                                           ": its specs do not all have the same parameters, as Kernel "
                                           "Tuner's format demands");
    if (const auto* measurement = std::get_if<Measurement>(&trial.outcome))
      for (const auto& [name, value] : measurement->metrics) figures.insert(name);
  }
  const std::vector<std::string> names(figures.begin(), figures.end());
  std::string text = kernel_tuner_head(recording);
  for (const RecordedTrial& trial : recording.trials)
    text += fmt::format("\n{},", kernel_tuner_entry(trial, recording.objectives.front(), names, timestamp));
  text.pop_back();
  return text + kKernelTunerFoot;
}

KernelTunerCache::KernelTunerCache(std::filesystem::path path, Recording kind, std::vector<std::string> figures)
    : path_(std::move(path)), kind_(std::move(kind)), figures_(std::move(figures)) {
  if (const std::string other = platform::kind_of_file(path_); !other.empty())
    throw Error(ExitCode::bad_input, path_.string() + " is " + other + "; choose another --kt-cache FILE");
  platform::make_folder_of(path_);
  file_ = platform::Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_) fail(std::strerror(errno));
  begin();
}

// What is there is read once nobody else can change it.
void KernelTunerCache::begin() {
  lock();
  struct stat status {};
  const bool exists = ::fstat(file_.get(), &status) == 0 && status.st_size > 0;
  if (exists && is_compressed(path_))
    throw Error(ExitCode::bad_input, path_.string() +
                                         ": is compressed, and cannot be continued; unpack it, or choose another "
                                         "--kt-cache FILE");
  if (exists) resume(read_text(path_));
  if (!exists) {
    write(kernel_tuner_head(kind_));
  } else if (::ftruncate(file_.get(), end_) != 0) {
    fail(std::strerror(errno));
  } else if (!failed_.empty()) {
    write(",");
  }
}

void KernelTunerCache::lock() {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(ExitCode::environment,
              path_.string() + " is in use by another run; wait for it, or choose another --kt-cache FILE");
}

KernelTunerCache::~KernelTunerCache() {
  try {
    close();
  } catch (const Error&) {
    // Readers take an open file for a closed one.
  }
}

void KernelTunerCache::close() {
  if (std::exchange(closed_, true)) return;
  if (ends_in_comma_) --end_;
  write(kKernelTunerFoot);
  if (::fsync(file_.get()) != 0) fail(std::strerror(errno));
}

void KernelTunerCache::resume(const std::string& text) try {
  std::string_view cache;
  JsonMembers header(text);
  const auto must_be = [&](const JsonMembers::Member& member, const char* what, const ordered_json& ours) {
    const ordered_json theirs(parse_json(member.value));
    if (theirs != ours)
      throw Error(ExitCode::bad_input, fmt::format("{}: the cache is of the {} {}, this run of {}; choose another "
                                                   "--kt-cache FILE",
                                                   path_.string(), what, member.value.substr(0, 200), dump(ours)));
  };
  ordered_json keys = ordered_json::array();
  for (const Parameter& parameter : kind_.parameters) keys.push_back(parameter.name);
  std::string statistic = to_text(TimeRule());
  while (const auto member = header.next()) {
    if (member->key == "device_name") must_be(*member, "device", kind_.device.name);
    if (member->key == "kernel_name") must_be(*member, "kernel", kind_.kernel);
    if (member->key == "problem_size") must_be(*member, "problem", problem_of(kind_.problem));
    if (member->key == "tune_params_keys") must_be(*member, "parameters", keys);
    if (member->key == "statistic" && is_string(member->value)) statistic = to_string(member->value);
    if (member->key == "cache") cache = member->value;
  }
  if (const std::string ours = to_text(kind_.time.value_or(TimeRule())); statistic != ours)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the times of the cache are of the statistic {}, those of this run "
                            "of {}; choose another --kt-cache FILE",
                            path_.string(), statistic, ours));
  if (cache.empty()) throw BadJson(text.data(), "it has no cache");
  end_ = cache.data() + 1 - text.data();
  JsonMembers entries(cache);
  while (const auto entry = entries.next()) {
    if (entry->cut) break;
    failed_.insert_or_assign(std::string(entry->key), is_failure(entry->value));
    end_ = entry->value.data() + entry->value.size() - text.data();
    if (!figures_fixed_) take_figures(entry->value);
  }
} catch (const BadJson& bad) {
  throw Error(ExitCode::bad_input, path_.string() + ": is no cache file of Kernel Tuner that could be continued: " +
                                       bad.what() + "; choose another --kt-cache FILE");
}

bool KernelTunerCache::is_failure(std::string_view entry) const {
  JsonMembers members(entry);
  while (const auto member = members.next()) {
    const std::string_view key = member->key;
    const bool tells = key == "time" || key == "__error__" || key == kind_.objectives.front();
    if (tells && is_string(member->value)) return true;
  }
  return false;
}

// The members of a spec that was measured.
void KernelTunerCache::take_figures(std::string_view entry) {
  std::vector<std::string> figures;
  JsonMembers members(entry);
  while (const auto member = members.next()) {
    const std::string key = name_of(*member);
    if (key == "time" && !is_number(member->value)) return;
    const bool parameter = std::ranges::find(kind_.parameters, key, &Parameter::name) != kind_.parameters.end();
    const bool scalar = is_number(member->value) || member->value == "null";
    if (!parameter && scalar && key != "time" && !key.ends_with("_time")) figures.push_back(key);
  }
  figures_ = std::move(figures);
  figures_fixed_ = true;
}

void KernelTunerCache::add(const RecordedTrial& trial, const std::string& timestamp, bool anew) {
  const bool fails = !std::holds_alternative<Measurement>(trial.outcome);
  const auto [entry, is_new] = failed_.try_emplace(escaped_key(trial), fails);
  const bool replaces = anew ? !fails || !entry->second : !fails && entry->second;
  if (!is_new && !replaces) return;
  entry->second = fails;
  if (const auto* measurement = std::get_if<Measurement>(&trial.outcome); measurement != nullptr && !figures_fixed_) {
    for (const auto& [name, value] : measurement->metrics)
      if (std::ranges::find(figures_, name) == figures_.end()) figures_.push_back(name);
    figures_fixed_ = true;
  }
  write(fmt::format("\n{},", kernel_tuner_entry(trial, kind_.objectives.front(), figures_, timestamp)));
}

// A program that reads the file now would find it torn if it had half an entry.
void KernelTunerCache::write(const std::string& text) {
  if (::lseek(file_.get(), end_, SEEK_SET) < 0 || !file_.write(text)) {
    const std::string why = std::strerror(errno);
    if (::ftruncate(file_.get(), end_) != 0) fail(why + ", and it ends in half an entry");
    fail(why);
  }
  end_ += std::ssize(text);
  ends_in_comma_ = text.ends_with(',');
}

void KernelTunerCache::fail(const std::string& why) const {
  throw Error(ExitCode::environment,
              "cannot write " + path_.string() + ": " + why + "; fix this, or choose another --kt-cache FILE");
}

}  // namespace tune::recording
