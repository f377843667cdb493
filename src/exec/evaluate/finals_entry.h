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
  /// What a round told beside what is compared.
  struct Figures {
    std::int64_t launches = 0;
    std::map<std::string, double> metrics;
  };

  wire::Contender contender;
  Finalist result;  ///< without metrics and launches, which are per round
  std::map<int, Figures> figures;
  std::variant<Absent, Apart, LeftOut, Active> state;
  bool tried_again = false;

  /// nullptr: it is in another state.
  const Active* active() const { return std::get_if<Active>(&state); }
  bool left_out() const { return std::holds_alternative<LeftOut>(state); }
  /// It takes part, and has no process: not yet, or the one that it shared has ended.
  bool lacks_process() const {
    return active() == nullptr && !left_out() && !result.failure && result.eliminated_after == 0;
  }
  /// A spec may have failed by chance; the vendor's library is either there or not. Who has been eliminated stays out.
  bool may_try_again() const {
    return result.failure && !tried_again && !contender.entrant.is_vendor() && result.eliminated_after == 0;
  }
  bool is_spec() const { return contender.entrant.is_spec(); }

  /// A clean time that is no shorter than the time is dropped.
  void add(int number, FinalsRound round, Figures told);
  void forget(int number);
  /// Its result without the rounds after this one.
  Finalist result_until(int last_round) const;
};

}  // namespace tune::exec
