#include "kokkos/tuned_region.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <fstream>

#include "kokkos/settings.h"
#include "model/values/escaped_text.h"
#include "platform/store/store.h"

namespace tune::kokkos {
namespace {

constexpr std::size_t kMostOutputs = 64;
constexpr int kUsesOfNearest = 3;  // before a search of its own
constexpr int kMostDisturbed = 200;

bool is_number(const Feature& feature) {
  return feature.variable->kind != Kind::categorical && feature.variable->type != tools::ValueType::text;
}

std::string unique_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; std::ranges::find(taken, unique) != taken.end(); ++i) unique = fmt::format("{}_{}", name, i);
  return unique;
}

/// As a database can have it, which takes no bytes that are not UTF-8.
std::string text_of(const Value& value) { return line_with_escapes(to_text(value)); }

/// A name that a tuning file takes: other characters than letters and digits become `_`.
std::string parameter_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string plain = std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
  for (char& c : plain)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return unique_name(plain, taken);
}

std::string application() {
  std::error_code error;
  const std::string name = std::filesystem::read_symlink("/proc/self/exe", error).filename();
  return error || name.empty() ? "application" : name;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// What a result depends on: if it changes, the result is of something else.
std::string hash_of_declarations(const std::vector<const Variable*>& variables) {
  platform::Hash hash;
  for (const Variable* variable : variables) {
    hash.add(variable->name)
        .add(fmt::format("{} {}", static_cast<int>(variable->type), static_cast<int>(variable->kind)));
    for (const Value& value : variable->candidates) hash.add(to_text(value));
  }
  return hash.hex();
}

std::string id_of(const database::ResultKey& key) {
  platform::Hash hash;
  hash.add(key.group.kernel).add(key.group.source).add(key.group.device.name).add(database::to_text(key.sizes));
  for (const auto& [name, text] : key.group.problem) hash.add(name).add(text);
  return hash.hex().substr(0, 16);
}

}  // namespace

std::string why_unusable(const Asked& asked) {
  if (asked.outputs.size() > kMostOutputs)
    return fmt::format("{} variables are asked for at once, and {} can be tuned together; the defaults stay",
                       asked.outputs.size(), kMostOutputs);
  for (const Variable* output : asked.outputs) {
    if (output == nullptr) return "a variable is asked for that was not declared; the defaults stay";
    if (!output->unusable.empty())
      return fmt::format("variable '{}': {}; the defaults stay", line_with_escapes(output->name), output->unusable);
  }
  for (const Feature& feature : asked.features) {
    if (feature.variable == nullptr) return "an input was not declared; the defaults stay";
    const auto* real = std::get_if<double>(&feature.value);
    if (real != nullptr && !std::isfinite(*real))
      return fmt::format("input '{}' is no number; the defaults stay", line_with_escapes(feature.variable->name));
  }
  return "";
}

TunedRegion::TunedRegion(Asked asked, bool unusable, Results& results, const SearchRules& rules)
    : asked_(std::move(asked)), results_(&results), rules_(rules), unusable_(unusable) {
  if (unusable) {
    for (const Variable* output : asked_.outputs) names_.push_back(output != nullptr ? output->name : "?");
    description_ = fmt::format(
        "{}", fmt::join(names_.begin(), names_.begin() + std::min<std::ptrdiff_t>(8, std::ssize(names_)), " "));
    return;
  }
  set_key();
  if (const database::TunedResult* result = results.find(key_))
    if (const auto values = values_of(*result)) {
      known_ = true;
      settled_ = scalars(*values);
      return;
    }
  if (const auto near = results.nearest(key_, numbers_)) {
    nearest_ = values_of(*near->result);
    nearest_sizes_ = near->sizes;
    if (nearest_) settled_ = scalars(*nearest_);
  }
  if (results.record(id_) != nullptr)
    uses_ = kUsesOfNearest;  // it comes up in every run, perhaps only once in each
  else
    results.add_region(id_, description_, nearest_ ? nearest_sizes_ : "");
}

