#pragma once
#include <exception>
#include <functional>
#include <span>

#include "model/cost/cost_model.h"
#include "model/values/error.h"
#include "recording/journal.h"
#include "results/results.h"
#include "results/tuning_outcome.h"
#include "tuning/export.h"
#include "tuning/tuner.h"

namespace tune::tuning {

// The last steps of a tuning, whether workers, a journal or a recording answered its specs.

/// How the sweep and the finals of a job ended.
struct JobEnd {
  std::exception_ptr stopped = {};  ///< the error or the interruption that came before the end
  bool by_error = false;            ///< it was an error, and not an interruption

  bool complete() const { return stopped == nullptr; }
  /// Throws what stopped it, if anything did.
  void rethrow() const {
    if (stopped) std::rethrow_exception(stopped);
  }
};

/// Does the work of a job, sweep and finals, and notes its end in the journal.
JobEnd run_job(recording::Journal& journal, const std::function<void()>& work);

/// Moves the trials to the outcome, and notes there how their job ended, and that it took so many seconds.
void take_trials(Tuner& tuner, const JobEnd& end, double seconds, results::TuningOutcome& outcome);

/// Adds the notes that depend on all trials together, where their order of merit is printed.
void note_trials(const Plan& plan, results::TuningOutcome& outcome);

/// Adds how well the model fits, if a search had one and enough was measured to tell.
void note_model(const std::optional<CostModel>& model, results::TuningOutcome& outcome);

/// Prints them on stdout.
void print(const results::Results& results);

/// Writes the files of the results, but for the journal, and those of other tools. Throws Error once all that can be
/// written is.
void write_files(const results::Results& results, const results::Outputs& outputs, const Device& device,
                 std::span<const Trial> trials, Exporter& exporter);

}  // namespace tune::tuning
