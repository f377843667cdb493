#pragma once
#include <functional>
#include <vector>

#include "measuring/core_use.h"
#include "platform/process/process.h"
#include "wire/messages.h"

namespace tune::worker {

/// The seconds of the run without those in which its first thread visibly waited for a core, but no less than all its
/// threads computed, up to the seconds that passed. Of a command of one thread that is what it takes alone. Processes
/// for which it does not wait count as other programs.
double seconds_with_a_core(const platform::ResourceUse& use);

/// Times a command as a whole: how often it is run, and what becomes of the times
/// (seconds_with_a_core), user and system times and peak memory of its runs. Knows no processes: a function runs the
/// command.
class WholeCommand {
 public:
  using Run = std::function<platform::ResourceUse()>;

  WholeCommand(const MeasureRules& rules, Run run) : rules_(rules), run_(std::move(run)) {}

  /// A run that was made to find out what the command prints: the first one of the warm-up.
  void add_first(const platform::ResourceUse& use);
  /// One turn: one run in the finals, else runs until the time is known (Sampler). Warms up before the first turn.
  wire::Measured measure(const wire::Go& go);

 private:
  double run();
  double note(const platform::ResourceUse& use);
  Timing sample(const wire::Go& go);
  Timing run_once();

  MeasureRules rules_;
  Run run_;
  std::vector<platform::ResourceUse> uses_;  ///< of all runs of this turn
  std::vector<CoreUse> core_uses_;
  double spent_ = 0;     ///< in these runs
  int runs_before_ = 0;  ///< of the warm-up
  bool is_warm_ = false;
};

}  // namespace tune::worker
