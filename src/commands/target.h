#pragma once
#include <optional>
#include <vector>

#include "config/filter.h"
#include "config/load.h"
#include "exec/workers.h"
#include "flow/findings.h"
#include "flow/grid.h"
#include "flow/machine.h"
#include "flow/outputs.h"
#include "model/statistics/objective.h"
#include "options/options.h"
#include "report/progress.h"

namespace tune::commands {

/// Why programs that the plan's commands name cannot be started: `FILE: run: cannot start x: not found on PATH` each.
std::vector<std::string> missing_programs(const Plan& plan);

/// What the names of a shape's files have in addition: -M64-N64. Empty without a shape.
std::string file_suffix(const std::optional<config::Shape>& shape);

/// A tuning file together with the options of the command line: what is listed, built or tuned, for which machine, and
/// where the results go.
struct Target {
  /// Reads the tuning file, for one problem of --shapes if there are several, and probes the device if its expressions
  /// need it; writes nothing. `workers` must outlive this. Throws Error.
  Target(const Options& options, exec::Workers& workers, const std::optional<config::Shape>& shape = std::nullopt);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const Plan& plan() const { return loaded.plan; }
  const wire::Hello& hello() { return machine.hello(plan().backend); }
  /// Returns the grid, and adds the reasons why points are pruned and the notes for the user to `findings`. Throws
  /// Error(bad_input).
  std::optional<flow::Grid> grid(const Options& options, flow::Findings& findings) const;
  /// Adds those of the tuning file that are not yet there.
  void add_warnings_to(std::vector<std::string>& warnings) const;

  exec::Workers& workers;
  std::optional<config::Shape> shape;  ///< of --shapes
  report::Progress::Time started;
  flow::Outputs outputs;
  flow::Machine machine;
  config::Loaded loaded;
  Objective objective;
  std::vector<config::Filter> filters;
};

}  // namespace tune::commands
