#pragma once
#include <chrono>
#include <optional>

#include "model/trial.h"
#include "platform/process/process.h"

namespace tune::exec {

/// Thrown by what waits when someone ends the run by SIGINT, SIGTERM or SIGHUP.
struct Interrupted {
  int signal = 0;
};

/// Throws Interrupted if the event says so.
inline void heed(const platform::ProcessHost::Event& event) {
  if (const auto* interrupted = std::get_if<platform::ProcessHost::Interrupted>(&event))
    throw Interrupted{interrupted->signal};
}

/// The process that the event is about; 0: it is about none.
inline platform::ProcessHost::Id process_of(const platform::ProcessHost::Event& event) {
  if (const auto* line = std::get_if<platform::ProcessHost::Line>(&event)) return line->id;
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&event);
  return ended != nullptr ? ended->id : 0;
}

/// Tries specs, several at a time, and returns their trials in any order. Implemented by worker processes, recorded
/// runs and fakes in tests.
class Runner {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Runner() = default;
  /// How many more specs can be started now.
  virtual int free_slots() const = 0;
  /// Precondition: free_slots() > 0. Throws Error(environment) where no spec could do better.
  virtual void start(const Spec& spec) = 0;
  /// The next finished trial, or nothing by the time given. Precondition: something was started and not yet returned.
  /// Throws Interrupted, and Error(environment) as start.
  virtual std::optional<Trial> wait(Clock::time_point until) = 0;
  /// The best trial so far, by its time in seconds or its energy in joules, whichever is the objective; the other is 0.
  /// Much worse specs may be measured less from now on.
  virtual void set_best(const Trial& best, double seconds, double joules) = 0;
  /// What is being built and measured now.
  virtual Activity activity() const = 0;
};

}  // namespace tune::exec
