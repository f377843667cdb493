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

/// What an audit asks of a run beyond the command line.
struct RunOrders {
  bool silent = false;     ///< prints no results
  bool anew = false;       ///< forgets what its journal holds
  bool in_full = false;    ///< slow specs are timed as long as the others
  std::vector<Spec> only;  ///< the specs to try; empty: what the options ask for
};

/// One tuning from its files to its results: which parts there are and what happens in which order.
class Run {
 public:
  /// `shape`: one problem of --shapes. Reads the tuning file, and probes the device if its expressions need it; writes
  /// nothing. Throws Error.
  Run(const Options& options, Workers& workers, const std::optional<Shape>& shape, RunOrders orders = {});
  ~Run();

  /// What the options ask for: list the specs, build them, or tune. Results are printed also when an error or an
  /// interruption ends the run early; that is thrown on afterwards.
  ExitCode execute();

  /// The specs that a finished tuning ranked, best first; they point into this.
  const std::vector<Ranked>& rows() const { return rows_; }
  const Objective& objective() const { return objective_; }
  const Plan& plan() const { return loaded_.plan; }
  const std::filesystem::path& journal() const { return outputs_.journal; }
  /// Whether something was built or timed, and not all of it known.
  bool started_workers() const { return measure_service_ != nullptr; }

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
  MeasureService& measure_service();
  WorkerRunner& worker_runner();
  std::unique_ptr<Strategy> strategy() const;
  TunerRules tuner_rules();
  /// What the journal says of a spec, and of one that ended earlier runs; nullopt: it is to be tried.
  std::optional<Trial> known(const Spec& spec);
  /// In which order a search was told what the journal knows.
  RecordedOrder recorded_order(const TunerRules& rules) const;

  /// Measures again in processes of their own: if shared ones turned out to be wrong, all that they measured; and where
  /// no finals do so, the best.
  void mistrust_shared(Tuner& tuner);
  void confirm_best(Tuner& tuner);

  Contest contest();
  /// The sweep, and with --tune the finals.
  void try_specs(Tuner& tuner, Strategy& asked);
  /// Prints what was found.
  Conclusion conclude(Tuner& tuner);

  const Options* options_;
  Workers* workers_;
  RunOrders orders_;
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
  std::unique_ptr<MeasureService> measure_service_;
  std::unique_ptr<WorkerRunner> worker_runner_;
  std::unique_ptr<report::Progress> progress_;
  std::optional<Survey> survey_;  ///< unset for one spec of a large grid, and before it is needed
  bool repeating_ = false;        ///< what the journal knows is tried again
  Findings findings_;
  std::vector<Ranked> rows_;
};

/// Everything a command line asks for. Throws Error, Interrupted.
ExitCode run(const Options& options);

}  // namespace tune
