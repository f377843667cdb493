#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conclusion.h"
#include "config/filter.h"
#include "contest.h"
#include "exec/replay_runner.h"
#include "exec/worker_runner.h"
#include "exec/workers.h"
#include "journal.h"
#include "machine.h"
#include "model/error.h"
#include "survey.h"
#include "tuner.h"

namespace tune {

/// One tuning from its files to its results: which parts there are and what happens in which order.
class Run {
 public:
  /// `shape`: one problem of --shapes. Reads the tuning file, and probes the device if its expressions need it; writes
  /// nothing. Throws Error.
  Run(const Options& options, Workers& workers, const std::optional<Shape>& shape);
  ~Run();

  /// What the options ask for: list the specs, build them, or tune. Results are printed also when an error or an
  /// interruption ends the run early; that is thrown on afterwards.
  ExitCode execute();

 private:
  ExitCode dry_run();
  ExitCode count() const;
  ExitCode build_only();
  ExitCode tune();

  LoadOptions load_options(const std::optional<Shape>& shape);
  const wire::Hello& hello() { return machine_.hello(loaded_.plan.backend); }
  void survey();
  /// Throws Error(none_valid) with the reasons if the survey found no spec.
  void require_specs() const;
  void open_journal();
  int jobs() const;
  Workshop& workshop();
  Runner& worker_runner();
  std::unique_ptr<Strategy> strategy() const;
  TunerRules tuner_rules();

  Contest contest();
  /// Prints what was found.
  Conclusion conclude(Tuner& tuner);

  const Options* options_;
  Workers* workers_;
  report::Progress::Time started_;
  report::Progress::Time sweep_began_;
  std::vector<ChosenDevice> devices_;  ///< to measure on
  Outputs outputs_;
  Machine machine_;
  Loaded loaded_;
  Objective objective_;
  std::vector<Filter> filters_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Workshop> workshop_;
  std::unique_ptr<WorkerRunner> worker_runner_;
  std::unique_ptr<report::Progress> progress_;
  std::optional<Survey> survey_;  ///< unset for one spec of a large grid, and before it is needed
  Findings findings_;
};

/// Everything a command line asks for. Throws Error, Interrupted.
ExitCode run(const Options& options);

}  // namespace tune
