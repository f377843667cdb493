#pragma once
#include <optional>
#include <vector>

#include "commands/tune/options.h"
#include "config/reader/filter.h"
#include "config/reader/load.h"
#include "exec/workers.h"
#include "model/statistics/objective.h"
#include "report/progress.h"
#include "results/findings.h"
#include "results/outputs.h"
#include "tuning/grid.h"
#include "tuning/machine.h"

namespace tune::commands {

/// Why programs that the plan's commands name cannot be started: `FILE: run: cannot start x: not found on PATH` each.
std::vector<std::string> missing_programs(const Plan& plan);

/// What tells a target from the others of a run: `M=64 N=64 K=64 on NVIDIA H200`; empty if it is the only one.
std::string label_of(const std::optional<config::Shape>& shape, const std::string& model);

/// A tuning file together with the options of the command line: what is listed, built or tuned, for which machine, and
/// where the results go.
struct Target {
  /// Reads the tuning file, for one problem of --shapes if there are several, and probes the device if its expressions
  /// need it; writes nothing. `model` is that of the devices if several models are tuned for, to tell their files
  /// apart. `workers` must outlive this. Throws Error.
  Target(const TuneOptions& options, exec::Workers& workers, const std::optional<config::Shape>& shape = std::nullopt,
         const std::string& model = "");
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const Plan& plan() const { return loaded.plan; }
  const wire::Hello& hello() { return machine.hello(plan().backend); }
  /// Returns the grid, and adds the reasons why points are pruned and the notes for the user to `findings`. Throws
  /// Error(bad_input).
  std::optional<tuning::Grid> grid(const TuneOptions& options, results::Findings& findings) const;
  /// Adds those of the tuning file that are not yet there.
  void add_warnings_to(std::vector<std::string>& warnings) const;

  exec::Workers& workers;
  std::optional<config::Shape> shape;  ///< of --shapes
  std::string model;                   ///< of --per-device-model
  int of = 1;                          ///< how many targets the command has
  report::Progress::Time started;
  results::Outputs outputs;
  tuning::Machine machine;
  config::Loaded loaded;
  Objective objective;
  std::vector<config::Filter> filters;
};

}  // namespace tune::commands
