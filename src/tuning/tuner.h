#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/process/run_observer.h"
#include "exec/process/runner.h"
#include "exec/request/request_factory.h"
#include "model/statistics/objective.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "search/strategy.h"

namespace tune::tuning {

/// What a user says of the sweep, whatever chooses its specs.
struct SweepSettings {
  TimeRule time = {};       ///< what stands for the launches of a spec
  bool keep_going = false;  ///< also when every spec fails alike
};

/// When the sweep ends, and how many specs may be in flight.
struct TunerRules : SweepSettings {
  std::optional<std::int64_t> max_evals = {};
  std::optional<double> sweep_budget = {};  ///< seconds of the clock in which all that is started is to end
  std::optional<double> enough = {};        ///< the sweep ends with a spec of at least this merit
  bool cut_slow = false;                    ///< specs far behind the best are timed less
  std::string flaw = {};                    ///< a known mistake in the source: the first failure ends the sweep
  int jobs = 1;
  /// The most specs asked for and not yet told: a strategy that learns is to know of most before it proposes more.
  /// Unset: as many as the runner takes.
  std::optional<int> most_out = {};
};

/// The loop: asks the strategy for specs, starts them, waits, writes each trial to the journal, tells strategy and
/// progress. Knows nothing of workers, files or tables. What it has found so far stays available when it throws.
class Tuner {
 public:
  using Now = std::function<report::Progress::Time()>;

  /// Where trials are recorded, and under which identities.
  struct Record {
    const exec::RequestFactory& requests;
    recording::Journal& journal;
  };

  /// Without a record nothing is recorded: a run that only replays another.
  Tuner(const Objective& objective, exec::Runner& runner, report::Progress& progress, TunerRules rules, Now now,
        exec::RunObserver& observer = exec::no_observer(), std::optional<Record> record = {});

  /// Tries what the strategy asks for. Throws Interrupted, Error(environment), and Error(bad_input) if the first spec's
  /// program does not report an objective.
  void sweep(search::Strategy& strategy);
  /// Tries again those of trials() of which this holds, and puts what comes of them in their places, until the
  /// sweep's budget is spent. Returns how many. Throws as sweep.
  std::int64_t repeat(const std::function<bool(const Trial&)>& which);
  /// The same for one of trials(), whatever is left of the time.
  void repeat(Trial& trial);
  /// The trial of a spec that need not be in the space (a baseline); it is not one of trials(). Throws as sweep.
  Trial try_one(const Spec& spec);

  const std::vector<Trial>& trials() const { return trials_; }
  std::vector<Trial>& trials() { return trials_; }
  report::Progress::Time now() const { return now_(); }
  /// Why the sweep ended before its time: all specs failed alike. Empty if it did not.
  const std::string& systematic_failure() const { return systematic_failure_; }

 private:
  Trial wait();
  void refuse_other_time(Trial& trial);
  void record(const Trial& trial);
  void learn(const Trial& trial);
  void require_objectives(const Trial& first) const;
  bool note_best(const Trial& trial);
  bool in_time() const;
  bool may_start(std::int64_t asked) const;
  bool has_time_for(std::int64_t specs) const;
  void tell_best(const Trial& best);
  bool fails_alike(const Trial& trial);

  const Objective* objective_;
  exec::Runner* runner_;
  report::Progress* progress_;
  TunerRules rules_;
  Now now_;
  exec::RunObserver* observer_;
  std::optional<Record> record_;
  /// The first spec of a program that was timed, and how.
  struct FirstTime {
    std::int64_t mesh_idx;
    bool is_whole;
  };
  std::optional<FirstTime> first_time_;
  std::vector<Trial> trials_;
  std::int64_t tried_ = 0;            ///< of those, the ones that were not recorded
  report::Progress::Time started_{};  ///< the sweep
  std::optional<Merit> best_merit_;
  bool enough_ = false;
  int failures_in_a_row_ = 0;  ///< from the first spec of this run on; -1 once one did not fail alike
  Failure first_failure_;
  std::string systematic_failure_;
};

/// `10.15 joules`: a value of the objective; empty if it follows from the time, which speaks for itself.
std::string figure_text(const Objective& objective, double value);

}  // namespace tune::tuning
