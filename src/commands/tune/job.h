#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/options.h"
#include "exec/process/worker_pool.h"
#include "recording/journal.h"

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

  config::LoadOptions load;
  std::string model = {};              ///< of the devices, where several are tuned for
  std::optional<std::string> devices;  ///< all, indices, or a model
  tuning::SearchRules search;
  std::optional<std::filesystem::path> prefix;    ///< of the files
  std::optional<std::filesystem::path> baseline;  ///< an earlier result to compare with
  bool quiet, retry_failed;
  bool silent = false;                                     ///< prints no results
  bool anew = false;                                       ///< starts with an empty journal
  bool in_full = false;                                    ///< times slow specs in full
  std::vector<Spec> only = {};                             ///< the specs to try; empty: what the search asks for
  std::vector<Spec> first = {};                            ///< is tried first, as far as these are specs of the grid
  std::unique_ptr<recording::Journal>* journal = nullptr;  ///< where the journal of several tunings is kept open
  std::shared_ptr<exec::WorkerPool>* pool = nullptr;       ///< where the processes of several tunings rest
  int estimated_tunings = 1;                               ///< how many an estimate is of; 0: none is wanted any more
};

}  // namespace tune::commands
