#pragma once
#include <functional>
#include <memory>

#include "exec/evaluate/executor.h"
#include "exec/evaluate/recorded_runner.h"
#include "results/notices.h"
#include "tuning/journal_lookup.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// Answers specs from the journal, and builds and times those that it does not know. Nothing is started before the
/// first such spec.
class Measuring {
 public:
  /// What is passed by reference must outlive this. `most_out` as of TunerRules; `make` is asked once.
  Measuring(recording::Journal& journal, const exec::RequestFactory& requests, const Objective& objective,
            const LookupRules& rules, std::optional<int> most_out,
            std::function<std::unique_ptr<exec::Executor>()> make);
  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;

  exec::Runner& runner() { return runner_; }
  /// Whether specs are measured again, whatever the journal says of them.
  void set_repeating(bool repeating) { repeating_ = repeating; }
  exec::Executor& executor();
  /// Null before executor() was called.
  exec::Executor* started() const { return executor_.get(); }

 private:
  bool repeating_ = false;
  std::function<std::unique_ptr<exec::Executor>()> make_;
  std::unique_ptr<exec::Executor> executor_;
  exec::RecordedRunner runner_;
};

/// If shared processes turned out to measure wrong, measures all that they measured again, each spec in a process of
/// its own. Throws as Tuner::sweep.
void remeasure_distrusted(Tuner& tuner, Measuring& measuring, results::Notices& notes);
/// Measures the best spec, and what becomes the best then, in a process of its own. Throws as Tuner::sweep.
void confirm_best(Tuner& tuner, Measuring& measuring, const Objective& objective);

}  // namespace tune::tuning
