#pragma once
#include <vector>

#include "search/design.h"
#include "search/moves.h"

namespace tune {

struct HillClimbOptions {
  int starts = 15;  ///< points spread over the space, of which the best is where a climb starts
};

/// Goes to the first neighbour that is better until there is none, then starts again elsewhere.
class HillClimb : public Search {
 public:
  /// `specs` must outlive this.
  HillClimb(const ValidSpecs& specs, std::uint64_t seed, HillClimbOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  struct Place {
    Point point;
    double cost = 0;
  };
  std::optional<Point> next_neighbour();
  void stand_on(Place place);

  HillClimbOptions options_;
  Random random_;
  Untried untried_;
  Coordinates coordinates_;
  Design design_;
  Moves moves_;
  int starts_left_;
  int out_ = 0;  ///< asked and not told
  std::optional<Place> here_;
  std::vector<Point> neighbours_;  ///< not asked yet, the last one next
};

}  // namespace tune
