#pragma once
#include <optional>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "model/grid_scan.h"
#include "search/strategy.h"

namespace tune::search {

/// Every valid spec in mesh order, after those of `first`. `specs` must outlive it.
class Exhaustive : public Strategy {
 public:
  Exhaustive(const ValidSpecs& specs, std::vector<Spec> first);

  std::optional<Spec> ask() override;
  void tell(const Trial&) override {}

 private:
  std::optional<Spec> next();

  const ValidSpecs* specs_;
  std::vector<Spec> first_;
  std::size_t next_first_ = 0;
  GridScan scan_;
  std::optional<std::vector<std::int64_t>> listed_;  ///< every mesh_idx, last first; unset: the grid is scanned
};

}  // namespace tune::search
