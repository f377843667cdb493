#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "search/prior.h"
#include "search/search.h"
#include "search/strategy.h"

namespace tune::search {

/// Adapts a search to the driver's Strategy: it turns points into specs and trials into costs.
class SpecSearch : public Strategy {
 public:
  /// Lower is better; nullopt: there is nothing to compare, as of a failure.
  using Cost = std::function<std::optional<double>(const Trial&)>;

  /// `search` is over `specs` and has `prior`, which may be null. The specs in `first` are asked for before those of
  /// the search, but for the first one of a search with a prior.
  SpecSearch(std::unique_ptr<const ValidSpecs> specs, std::unique_ptr<const Prior> prior,
             std::unique_ptr<Search> search, std::vector<Spec> first, Cost cost);

  std::optional<Spec> ask() override;
  void tell(const Trial& trial) override;

 private:
  std::unique_ptr<const ValidSpecs> specs_;
  std::unique_ptr<const Prior> prior_;
  std::unique_ptr<Search> search_;
  std::vector<Spec> first_;
  std::size_t next_first_ = 0;
  bool begun_ = false;
  Cost cost_;
};

}  // namespace tune::search
