#pragma once
#include <optional>
#include <span>

#include "model/cost/cost.h"
#include "model/plan.h"

namespace tune {

/// Predicts the times of a plan's specs on a device from Plan::cost_rules.
class CostModel {
 public:
  /// nullopt: the plan has no rules, or the device does not tell what they need. `plan` must outlive it.
  static std::optional<CostModel> of(const Plan& plan, const Device& device);

  const std::string& device_name() const { return device_name_; }
  /// nullopt: no rule is meant for this spec, or an expression has no value that is possible there.
  std::optional<cost::Prediction> predict(const Spec& spec) const;

 private:
  CostModel(const Plan& plan, const Device& device, cost::Hardware hardware);

  std::optional<cost::Prediction> prediction_of(const Spec& spec) const;
  cost::Kernel kernel_of(const CostRule& rule, std::span<const Value> slots, const Launch* launch,
                         double launches) const;

  const Plan* plan_;
  std::string device_name_;
  cost::Hardware hardware_;
  std::optional<std::int64_t> threads_;  ///< that a multiprocessor holds
  std::optional<std::int64_t> shared_;   ///< bytes of shared memory that it has
  std::optional<std::int64_t> blocks_;   ///< that it holds at most
};

}  // namespace tune
