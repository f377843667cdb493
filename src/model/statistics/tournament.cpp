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

Finalist with_clean_times(Finalist finalist) {
  for (auto& [number, round] : finalist.rounds) round.seconds = round.clean_seconds.value_or(round.seconds);
  return finalist;
}

/// With its clean times if it is_disturbed(): all of them, for those of the disturbed rounds alone would stand beside
/// others that were disturbed a little less.
Finalist undisturbed(const Finalist& finalist) {
  return is_disturbed(finalist) ? with_clean_times(finalist) : finalist;
}

bool have_costs(const Finalist& spec, const Finalist& other) { return has_costs(spec) && has_costs(other); }

std::vector<double> ratios_of_costs(const Finalist& spec, const Finalist& other) {
  std::vector<double> ratios;
  for (const auto& [number, round] : spec.rounds)
    if (const auto found = other.rounds.find(number); found != other.rounds.end() && round.cost && found->second.cost)
      ratios.push_back(ratio_of_costs(*round.cost, *found->second.cost));
  return ratios;
}

/// What decides whether `spec` is slower, or worse, than the other.
std::vector<double> deciding_ratios(const Finalist& spec, const Finalist& other) {
  return have_costs(spec, other) ? ratios_of_costs(spec, other) : paired_ratios(undisturbed(spec), other);
}

/// The one that took least beside another, of those that have all of its rounds; that other one if none took less.
const Finalist* best_beside(const Finalist& other, std::span<const Finalist* const> specs) {
  const std::size_t all_rounds = compared_ratios(other, other).size();
  const Finalist* best = &other;
  double least = 1;
  for (const Finalist* spec : specs) {
    std::vector<double> ratios = compared_ratios(*spec, other);
    if (spec->eliminated_after > 0 || ratios.size() < all_rounds) continue;
    if (const double ratio = median(std::move(ratios)); ratio < least) {
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
  const std::vector<double> ratios = deciding_ratios(spec, leader);
  return !ratios.empty() && std::ranges::min(ratios) > 2;
}

/// Whether both have the same parameters, so that other programs disturb them alike.
bool is_same_spec(const Finalist& spec, const Finalist& other) {
  return !spec.entrant.spec.params.empty() && spec.entrant.spec.params == other.entrant.spec.params;
}

}  // namespace

std::vector<double> compared_ratios(const Finalist& finalist, const Finalist& other) {
  return have_costs(finalist, other) ? ratios_of_costs(finalist, other) : paired_ratios(finalist, other);
}

Judge::Judge(std::size_t specs) : intervals_(level_of(specs)) {}

const Finalist& Judge::leader_of(std::span<const Finalist* const> specs) {
  assert(!specs.empty());
  return **std::ranges::min_element(
      specs, {}, [](const Finalist* spec) { return std::pair(spec->eliminated_after > 0, median_cost(*spec)); });
}

std::optional<Interval> Judge::ratio_interval(const Finalist& spec, const Finalist& leader) const {
  return intervals_.of(paired_ratios(spec, leader));
}

std::optional<Interval> Judge::compared_ratio(const Finalist& spec, const Finalist& other) const {
  if (have_costs(spec, other)) {
    Judge of_both = *this;
    if (never_changed_.value_or(true)) of_both.see(std::array{&spec, &other});
    return of_both.deciding_interval(spec, other);
  }
  if (is_same_spec(spec, other)) {
    auto interval = ratio_interval(spec, other);
    if (!interval || (!is_disturbed(spec) && !is_disturbed(other))) return interval;
    const Interval clean = *ratio_interval(with_clean_times(spec), with_clean_times(other));
    return Interval{std::min(interval->low, clean.low), std::max(interval->high, clean.high)};
  }
  auto interval = ratio_interval(undisturbed(spec), other);
  if (interval) interval->high = ratio_interval(spec, undisturbed(other))->high;
  return interval;
}

void Judge::see(std::span<const Finalist* const> specs) {
  never_changed_ = std::ranges::all_of(specs, [](const Finalist* spec) {
    const std::vector<double> costs = costs_of(*spec);
    return std::ranges::adjacent_find(costs, std::not_equal_to()) == costs.end();
  });
}

std::optional<Interval> Judge::deciding_interval(const Finalist& spec, const Finalist& other) const {
  const std::vector<double> ratios = deciding_ratios(spec, other);
  if (never_changed() && have_costs(spec, other) && ratios.size() >= kFewest) return Interval{ratios[0], ratios[0]};
  return intervals_.of(ratios);
}

bool Judge::is_behind(const Finalist& spec, const Finalist& other) const {
  return spec.eliminated_after > 0 || is_far_behind(deciding_ratios(spec, other), have_costs(spec, other));
}

bool Judge::has_lost(const Finalist& spec, const Finalist& other) const {
  if (&spec == &other) return false;
  if (is_behind(spec, other)) return true;
  const auto interval = deciding_interval(spec, other);
  return interval && interval->low > (have_costs(spec, other) ? 1 : 1 + kEquivalence);
}

bool Judge::ties(const Finalist& spec, const Finalist& other) const {
  if (&spec == &other) return true;
  if (has_lost(spec, other)) return false;
  const auto interval = have_costs(spec, other) ? deciding_interval(spec, other) : ratio_interval(spec, other);
  return interval && interval->low >= 1 - kEquivalence && interval->high <= 1 + kEquivalence;
}

std::optional<double> Judge::loss(const Finalist& spec, const Finalist& rival) const {
  if (&spec == &rival || is_behind(rival, spec)) return 0;
  const auto interval = deciding_interval(rival, spec);
  return interval ? std::optional(std::max(1 / interval->low - 1, 0.0)) : std::nullopt;
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

std::vector<Finalist*> Tournament::end_round(int round, const std::set<const Finalist*>& slow) {
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
