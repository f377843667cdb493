#include "model/statistics/ranking.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <tuple>

#include "model/statistics/tournament.h"

namespace tune {
namespace {

struct Candidate {
  const Trial* trial;
  Merit merit;
  const Finalist* finalist = nullptr;  ///< if it was in the finals

  bool early() const { return trial->measurement()->timing.stopped_early; }
  double least() const { return least_seconds(trial->measurement()->timing); }
  std::int64_t mesh_idx() const { return trial->spec.mesh_idx; }
};

bool better(const Candidate& x, const Candidate& y) {
  if (x.early() != y.early()) return y.early();
  if (std::isfinite(x.merit.value) != std::isfinite(y.merit.value)) return std::isfinite(x.merit.value);
  if (!std::isfinite(x.merit.value)) return x.mesh_idx() < y.mesh_idx();
  if (x.early() && x.merit.by_time && x.least() != y.least()) return x.least() < y.least();
  if (x.merit.value != y.merit.value) return (x.merit.value > y.merit.value) == x.merit.maximize;
  return x.mesh_idx() < y.mesh_idx();
}

/// The trials that can be ranked at all, best first.
std::vector<Candidate> by_merit(std::span<const Trial> trials, std::span<const Merit> merits) {
  assert(trials.size() == merits.size());
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Measurement* measurement = trials[i].measurement();
    if (!measurement || !is_valid_time(measurement->timing.median)) continue;
    // A trial that was stopped early may lack the figures from which its merit is computed.
    if (std::isfinite(merits[i].value) || measurement->timing.stopped_early) {
      candidates.push_back({&trials[i], merits[i]});
    }
  }
  std::sort(candidates.begin(), candidates.end(), better);
  return candidates;
}

/// The other specs with the same code as a ranked one, and the specs that they follow.
class Places {
 public:
  Places(std::span<const Trial> trials, SameCode same_code, const Finals* finals) : same_(std::move(same_code)) {
    for (const Trial& trial : trials) trials_.emplace(trial.spec.mesh_idx, &trial);
    if (finals != nullptr)
      for (const Finalist& finalist : finals->finalists)
        if (finalist.entrant.is_spec()) put_first(finalist.entrant.spec.mesh_idx);
  }

  bool has_own(std::int64_t mesh_idx) const { return !same_.contains(mesh_idx); }

  /// Inserts, after each row, the specs with the same code.
  std::vector<Ranked> complete(const std::vector<Ranked>& rows) const {
    std::map<std::int64_t, std::vector<std::int64_t>> members;
    for (const auto& [member, first] : same_) members[first].push_back(member);
    std::vector<Ranked> all;
    for (const Ranked& row : rows) {
      all.push_back(row);
      for (const std::int64_t member : members[row.trial->spec.mesh_idx]) {
        all.push_back(row);
        all.back().trial = trials_.at(member);
        all.back().same_as = row.trial;
      }
    }
    return all;
  }

 private:
  /// The one that was timed stands for the others, whoever was to.
  void put_first(std::int64_t mesh_idx) {
    const auto found = same_.find(mesh_idx);
    if (found == same_.end()) return;
    const std::int64_t before = found->second;
    same_.erase(found);
    for (auto& [member, first] : same_)
      if (first == before) first = mesh_idx;
    same_.emplace(before, mesh_idx);
  }

  std::map<std::int64_t, const Trial*> trials_;
  SameCode same_;
};

std::vector<const Finalist*> finalists_of(std::span<const Candidate> candidates) {
  std::vector<const Finalist*> finalists;
  for (const Candidate& candidate : candidates) finalists.push_back(candidate.finalist);
  return finalists;
}

/// Ranks those that came through the finals by their rounds. Precondition: there is at least one, and they are in order
/// of merit.
class FinalOrder {
 public:
  FinalOrder(std::span<const Candidate> candidates, const Finals& finals, bool by_time)
      : candidates_(candidates),
        by_time_(by_time),
        by_rounds_(by_time ||
                   std::ranges::all_of(candidates, [](const Candidate& c) { return has_costs(*c.finalist); })),
        judge_(judge_of(candidates, finals)),
        choice_(by_rounds_ ? choose_winner(judge_, finalists_of(candidates), finals.accuracy)
                           : Choice{candidates.front().finalist, std::nullopt}) {}

  std::optional<double> loss() const { return choice_.loss; }