void TunedRegion::set_key() {
  for (const Variable* output : asked_.outputs) names_.push_back(parameter_name(output->name, names_));
  key_.group.kernel = line_with_escapes(application());
  key_.group.backend = "program";
  key_.group.device.name = cpu_model();
  key_.group.problem["tunes"] = fmt::format("{}", fmt::join(names_, " "));
  if (!asked_.around.empty()) key_.group.problem["within"] = line_with_escapes(asked_.around);
  std::ranges::sort(asked_.features, {}, [](const Feature& feature) { return feature.variable->name; });
  std::string state;
  std::vector<std::string> taken = {"tunes", "within"};
  for (const Feature& feature : asked_.features) {
    const std::string name = unique_name(line_with_escapes(feature.variable->name), taken),
                      text = text_of(feature.value);
    taken.push_back(name);
    state += fmt::format(" {}={}", name, text);
    if (const auto* size = std::get_if<std::int64_t>(&feature.value); size != nullptr && is_number(feature)) {
      key_.sizes.emplace_back(name, *size);
      continue;
    }
    key_.group.problem[name] = text;
    if (is_number(feature)) numbers_.push_back(name);
  }
  key_.group.source = hash_of_declarations(asked_.outputs);
  description_ = key_.group.problem["tunes"] + (state.empty() ? "" : "," + state);
  id_ = id_of(key_);
}

std::vector<tools::Scalar> TunedRegion::scalars(const std::vector<Value>& values) const {
  std::vector<tools::Scalar> all;
  for (std::size_t i = 0; i < values.size(); ++i) all.push_back(to_scalar(asked_.outputs[i]->type, values[i]));
  return all;
}

/// The candidates, or the application's own values, that are written as in the result; nullopt if there are none.
std::optional<std::vector<Value>> TunedRegion::values_of(const database::TunedResult& result) const {
  std::vector<Value> values;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto setting = std::ranges::find(result.params, names_[i], &Setting::name);
    if (setting == result.params.end()) return std::nullopt;
    std::vector<Value> candidates = asked_.outputs[i]->candidates;
    candidates.push_back(asked_.defaults[i]);
    const auto found =
        std::ranges::find(candidates, text_of(setting->value), [](const Value& v) { return text_of(v); });
    if (found == candidates.end()) return std::nullopt;
    values.push_back(*found);
  }
  return values;
}

void TunedRegion::start_search() {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < names_.size(); ++i)
    parameters.push_back({names_[i], true, asked_.outputs[i]->kind, asked_.outputs[i]->candidates});
  region_ = std::make_unique<Region>(std::move(parameters), asked_.defaults, nearest_, rules_);
  if (const RegionRecord* record = results_->record(id_))
    for (const Turn& turn : record->turns) region_->replay(turn);
  region_->start();
  propose();
}

void TunedRegion::propose() {
  proposed_ = scalars(region_->values());
  if (region_->decision()) take_decision();
}

const Region* TunedRegion::search() {
  if (unusable_ || known_ || rules_.only_known || (nearest_ && uses_++ < kUsesOfNearest)) return nullptr;
  if (!region_) start_search();
  return known_ ? nullptr : region_.get();
}

void TunedRegion::add(std::uint64_t turn, double cost, bool disturbed) {
  if (known_ || !region_ || turn != region_->turn()) return;
  if (disturbed && disturbed_++ < kMostDisturbed) return;
  const std::optional<Turn> over = region_->add(cost);
  if (!over) return;
  disturbed_ = 0;
  results_->add_turn(id_, *over);
  propose();
}

void TunedRegion::take_decision() {
  const Decision& decision = *region_->decision();
  known_ = true;
  settled_ = proposed_;
  database::TunedResult result;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool is_text = asked_.outputs[i]->type == tools::ValueType::text;
    result.params.push_back({names_[i], is_text ? Value(text_of(decision.values[i])) : decision.values[i], true});
  }
  result.time = decision.cost;
  result.ratios = {{"default", decision.default_ratio}};
  result.date = today();
  if (!is_valid_time(result.time.seconds)) return;
  results_->add(key_, result);
  results_->add_decision(id_);
}

std::string TunedRegion::text() const {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < settled_.size(); ++i)
    values.push_back(names_[i] + "=" + to_text(read_value(asked_.outputs[i]->type, settled_[i])));
  const std::string state = known_             ? kDecided
                            : unusable_        ? kNotTuned
                            : settled_.empty() ? "the defaults, not decided yet"
                                               : ", approximate: decided for " + nearest_sizes_;
  return fmt::format("{}: {}{}", description_, fmt::join(values, " "), state);
}

}  // namespace tune::kokkos
