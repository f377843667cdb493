#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/space.h"

namespace tune {

/// Where a value lies on its axis. `twos`: how often it can be halved, since hardware treats 48 and 80 as kin of 16
/// rather than of 64.
struct Place {
  std::uint16_t position = 0;  ///< 0 to kPositions - 1: by rank, value or logarithm as the parameter's kind says
  std::uint8_t twos = 0;       ///< 0 to kTwos - 1
};
constexpr int kPositions = 256;
constexpr int kTwos = 9;

/// Places points on axes, one per parameter name of the space that has more than one value, so that distances between
/// points mean something to a model. A point whose mapping lacks a parameter lies at the axis's beginning.
class Coordinates {
 public:
  struct Axis {
    std::string name;
    bool categorical = false;  ///< places are equal or different, and no more
    bool by_twos = false;      ///< `twos` tells something that `position` does not
  };

  explicit Coordinates(const Space& space);

  std::span<const Axis> axes() const { return axes_; }
  std::vector<Place> operator()(const Space::Point& point) const;

 private:
  /// One parameter of one mapping.
  struct Column {
    std::size_t axis = 0;
    std::vector<Place> places;  ///< one per value; empty: the parameter has no axis
  };
  std::vector<Axis> axes_;
  std::vector<std::vector<Column>> columns_;  ///< per mapping
};

}  // namespace tune
