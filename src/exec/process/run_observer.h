#pragma once
#include <cstddef>
#include <string>

#include "model/trial.h"

namespace tune::exec {

/// Receives the events of a run as they happen. Each does nothing unless it is overridden.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// From now on a spec of the sweep runs on the device with this place; on a GPU its launches begin only then.
  virtual void started(const Spec& /*spec*/, std::size_t /*device*/) {}
  /// What was started waits for its turn, so that nothing runs until something is started again.
  virtual void waits() {}
  /// A spec of the sweep has been tried, or its outcome was known already; before the search is told. A spec that is
  /// measured again is finished again. May throw Error.
  virtual void finished(const Trial& /*trial*/) {}
  /// A spot check disagreed: processes that several specs share are trusted no more, and why.
  virtual void distrusts(const std::string& /*why*/) {}
  /// A line of progress for the terminal.
  virtual void news(const std::string& /*text*/) {}
  /// A line for the terminal that is printed even where progress is not shown.
  virtual void warning(const std::string& /*text*/) {}
};

/// An observer that ignores all events.
inline RunObserver& no_observer() {
  static RunObserver nobody;
  return nobody;
}

}  // namespace tune::exec
