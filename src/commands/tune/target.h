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

/// What is asked of one tuning of a command, as far as its tunings may differ in it.
struct Job {
  /// What the command line asks of its only tuning.
  explicit Job(const TuneOptions& options);

  /// The options that were given, for the command that repeats a spec and those of agents.
  cli::Given given(const TuneOptions& options) const;
  const std::optional<config::Shape>& shape() const { return load.shape; }
  /// What tells it from the others of a command: `M=64 N=64 K=64 on NVIDIA H200`; empty if it is the only one.
  std::string label() const;
  /// What the names of its files have in addition to PREFIX: `-M64-N64-NVIDIA_H200`; empty if it is the only one.
  std::string file_suffix() const;

  config::LoadSettings load;
  std::string model = {};              ///< of the devices, where several are tuned for
  std::optional<std::string> devices;  ///< all, indices, or a model
  tuning::SearchSettings search;
  std::optional<std::filesystem::path> prefix;    ///< of the files
  std::optional<std::filesystem::path> baseline;  ///< an earlier result to compare with
  bool quiet, retry_failed;
  bool silent = false;                                     ///< another command asked for it, and prints what came of it
  bool anew = false;                                       ///< starts with an empty journal
  bool in_full = false;                                    ///< times slow specs in full
  std::vector<Spec> only = {};                             ///< the specs to try; empty: what the search asks for
  std::vector<Spec> first = {};                            ///< is tried first, as far as these are specs of the grid
  std::unique_ptr<recording::Journal>* journal = nullptr;  ///< where the journal of several tunings is kept open
  std::shared_ptr<exec::WorkerPool>* pool = nullptr;       ///< where the processes of several tunings rest
  int estimated_tunings = 1;                               ///< how many an estimate is of; 0: none is wanted any more
};

/// Why programs that the plan's commands name cannot be started: `FILE: run: cannot start x: not found on PATH` each.
std::vector<std::string> missing_programs(const Plan& plan);

/// A tuning file together with the options of the command line: what is listed, built or tuned, for which machine, and
/// where the results go.
struct Target {
  /// Reads the tuning file, and probes the device if its expressions need it; writes nothing. `options` and
  /// `workers` must outlive this. Throws Error.
  Target(const TuneOptions& options, exec::Workers& workers, Job job);
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

  const TuneOptions& options;
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
