#include "model/ranking.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

namespace tune {
namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

struct Candidate {
  const Trial* trial;
  Merit merit;

  bool early() const { return trial->measurement()->timing.stopped_early; }
  std::int64_t mesh_idx() const { return trial->spec.mesh_idx; }
};

bool better(const Candidate& x, const Candidate& y) {
  if (x.early() != y.early()) return y.early();
  if (std::isfinite(x.merit.value) != std::isfinite(y.merit.value)) return std::isfinite(x.merit.value);
  if (!std::isfinite(x.merit.value)) return x.mesh_idx() < y.mesh_idx();
  if (x.merit.value != y.merit.value) return (x.merit.value > y.merit.value) == x.merit.maximize;
  return x.mesh_idx() < y.mesh_idx();
}

/// What can be placed at all, best first.
std::vector<Candidate> by_merit(std::span<const Trial> trials, std::span<const Merit> merits) {
  assert(trials.size() == merits.size());
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Measurement* measurement = trials[i].measurement();
    if (!measurement || !is_time(measurement->timing.median)) continue;
    // One that was stopped early for its time alone may lack what its merit is computed from.
    if (std::isfinite(merits[i].value) || measurement->timing.stopped_early) {
      candidates.push_back({&trials[i], merits[i]});
    }
  }
  std::sort(candidates.begin(), candidates.end(), better);
  return candidates;
}

bool finished(const Finalist& finalist) {
  return !finalist.failure && !finalist.rounds.empty() &&
         std::all_of(finalist.rounds.begin(), finalist.rounds.end(), is_time);
}

std::vector<double> paired_ratios(const Finalist& finalist, const Finalist& other) {
  assert(finalist.rounds.size() == other.rounds.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < finalist.rounds.size(); ++i) ratios.push_back(finalist.rounds[i] / other.rounds[i]);
  return ratios;
}

bool holds_one(const Interval& interval) { return interval.low <= 1 && 1 <= interval.high; }

bool ties(const Finalist& finalist, const Finalist& other) {
  return holds_one(median_interval(paired_ratios(finalist, other)));
}

Standing standing_against(const Finalist& winner, const Finalist& finalist) {
  const std::vector<double> ratios = paired_ratios(finalist, winner);
  Standing standing;
  standing.median_seconds = median(finalist.rounds);
  standing.seconds_interval = median_interval(finalist.rounds);
  standing.launches = finalist.launches;
  standing.metrics = finalist.metrics;
  standing.ratio = median(ratios);
  standing.ratio_interval = median_interval(ratios);
  return standing;
}

/// A spec that came through the finals.
struct Contender {
  Candidate candidate;
  const Finalist* finalist;
};

const Contender& leader_of(std::span<const Contender> contenders) {
  return *std::min_element(contenders.begin(), contenders.end(), [](const Contender& x, const Contender& y) {
    return median(x.finalist->rounds) < median(y.finalist->rounds);
  });
}

/// The leader and those that the rounds cannot tell from it.
std::vector<const Contender*> tied_with_leader(std::span<const Contender> contenders) {
  const Contender& leader = leader_of(contenders);
  std::vector<const Contender*> tied;
  for (const Contender& contender : contenders)
    if (&contender == &leader || ties(*contender.finalist, *leader.finalist)) tied.push_back(&contender);
  return tied;
}

/// The contender the others are measured by. Deciding ties by mesh_idx makes a second run choose the same spec where
/// the difference is noise.
const Contender& winner_by_rounds(std::span<const Contender> contenders) {
  const auto mesh_idx = [](const Contender* contender) { return contender->candidate.mesh_idx(); };
  const auto tied = tied_with_leader(contenders);
  return **std::ranges::min_element(tied, {}, mesh_idx);
}

