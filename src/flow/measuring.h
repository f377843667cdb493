#pragma once
#include <functional>
#include <memory>

#include "exec/worker_runner.h"
#include "flow/notes.h"
#include "flow/resume.h"
#include "tuner.h"

namespace tune::flow {

/// Builds and times what nothing else can answer. Nothing is started before the first such spec.
class Measuring {
 public:
  /// `requests` must outlive this. `options` is asked once.
  Measuring(const exec::Requests& requests, std::function<exec::MeasureOptions()> options)
      : requests_(&requests), options_(std::move(options)) {}

  exec::MeasureService& service();
  exec::WorkerRunner& runner();
  /// Whether something was started.
  bool started() const { return service_ != nullptr; }
  /// Null before runner() was called.
  const exec::WorkerRunner* started_runner() const { return runner_.get(); }

 private:
  const exec::Requests* requests_;
  std::function<exec::MeasureOptions()> options_;
  std::unique_ptr<exec::MeasureService> service_;
  std::unique_ptr<exec::WorkerRunner> runner_;
};

/// If shared processes turned out to measure wrong, measures all that they measured again, each spec in a process of
/// its own. Throws as Tuner::sweep.
void remeasure_distrusted(Tuner& tuner, const Measuring& measuring, Resume& resume, Notes& notes);
/// Measures the best spec, and what becomes the best then, in a process of its own. Throws as Tuner::sweep.
void confirm_best(Tuner& tuner, Measuring& measuring, Resume& resume, const Objective& objective);

}  // namespace tune::flow
