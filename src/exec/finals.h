#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/runner.h"
#include "exec/workshop.h"
#include "model/ranking.h"

namespace tune {

/// Who meets in the finals: a spec whose artifact is in the store, or the vendor's library.
struct Contender {
  /// Which algorithm of the library: what it chooses itself, or the fastest that it offers.
  enum class Vendor { no, first, fastest };
  std::string label;  ///< empty for a spec of the space
  Spec spec;
  Vendor vendor = Vendor::no;
  bool is_vendor() const { return vendor != Vendor::no; }
};

struct FinalsRules {
  std::uint64_t seed = 0;
  int min_rounds = 7;
  int max_rounds = 51;
  int launches = 3;         ///< per contender and round; a program is run once
  double max_seconds = 30;  ///< no new round after it, once there are min_rounds
};

/// Times contenders side by side: each in a fresh process, all loaded before the first is timed, then rounds in seeded
/// random order, one at a time on the run's first device, until the order of the first is settled or the limits are
/// reached. Each is checked in its first round. One that fails is kept with its failure and leaves the rounds.
class FinalsRunner {
 public:
  /// Called between events with the round that runs.
  using Tick = std::function<void(int round)>;

  FinalsRunner(Workshop& workshop, std::vector<Contender> contenders, FinalsRules rules);
  ~FinalsRunner();
  /// Throws as Runner::wait; Error(environment) if the device is lost.
  Finals run(const Tick& tick);

 private:
  struct Entry;
  void load_all();
  void start(Entry& entry);
  void time_once(Entry& entry);
  void leave_all();
  bool settled() const;
  /// Handles events until `reached` holds or the entry's process has ended.
  template <typename Condition>
  void await(Entry& entry, Condition reached);
  void handle_next();

  Workshop* workshop_;
  FinalsRules rules_;
  Tick tick_;
  int round_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tune
