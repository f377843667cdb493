#pragma once
#include <vector>

#include "search/step_search.h"

namespace tune {

struct HillClimbOptions {
  int starts = 15;  ///< points spread over the space, of which the best is where a climb starts
};

/// Goes to the first neighbour that is better until there is none, then starts again elsewhere.
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
  int out_ = 0;  ///< asked and not told
  std::optional<Visited> here_;
  std::vector<Point> neighbours_;  ///< not asked yet, the last one next
};

}  // namespace tune
