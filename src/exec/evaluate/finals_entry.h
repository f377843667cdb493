#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "exec/evaluate/finals_run.h"
#include "exec/process/worker_process.h"

namespace tune::exec {

/// A contender while the finals are held: its process, and what its rounds have given. Whether it has failed or been
/// eliminated is said in its result.
struct FinalsEntry {
  struct Absent {};   ///< it has no process: not yet, or no longer
  struct Apart {};    ///< it has none, and is not to be loaded beside others
  struct LeftOut {};  ///< there was no time to load it
  struct Active {
    std::shared_ptr<WorkerProcess> process;  ///< of its own, or shared with others
    std::size_t place = 0;                   ///< in the process: Go::spec
    bool checked = false;                    ///< in the process
    bool is_alone() const { return process.use_count() == 1; }
  };
  /// The results of one round other than the time.
  struct Round {
    std::int64_t launches = 0;
    std::map<std::string, double> metrics;
    std::optional<double> cost = {};  ///< see Finalist::costs
  };

  wire::Contender contender;
  Finalist result;  ///< without metrics and launches, which are per round
  std::map<int, Round> rounds;
  std::variant<Absent, Apart, LeftOut, Active> state;
  bool tried_again = false;

  /// nullptr: it is in another state.
  const Active* active() const { return std::get_if<Active>(&state); }
  bool left_out() const { return std::holds_alternative<LeftOut>(state); }
  bool is_spec() const { return contender.entrant.is_spec(); }

  /// `clean_seconds`: see wire::Measured; 0: not known.
  void add(int round, double seconds, double clean_seconds, Round other);
  void forget(int round);
  /// Its result without the rounds after this one.
  Finalist result_until(int last_round) const;
};

}  // namespace tune::exec
