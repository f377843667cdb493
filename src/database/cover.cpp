#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "database/slowdowns.h"
#include "model/settings.h"

namespace tune::database {
namespace {

constexpr std::size_t kMostWork = 10'000'000;  // of the search for the smallest cover: about a second's

/// Which sizes a configuration is good for.
using Bits = std::vector<bool>;

std::size_t count_common(const Bits& a, const Bits& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] && b[i] ? 1 : 0;
  return count;
}

struct CoverCandidate {
  std::size_t configuration = 0;
  Bits good;
};

/// Looks for the smallest set of candidates that covers all sizes: branches on the size with the fewest candidates, and
/// bounds by how many sizes one candidate can cover at most.
class CoverSearch {
 public:
  CoverSearch(std::vector<CoverCandidate> candidates, std::size_t sizes)
      : candidates_(std::move(candidates)), most_steps_(1 + kMostWork / (1 + candidates_.size() * sizes)) {
    Bits open(sizes, true);
    best_ = greedy(open);
    step(std::move(open));
  }

  /// Indices of configurations.
  std::vector<std::size_t> best() const {
    std::vector<std::size_t> chosen;
    for (const std::size_t index : best_) chosen.push_back(candidates_[index].configuration);
    return chosen;
  }
  bool finished() const { return steps_ < most_steps_; }

 private:
  static void cover(Bits& open, const Bits& good) {
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = open[i] && !good[i];
  }

  std::vector<std::size_t> greedy(Bits open) const {
    std::vector<std::size_t> taken;
    while (std::ranges::find(open, true) != open.end()) {
      const auto gain = [&](const CoverCandidate& candidate) { return count_common(candidate.good, open); };
      const auto most = std::ranges::max_element(candidates_, {}, gain);
      taken.push_back(static_cast<std::size_t>(most - candidates_.begin()));
      cover(open, most->good);
    }
    return taken;
  }

  /// The candidates that are good for the open size that has the fewest of them, best first.
  std::vector<std::size_t> branches(const Bits& open) const {
    std::vector<std::size_t> fewest;
    for (std::size_t size = 0; size < open.size(); ++size) {
      if (!open[size]) continue;
      std::vector<std::size_t> good;
      for (std::size_t i = 0; i < candidates_.size(); ++i)
        if (candidates_[i].good[size]) good.push_back(i);
      if (fewest.empty() || good.size() < fewest.size()) fewest = std::move(good);
    }
    std::ranges::stable_sort(fewest, std::greater<>(),
                             [&](std::size_t i) { return count_common(candidates_[i].good, open); });
    return fewest;
  }

  void step(Bits open) {
    const auto left = static_cast<std::size_t>(std::ranges::count(open, true));
    if (left == 0) {
      if (taken_.size() < best_.size()) best_ = taken_;
      return;
    }
    if (++steps_ >= most_steps_) return;
    std::size_t most = 1;
    for (const CoverCandidate& candidate : candidates_) most = std::max(most, count_common(candidate.good, open));
    if (taken_.size() + (left + most - 1) / most >= best_.size()) return;
    for (const std::size_t index : branches(open)) {
      Bits rest = open;
      cover(rest, candidates_[index].good);
      taken_.push_back(index);
      step(std::move(rest));
      taken_.pop_back();
    }
  }

  std::vector<CoverCandidate> candidates_;
  std::vector<std::size_t> taken_, best_;
  std::size_t steps_ = 0, most_steps_;
};

bool contains(const Bits& a, const Bits& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (b[i] && !a[i]) return false;
  return true;
}

/// The configurations that no other one replaces: it would be good for the same sizes and more.
std::vector<CoverCandidate> candidates_of(const Slowdowns& table, const SizeIndices& sizes, double limit) {
  std::vector<CoverCandidate> all, kept;
  for (std::size_t i = 0; i < table.configurations.size(); ++i) {
    CoverCandidate candidate{i, Bits(sizes.size())};
    for (std::size_t size = 0; size < sizes.size(); ++size) candidate.good[size] = table.of[sizes[size]][i] <= limit;
    all.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const CoverCandidate& each) { return std::ranges::count(each.good, true); });
  for (CoverCandidate& candidate : all) {
    const auto replaces = [&](const CoverCandidate& other) { return contains(other.good, candidate.good); };
    const bool any = std::ranges::find(candidate.good, true) != candidate.good.end();
    if (any && std::ranges::none_of(kept, replaces)) kept.push_back(std::move(candidate));
  }
  return kept;
}

