#pragma once
#include <limits>
#include <vector>

#include "database/database.h"

namespace tune::database {

/// How much slower than the best each configuration is for each size: what choices among configurations are made from.
struct Slowdowns {
  std::vector<Sizes> sizes;
  std::vector<double> weights;  ///< of each size
  std::vector<Configuration> configurations;
  std::vector<std::vector<double>> of;  ///< of[size][configuration], or kUnknownSlowdown
};

/// That of a configuration that was not timed, or failed.
inline constexpr double kUnknownSlowdown = std::numeric_limits<double>::infinity();

/// That of a configuration by its parameters, for one size.
double slowdown_of(const Slowdowns& table, std::size_t size, const std::vector<Setting>& params);

/// Some of the sizes, by their indices.
using SizeIndices = std::vector<std::size_t>;
SizeIndices all_sizes(const Slowdowns& table);

/// The configurations of a cover, by their indices.
struct Cover {
  std::vector<std::size_t> chosen;
  std::size_t binaries = 0;  ///< of the chosen; those that differ in run-time parameters only are one
  bool smallest = false;     ///< whether it is shown that fewer binaries do not suffice
};

/// The fewest binaries, and few configurations of these, of which, for each of these sizes, one is slower than
/// the best by no more than `limit` (1.03); of several such sets one with a small weighted mean. After much work it
/// takes the smallest set found so far. Precondition: each size has such a configuration.
Cover find_cover(const Slowdowns& table, const SizeIndices& sizes, double limit);

/// The one of these configurations that is the fastest for a size.
std::size_t fastest_for(const Slowdowns& table, std::size_t size, const std::vector<std::size_t>& chosen);

/// A decision tree over the sizes m, n, k, ... that says which of the chosen configurations to use; its leaves have
/// their places in `chosen`. It is grown from these sizes, so that their weighted slowdown is small.
std::vector<SizeRule::Node> grow_tree(const Slowdowns& table, const SizeIndices& sizes,
                                      const std::vector<std::size_t>& chosen);

/// A rule from all sizes of the table.
SizeRule make_rule(const Slowdowns& table, const Cover& cover);

/// What the tree of a rule that knows nothing of a size would choose for it: the slowdown there for each size, in turn
/// left out; infinite where that configuration was not timed.
std::vector<double> left_out_slowdowns(const Slowdowns& table, double limit);

}  // namespace tune::database
