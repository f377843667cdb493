#pragma once
#include "search/methods/untried.h"

namespace tune::search {

/// Asks for every point in the order of the set.
class Ordered : public Search {
 public:
  /// `specs` must outlive this.
  explicit Ordered(const ValidSpecs& specs) : untried_(specs) {}

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

}  // namespace tune::search
