#pragma once
#include <optional>

#include "model/trial.h"

namespace tune {

/// Decides what to try next. It is asked for specs and told trials, failures too; several specs can be out at once, and
/// it never owns the loop.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The next spec, never one asked before; nullopt: nothing (more) to try until told something, or at all.
  virtual std::optional<Spec> ask() = 0;
  virtual void tell(const Trial& trial) = 0;
};

}  // namespace tune
