#pragma once
#include <span>
#include <string>
#include <vector>

#include "config/shapes/shapes.h"
#include "model/plan.h"
#include "tuning/grid.h"

namespace tune::tuning {

/// Which shapes of a list a plan can be tuned for. Of another tool's list, a gemm's entries of other types or layouts
/// are left out, and a program's of several batches; what is equal in plan and entry is not said again, so that two
/// entries may become one. `file` is the list's. Adds to the warnings what is left out. Throws Error(bad_input) if
/// nothing is left.
std::vector<config::Shape> shapes_for(const Plan& plan, config::ShapeList list, const std::filesystem::path& file,
                                      std::vector<std::string>& warnings);

/// The sizes of a shape that make it near to others: those of the settings that are positive numbers.
using LogSizes = std::vector<std::pair<std::string, double>>;
LogSizes log_sizes(const config::Shape& shape);
/// The distance between two shapes in the logarithms of their sizes. A size that only one of them has counts as 1.
double distance(const LogSizes& x, const LogSizes& y);

/// A shape that has been tuned.
struct TunedShape {
  std::string name;
  LogSizes sizes;
  Spec winner;
};
/// The winners that a search for `sizes` is to try first: those of the nearest shapes, each once, nearest first.
std::vector<Spec> nearest_winners(const LogSizes& sizes, std::span<const TunedShape> tuned);

/// The spec without the values that its shape sets, as the winner that it is for other shapes.
Spec without_shape(Spec spec, const config::Shape& shape);
/// The specs of a shape's grid that have the values of these winners of others.
std::vector<Spec> specs_among(const Grid& grid, std::span<const Spec> wanted, const config::Shape& shape);

}  // namespace tune::tuning
