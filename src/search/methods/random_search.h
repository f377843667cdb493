#pragma once
#include "search/methods/design.h"

namespace tune::search {

/// The options of random search.
struct RandomOptions {
  bool latin = true;  ///< spread the values evenly; otherwise draw uniformly from the valid specs
};

/// Asks for random points, each once.
class RandomSearch : public Search {
 public:
  /// `specs` must outlive this.
  RandomSearch(const ValidSpecs& specs, std::uint64_t seed, RandomOptions options)
      : options_(options),
        random_(seed),
        untried_(specs),
        coordinate_system_(specs.space()),
        design_(coordinate_system_, specs) {}

  std::optional<Point> ask() override {
    return options_.latin ? design_.draw(untried_, random_) : untried_.draw(random_);
  }
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point&, std::optional<double>) override {}

 private:
  RandomOptions options_;
  Random random_;
  Untried untried_;
  CoordinateSystem coordinate_system_;
  Design design_;
};

}  // namespace tune::search
