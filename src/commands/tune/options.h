#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/values.h"
#include "commands/common_options.h"
#include "config/reader/load.h"
#include "exec/cluster/cluster.h"
#include "exec/device/measure_service.h"
#include "model/statistics/finals_settings.h"
#include "recording/journal.h"
#include "results/outputs.h"
#include "tuning/machine.h"
#include "tuning/searching.h"
#include "tuning/tuner.h"

namespace tune::commands {

/// What `tune` does. Where several are asked for, it is the last of these.
enum class Mode { measure, build_only, dry_run, probe, simulate };

/// What is asked of one tuning of a command, as far as its tunings may differ in it.
struct Job {
  /// The options that were given, as they are for this job.
  cli::Given given(cli::Given of_command) const;
  const std::optional<config::Shape>& shape() const { return load.shape; }
  /// What tells it from the others of a command: `M=64 N=64 K=64 on NVIDIA H200`; empty if it is the only one.
  std::string label() const;
  /// What the names of its files have in addition to PREFIX: `-M64-N64-NVIDIA_H200`; empty if it is the only one.
  std::string file_suffix() const;

  // Options.
  config::LoadSettings load;           ///< what changes in the file, or the command that is tuned instead of it
  std::optional<std::string> devices;  ///< all, indices, or a model
  tuning::SearchSettings search;
  std::optional<std::filesystem::path> prefix;    ///< --output: of the files
  std::optional<std::filesystem::path> baseline;  ///< an earlier result to compare with
  bool quiet = false;
  bool retry_failed = false;

  // What commands that tune several times, or as part of something else, add.
  std::string model;                                       ///< of the devices, where several are tuned for
  bool silent = false;                                     ///< another command asked for it, and prints what came of it
  bool anew = false;                                       ///< starts with an empty journal
  bool in_full = false;                                    ///< times slow specs in full
  std::vector<Spec> only;                                  ///< the specs to try; empty: what the search asks for
  std::vector<Spec> first;                                 ///< is tried first, as far as these are specs of the grid
  std::unique_ptr<recording::Journal>* journal = nullptr;  ///< where the journal of several tunings is kept open
  std::shared_ptr<exec::WorkerPool>* pool = nullptr;       ///< where the processes of several tunings rest
  int estimated_tunings = 1;                               ///< how many an estimate is of; 0: none is wanted any more
};

/// What `tune` itself is told, as far as it is the same for all tunings of the command. Where a part of a run has
/// settings of its own, they are a member; the command line sets those of their fields that are for the user.
/// docs/options.md says what each option means.
struct SharedOptions {
  // What to tune.
  std::vector<std::filesystem::path> yaml;
  std::vector<std::string> filters;
  std::optional<cli::Part> partition;
  std::optional<std::filesystem::path> shapes;

  // What is done.
  Mode mode = Mode::measure;
  bool tune = false;
  std::filesystem::path simulate;  ///< the recorded run

  // How.
  exec::WorkerSettings measure;
  tuning::SweepSettings sweep;
  FinalsSettings finals;
  results::Demands demands;
  std::vector<std::string> baseline_spec;  ///< a spec to compare with: NAME=VALUE each
  std::optional<double> threshold;         ///< 0.03: being slower than it by up to 3 % is no regression
  int exit_undecided = static_cast<int>(ExitCode::undecided);
  bool compare_alone = false;  ///< --compare_wo_tuning
  bool per_device_model = false;
  bool strict = false;                 ///< --check strict
  std::optional<std::int64_t> memory;  ///< bytes
  tuning::MachineSettings machine;
  StoreOptions store;
  bool clear_cache = false;       ///< the store is emptied before the run
  exec::ClusterSettings cluster;  ///< without a launcher the run is on this machine

  // What comes out.
  bool output_is_best = false;  ///< --output names the best YAML file itself
  results::OutputSettings outputs;
  std::optional<std::filesystem::path> artifact;  ///< folder for a copy of what was built for the best
  std::optional<platform::Address> live;          ///< where the run's page is served while it goes on
  TerminalOptions terminal;

  cli::Given given;
  std::vector<std::string> typed;  ///< the command line, program name first

  /// Whether several tunings follow one another, with one journal.
  bool makes_several() const { return shapes || per_device_model; }
  /// Of those that it makes, the option that asks for it.
  const char* what_makes_several() const { return shapes ? "--shapes" : "--per-device-model"; }
  /// Whether specs are listed or built, and none is timed.
  bool times_nothing() const { return mode == Mode::dry_run || mode == Mode::build_only; }
  void ask_for(Mode asked) { mode = std::max(mode, asked); }
  bool on_agents() const { return given("--launcher"); }
};

/// All that `tune` is told. What its tunings may differ in is the job, of which each tuning has a copy to change: that
/// is what counts for it.
struct TuneOptions : SharedOptions {
  Job job;

  /// Whether the command line says which problems are tuned for.
  bool names_sizes() const { return shapes || job.load.m || job.load.n || job.load.k || job.load.configuration; }
  /// Whether something is to be tuned, and the command line does not say what.
  bool names_nothing() const {
    return yaml.empty() && job.load.command.empty() && mode != Mode::probe && mode != Mode::simulate;
  }
  /// Whether it gives sizes as commands of tune_gemm do, which name no tuning file. A shipped one stands for it.
  bool takes_shipped_file() const { return names_sizes() && names_nothing(); }
  /// Whether the exit code says how the best compares with what --baseline names.
  bool compares() const { return job.baseline || !baseline_spec.empty(); }
};

/// Declares how specs are chosen, built and timed (how_options.cpp).
void bind_how(cli::Command& command, TuneOptions& options);

/// The same for the tunings of `tune audit`, which all have finals and compare with nothing earlier.
void bind_how_audited(cli::Command& command, TuneOptions& options);

/// Declares all options of `tune` itself.
void bind_tune(cli::Command& command, TuneOptions& options);
/// Those of a tuning that `tune audit` repeats.
void bind_audited(cli::Command& command, TuneOptions& options);
/// Sets what follows from the options that are given, as both do once all are read.
void add_consequences(TuneOptions& options);

}  // namespace tune::commands
