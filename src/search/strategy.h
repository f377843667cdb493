#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "model/grid_scan.h"
#include "model/trial.h"
#include "search/prior.h"
#include "search/search.h"

namespace tune::search {

/// Decides what to try next. It is asked for specs and told trials, failures included. Several specs can be in progress
/// at once, and the strategy never owns the loop.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The next spec, never the same one twice; nullopt: there is none until more trials are told, or none at all.
  virtual std::optional<Spec> ask() = 0;
  virtual void tell(const Trial& trial) = 0;
};

/// Asks for the given specs in their order, and for no others.
class Listed : public Strategy {
 public:
  explicit Listed(std::deque<Spec> specs) : specs_(std::move(specs)) {}

  std::optional<Spec> ask() override {
    if (specs_.empty()) return std::nullopt;
    Spec spec = std::move(specs_.front());
    specs_.pop_front();
    return spec;
  }
  void tell(const Trial&) override {}

 private:
  std::deque<Spec> specs_;
};

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
