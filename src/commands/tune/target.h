#pragma once
#include <optional>
#include <vector>

#include "commands/tune/options.h"
#include "config/reader/filter.h"
#include "config/reader/load.h"
#include "exec/workers.h"
#include "model/statistics/objective.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "results/outputs.h"
#include "results/tuning_outcome.h"
#include "tuning/grid.h"
#include "tuning/machine.h"

namespace tune::commands {

/// Why programs that the plan's commands name cannot be started: `FILE: run: cannot start x: not found on PATH` each.
std::vector<std::string> missing_programs(const Plan& plan);

/// A tuning file together with the options of the command line: what is listed, built or tuned, for which machine, and
/// where the results go.
struct Target {
  /// Reads the tuning file, and probes the device if its expressions need it; writes nothing. `options` and
  /// `workers` must outlive this. Throws Error.
  Target(const SharedOptions& options, exec::Workers& workers, Job job);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const Plan& plan() const { return loaded.plan; }
  const wire::Hello& hello() { return machine.hello(plan().backend()); }
  /// Returns the grid, and adds the reasons why points are pruned and the notes for the user to `outcome`. Throws
  /// Error(bad_input).
  std::optional<tuning::Grid> grid(results::TuningOutcome& outcome) const;
  /// tuning::default_fault, unless the command line sets what `default:` does.
  std::optional<std::string> default_fault() const;
  /// What the finals call that which --baseline names; nullopt: nothing is named.
  std::optional<std::string> compared_with() const;
  /// Adds those of the tuning file that are not yet there.
  void add_warnings_to(std::vector<std::string>& warnings) const;

  const SharedOptions& options;
  exec::Workers& workers;
  Job job;
  int of = 1;  ///< how many targets the command has
  report::Progress::Time started;
  results::Outputs outputs;
  tuning::Machine machine;
  config::Loaded loaded;
  Objective objective;
  std::vector<config::Filter> filters;
};

}  // namespace tune::commands
