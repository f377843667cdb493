#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/reader/filter.h"
#include "model/constraints/valid_specs.h"
#include "model/grid_scan.h"
#include "model/plan.h"
#include "report/failure_summary.h"
#include "results/notices.h"

namespace tune::tuning {

/// How the grid of a run is examined.
struct GridRules {
  std::string file;       ///< the name of the tuning file in messages
  bool one_spec = false;  ///< --spec: the other specs of a large grid need not be known
  bool bounded = false;   ///< --max-evals or --time-budget: a run need not try every spec, and a sample is enough
  bool one_configuration = false;  ///< the user names one, which need not be in the file's grid
  bool wants_default = false;      ///< the user is told why today's configuration is not among the specs
  /// --partition: which part of the specs, in mesh order.
  std::int64_t part = 0, parts = 1;
};

/// The valid specs of a run, and what constraints pruned, as they are known before anything is started.
struct Grid {
  /// Looks at the plan's grid and filters; `plan` must outlive it. Where the specs cannot be counted, throws
  /// Error(bad_input) unless it `may_sample`.
  Grid(const Plan& plan, std::span<const config::Filter> filters, bool may_sample);

  /// Keeps one of `parts` parts of the specs, which have as many specs as each other or one more. Throws
  /// Error(bad_input) if there are more parts than specs, or too many specs to be divided.
  void keep_part(std::int64_t part, std::int64_t parts);
  /// Why there is no spec, one problem per line: what pruned the points, and constraints that contradict each other.
  report::LossLines why_empty() const;
  /// Throws Error(none_valid) with these reasons if there is no spec. `file` is the tuning file.
  void require_specs(const std::string& file) const;

  const Plan* plan;
  std::vector<Restriction> wanted;  ///< the filters
  struct Uncounted {
    std::string why, count;  ///< `count`: the interval that the sample tells, as SpecSample::count_text()
  };
  std::optional<Uncounted> uncounted;  ///< set: `specs` are only a random sample
  ValidSpecs specs;                    ///< those that pass the filters
  std::vector<GridScan::Pruned>
      pruned;  ///< of the points that the filters keep, before the build; empty for more than 10^6
  std::optional<Spec> default_spec;  ///< the spec among `specs` that `default:` means
};

/// The grid as a run begins with it; nullopt: one spec of a large grid, which is run without knowing the others. Adds
/// what the user is to know to `notes`. `plan` must outlive it. Throws Error(bad_input) if there are too many specs.
std::optional<Grid> examine_grid(const GridRules& rules, const Plan& plan, std::span<const config::Filter> filters,
                                 results::Notices& notes);

/// Why no point of the grid is `default:`, whatever filters leave of it; nullopt: one is, or the file has none.
std::optional<std::string> default_fault(const Plan& plan);
/// How many points a grid has.
std::string points_text(const Space& space);

}  // namespace tune::tuning
