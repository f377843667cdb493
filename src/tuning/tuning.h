#pragma once
#include <exception>
#include <functional>

#include "model/cost/cost_model.h"
#include "model/values/error.h"
#include "recording/journal.h"
#include "results/results.h"
#include "results/tuning_outcome.h"
#include "tuning/export.h"
#include "tuning/tuner.h"

namespace tune::tuning {

// What tunings have in common, whoever answers their specs: workers, a journal or a recording.

/// How trying specs and deciding among them ended.
struct JobEnd {
  std::exception_ptr stopped = {};  ///< the error or the interruption that came before the end

  bool complete() const { return stopped == nullptr; }
  /// Whether it was an error, and not an interruption.
  bool by_error() const;
  /// Throws what stopped it, if anything did.
  void rethrow() const;
};

/// Does the work of a job, which tries specs and decides among them, and notes its end in the journal.
JobEnd run_job(recording::Journal& journal, const std::function<void()>& work);

/// Adds what the tuner has found to the outcome, and notes if the job ended early or every spec failed alike. Finals
/// that were interrupted had a complete sweep before them. `seconds`: how long the job took.
void add_outcome(const JobEnd& end, Tuner& tuner, double seconds, results::TuningOutcome& outcome);
/// Adds the notes that only all trials together tell. `tuned`: their order of merit is printed.
void note_trials(const Plan& plan, bool tuned, results::TuningOutcome& outcome);

/// Adds how well the model fits, if a search had one and enough was measured to tell.
void note_model(const std::optional<CostModel>& model, results::TuningOutcome& outcome);

/// Prints the results on stdout.
void print(const results::Results& results);

/// Writes the files. Throws Error(environment).
void write_files(const results::Results& results, const results::Outputs& outputs, const Device& device,
                 Exporter& exporter);

}  // namespace tune::tuning
