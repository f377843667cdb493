#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "exec/runner.h"

namespace tune {

/// Answers specs from recorded outcomes and passes only the others on: resuming a run, and replaying one.
class ReplayRunner : public Runner {
 public:
  /// The recorded trial of a spec, if there is one.
  using Lookup = std::function<std::optional<Trial>(const Spec&)>;
  /// Makes the runner of the other specs at the first of them, so that a fully recorded run starts nothing.
  using MakeRunner = std::function<Runner&()>;

  ReplayRunner(Lookup lookup, MakeRunner make_runner)
      : lookup_(std::move(lookup)), make_runner_(std::move(make_runner)) {}

  int free_slots() const override;
  void start(const Spec& spec) override;
  std::optional<Trial> wait(Clock::time_point until) override;
  void set_best(const Trial& best, double seconds, double joules) override;
  Activity activity() const override;

 private:
  Lookup lookup_;
  MakeRunner make_runner_;
  Runner* inner_ = nullptr;
  std::optional<Trial> best_;
  double best_seconds_ = 0, best_joules_ = 0;
  std::deque<Trial> answered_;
};

}  // namespace tune
