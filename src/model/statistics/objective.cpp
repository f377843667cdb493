#include "model/statistics/objective.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/values/error.h"
#include "model/values/names.h"
#include "model/values/text.h"

namespace tune {
namespace {

constexpr const char* kNoCounter =
    "that takes NVIDIA's management library (libnvidia-ml.so.1) and a device with an energy counter (Volta or later)";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double measured(const Measurement& measurement, const std::string& name) {
  const auto found = measurement.metrics.find(name);
  return found == measurement.metrics.end() ? kNone : found->second;
}

/// Lists the columns that a program did report, for a message about a missing one.
std::string reported(const Plan& plan, const Measurement& measurement, const std::string& missing) {
  if (!plan.is_program()) return "";
  std::vector<std::string> names;
  for (const auto& [name, value] : measurement.metrics) names.push_back(name);
  const std::string meant = did_you_mean(missing, names);
  return meant + (meant.empty() ? "; the" : " The") + " program reports " +
         (names.empty() ? "no columns" : fmt::format("{}", fmt::join(names, ", "))) +
         (meant.empty() ? fmt::format("; let it print a line of JSON such as {{\"{}\": 1.5}}", missing) : "");
}

}  // namespace

std::optional<Merit> Objective::merit(const Trial& trial) const {
  if (!trial.measurement()) return std::nullopt;
  const Merit found = merit(trial.spec, *trial.measurement());
  return std::isfinite(found.value) ? std::optional(found) : std::nullopt;
}

std::vector<Merit> merits_of(std::span<const Trial> trials, const Objective& objective, const Finals* finals) {
  std::vector<Merit> merits;
  for (const Trial& trial : trials)
    merits.push_back(trial.measurement() ? objective.merit(trial.spec, measurement_after(trial, finals)) : Merit{});
  return merits;
}

double flops_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return gemm->flops();
  if (const auto* custom = std::get_if<Custom>(&problem)) return custom->flops;
  return 0;
}

double bytes_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return gemm->bytes();
  if (const auto* custom = std::get_if<Custom>(&problem)) return custom->bytes;
  return 0;
}

std::string objective_named(const std::string& written, std::span<const std::string> known) {
  if (std::find(known.begin(), known.end(), written) != known.end()) return written;
  const std::string lower = lower_case(written);
  if (lower == "gflop/s" || lower == "gflops/s" || lower == "gflops") return "gflops";
  if (lower == "edp" || lower == "ed2p") return lower;
  return lower == "gflop/w" || lower == "gflops/w" ? "gflops_per_watt" : written;
}

bool more_is_better(const std::string& name) {
  const std::string lower = lower_case(name);
  const auto contains = [&](const char* part) { return lower.find(part) != std::string::npos; };
  return contains("/s") || contains("flops") || contains("/w") || contains("/j");
}

Objective::Objective(const Plan& plan, std::string name) : plan_(&plan), name_(std::move(name)) {
  for (const Metric& metric : plan.metrics)
    if (metric.name == name_) metric_ = &metric;
  maximize_ = metric_ != nullptr && metric_->maximize ? *metric_->maximize : more_is_better(name_);
  const bool needs_flops = metric_ == nullptr && (name_ == "gflops" || name_ == "gflops_per_watt");
  if (needs_flops && flops_of(plan.problem) == 0)
    throw Error(ExitCode::bad_input, plan.yaml.filename().string() + ": objective " + name_ +
                                         " needs a problem whose flops are known; use time, or a metric");
}

std::string Objective::definition() const {
  const std::string expression = metric_ != nullptr && metric_->expression ? " = " + metric_->expression->text() : "";
  return name_ + expression + (maximize_ ? ", more is better" : "");
}

void Objective::keep_own_costs(Finals& finals) const {
  if (!by_time() && finals.objective == definition()) return;
  drop_costs(finals);
}

bool Objective::uses_energy(const Metric& metric) const {
  const auto energy = plan_->result_names.find("energy");
  if (!metric.expression) return metric.name == "energy";
  const auto used = metric.expression->used_slots();
  return energy && std::find(used.begin(), used.end(), *energy) != used.end();
}

bool Objective::needs_energy(const std::string& objective) const {
  const auto metric = std::ranges::find(plan_->metrics, objective, &Metric::name);
  if (metric != plan_->metrics.end()) return uses_energy(*metric);
  return objective == "energy" || objective == "gflops_per_watt" || delays_in(objective) > 0;
}

int Objective::delays_in(const std::string& objective) { return objective == "edp" ? 1 : objective == "ed2p" ? 2 : 0; }

MeasureRules::Energy Objective::energy(bool tuned) const {
  using Energy = MeasureRules::Energy;
  if (needs_energy(name_)) return Energy::always;
  if (std::ranges::any_of(plan_->other_objectives, [this](const std::string& other) { return needs_energy(other); }))
    return Energy::always;
  const bool shown = std::any_of(plan_->metrics.begin(), plan_->metrics.end(),
                                 [this](const Metric& metric) { return uses_energy(metric); });
  return !shown ? Energy::never : tuned ? Energy::finals : Energy::always;
}