  FinalsResult finals_result(const Finalist& finalist) const {
    FinalsResult finals_result;
    const double own = median_seconds(finalist);
    const Finalist& other = compared_with(finalist);
    std::vector<double> per_round = ratios(finalist, other, Basis::times);
    finals_result.time.seconds = per_round.empty() ? own : median_seconds(other) * median(std::move(per_round));
    // In its few rounds the winner may have been disturbed, but the finals know that this one is no faster.
    if (by_time_ && finalist.eliminated_after > 0)
      finals_result.time.seconds = std::max(finals_result.time.seconds, median_seconds(*choice_.winner));
    finals_result.ratio = finals_result.time.seconds / median_seconds(*choice_.winner);
    if (finalist.rounds.size() > 1)
      finals_result.time.interval = interval_of(finalist, finals_result.time.seconds / own);
    finals_result.launches = finalist.launches;
    finals_result.metrics = finalist.metrics;
    finals_result.rounds = static_cast<int>(finalist.rounds.size());
    finals_result.other_state_seconds = finalist.other_state_seconds;
    return finals_result;
  }

  std::vector<Ranked> rows() const {
    std::vector<const Candidate*> order;
    for (const Candidate& candidate : candidates_) order.push_back(&candidate);
    if (by_rounds_)
      std::ranges::stable_sort(order, {}, [&](const Candidate* candidate) { return place_of(*candidate); });
    const bool tie = by_rounds_ && std::ranges::count_if(candidates_, [&](const Candidate& c) { return ties(c); }) > 1;
    std::vector<Ranked> rows;
    for (const Candidate* candidate : order) {
      FinalsResult figures = finals_result(*candidate->finalist);
      if (by_rounds_) figures.loss = judge_.loss(*choice_.winner, *candidate->finalist);
      figures.tie = tie && ties(*candidate);
      rows.push_back({candidate->trial, candidate->merit.value, std::move(figures)});
    }
    return rows;
  }

 private:
  static Judge judge_of(std::span<const Candidate> candidates, const Finals& finals) {
    const auto specs = std::ranges::count_if(finals.finalists, &Entrant::is_spec, &Finalist::entrant);
    Judge judge(static_cast<std::size_t>(specs));
    judge.see(finalists_of(candidates));
    return judge;
  }

  /// By how much the time in the rounds that both have, as a logarithm, differs from that in all its rounds; infinite
  /// if they have none.
  static double drift_of(const Finalist& finalist, const Finalist& other) {
    std::vector<double> common;
    for (const auto& [number, round] : finalist.rounds)
      if (other.rounds.contains(number)) common.push_back(round.seconds);
    return common.empty() ? INFINITY : std::fabs(std::log(median(std::move(common)) / median_seconds(finalist)));
  }

  /// The winner. But if it had another time in the few rounds of an early loser than in all of its own, the candidate
  /// that had the same in both.
  const Finalist& compared_with(const Finalist& finalist) const {
    constexpr double kDrift = 0.1;
    const Finalist* best = choice_.winner;
    double least = drift_of(*best, finalist);
    if (least <= kDrift) return *best;
    for (const Candidate& candidate : candidates_) {
      const Finalist& other = *candidate.finalist;
      if (&other == &finalist || other.rounds.size() < choice_.winner->rounds.size()) continue;
      if (const double drift = drift_of(other, finalist); drift < least) {
        least = drift;
        best = &other;
      }
    }
    return *best;
  }

  bool ties(const Candidate& candidate) const { return judge_.ties(*candidate.finalist, *choice_.winner); }

  /// Those that neither win nor tie stay in order of merit, unless their times are known better than in the sweep.
  std::tuple<bool, bool, double, std::int64_t> place_of(const Candidate& candidate) const {
    const bool wins = candidate.finalist == choice_.winner, tied = ties(candidate);
    if (!by_time_) return {!wins, !tied, 0, 0};
    return {!wins, !tied, finals_result(*candidate.finalist).time.seconds, candidate.mesh_idx()};
  }

  static Interval interval_of(const Finalist& finalist, double scale) {
    std::vector<double> seconds = seconds_of(finalist);
    for (double& value : seconds) value *= scale;
    return median_interval(std::move(seconds));
  }

