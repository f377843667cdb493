#pragma once
#include <exception>
#include <functional>

#include "model/cost/cost_model.h"
#include "model/values/error.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "results/results.h"
#include "results/tuning_outcome.h"
#include "search/strategy.h"
#include "tuning/export.h"
#include "tuning/tuner.h"

namespace tune::tuning {

// The steps of one tuning, from its first spec to its files, whether workers, a journal or a recording answer the
// specs.

/// How the sweep and the finals of a job ended.
struct JobEnd {
  std::exception_ptr stopped = {};  ///< the error or the interruption that came before the end

  bool complete() const { return stopped == nullptr; }
  /// Whether it was an error, and not an interruption.
  bool by_error() const;
  /// Throws what stopped it, if anything did.
  void rethrow() const;
};

/// Does the work of a job, sweep and finals, and notes its end in the journal. Without a journal, what stops it is
/// thrown.
JobEnd run_job(recording::Journal* journal, const std::function<void()>& work);

/// Adds the notes that depend on all trials together, where their order of merit is printed.
void note_trials(const Plan& plan, results::TuningOutcome& outcome);

/// Adds how well the model fits, if a search had one and enough was measured to tell.
void note_model(const std::optional<CostModel>& model, results::TuningOutcome& outcome);

/// What a tuning is made of. All of it must outlive the results.
struct TuningParts {
  const config::Loaded& loaded;
  const Objective& objective;
  const Device& device;
  const results::Outputs& outputs;  ///< the files, of which the journal is not written here
  search::Strategy& strategy;
  Tuner& tuner;
  report::Progress& progress;
  Exporter& exporter;
  recording::Journal* journal;   ///< null for a recorded run
  report::Progress::Time began;  ///< by the tuner's clock
  bool silent;                   ///< prints no results
};

/// The steps of a tuning that depend on who answers its specs.
struct TuningSteps {
  /// Decides among the trials.
  std::function<void()> decide;
  /// Adds the notes that all trials are needed for, and what else the results are to tell.
  std::function<void(const results::ResultsRules&)> note;
  /// Keeps the results, which are printed and not yet written; may be empty.
  std::function<void(const results::Results&)> keep = {};
};

/// Tries the specs that the strategy asks for, decides among them, prints what was found and writes it. If an error or
/// an interruption comes before the end, the results so far are printed too, and then the exception is rethrown.
results::Results run_tuning(const TuningParts& parts, const TuningSteps& steps, results::ResultsRules rules,
                            results::TuningOutcome& outcome);

}  // namespace tune::tuning
