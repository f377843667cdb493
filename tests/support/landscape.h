#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/search.h"

namespace tune {

/// A grid of integers, one parameter per list, with its valid specs given by a function of the values.
struct Grid {
  struct Axis {
    std::string name;
    Kind kind;
    std::vector<std::int64_t> values;
  };
  static Space space(const std::vector<std::vector<Axis>>& mappings) {
    Names names;
    std::vector<Space::Mapping> made;
    for (const auto& axes : mappings) {
      auto& mapping = made.emplace_back();
      for (const Axis& axis : axes) {
        names.declare(axis.name);
        mapping.parameters.push_back({axis.name, false, axis.kind, {axis.values.begin(), axis.values.end()}});
      }
    }
    std::vector<Value> fixed(static_cast<std::size_t>(names.size()));
    return Space(std::move(names), std::move(fixed), std::move(made));
  }
  static std::vector<std::int64_t> range(std::int64_t count) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 1; i <= count; ++i) values.push_back(i);
    return values;
  }
};

/// 1,152 specs like those of a tiled kernel.
inline Space tiles() {
  return Grid::space({{{"BM", Kind::ratio, {16, 32, 64, 128}},
                       {"BN", Kind::ratio, {16, 32, 64, 128}},
                       {"STAGES", Kind::ordinal, {2, 3, 4}},
                       {"WARPS", Kind::interval, {2, 4, 6, 8}},
                       {"RASTER", Kind::categorical, {0, 1}},
                       {"ONE", Kind::ordinal, {7}},
                       {"UNROLL", Kind::ordinal, {1, 2, 4}}}});
}

/// Made of integers, so that it is the same everywhere; deepest at BM 64, BN 128, STAGES 3, WARPS 8, RASTER 1,
/// UNROLL 4.
inline std::optional<double> tiles_cost(const search::Point& point) {
  const auto off = [&](std::size_t i, std::int64_t best) {
    const std::int64_t apart = static_cast<std::int64_t>(point.digits[i]) - best;
    return apart * apart;
  };
  if (point.digits[0] + point.digits[1] == 6 && point.digits[2] == 2) return std::nullopt;  // too much memory
  const std::int64_t cost = 100 + 20 * off(0, 2) + 15 * off(1, 3) + 30 * off(2, 1) + 7 * off(3, 3) + 25 * off(4, 1) +
                            5 * off(6, 2) + 10 * (point.digits[0] > point.digits[1]);
  return static_cast<double>(cost);
}

}  // namespace tune
