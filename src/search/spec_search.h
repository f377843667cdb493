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

  /// The specs in `first` are asked for before those of the search, but for the first one of a search with a prior.
  SpecSearch(ValidSpecs specs, std::vector<Spec> first, Cost cost);
  /// Must be called once, with a search over specs(), before anything else. `prior` is what the search has, or null.
  void set_search(std::unique_ptr<Search> search, std::unique_ptr<const Prior> prior = nullptr) {
    prior_ = std::move(prior);
    search_ = std::move(search);
  }
  const ValidSpecs& specs() const { return specs_; }

  std::optional<Spec> ask() override;
  void tell(const Trial& trial) override;

 private:
  ValidSpecs specs_;
  std::unique_ptr<const Prior> prior_;
  std::unique_ptr<Search> search_;
  std::vector<Spec> first_;
  std::size_t next_first_ = 0;
  bool begun_ = false;
  Cost cost_;
};

}  // namespace tune::search
