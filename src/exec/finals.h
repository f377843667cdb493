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

namespace tune {

/// Who meets in the finals: a spec whose artifact is in the store, or the vendor's library.
struct Contender {
  /// Which algorithm of the library: what it chooses itself, or the fastest that it offers.
  enum class Vendor { no, first, fastest };
  std::string label;  ///< empty for a spec of the space
  Spec spec;
  Vendor vendor = Vendor::no;
  bool is_default = false;              ///< today's configuration
  std::optional<Failure> failure = {};  ///< why it is not to be started
  bool is_vendor() const { return vendor != Vendor::no; }
};

/// Where the objective is not the time, and the rounds only measure.
inline constexpr int kRoundsNotByTime = 15;

struct FinalsRules {
  using Clock = std::chrono::steady_clock;

  std::uint64_t seed = 0;
  int launches = 3;               ///< per contender and round; a program is run once
  Clock::time_point end;          ///< no round goes on after it, but for the first
  bool end_is_asked_for = false;  ///< else what failed and what follows the rounds is granted its time
  bool by_time = true;            ///< who is slower has lost
  double width = 0.02;  ///< rounds go on while half the interval of the leader's time is more than this share of it
  /// Of who is left in the end one more time is taken in this state.
  std::optional<PowerState> other_state;
  /// Told of a contender right before its process is started and right before each of its turns; empty: nobody is.
  std::function<void(const Contender&)> note_turn = {};
  /// Told when the finals begin to wait for other runs: none of the contenders runs until the next turn.
  std::function<void()> note_waiting = {};
};

/// Times contenders side by side: each in a fresh process, all loaded before the first is timed, then rounds in seeded
/// random order, one at a time on the run's first device. At fixed rounds the specs that have lost to the leader leave,
/// until each that is left is shown to be as fast, or the limits are reached. Baselines rest after some rounds. A spec
/// that fails is started again once; one that fails again is kept with its failure.
class FinalsRunner {
 public:
  /// Called between events with the round that runs (0: they load) and how many contenders are left.
  using Tick = std::function<void(int round, std::size_t left)>;

  FinalsRunner(MeasureService& service, std::vector<Contender> contenders, FinalsRules rules);
  ~FinalsRunner();
  /// Throws as Runner::wait; DeviceLost.
  Finals run(const Tick& tick);

 private:
  struct Entry;
  void load_all();
  void load(const std::vector<Entry*>& entries);
  void start(Entry& entry);
  bool hold_round(std::vector<Entry*>& order);
  void time_in_turn(Entry& entry);
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
  /// Handles events until `reached` holds or the entry's process has ended.
  template <typename Condition>
  void await(Entry& entry, Condition reached);
  void handle_next();

  MeasureService* service_;
  MeasureDevice* device_;  ///< the run's first
  FinalsRules rules_;
  Tick tick_;
  int round_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;
  Judge judge_;
  std::vector<double> others_running_;  ///< at the end of each round
};

}  // namespace tune