  std::span<const Candidate> candidates_;
  bool by_time_;
  bool by_rounds_;  ///< the finals compared what the merit follows from
  Judge judge_;
  Choice choice_;
};

std::vector<RankedBaseline> rank_baselines(const Finals& finals, const FinalOrder* order) {
  std::vector<RankedBaseline> baselines;
  for (const Finalist& finalist : finals.finalists) {
    if (finalist.entrant.is_spec()) continue;
    RankedBaseline baseline{finalist.entrant, std::nullopt};
    if (order != nullptr && finished(finalist)) baseline.finals_result = order->finals_result(finalist);
    baselines.push_back(std::move(baseline));
  }
  return baselines;
}

/// By the time that is shown; what was stopped early has a bound there, and comes last.
std::tuple<bool, double, std::int64_t> place_by_time(const Ranked& row) {
  const Timing& sweep = row.trial->measurement()->timing;
  const bool early = !row.finals_result && sweep.stopped_early;
  const double seconds = row.finals_result ? row.finals_result->time.seconds
                         : early           ? least_seconds(sweep)
                                           : sweep.typical();
  return {early, seconds, row.trial->spec.mesh_idx};
}

/// Puts all behind the winner and those that tie with it in order of their times. Precondition: the winner is first,
/// and its ties follow.
void order_the_others(std::vector<Ranked>& rows) {
  const auto others = std::find_if(rows.begin() + 1, rows.end(),
                                   [](const Ranked& row) { return !row.finals_result || !row.finals_result->tie; });
  std::sort(others, rows.end(), [](const Ranked& x, const Ranked& y) { return place_by_time(x) < place_by_time(y); });
}

}  // namespace

Ranking rank(std::span<const Trial> trials, std::span<const Merit> merits, const Finals* finals, SameCode same_code) {
  const Places places(trials, std::move(same_code), finals);
  std::vector<Candidate> finalists;
  std::vector<Ranked> failed, rest;
  for (Candidate& candidate : by_merit(trials, merits)) {
    if (!places.has_own(candidate.mesh_idx())) continue;
    const Finalist* finalist = candidate.finalist =
        finals != nullptr ? find_spec(*finals, candidate.mesh_idx()) : nullptr;
    Ranked row{candidate.trial, candidate.merit.value, std::nullopt};
    if (finalist != nullptr && finished(*finalist)) {
      finalists.push_back(candidate);
    } else if (finalist != nullptr && finalist->failure) {
      row.failed_in_finals = &*finalist->failure;
      failed.push_back(row);
    } else {
      rest.push_back(row);
    }
  }

  Ranking ranking;
  std::optional<FinalOrder> order;
  const bool by_time = !finalists.empty() && finalists.front().merit.by_time;
  if (!finalists.empty()) order.emplace(finalists, *finals, by_time);
  if (order) ranking.rows = order->rows();
  if (order) ranking.loss = order->loss();
  if (finals) ranking.baselines = rank_baselines(*finals, order ? &*order : nullptr);
  for (const std::vector<Ranked>& others : {failed, rest})
    ranking.rows.insert(ranking.rows.end(), others.begin(), others.end());
  if (by_time) order_the_others(ranking.rows);
  ranking.rows = places.complete(ranking.rows);
  return ranking;
}

std::vector<bool> pareto_front(std::span<const std::vector<double>> costs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (std::ranges::none_of(costs[i], [](double cost) { return std::isnan(cost); })) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t x, std::size_t y) { return costs[x] < costs[y]; });
  // In lexicographic order, a point can only be dominated by an earlier one.
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
                                           double margin, int limit, const SameCode& same_code) {
  const std::vector<Candidate> candidates = by_merit(trials, merits);
  std::map<std::int64_t, const Trial*> by_index;
  for (const Trial& trial : trials) by_index.emplace(trial.spec.mesh_idx, &trial);
  std::vector<const Trial*> chosen;
  for (const Candidate& candidate : candidates) {
    const double best = candidates.front().merit.value;
    const bool close = std::abs(candidate.merit.value - best) <= margin * std::abs(best);
    const int count = static_cast<int>(chosen.size());
    if (candidate.early() || count >= limit || (count >= top && !close)) break;
    const auto same = same_code.find(candidate.mesh_idx());
    const Trial* trial = same == same_code.end() ? candidate.trial : by_index.at(same->second);
    if (std::ranges::find(chosen, trial) == chosen.end()) chosen.push_back(trial);
  }
  return chosen;
}

}  // namespace tune
