#pragma once
#include <cstddef>
#include <string>

#include "model/trial.h"

namespace tune::exec {

/// Is told what a run does, while it does it. What is not overridden is ignored.
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
  /// Why processes that several specs share are trusted no more.
  virtual void distrusts(const std::string& /*why*/) {}
  /// What goes on, for a person.
  virtual void news(const std::string& /*text*/) {}
  /// What a person must know, even one who wants no news.
  virtual void warning(const std::string& /*text*/) {}
};

/// Ignores all.
inline RunObserver& no_observer() {
  static RunObserver nobody;
  return nobody;
}

}  // namespace tune::exec
