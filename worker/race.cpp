#include "race.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "model/stats.h"

namespace tune {
namespace {

constexpr int kRounds = 11;
constexpr int kLoose = 3;  // rounds after which what is far behind has left
constexpr double kFarBehind = 1.1, kBehind = 1.02;
constexpr double kSame = 1.003;

struct Runner {
  int algorithm;
  std::vector<double> times;
};

double best_median(const std::vector<Runner>& runners) {
  double best = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners) best = std::min(best, median(runner.times));
  return best;
}

/// Those that can be launched.
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
    const double limit = (round < kLoose ? 2 * kFarBehind : round == kLoose ? kFarBehind : kBehind) * best_median(runners);
    std::erase_if(runners, [&](const Runner& runner) { return median(runner.times) > limit; });
  }
  if (runners.empty()) return std::nullopt;
  if (runners.size() == 1) return runners.front().algorithm;
  if (runners.front().algorithm == 0 && median(runners.front().times) <= kSame * best_median(runners)) return 0;
  return std::ranges::min_element(runners, {}, [](const Runner& runner) { return median(runner.times); })->algorithm;
}

}  // namespace tune
