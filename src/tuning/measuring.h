#pragma once
#include <functional>
#include <memory>

#include "exec/evaluate/executor.h"
#include "results/notices.h"
#include "tuning/journal_lookup.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// Builds and times what nothing else can answer. Nothing is started before the first such spec.
class Measuring {
 public:
  /// `make` is asked once.
  explicit Measuring(std::function<std::unique_ptr<exec::Executor>()> make) : make_(std::move(make)) {}

  exec::Executor& executor();
  /// Null before executor() was called.
  exec::Executor* started() const { return executor_.get(); }

 private:
  std::function<std::unique_ptr<exec::Executor>()> make_;
  std::unique_ptr<exec::Executor> executor_;
};

/// If shared processes turned out to measure wrong, measures all that they measured again, each spec in a process of
/// its own. Throws as Tuner::sweep.
void remeasure_distrusted(Tuner& tuner, const Measuring& measuring, JournalLookup& known, results::Notices& notes);
/// Measures the best spec, and what becomes the best then, in a process of its own. Throws as Tuner::sweep.
void confirm_best(Tuner& tuner, Measuring& measuring, JournalLookup& known, const Objective& objective);

}  // namespace tune::tuning
