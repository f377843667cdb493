#include "search/methods/hill_climb.h"

namespace tune::search {

HillClimb::HillClimb(const ValidSpecs& specs, std::uint64_t seed, HillClimbOptions options)
    : StepSearch(specs, seed), options_(options), starts_left_(options.starts) {}

std::optional<Point> HillClimb::next_neighbour() {
  while (!neighbours_.empty()) {
    Point point = std::move(neighbours_.back());
    neighbours_.pop_back();
    if (untried_.take(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> HillClimb::ask() {
  std::optional<Point> point;
  if (starts_left_ == 0) point = next_neighbour();
  if (!point) {
    // It is a local optimum once no neighbour is still being measured.
    if (starts_left_ == 0 && out_ == 0) {
      here_.reset();
      starts_left_ = options_.starts;
    }
    if (starts_left_ > 0) --starts_left_;
    point = draw();
  }
  out_ += point.has_value();
  return point;
}

bool HillClimb::claim(const Point& point) {
  const bool taken = untried_.take(point);
  out_ += taken;
  return taken;
}

void HillClimb::tell(const Point& point, std::optional<double> cost) {
  --out_;
  if (cost && (!here_ || *cost < here_->cost)) stand_on({point, *cost});
}

void HillClimb::stand_on(Visited place) {
  here_ = std::move(place);
  neighbours_ = moves_.around(here_->point);
  shuffle(neighbours_, random_);
}

}  // namespace tune::search
