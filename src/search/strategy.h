#pragma once
#include <optional>

#include "model/trial.h"

namespace tune::search {

/// Decides what to try next. It is asked for specs and told trials, failures included. Several specs can be in progress
/// at once, and the strategy never owns the loop.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The next spec, never the same one twice; nullopt: there is none until more trials are told, or none at all.
  virtual std::optional<Spec> ask() = 0;
  virtual void tell(const Trial& trial) = 0;
};

}  // namespace tune::search
