#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "recording/recording.h"
#include "search/strategies.h"
#include "tuning/workload.h"

namespace tune::bench {

/// A recorded run as a landscape: what each point costs, lower is better.
class Landscape {
 public:
  /// `name` is that of its file.
  Landscape(recording::Recording recording, std::string name);
  Landscape(const Landscape&) = delete;
  Landscape& operator=(const Landscape&) = delete;

  const std::string& name() const { return name_; }
  const recording::Recording& recording() const { return recording_; }
  const ValidSpecs& specs() const { return specs_; }
  std::optional<double> cost(const search::Point& point) const;
  /// Optimum over found, or found over optimum where more is better: 1 at the optimum.
  double share(double cost) const { return maximize_ ? cost / *optimum_ : *optimum_ / cost; }
  std::string heading() const;
  /// Its problem, or its file if the recording does not tell.
  const std::string& problem() const { return recording_.problem.empty() ? name_ : recording_.problem; }
  /// The sizes of its problem.
  tuning::LogSizes sizes() const;
  /// The point with these values, if it was recorded. A parameter that has only one value here, such as a size, has
  /// that.
  std::optional<search::Point> find(const Spec& spec) const;

 private:
  std::string name_;
  recording::Recording recording_;
  Space space_;
  std::vector<Space::Point> points_;
  ValidSpecs specs_;
  std::vector<std::optional<double>> costs_;  ///< by index
  std::optional<double> optimum_;
  std::int64_t valid_ = 0;
  bool maximize_ = false;
};

/// Those of all recordings in these files: a journal may have one for each of several shapes.
std::vector<std::unique_ptr<Landscape>> landscapes_of(std::span<const std::filesystem::path> files);

/// One strategy with one seed on one landscape.
struct Course {
  std::vector<double> shares;       ///< after each budget; 0: nothing was found
  std::optional<int> near, nearer;  ///< the first spec within 5 % and 1 % of the optimum
  double seconds = 0;               ///< of asking and telling, of this thread
  int asked = 0;
  std::optional<search::Point> best = {};
};

/// Does tasks 0 to `count` - 1 in so many threads; 0: one per core.
void in_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& task);

/// Follows a strategy, which tries the points of `first` before any other, but for the first one by `prior`, which may
/// be null, until the last budget is spent. The budgets ascend. `ahead` specs are asked for before the first of them is
/// told.
Course follow(const Landscape& landscape, const search::StrategyChoice& choice, std::uint64_t seed,
              const std::vector<std::int64_t>& budgets, std::span<const search::Point> first = {},
              const search::Prior* prior = nullptr, std::size_t ahead = 1);

}  // namespace tune::bench
