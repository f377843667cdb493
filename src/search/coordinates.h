#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/space.h"

namespace tune::search {

/// Where a value lies on its axis. `factors_of_two` says how often the value can be divided by two, because hardware
/// treats 48 and 80 more like 16 than like 64.
struct Coordinate {
  std::uint16_t position = 0;       ///< 0 to kPositions - 1: by rank, value or logarithm as the parameter's kind says
  std::uint8_t factors_of_two = 0;  ///< 0 to kFactorsOfTwo - 1
  /// log2 of the value without its factors of two, in 1/kOddParts, at most kMostOddPart.
  std::uint8_t odd_part = 0;
};
constexpr int kPositions = 256;
constexpr int kFactorsOfTwo = 9;
constexpr double kOddParts = 64, kMostOddPart = 3 * kOddParts;

class Prior;

/// Gives points coordinates in which distances mean something to a model. There is one axis per parameter name of the
/// space that has more than one value. A point whose mapping lacks a parameter lies at the beginning of its axis.
class CoordinateSystem {
 public:
  struct Axis {
    std::string name;
    bool categorical = false;        ///< two coordinates are equal or different; their distance means nothing
    bool by_factors_of_two = false;  ///< `factors_of_two` tells something that `position` does not
  };

  /// With a prior, which must outlive this, what it predicts is an axis too: how much that tells is learned like the
  /// scale of any other.
  explicit CoordinateSystem(const Space& space, const Prior* prior = nullptr);

  std::span<const Axis> axes() const { return axes_; }
  std::vector<Coordinate> operator()(const Space::Point& point) const;

 private:
  /// One parameter of one mapping.
  struct Column {
    std::size_t axis = 0;
    std::vector<Coordinate> coordinates;  ///< one per value; empty: the parameter has no axis
  };
  const Prior* prior_;
  std::vector<Axis> axes_;
  std::vector<std::vector<Column>> columns_;  ///< per mapping
};

}  // namespace tune::search
