#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/yaml/diagnostics.h"
#include "model/plan.h"
#include "model/space.h"

namespace tune::config {

/// One problem to tune for: a mapping of a --shapes file. A gemm takes M N K (either case, all three), rowMajorA and
/// rowMajorB (T or N) and its own keys such as batch; a custom problem takes its sizes; a program takes M N K rowMajorA
/// rowMajorB as parameters. Other names are parameters of the grid.
struct Shape {
  Place place;
  std::vector<Setting> settings;
  std::vector<Place> places;  ///< of each setting
  double calls = 1;           ///< how often the workload has it: its weight in totals
};

/// The shapes of a file.
struct ShapeList {
  std::vector<Shape> shapes;
  /// Of another tool's log or table: what it says of types and layouts is what ran there, and not what to tune.
  bool as_called = false;
  std::vector<std::string> warnings = {};  ///< what of the file is not used
};

/// `M=4864 N=4096 K=8256`.
std::string to_text(const Shape& shape);

/// Reads a list of mappings, such as tune_gemm's sizes and results: `- {'M': 4864, 'N': 4096, 'K': 8256}`, where
/// `calls` is the weight; kbench's shapes, which are all points of the grid under `params`; and the formats of
/// foreign_shapes.h. Throws Error(bad_input).
ShapeList read_shapes(const std::filesystem::path& path);

/// The entry of a list that reads back as this shape, with its calls: `- {M: 16, N: 16, K: 16, calls: 3}`.
std::string listed_shape(const Shape& shape);

/// A problem together with its best configuration, as a line `- {...}` that read_shapes reads: the sizes of a gemm as
/// tune_gemm writes them, what else the shape says, and the spec's parameters.
std::string configured_shape(const Plan& plan, const std::optional<Shape>& shape, const Spec& spec);

}  // namespace tune::config
