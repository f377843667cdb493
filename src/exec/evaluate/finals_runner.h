#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/evaluate/finals_processes.h"
#include "model/statistics/objective.h"
#include "model/statistics/tournament.h"
#include "platform/process/taken_cores.h"

namespace tune::exec {

/// Times contenders side by side. After all are loaded come rounds in seeded random order, in which one at a time is
/// timed. The specs that have lost to the leader are eliminated, until a spec is shown to be about as fast as the best
/// (Tournament), or the limits are reached. Baselines are not timed in later rounds, but for the one in question, which
/// then meets the winner alone. A spec that fails is started again once; if it fails again, it is kept with its
/// failure. Once few specs are left, none shares a process; if a shared one ends, the round is held again.
class FinalsRunner : public FinalsRun {
 public:
  FinalsRunner(MeasureService& service, std::vector<wire::Contender> contenders, FinalsRules rules);
  FinalsRunner(const FinalsRunner&) = delete;  // its processes know where it is
  Finals run(const Tick& tick) override;
  Finals so_far() const override { return collect(complete_); }

 private:
  /// What a round is to tell: who wins and how fast that is, or how the winner stands beside the baseline in question.
  enum class Aim { none, winner, answer };

  bool hold_round(std::vector<FinalsEntry*>& order);
  void time_in_turn(FinalsEntry& entry);
  std::optional<wire::Measured> time_once(FinalsEntry& entry);
  std::optional<std::string> unusable(const FinalsEntry& entry, const wire::Measured& measured) const;
  void time_in_other_state();
  void sample_load();
  void eliminate_losers();
  std::set<const Finalist*> slow_without_time() const;
  Aim aim_of_next_round() const;
  bool is_out_of_time() const;
  FinalsRules::Clock::time_point latest_end() const;
  bool is_open(const wire::Question& question, const Finalist& winner) const;
  bool rests(const FinalsEntry& entry) const;
  Finals collect(int last_round) const;

  MeasureService* service_;
  FinalsRules rules_;
  FinalsEntries entries_;
  FinalsProcesses processes_;
  std::optional<Objective> objective_;  ///< set if specs are compared by more than the time
  Tick tick_;
  FinalsRules::Clock::time_point began_;  ///< when the first round did
  int round_ = 0;
  int complete_ = 0;                              ///< the last round that was held as a whole
  std::optional<Tournament> tournament_;          ///< of the specs that were loaded
  const Finalist* winner_ = nullptr;              ///< set once the specs are decided
  int decided_after_ = 0;                         ///< the round in which they were
  std::optional<platform::TimeOfOthers> others_;  ///< since the first round began
  std::optional<double> others_running_;          ///< until the last round ended, on average
  std::optional<platform::StolenTime> stolen_;    ///< since the first round began
  double stolen_cores_ = 0;                       ///< until the last round ended, on average; a GPU needs none
};

}  // namespace tune::exec
