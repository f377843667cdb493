#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "exec/evaluate/finals_run.h"
#include "exec/process/worker_process.h"

namespace tune::exec {

/// A contender while the finals are held: its process, and what its rounds have given.
struct FinalsEntry {
  /// The results of one round other than the time.
  struct Round {
    std::int64_t launches = 0;
    std::map<std::string, double> metrics;
  };

  Contender contender;
  Finalist result;  ///< without metrics and launches, which are per round
  std::map<int, Round> rounds;
  std::shared_ptr<WorkerProcess> process;  ///< of its own, or shared with others
  std::size_t place = 0;                   ///< in its present process: Go::spec
  bool checked = false;                    ///< in its present process
  bool tried_again = false;
  bool left_out = false;  ///< there was no time to load it
  bool apart = false;     ///< it is not loaded beside others
  bool beyond = false;    ///< the rounds are over, and failures no longer count

  bool active() const { return process != nullptr; }
  bool is_spec() const { return contender.label.empty(); }

  void forget(int round);
  /// Its result without the rounds after this one.
  Finalist result_until(int last_round) const;
};

}  // namespace tune::exec
