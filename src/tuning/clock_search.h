#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "model/statistics/objective.h"
#include "model/statistics/power_model.h"
#include "search/strategy.h"

namespace tune::tuning {

/// `--clocks auto`: one spec is measured at a few clocks, a model of its time and power is fitted to that, and only the
/// clocks near the best one by the model are searched for all specs.
class ClockSearch : public search::Strategy {
 public:
  /// The strategy over the specs that are left.
  using Search = std::function<std::unique_ptr<search::Strategy>(ValidSpecs)>;
  /// Told what the model says, in sentences.
  using Say = std::function<void(const std::string&)>;

  /// The spec that is measured is `pilot`, or the first one. `objective` must outlive this. Throws Error(bad_input) if
  /// no parameter is an SM clock, or if the objective is not computed from energy.
  ClockSearch(ValidSpecs specs, const std::optional<Spec>& pilot, const Objective& objective, Search search, Say say);

  std::optional<Spec> ask() override;
  void tell(const Trial& trial) override;

 private:
  void choose_pilots(const Spec& pilot);
  void choose_clocks();
  std::vector<std::int64_t> all_clocks() const;
  std::vector<std::int64_t> promising_clocks();
  double best_clock(const PowerModel& model, const std::vector<std::int64_t>& clocks) const;

  ValidSpecs specs_;
  const Objective* objective_;
  Search search_;
  Say say_;
  std::vector<Spec> pilots_;  ///< by clock
  std::size_t asked_ = 0;     ///< of the pilots
  std::vector<Trial> told_;   ///< of the pilots
  std::unique_ptr<search::Strategy> inner_;
};

}  // namespace tune::tuning
