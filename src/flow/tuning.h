#pragma once
#include <functional>
#include <optional>

#include "flow/export.h"
#include "flow/failure_logs.h"
#include "flow/findings.h"
#include "flow/results.h"
#include "journal.h"
#include "model/values/error.h"
#include "report/progress.h"
#include "search/strategy.h"
#include "tuner.h"

namespace tune::flow {

/// A tuning from its first spec to its files, whoever answers the specs: workers, a journal or a recording.
struct Tuning {
  const config::Loaded& loaded;
  const Objective& objective;
  ResultsRules results;

  Tuner& tuner;
  search::Strategy& strategy;
  report::Progress& progress;
  Tuner::Now now;  ///< the clock
  report::Progress::Time started;
  Journal* journal = nullptr;  ///< null: nothing is remembered, and what ends early prints nothing

  std::function<void()> decide;                       ///< what follows the sweep, unless every spec failed alike
  std::function<void()> last_note;                    ///< adds the notes that all trials are needed for
  std::function<void(const Results&)> write = {};     ///< writes the files of finals that were interrupted
  std::function<void(const Results&)> remember = {};  ///< keeps for later what was printed
  bool silent = false;                                ///< prints no results
  LogRules logs = {};
};

/// Tries what the strategy asks for, decides, and prints the results. If an error or an interruption ends the tuning
/// early, the results are printed too, and then the exception is rethrown; files are written only if the sweep was
/// complete and the finals were interrupted. Adds to `findings`, which must outlive the results.
Results sweep_and_print(const Tuning& tuning, Findings& findings);

/// Writes the files. Throws Error(environment).
void write_files(const Results& results, const Outputs& outputs, const Device& device, Exporter& exporter);

/// Writes the files, and says what the results come to. Throws Error(environment).
ExitCode write_results(const Results& results, const Outputs& outputs, const Device& device, Exporter& exporter);

}  // namespace tune::flow