void Objective::require(const Device& device) const {
  // A program that measures its own energy says so in its result.
  if (energy(true) != MeasureRules::Energy::always || plan_->is_program()) return;
  const auto counter = device.properties.find("energy_counter");
  if (counter != device.properties.end() && counter->second != Value(std::int64_t{0})) return;
  const auto told = device.properties.find("no_energy");
  const std::string why = told == device.properties.end() ? kNoCounter : to_text(told->second);
  throw Error(ExitCode::environment, plan_->yaml.filename().string() + ": objective " + name() +
                                         " needs the energy of a launch, and " + device.name + " tells none: " + why +
                                         "; or use time or gflops");
}

Merit Objective::merit(const Spec& spec, const Measurement& measurement) const {
  if (metric_ != nullptr) return {metric(*metric_, spec, measurement), maximize_, false};
  if (name() == "time") return {measurement.timing.typical(), false, true};
  if (name() == "gflops") return {flops_of(plan_->problem) / measurement.timing.typical() / 1e9, true, true};
  if (is_product() && std::isnan(measured(measurement, name_)))  // a program may report it
    return {measured(measurement, "energy") * std::pow(measurement.timing.typical(), delays_in(name_)), false, false};
  const double figure = measured(measurement, is_energy() ? "energy" : name());
  if (name() == "gflops_per_watt") return {flops_of(plan_->problem) / figure / 1e9, true, false};
  return {figure, maximize_, false};
}

std::string Objective::why_none(const Spec& spec, const Measurement& measurement) const {
  const double value = merit(spec, measurement).value;
  if (std::isfinite(value)) return "";
  if (metric_ != nullptr && metric_->expression) return "objective " + name_ + " " + why_no_metric(spec, measurement);
  if (!std::isnan(value)) return "objective " + name_ + " is infinite";
  return "objective " + name_ + " was not measured" + reported(*plan_, measurement, name_);
}

std::string Objective::why_not_reported(const Spec& spec, const Measurement& measurement) const {
  if (!plan_->is_program()) return "";
  if (!missing(spec, measurement).empty()) return why_none(spec, measurement);
  for (const std::string& name : plan_->other_objectives)
    if (const Objective other(*plan_, name); !other.missing(spec, measurement).empty())
      return other.why_none(spec, measurement);
  for (const Metric& metric : plan_->metrics)
    if (!metric.expression && std::isnan(measured(measurement, metric.name)))
      return "metric " + metric.name + " was not measured" + reported(*plan_, measurement, metric.name);
  return "";
}

std::string Objective::missing(const Spec& spec, const Measurement& measurement) const {
  if (metric_ == nullptr || !metric_->expression) return std::isnan(merit(spec, measurement).value) ? name_ : "";
  const std::vector<Value> slots = figures(spec, measurement);
  for (const int slot : metric_->expression->used_slots()) {
    const auto* figure = std::get_if<double>(&slots[static_cast<std::size_t>(slot)]);
    if (figure != nullptr && std::isnan(*figure)) return plan_->result_names.at(slot);
  }
  return "";
}

std::string Objective::why_no_metric(const Spec& spec, const Measurement& measurement) const {
  const Expression& expression = *metric_->expression;
  const std::string quoted = "'" + expression.text() + "'";
  if (const std::string name = missing(spec, measurement); !name.empty())
    return "cannot be computed: no " + name + " was measured, which is in " + quoted +
           reported(*plan_, measurement, name);
  const std::vector<Value> slots = figures(spec, measurement);
  EvalFailure failure;
  expression.number(slots, failure);
  if (!failure) return "cannot be computed: " + quoted + " is not a finite number";
  const std::string what = failure.what, explained = expression.explain(failure, slots);
  const std::string point = explained.starts_with(what + " at ") ? "\n" + explained : "";
  return "cannot be computed: " + what + " in " + quoted + point;
}

double Objective::metric(const Metric& metric, const Spec& spec, const Measurement& measurement) const {
  if (!metric.expression) return measured(measurement, metric.name);
  EvalFailure failure;
  const double value = metric.expression->number(figures(spec, measurement), failure);
  return failure ? kNone : value;
}

std::vector<Value> Objective::figures(const Spec& spec, const Measurement& measurement) const {
  std::vector<Value> slots = plan_->space.environment(spec);
  const std::size_t known = slots.size();
  slots.resize(static_cast<std::size_t>(plan_->result_names.size()), kNone);
  const auto set = [&](const std::string& name, double value) {
    const auto slot = plan_->result_names.find(name);
    // A program may report its parameters too; they do not override the spec.
    if (slot && static_cast<std::size_t>(*slot) >= known) slots[static_cast<std::size_t>(*slot)] = value;
  };
  set("time", measurement.timing.typical());
  set("flops", flops_of(plan_->problem));
  set("bytes", bytes_of(plan_->problem));
  for (const auto& [name, value] : measurement.metrics) set(name, value);
  return slots;
}

}  // namespace tune