/// The contenders' rows, best first. Precondition: contenders are in order of merit and not empty.
std::vector<Ranked> rows_of_finals(std::span<const Contender> contenders, const Contender& winner, bool by_time) {
  std::vector<Ranked> rows;
  for (const Contender& contender : contenders) {
    rows.push_back({contender.candidate.trial, contender.candidate.merit.value,
                    standing_against(*winner.finalist, *contender.finalist)});
  }
  if (!by_time) return rows;
  const auto tied = tied_with_leader(contenders);
  if (tied.size() > 1)
    for (Ranked& row : rows)
      row.standing->tie =
          std::ranges::any_of(tied, [&](const Contender* c) { return c->candidate.trial == row.trial; });
  std::sort(rows.begin(), rows.end(), [&](const Ranked& x, const Ranked& y) {
    const bool x_wins = x.trial == winner.candidate.trial;
    const bool y_wins = y.trial == winner.candidate.trial;
    if (x_wins != y_wins) return x_wins;
    if (x.standing->tie != y.standing->tie) return x.standing->tie;
    if (x.standing->ratio != y.standing->ratio) return x.standing->ratio < y.standing->ratio;
    return x.trial->spec.mesh_idx < y.trial->spec.mesh_idx;
  });
  return rows;
}

const Finalist* find_spec(const Finals& finals, std::int64_t mesh_idx) {
  for (const Finalist& finalist : finals.finalists) {
    if (finalist.label.empty() && finalist.spec.mesh_idx == mesh_idx) return &finalist;
  }
  return nullptr;
}

std::vector<RankedBaseline> rank_baselines(const Finals& finals, const Finalist* winner) {
  std::vector<RankedBaseline> baselines;
  for (const Finalist& finalist : finals.finalists) {
    if (finalist.label.empty()) continue;
    RankedBaseline baseline{finalist.label, finalist.spec, std::nullopt};
    if (winner && finished(finalist)) baseline.standing = standing_against(*winner, finalist);
    baselines.push_back(std::move(baseline));
  }
  return baselines;
}

}  // namespace

Ranking rank(std::span<const Trial> trials, std::span<const Merit> merits, const Finals* finals) {
  std::vector<Contender> contenders;
  std::vector<Ranked> rest;
  for (const Candidate& candidate : by_merit(trials, merits)) {
    const Finalist* finalist = finals ? find_spec(*finals, candidate.mesh_idx()) : nullptr;
    if (!finalist) {
      rest.push_back({candidate.trial, candidate.merit.value, std::nullopt});
    } else if (finished(*finalist)) {
      contenders.push_back({candidate, finalist});
    }
  }

  Ranking ranking;
  const Finalist* winner = nullptr;
  if (!contenders.empty()) {
    const bool by_time = contenders.front().candidate.merit.by_time;
    const Contender& first = by_time ? winner_by_rounds(contenders) : contenders.front();
    winner = first.finalist;
    ranking.rows = rows_of_finals(contenders, first, by_time);
  }
  if (finals) ranking.baselines = rank_baselines(*finals, winner);
  ranking.rows.insert(ranking.rows.end(), rest.begin(), rest.end());
  return ranking;
}

std::vector<bool> pareto_front(std::span<const std::vector<double>> costs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (std::ranges::none_of(costs[i], [](double cost) { return std::isnan(cost); })) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t x, std::size_t y) { return costs[x] < costs[y]; });
  // In lexicographic order a point can only be beaten by one before it.
  std::vector<std::size_t> front;
  std::vector<bool> on_front(costs.size(), false);
  for (const std::size_t i : order) {
    const bool beaten = std::ranges::any_of(front, [&](std::size_t other) {
      return costs[other] != costs[i] && std::ranges::equal(costs[other], costs[i], std::less_equal<>());
    });
    if (beaten) continue;
    front.push_back(i);
    on_front[i] = true;
  }
  return on_front;
}

std::vector<const Trial*> choose_finalists(std::span<const Trial> trials, std::span<const Merit> merits, int top,
                                           double margin, int limit) {
  const std::vector<Candidate> candidates = by_merit(trials, merits);
  std::vector<const Trial*> chosen;
  for (const Candidate& candidate : candidates) {
    const double best = candidates.front().merit.value;
    const bool close = std::abs(candidate.merit.value - best) <= margin * std::abs(best);
    const int count = static_cast<int>(chosen.size());
    if (candidate.early() || count >= limit || (count >= top && !close)) break;
    chosen.push_back(candidate.trial);
  }
  return chosen;
}

}  // namespace tune
