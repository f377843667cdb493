#include "gpu/vendor_race.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "model/statistics/stats.h"

namespace tune::worker {
namespace {

constexpr int kRounds = 11;
constexpr int kLoose = 3;  // rounds after which what is far behind has left
constexpr double kFarBehind = 1.1, kBehind = 1.02;
constexpr double kSame = 1.003;
constexpr double kShare = 0.8;  // of the rounds that another algorithm than the first has to win against it

struct Runner {
  int algorithm;
  std::vector<double> times;
};

double best_median(const std::vector<Runner>& runners) {
  double best = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners) best = std::min(best, median(runner.times));
  return best;
}

/// Both have been in all rounds.
bool beats(const Runner& runner, const Runner& first) {
  int won = 0;
  for (std::size_t i = 0; i < first.times.size(); ++i) won += runner.times[i] < first.times[i] ? 1 : 0;
  return kSame * median(runner.times) < median(first.times) && won >= kShare * static_cast<double>(first.times.size());
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
  for (int round = 1; round <= kRounds && runners.size() > 1; ++round) {
    std::erase_if(runners, [&](Runner& runner) {
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
  }
  if (runners.empty()) return std::nullopt;
  if (runners.size() == 1) return runners.front().algorithm;
  const auto best = std::ranges::min_element(runners, {}, [](const Runner& runner) { return median(runner.times); });
  return runners.front().algorithm == 0 && !beats(*best, runners.front()) ? 0 : best->algorithm;
}

}  // namespace tune::worker
