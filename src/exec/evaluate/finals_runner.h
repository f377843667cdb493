#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "exec/device/measure_service.h"
#include "exec/evaluate/finals_run.h"
#include "exec/process/runner.h"
#include "model/statistics/objective.h"
#include "platform/process/taken_cores.h"

namespace tune::exec {

/// A contender while the finals are held.
struct FinalsEntry;

/// Times contenders side by side, all of which are loaded before the first is timed. If the user has set the end, those
/// that half of the time does not suffice to load are left out. Then come rounds in seeded random order, in which one
/// at a time is timed on the run's first device. The specs that have lost to the leader are eliminated, until a spec is
/// shown to be about as fast as the best (Tournament), or the limits are reached. Baselines are not timed in later
/// rounds, but for the one in question, which then meets the winner alone. A spec that fails is started again once; if
/// it fails again, it is kept with its failure.
///
/// Each contender has a fresh process. But many specs on a GPU share one at first, because a turn in another process
/// takes several times as long; once few are left, each of these goes on in a process of its own. What they share may
/// have measured the sweep and rest on the device; if they share it to the end it rests there again. If the shared
/// process ends, nobody is blamed: its contenders go on in processes of their own, and the round is held again.
class FinalsRunner : public FinalsRun {
 public:
  FinalsRunner(MeasureService& service, std::vector<wire::Contender> contenders, FinalsRules rules);
  ~FinalsRunner() override;
  Finals run(const Tick& tick) override;
  Finals so_far() const override { return collect(complete_); }

 private:
  /// What a contender's process is asked to measure, and the artifact that it loads.
  struct Prepared {
    wire::MeasureRequest request;
    std::string artifact = {};
  };

  void load_all();
  void load_beside(const std::vector<FinalsEntry*>& entries);
  std::shared_ptr<WorkerProcess> first_process(const wire::MeasureRequest& request);
  bool load_next_to(std::shared_ptr<WorkerProcess>& process, FinalsEntry& entry, wire::MeasureRequest request);
  std::vector<FinalsEntry*> without_process() const;
  void separate();
  std::vector<FinalsEntry*> in_order_of_loading() const;
  bool is_late(FinalsRules::Clock::time_point begin) const;
  void load(const std::vector<FinalsEntry*>& entries);
  std::variant<Prepared, Failure> prepare(const wire::Contender& contender);
  std::variant<Prepared, Failure> prepare_stored(const wire::Contender::Stored& stored) const;
  std::optional<wire::MeasureRequest> request_of(FinalsEntry& entry);
  void start(FinalsEntry& entry);
  bool hold_round(std::vector<FinalsEntry*>& order);
  void time_in_turn(FinalsEntry& entry);
  std::optional<std::string> unusable(const FinalsEntry& entry, const DeviceSettings& clocks,
                                      const wire::Measured& measured) const;
  void drop(FinalsEntry& entry, const std::string& why);
  std::optional<wire::Measured> time_once(FinalsEntry& entry, wire::Go go);
  void time_in_other_state();
  bool may_try_again(const FinalsEntry& entry) const;
  void note_turn(const FinalsEntry& entry) const;
  template <typename Condition>
  void wait_for_others(Condition free);
  void sample_load();
  void end_round();
  std::set<const Finalist*> slow_without_time() const;
  bool settled();
  bool is_open(const wire::Question& question, const Finalist& winner) const;
  bool rests(const FinalsEntry& entry) const;
  FinalsRules::Clock::time_point end() const;
  bool needs_another_round() const;
  void leave(std::span<FinalsEntry* const> entries);
  void rest_shared_process();
  Finals result();
  Finals collect(int last_round) const;
  /// Handles events until `reached` holds or the entry's process has ended.
  template <typename Condition>
  void await(FinalsEntry& entry, Condition reached);
  std::ptrdiff_t active_specs() const;
  std::size_t active_count() const;
  void build_for_others();
  void handle_next();

  MeasureService* service_;
  MeasureDevice* device_;  ///< the run's first
  FinalsRules rules_;
  std::optional<Objective> objective_;  ///< set if specs are compared by more than the time
  Tick tick_;
  FinalsRules::Clock::time_point began_;  ///< when the first round did
  int round_ = 0;
  int complete_ = 0;                      ///< the last round that was held as a whole
  platform::ProcessHost::Id rested_ = 0;  ///< the process that had measured for others before the finals
  bool may_leave_out_ = false;            ///< those that half of the time does not suffice to load
  std::vector<std::unique_ptr<FinalsEntry>> entries_;
  std::optional<Tournament> tournament_;         ///< of the specs that were loaded
  const Finalist* winner_ = nullptr;             ///< set once the specs are decided
  int decided_after_ = 0;                        ///< the round in which they were
  const FinalsEntry* in_other_state_ = nullptr;  ///< is timed so: the rounds are over, and its failure does not count
  std::vector<double> others_running_;           ///< at the end of each round
  std::optional<platform::StolenTime> stolen_;   ///< since the first round began
  double stolen_cores_ = 0;                      ///< until the last round ended, on average; a GPU needs none
};

}  // namespace tune::exec
