#pragma once
#include <vector>

#include "search/methods/step_search.h"

namespace tune::search {

/// The options of the hill climb.
struct HillClimbOptions {
  int starts = 15;  ///< the number of points spread over the space; a climb starts from the best of them
};

/// Moves to the first better neighbour until there is none, then starts again elsewhere.
class HillClimb : public StepSearch {
 public:
  /// `specs` must outlive this.
  HillClimb(const ValidSpecs& specs, std::uint64_t seed, HillClimbOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  std::optional<Point> next_neighbour();
  void stand_on(Visited place);

  HillClimbOptions options_;
  int starts_left_;
  int out_ = 0;  ///< the number of points asked for and not told yet
  std::optional<Visited> here_;
  std::vector<Point> neighbours_;  ///< not asked yet, the last one next
};

}  // namespace tune::search
