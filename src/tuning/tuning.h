#pragma once
#include <functional>
#include <optional>

#include "model/values/error.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "results/failure_logs.h"
#include "results/findings.h"
#include "results/results.h"
#include "search/strategy.h"
#include "tuning/export.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// A tuning from its first spec to its files, whoever answers the specs: workers, a journal or a recording.
struct Tuning {
  const config::Loaded& loaded;
  const Objective& objective;
  results::ResultsRules results;

  Tuner& tuner;
  search::Strategy& strategy;
  report::Progress& progress;
  Tuner::Now now;  ///< the clock
  report::Progress::Time started;
  recording::Journal* journal = nullptr;  ///< null: nothing is remembered, and what ends early prints nothing

  std::function<void()> decide;                             ///< what follows the sweep, unless every spec failed alike
  std::function<void()> last_note;                          ///< adds the notes that all trials are needed for
  std::function<void(const results::Results&)> write = {};  ///< writes the files of finals that were interrupted
  std::function<void(const results::Results&)> remember = {};  ///< keeps for later what was printed
  bool silent = false;                                         ///< prints no results
  results::LogRules logs = {};
};

/// Tries what the strategy asks for, decides, and prints the results. If an error or an interruption ends the tuning
/// early, the results are printed too, and then the exception is rethrown; files are written only if the sweep was
/// complete and the finals were interrupted. Adds to `findings`, which must outlive the results.
results::Results sweep_and_print(const Tuning& tuning, results::Findings& findings);

/// Writes the files. Throws Error(environment).
void write_files(const results::Results& results, const results::Outputs& outputs, const Device& device,
                 Exporter& exporter);

/// Writes the files, and says what the results come to. Throws Error(environment).
ExitCode write_results(const results::Results& results, const results::Outputs& outputs, const Device& device,
                       Exporter& exporter);

}  // namespace tune::tuning
