#pragma once
#include <optional>
#include <string>

#include "model/statistics/entrant.h"
#include "wire/messages.h"

namespace tune::wire {

/// A participant of the finals: a spec whose artifact is in the store, the vendor's library, or what an earlier result
/// was measured with.
struct Contender {
  /// An artifact of an earlier run and how it was launched: neither follows from the present source.
  struct Stored {
    std::string key, hash;  ///< of the entry in the store, and of the artifact that it had then
    MeasureRequest request;
  };

  Entrant entrant;
  std::optional<Failure> failure = {};  ///< why it must not be started
  std::optional<Stored> stored = {};
};

}  // namespace tune::wire
