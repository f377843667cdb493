#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/statistics/ranking.h"

namespace tune {

/// The objective of a run, and the metrics of a tuning file, which are figures computed from a measurement.
class Objective {
 public:
  /// `plan` must outlive this. Throws Error(bad_input) for an objective that is neither built in nor a metric.
  explicit Objective(const Plan& plan) : Objective(plan, plan.objective) {}
  /// One of the plan's other objectives.
  Objective(const Plan& plan, std::string name);

  const std::string& name() const { return name_; }
  bool maximize() const { return maximize_; }
  /// `GB/s = bytes/time/1e9, more is better`: objectives of one definition rank alike.
  std::string definition() const;
  /// Whether the objective depends on the time alone.
  bool by_time() const { return metric_ == nullptr && (name_ == "time" || name_ == "gflops"); }
  /// Whether a slower spec is always worse, so that slow ones may be timed less. It is not if another objective could
  /// favour it.
  bool follows_time() const { return by_time() && plan_->other_objectives.empty(); }
  /// Whether a spec that takes more energy is always worse.
  bool follows_energy() const { return is_energy() && plan_->other_objectives.empty(); }
  /// Whether it is a product of energy and time, which no column shows by itself: `edp`, `ed2p`.
  bool is_product() const { return metric_ == nullptr && delays_in(name_) > 0; }
  /// Where energy has to be measured: for every spec if the objective is computed from it, or if all specs are measured
  /// anyway (`tuned` is false) and a metric is; else for finalists if a metric is.
  MeasureRules::Energy energy(bool tuned) const;
  /// Throws Error(environment) if the objective is computed from energy and the device has no counter of it.
  void require(const Device& device) const;
  /// Takes the costs of another objective away from recorded finals.
  void keep_own_costs(Finals& finals) const;
  /// The value is NaN if the measurement lacks what the objective needs.
  Merit merit(const Spec& spec, const Measurement& measurement) const;
  /// Of a trial that was measured; nullopt if it was not, or lacks what the objective needs.
  std::optional<Merit> merit(const Trial& trial) const;

  /// Why a measurement has no merit, with the values of the point in a second line; empty if it has one.
  std::string why_none(const Spec& spec, const Measurement& measurement) const;
  /// Why a program's result lacks what an objective or metric of the plan needs; empty if it lacks nothing.
  std::string why_not_reported(const Spec& spec, const Measurement& measurement) const;

  /// The value of one of the plan's metrics; NaN if it has none for this measurement.
  double metric(const Metric& metric, const Spec& spec, const Measurement& measurement) const;

 private:
  /// How often the energy is multiplied by the time; 0: it is no such product.
  static int delays_in(const std::string& objective);
  /// Whether the objective depends on the energy alone.
  bool is_energy() const { return metric_ == nullptr && (name_ == "energy" || name_ == "gflops_per_watt"); }
  bool uses_energy(const Metric& metric) const;
  bool needs_energy(const std::string& objective) const;
  /// The values over which metrics are evaluated; NaN for what the measurement lacks.
  std::vector<Value> figures(const Spec& spec, const Measurement& measurement) const;
  std::string why_no_metric(const Spec& spec, const Measurement& measurement) const;
  /// The name of a figure that is needed and was not measured; empty if there is none.
  std::string missing(const Spec& spec, const Measurement& measurement) const;

  const Plan* plan_;
  std::string name_;
  const Metric* metric_ = nullptr;
  bool maximize_ = false;
};

/// Of each trial that was measured, by what the finals say of it if it was there; others have none.
std::vector<Merit> merits_of(std::span<const Trial> trials, const Objective& objective, const Finals* finals = nullptr);

/// Floating-point operations and bytes of a problem; 0 if unknown.
double flops_of(const Problem& problem);
double bytes_of(const Problem& problem);

/// Whether more of a figure is better, by its unit: rates (`GB/s`, `GFLOPS`, `GFLOPS/W`, `.../J`) are.
bool more_is_better(const std::string& name);

/// The name among `known` that the written objective means: `GFLOP/s` and `GFLOPS/W` mean `gflops` and
/// `gflops_per_watt`, unless a figure has exactly that name.
std::string objective_named(const std::string& written, std::span<const std::string> known);

}  // namespace tune
