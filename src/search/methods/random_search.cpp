#include "search/methods/design.h"
#include "search/methods/methods.h"

namespace tune::search {
namespace {

/// Asks for random points, each once.
class RandomSearch : public Search {
 public:
  RandomSearch(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed)
      : latin_(choice.whole("latin") != 0),
        random_(seed),
        untried_(specs),
        coordinate_system_(specs.space()),
        design_(coordinate_system_, specs) {}

  std::optional<Point> ask() override { return latin_ ? design_.draw(untried_, random_) : untried_.draw(random_); }
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point&, std::optional<double>) override {}

 private:
  bool latin_;  ///< spread the values evenly; otherwise draw uniformly from the valid specs
  Random random_;
  Untried untried_;
  CoordinateSystem coordinate_system_;
  Design design_;
};

/// Asks for every point in the order of the set.
class Ordered : public Search {
 public:
  Ordered(const StrategyChoice&, const ValidSpecs& specs, std::uint64_t) : untried_(specs) {}

  std::optional<Point> ask() override {
    while (next_ < untried_.specs().size()) {
      Point point = untried_.specs().at(next_++);
      if (untried_.take(point)) return point;
    }
    return std::nullopt;
  }
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point&, std::optional<double>) override {}

 private:
  Untried untried_;
  std::int64_t next_ = 0;
};

}  // namespace

Method random_method() { return {{"random", {whole("latin", 1, 0)}}, make<RandomSearch>}; }
Method exhaustive_method() { return {{"exhaustive", {}}, make<Ordered>}; }

}  // namespace tune::search
