#include "model/statistics/tournament.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <iterator>
#include <utility>

namespace tune {
namespace {

constexpr double kError = 0.05;

/// Either of a pair may be the one that is misjudged (Bonferroni).
double level_of(std::size_t specs) {
  const auto count = static_cast<double>(std::max<std::size_t>(specs, 2));
  return kError / (count * (count - 1));
}

/// Whether Student's t says so of the logarithms, beyond what one of 50,000 looks at equal specs shows. `steps`: the
/// values may be whole numbers, so that a few that happen to be alike tell nothing.
bool is_far_behind(std::span<const double> ratios, bool steps) {
  constexpr double kLeast = 1.01, kChance = 2e-5;
  if (ratios.size() < Judge::kFewest || std::ranges::min(ratios) <= kLeast) return false;
  const auto count = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - sum / count, 2);
  if (steps && squares == 0) return false;
  const double error = std::sqrt(squares / (count - 1) / count);
  return sum / count > error * boost::math::quantile(complement(boost::math::students_t(count - 1), kChance));
}

/// Whether other programs visibly disturbed any of its rounds.
bool is_disturbed(const Finalist& finalist) {
  return std::ranges::any_of(finalist.rounds, [](const auto& each) {
    const FinalsRound& round = each.second;
    return round.clean_seconds && round.seconds > kDisturbed * *round.clean_seconds;
  });
}

/// The ratios of the times in the rounds that both have, in order. Whoever is `clean` has its clean times: all of them,
/// for those of the disturbed rounds alone would stand beside others that were disturbed a little less.
std::vector<double> ratios_of_times(const Finalist& spec, bool clean, const Finalist& other, bool other_clean) {
  const auto seconds = [](const FinalsRound& round, bool clean_ones) {
    return clean_ones ? round.clean_seconds.value_or(round.seconds) : round.seconds;
  };
  std::vector<double> ratios;
  ratios.reserve(spec.rounds.size());
  auto theirs = other.rounds.begin();
  for (const auto& [number, round] : spec.rounds) {
    while (theirs != other.rounds.end() && theirs->first < number) ++theirs;
    if (theirs == other.rounds.end()) break;
    if (theirs->first == number) ratios.push_back(seconds(round, clean) / seconds(theirs->second, other_clean));
  }
  return ratios;
}

bool have_costs(const Finalist& spec, const Finalist& other) { return has_costs(spec) && has_costs(other); }

/// The one that took least beside another, of those that have all of its rounds; that other one if none took less.
const Finalist* best_beside(const Finalist& other, std::span<const Finalist* const> specs) {
  const std::size_t all_rounds = ratios(other, other, Basis::objective).size();
  const Finalist* best = &other;
  double least = 1;
  for (const Finalist* spec : specs) {
    std::vector<double> per_round = ratios(*spec, other, Basis::objective);
    if (spec->eliminated_after > 0 || per_round.size() < all_rounds) continue;
    if (const double ratio = median(std::move(per_round)); ratio < least) {
      least = ratio;
      best = spec;
    }
  }
  return best;
}

/// One beside which none took less, begun at the leader: medians of times may be in another order than ratios. Much
/// noise may leave none; then it is any of those among which each took less than the one before.
const Finalist* unbeaten(const Finalist& leader, std::span<const Finalist* const> specs) {
  const Finalist* best = &leader;
  for (std::size_t steps = 0; steps < specs.size(); ++steps) {
    const Finalist* better = best_beside(*best, specs);
    if (better == best) break;
    best = better;
  }
  return best;
}

bool always_takes_twice(const Finalist& spec, const Finalist& leader) {
  const std::vector<double> per_round = ratios(spec, leader, Basis::clean);
  return !per_round.empty() && std::ranges::min(per_round) > 2;
}

/// Whether both have the same parameters, so that other programs disturb them alike.
bool is_same_spec(const Finalist& spec, const Finalist& other) {
  return !spec.entrant.spec.params.empty() && spec.entrant.spec.params == other.entrant.spec.params;
}

}  // namespace

std::vector<double> ratios(const Finalist& finalist, const Finalist& other, Basis basis) {
  if (basis == Basis::times || !have_costs(finalist, other))
    return ratios_of_times(finalist, basis == Basis::clean && is_disturbed(finalist), other, false);
  std::vector<double> per_round;
  for (const auto& [number, round] : finalist.rounds)
    if (const auto found = other.rounds.find(number); found != other.rounds.end() && round.cost && found->second.cost)
      per_round.push_back(ratio_of_costs(*round.cost, *found->second.cost));
  return per_round;
}

Judge::Judge(std::size_t specs) : intervals_(level_of(specs)) {}

const Finalist& Judge::leader_of(std::span<const Finalist* const> specs) {
  assert(!specs.empty());
  return **std::ranges::min_element(
      specs, {}, [](const Finalist* spec) { return std::pair(spec->eliminated_after > 0, median_cost(*spec)); });
}

std::optional<Interval> Judge::interval(const Finalist& spec, const Finalist& other, Basis basis) const {
  const std::vector<double> per_round = ratios(spec, other, basis);
  const bool by_costs = basis != Basis::times && have_costs(spec, other);
  if (by_costs && never_changed() && per_round.size() >= kFewest) return Interval{per_round[0], per_round[0]};
  return intervals_.of(per_round);
}

