#pragma once
#include <functional>
#include <vector>

#include "search/strategy.h"

namespace tune {

/// Every valid spec that `wanted` accepts, in mesh order, after those of `first`.
class Exhaustive : public Strategy {
 public:
  using Wanted = std::function<bool(const Spec&)>;
  Exhaustive(const Space& space, std::vector<Spec> first, Wanted wanted);

  std::optional<Spec> ask() override;
  void tell(const Trial&) override {}

 private:
  Walk walk_;
  std::vector<Spec> first_;
  std::size_t next_first_ = 0;
  Wanted wanted_;
};

}  // namespace tune
