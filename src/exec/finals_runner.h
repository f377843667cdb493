#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/measure_service.h"
#include "exec/runner.h"
#include "model/statistics/finals.h"

namespace tune::exec {

/// A participant of the finals: a spec whose artifact is in the store, the vendor's library, or what an earlier result
/// was measured with.
struct Contender {
  /// An artifact of an earlier run and how it was launched: neither follows from the present source.
  struct Stored {
    std::string key, hash;  ///< of the entry in the store, and of the artifact that it had then
    wire::MeasureRequest request;
  };

  /// Which of the library's algorithms is timed: the one it chooses itself, or the fastest that it offers.
  enum class Vendor { no, first, fastest };
  std::string label;  ///< empty for a spec of the space
  Spec spec;
  Vendor vendor = Vendor::no;
  bool is_default = false;              ///< the configuration in use today
  std::optional<Failure> failure = {};  ///< why it must not be started
  std::optional<Stored> stored = {};
  bool is_vendor() const { return vendor != Vendor::no; }
};

/// The number of rounds if the objective is not the time: they eliminate nobody.
inline constexpr int kRoundsNotByTime = 15;

struct FinalsRules {
  using Clock = std::chrono::steady_clock;

  std::uint64_t seed = 0;
  int launches = 3;               ///< per contender and round; a program is run once
  Clock::time_point end;          ///< after this time every round but the first is aborted
  bool end_is_asked_for = false;  ///< the user set it; if not, failures and the steps after the rounds get extra time
  bool by_time = true;            ///< contenders that are slower are eliminated
  double width = 0.02;  ///< rounds go on while half the interval of the leader's time is more than this share of it
  /// Contenders that remain at the end are timed once more in this power state.
  std::optional<PowerState> other_state;
  /// Called with a contender right before its process is started and right before each of its turns; may be empty.
  std::function<void(const Contender&)> note_turn = {};
  /// Called when the finals begin to wait for other runs: none of the contenders runs until the next turn.
  std::function<void()> note_waiting = {};
};

/// How many rounds are held at most.
int most_rounds(const FinalsRules& rules);

/// Times contenders side by side: each has a fresh process, and all are loaded before the first is timed. Then come
/// rounds in seeded random order, in which one at a time is timed on the run's first device. At fixed rounds the specs
/// that have lost to the leader are eliminated, until all the remaining ones are shown to be as fast as the leader, or
/// the limits are reached. Baselines are not timed in later rounds. A spec that fails is started again once; if it
/// fails again, it is kept with its failure.
class FinalsRunner {
 public:
  /// Called between events with the round that runs (0: they load) and how many contenders are left.
  using Tick = std::function<void(int round, std::size_t left)>;

  FinalsRunner(MeasureService& service, std::vector<Contender> contenders, FinalsRules rules);
  ~FinalsRunner();
  /// Throws what Runner::wait throws, and DeviceLost.
  Finals run(const Tick& tick);
  /// If run() threw: the rounds that were held as a whole.
  Finals so_far();

 private:
  struct Entry;
  void load_all();
  void load(const std::vector<Entry*>& entries);
  void start(Entry& entry);
  bool hold_round(std::vector<Entry*>& order);
  void time_in_turn(Entry& entry);
  void drop(Entry& entry, const std::string& why);
  std::optional<wire::Measured> time_once(Entry& entry, wire::Go go);
  void time_in_other_state();
  bool may_try_again(const Entry& entry) const;
  void note_turn(const Entry& entry) const;
  template <typename Condition>
  void wait_for_others(Condition free);
  void sample_load();
  void eliminate();
  bool settled() const;
  const Finalist* leader() const;
  void leave(std::span<Entry* const> entries);
  Finals result();
  Finals collect();
  /// Handles events until `reached` holds or the entry's process has ended.
  template <typename Condition>
  void await(Entry& entry, Condition reached);
  void handle_next();

  MeasureService* service_;
  MeasureDevice* device_;  ///< the run's first
  FinalsRules rules_;
  Tick tick_;
  int round_ = 0;
  int complete_ = 0;  ///< the last round that was held as a whole
  std::vector<std::unique_ptr<Entry>> entries_;
  Judge judge_;
  std::vector<double> others_running_;  ///< at the end of each round
};

}  // namespace tune::exec
