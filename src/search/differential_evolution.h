#pragma once
#include <vector>

#include "search/design.h"
#include "search/moves.h"

namespace tune {

struct DifferentialEvolutionOptions {
  int population = 20;
  double weight = 0.7;     ///< of the difference of two members
  double crossover = 0.6;  ///< share of the values taken from the variant
  double greed = 0.8;      ///< how far the variant is drawn towards the best
};

/// Each member is tried against a variant of itself: itself drawn towards the best, plus a weighted difference of two
/// others, in ranks of values; the better one stays.
class DifferentialEvolution : public Search {
 public:
  /// `specs` must outlive this.
  DifferentialEvolution(const ValidSpecs& specs, std::uint64_t seed, DifferentialEvolutionOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  struct Member {
    Point point;
    double cost = 0;
  };
  struct Challenge {
    Point point;
    std::size_t member;
  };
  Point variant(std::size_t member);
  const Member& best() const;

  DifferentialEvolutionOptions options_;
  Random random_;
  Untried untried_;
  Coordinates coordinates_;
  Design design_;
  Moves moves_;
  std::vector<Member> members_;
  std::vector<Challenge> challenges_;  ///< out
  std::size_t next_ = 0;
};

}  // namespace tune
