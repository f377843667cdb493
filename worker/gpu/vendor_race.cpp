#include "gpu/vendor_race.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "model/statistics/stats.h"

namespace tune::worker {
namespace {

constexpr int kRounds = 11;
constexpr int kLoose = 3;  // rounds after which what is far behind has left
constexpr double kFarBehind = 1.1, kBehind = 1.02;
constexpr double kSame = 1.003;
constexpr int kMostLost = 2;  // rounds that another algorithm than the first may lose against it, and still be chosen

struct Runner {
  int algorithm;
  std::vector<double> times;
  bool lost = false;  // too many rounds against the first: it pauses while that is in the race
};

double best_median(const std::vector<Runner>& runners) {
  double best = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners) best = std::min(best, median(runner.times));
  return best;
}

/// How many rounds it has not won against the first. Both have been in all of them.
int lost_rounds(const Runner& runner, const Runner& first) {
  int lost = 0;
  for (std::size_t i = 0; i < first.times.size(); ++i) lost += runner.times[i] < first.times[i] ? 0 : 1;
  return lost;
}

/// Once the last round is over: whether it is faster by more than noise.
bool beats(const Runner& runner, const Runner& first) {
  return kSame * median(runner.times) < median(first.times) && lost_rounds(runner, first) <= kMostLost;
}

/// The algorithms that can be launched.
std::vector<Runner> starters(int count, const Race& race) {
  std::vector<Runner> runners;
  const double start = race.now();
  for (int algorithm = 0; algorithm < count; ++algorithm) {
    if (!runners.empty() && race.now() - start > race.seconds) break;
    if (race.launch(algorithm, true)) runners.push_back({algorithm, {}});
  }
  return runners;
}

}  // namespace

std::optional<int> fastest_of(int count, const Race& race) {
  std::vector<Runner> runners = starters(count, race);
  const auto pauses = [](const Runner& runner) { return runner.lost; };
  for (int round = 1; round <= kRounds && std::ranges::count_if(runners, std::not_fn(pauses)) > 1; ++round) {
    std::erase_if(runners, [&](Runner& runner) {
      if (runner.lost) return false;
      const auto seconds = race.launch(runner.algorithm, false);
      if (seconds) runner.times.push_back(*seconds);
      return !seconds;
    });
    if (runners.empty()) return std::nullopt;
    const double limit = (round < kLoose    ? 2 * kFarBehind
                          : round == kLoose ? kFarBehind
                                            : kBehind) *
                         best_median(runners);
    std::erase_if(runners, [&](const Runner& runner) { return median(runner.times) > limit; });
    const Runner& first = runners.front();
    for (Runner& runner : runners)
      runner.lost =
          first.algorithm == 0 && runner.algorithm != 0 && (runner.lost || lost_rounds(runner, first) > kMostLost);
  }
  std::erase_if(runners, pauses);
  if (runners.empty()) return std::nullopt;
  if (runners.size() == 1) return runners.front().algorithm;
  const auto best = std::ranges::min_element(runners, {}, [](const Runner& runner) { return median(runner.times); });
  return runners.front().algorithm == 0 && !beats(*best, runners.front()) ? 0 : best->algorithm;
}

}  // namespace tune::worker
