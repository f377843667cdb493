#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/statistics/ranking.h"

namespace tune {

/// What a run is after, and the metrics of a tuning file: figures computed from a measurement.
class Objective {
 public:
  /// `plan` must outlive this. Throws Error(bad_input) for an objective that is neither built in nor a metric.
  explicit Objective(const Plan& plan) : Objective(plan, plan.objective) {}
  /// One of the plan's other objectives.
  Objective(const Plan& plan, std::string name);

  const std::string& name() const { return name_; }
  bool maximize() const { return maximize_; }
  /// Whether the time alone decides.
  bool by_time() const { return metric_ == nullptr && (name() == "time" || name() == "gflops"); }
  /// Whether a slower spec is a worse one, so that slow ones may be timed less: not if it may be good at something
  /// else.
  bool follows_time() const { return (name() == "time" || name() == "gflops") && plan_->other_objectives.empty(); }
  /// The same of energy.
  bool follows_energy() const { return is_energy() && plan_->other_objectives.empty(); }
  /// Where energy has to be measured: of every spec if the objective is computed from it or none is left out anyhow
  /// (`tuned` false); of finalists if a metric is.
  MeasureRules::Energy energy(bool tuned) const;
  /// Throws Error(environment) if the objective is computed from energy and the device has no counter of it.
  void require(const Device& device) const;
  /// NaN value if the measurement lacks what it needs.
  Merit merit(const Spec& spec, const Measurement& measurement) const;

  /// Why a measurement has no merit, the point's own values in a second line; empty if it has one.
  std::string why_none(const Spec& spec, const Measurement& measurement) const;

  /// The value of one of the plan's metrics; NaN if it has none here.
  double metric(const Metric& metric, const Spec& spec, const Measurement& measurement) const;

 private:
  bool is_energy() const { return name() == "energy" || name() == "gflops_per_watt"; }
  bool uses_energy(const Metric& metric) const;
  bool needs_energy(const std::string& objective) const;
  /// What metrics are evaluated over; NaN for what the measurement lacks.
  std::vector<Value> figures(const Spec& spec, const Measurement& measurement) const;
  std::string why_no_metric(const Spec& spec, const Measurement& measurement) const;

  const Plan* plan_;
  std::string name_;
  const Metric* metric_ = nullptr;
  bool maximize_ = false;
};

/// Floating-point operations and bytes of a problem; 0 if unknown.
double flops_of(const Problem& problem);
double bytes_of(const Problem& problem);

/// Whether more of a figure is better, by its unit: rates (`GB/s`, `GFLOPS`, `GFLOPS/W`, `.../J`) are.
bool more_is_better(const std::string& name);

/// The name among `known` that an objective is written as: `GFLOP/s` and `GFLOPS/W` are `gflops` and `gflops_per_watt`,
/// unless there is a figure of that very name.
std::string objective_named(const std::string& written, std::span<const std::string> known);

}  // namespace tune