struct Cost {
  bool covered = true;
  double sum = 0;  ///< weighted slowdowns
};

Cost cost_of(const Slowdowns& table, const SizeIndices& sizes, const std::vector<std::size_t>& chosen, double limit) {
  Cost cost;
  for (const std::size_t size : sizes) {
    const double slowdown = table.of[size][fastest_for(table, size, chosen)];
    cost.covered &= slowdown <= limit;
    cost.sum += table.weights[size] * slowdown;
  }
  return cost;
}

/// The binary of each configuration: those that differ in run-time parameters only have the same number.
std::vector<std::size_t> binaries_of(const std::vector<Configuration>& configurations) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> binaries;
  for (const Configuration& configuration : configurations) {
    std::vector<Setting> compiled_in = configuration.params;
    std::erase_if(compiled_in, &Setting::run_time);
    binaries.push_back(numbers.try_emplace(to_text(compiled_in), numbers.size()).first->second);
  }
  return binaries;
}

/// A table whose configurations are binaries, each as slow as the fastest of those that it can be launched with.
Slowdowns table_of_binaries(const Slowdowns& table, const std::vector<std::size_t>& binaries) {
  Slowdowns result = table;
  const std::size_t count = binaries.empty() ? 0 : std::ranges::max(binaries) + 1;
  result.configurations.resize(count);
  for (std::size_t size = 0; size < table.of.size(); ++size) {
    result.of[size].assign(count, kUnknownSlowdown);
    for (std::size_t i = 0; i < binaries.size(); ++i) {
      double& slowdown = result.of[size][binaries[i]];
      slowdown = std::min(slowdown, table.of[size][i]);
    }
  }
  return result;
}

std::size_t count_binaries(const std::vector<std::size_t>& binaries, const std::vector<std::size_t>& chosen) {
  std::set<std::size_t> used;
  for (const std::size_t each : chosen) used.insert(binaries[each]);
  return used.size();
}

/// Exchanges configurations one by one as long as that makes the mean smaller, and takes no more binaries.
void exchange_for_better(const Slowdowns& table, const std::vector<std::size_t>& binaries, const SizeIndices& sizes,
                         double limit, std::vector<std::size_t>& chosen) {
  constexpr double kWorthIt = 1 - 1e-9;
  const std::size_t most = count_binaries(binaries, chosen);
  double sum = cost_of(table, sizes, chosen, limit).sum;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t& place : chosen)
      for (std::size_t other = 0; other < table.configurations.size(); ++other) {
        const std::size_t before = std::exchange(place, other);
        const Cost cost = cost_of(table, sizes, chosen, limit);
        const bool better = cost.covered && cost.sum < sum * kWorthIt && count_binaries(binaries, chosen) <= most;
        if (better) sum = cost.sum;
        changed |= better;
        if (!better) place = before;
      }
  }
}

}  // namespace

SizeIndices all_sizes(const Slowdowns& table) {
  SizeIndices sizes(table.sizes.size());
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  return sizes;
}

std::size_t fastest_for(const Slowdowns& table, std::size_t size, const std::vector<std::size_t>& chosen) {
  return *std::ranges::min_element(chosen, {}, [&](std::size_t each) { return table.of[size][each]; });
}

Cover find_cover(const Slowdowns& table, const SizeIndices& sizes, double limit) {
  const std::vector<std::size_t> binaries = binaries_of(table.configurations);
  const CoverSearch fewest(candidates_of(table_of_binaries(table, binaries), sizes, limit), sizes.size());
  const std::vector<std::size_t> of_fewest = fewest.best();
  Slowdowns of_these = table;
  for (std::size_t i = 0; i < binaries.size(); ++i)
    if (std::ranges::find(of_fewest, binaries[i]) == of_fewest.end())
      for (std::vector<double>& row : of_these.of) row[i] = kUnknownSlowdown;
  Cover cover{CoverSearch(candidates_of(of_these, sizes, limit), sizes.size()).best(), 0, fewest.finished()};
  exchange_for_better(table, binaries, sizes, limit, cover.chosen);
  std::ranges::sort(cover.chosen);
  cover.binaries = count_binaries(binaries, cover.chosen);
  return cover;
}

}  // namespace tune::database