std::optional<Interval> Judge::safe_interval(const Finalist& spec, const Finalist& other) const {
  if (have_costs(spec, other)) {
    Judge of_both = *this;
    if (never_changed_.value_or(true)) of_both.see(std::array{&spec, &other});
    return of_both.interval(spec, other, Basis::objective);
  }
  if (is_same_spec(spec, other)) {
    const auto as_timed = interval(spec, other, Basis::times);
    if (!as_timed || (!is_disturbed(spec) && !is_disturbed(other))) return as_timed;
    const Interval clean = *intervals_.of(ratios_of_times(spec, true, other, true));
    return Interval{std::min(as_timed->low, clean.low), std::max(as_timed->high, clean.high)};
  }
  auto found = interval(spec, other, Basis::clean);
  if (found) found->high = intervals_.of(ratios_of_times(spec, false, other, is_disturbed(other)))->high;
  return found;
}

void Judge::see(std::span<const Finalist* const> specs) {
  never_changed_ = std::ranges::all_of(specs, [](const Finalist* spec) {
    const std::vector<double> costs = costs_of(*spec);
    return std::ranges::adjacent_find(costs, std::not_equal_to()) == costs.end();
  });
}

bool Judge::is_behind(const Finalist& spec, const Finalist& other) const {
  return spec.eliminated_after > 0 || is_far_behind(ratios(spec, other, Basis::clean), have_costs(spec, other));
}

bool Judge::has_lost(const Finalist& spec, const Finalist& other) const {
  if (&spec == &other) return false;
  if (is_behind(spec, other)) return true;
  const auto found = interval(spec, other, Basis::clean);
  return found && found->low > (have_costs(spec, other) ? 1 : 1 + kEquivalence);
}

bool Judge::ties(const Finalist& spec, const Finalist& other) const {
  if (&spec == &other) return true;
  if (has_lost(spec, other)) return false;
  const auto found = interval(spec, other, Basis::objective);
  return found && found->low >= 1 - kEquivalence && found->high <= 1 + kEquivalence;
}

std::optional<double> Judge::loss(const Finalist& spec, const Finalist& rival) const {
  if (&spec == &rival || is_behind(rival, spec)) return 0;
  const auto found = interval(rival, spec, Basis::clean);
  return found ? std::optional(std::max(1 / found->low - 1, 0.0)) : std::nullopt;
}

std::optional<double> Judge::loss(const Finalist& spec, std::span<const Finalist* const> rivals) const {
  double largest = 0;
  for (const Finalist* rival : rivals) {
    const auto one = loss(spec, *rival);
    if (!one) return std::nullopt;
    largest = std::max(largest, *one);
  }
  return largest;
}

Judge judge_of_two(std::span<const Finalist* const> specs) {
  Judge judge(2);
  judge.see(specs);
  return judge;
}

Choice choose_winner(const Judge& judge, std::span<const Finalist* const> specs, double accuracy) {
  const auto place = [](const Finalist* spec) {
    return std::pair(!spec->entrant.is_default(), spec->entrant.spec.mesh_idx);
  };
  const Finalist& leader = Judge::leader_of(specs);
  Choice chosen;
  for (const Finalist* spec : specs) {
    if (spec->eliminated_after > 0 || (has_costs(*spec) && judge.has_lost(*spec, leader))) continue;
    if (chosen.winner != nullptr && !(place(spec) < place(chosen.winner))) continue;
    // Most lose too much to the leader, and need not be compared with all others.
    if (!Choice{spec, judge.loss(*spec, leader)}.decided(accuracy)) continue;
    if (const Choice choice{spec, judge.loss(*spec, specs)}; choice.decided(accuracy)) chosen = choice;
  }
  if (chosen.winner != nullptr) return chosen;
  const Finalist* winner = unbeaten(leader, specs);
  return {winner, judge.loss(*winner, specs)};
}

Tournament::Tournament(std::vector<Finalist*> specs, double accuracy)
    : specs_(std::move(specs)), accuracy_(accuracy), judge_(specs_.size()) {}

std::vector<const Finalist*> Tournament::competing() const {
  std::vector<const Finalist*> finished_ones;
  std::ranges::copy_if(specs_, std::back_inserter(finished_ones), [](const Finalist* spec) { return finished(*spec); });
  return finished_ones;
}

std::vector<Finalist*> Tournament::eliminate_losers(int round, const std::set<const Finalist*>& slow) {
  std::vector<Finalist*> lost;
  const std::vector<const Finalist*> specs = competing();
  judge_.see(specs);
  if (specs.empty()) return lost;
  const Finalist& leader = Judge::leader_of(specs);
  const auto has_lost = [&](const Finalist& spec) {
    if (round < Judge::kFewest) return slow.contains(&spec) && always_takes_twice(spec, leader);
    return judge_.has_lost(spec, leader) && !Choice{&spec, judge_.loss(spec, leader)}.decided(accuracy_);
  };
  for (Finalist* spec : specs_)
    if (spec->eliminated_after == 0 && finished(*spec) && has_lost(*spec)) lost.push_back(spec);
  for (Finalist* spec : lost) spec->eliminated_after = round;
  return lost;
}

Choice Tournament::choice() const {
  const std::vector<const Finalist*> specs = competing();
  if (specs.empty()) return {};
  Judge judge = judge_;
  judge.see(specs);
  return choose_winner(judge, specs, accuracy_);
}

}  // namespace tune
