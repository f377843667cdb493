#include "search/methods/methods.h"
#include "search/methods/step_search.h"

namespace tune::search {
namespace {

/// Moves to the first better neighbour until there is none, then starts again elsewhere.
class HillClimb : public StepSearch {
 public:
  HillClimb(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed)
      : StepSearch(specs, seed), starts_(choice.whole("starts")), starts_left_(starts_) {}

  std::optional<Point> ask() override {
    std::optional<Point> point;
    if (starts_left_ == 0) point = next_neighbour();
    if (!point) {
      // It is a local optimum once no neighbour is still being measured.
      if (starts_left_ == 0 && out_ == 0) {
        here_.reset();
        starts_left_ = starts_;
      }
      if (starts_left_ > 0) --starts_left_;
      point = draw();
    }
    out_ += point.has_value();
    return point;
  }

  bool claim(const Point& point) override {
    const bool taken = untried_.take(point);
    out_ += taken;
    return taken;
  }

  void tell(const Point& point, std::optional<double> cost) override {
    --out_;
    if (!cost || (here_ && !(*cost < here_->cost))) return;
    here_ = {point, *cost};
    neighbours_ = moves_.around(point);
    shuffle(neighbours_, random_);
  }

 private:
  std::optional<Point> next_neighbour() {
    while (!neighbours_.empty()) {
      Point point = std::move(neighbours_.back());
      neighbours_.pop_back();
      if (untried_.take(point)) return point;
    }
    return std::nullopt;
  }

  int starts_;  ///< the number of points spread over the space; a climb starts from the best of them
  int starts_left_;
  int out_ = 0;  ///< the number of points asked for and not told yet
  std::optional<Visited> here_;
  std::vector<Point> neighbours_;  ///< not asked yet, the last one next
};

}  // namespace

Method hill_climb_method() { return {{"hill_climb", {whole("starts", 15)}}, make<HillClimb>}; }

}  // namespace tune::search
