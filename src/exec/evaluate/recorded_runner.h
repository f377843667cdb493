#pragma once
#include <functional>
#include <map>
#include <optional>

#include "exec/process/runner.h"

namespace tune::exec {

/// How a recorded search went. A search that learns from trials proposes the same specs again only if as many are out
/// before the first trial comes back, and if all trials come back in the order of then.
struct RecordedOrder {
  int most_out = 1;
  std::function<std::int64_t(const Spec&)> place = {};  ///< of a recorded spec: larger came later
};

/// Answers specs from recorded outcomes and passes only the others on: resuming a run, and replaying one.
class RecordedRunner : public Runner {
 public:
  /// The recorded trial of a spec, if there is one.
  using Lookup = std::function<std::optional<Trial>(const Spec&)>;
  /// Makes the runner of the other specs at the first of them, so that a fully recorded run starts nothing.
  using MakeRunner = std::function<Runner&()>;

  RecordedRunner(Lookup lookup, MakeRunner make_runner, RecordedOrder order = {})
      : lookup_(std::move(lookup)), make_runner_(std::move(make_runner)), order_(std::move(order)) {}

  int free_slots() const override;
  void start(const Spec& spec) override;
  std::optional<Trial> wait(Clock::time_point until) override;
  void set_best(const Trial& best, double seconds, double joules) override;
  Activity activity() const override;

 private:
  Lookup lookup_;
  MakeRunner make_runner_;
  RecordedOrder order_;
  Runner* inner_ = nullptr;
  std::optional<Trial> best_;
  double best_seconds_ = 0, best_joules_ = 0;
  std::multimap<std::int64_t, Trial> answered_;  ///< by place
};

}  // namespace tune::exec
