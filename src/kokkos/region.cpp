#include "kokkos/region.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/statistics/stats.h"

namespace tune::kokkos {
namespace {

constexpr const char* kDefault = "default";
constexpr std::size_t kRuns = 3;          // of a turn in the search
constexpr double kAgreement = 0.01;       // two runs that differ by less are enough
constexpr double kSlow = 2, kCrawl = 10;  // times as slow as the best: two runs are enough, or even the first one
constexpr double kMargin = 0.15;          // contenders are slower than the best by no more, as in the finals of tune
constexpr std::size_t kMostContenders = 8;
constexpr int kMostRounds = 49;  // one of SequentialIntervals::looks
constexpr int kMostUnusable = 20;
constexpr std::int64_t kAllOf = 100, kPerParameter = 40;

Space space_of(std::vector<Parameter> parameters) {
  Names names;
  std::vector<Value> fixed;
  for (const Parameter& parameter : parameters) {
    names.declare(parameter.name);
    fixed.push_back(std::int64_t{0});
  }
  return {std::move(names), std::move(fixed), {{std::move(parameters), {}, {}}}};
}

std::string name_of(const search::Point& point) { return fmt::format("{}", fmt::join(point.digits, ".")); }

std::optional<search::Point> point_named(const std::string& name, std::size_t parameters) {
  search::Point point;
  const char *at = name.data(), *end = at + name.size();
  while (at < end) {
    char* after = nullptr;
    point.digits.push_back(static_cast<std::uint32_t>(std::strtoul(at, &after, 10)));
    if (after == at) return std::nullopt;
    at = after + 1;
  }
  return point.digits.size() == parameters ? std::optional(point) : std::nullopt;
}

}  // namespace

Region::Region(std::vector<Parameter> parameters, std::vector<Value> defaults,
               const std::optional<std::vector<Value>>& first, const SearchRules& rules)
    : defaults_(std::move(defaults)),
      space_(space_of(std::move(parameters))),
      specs_(space_),
      search_(search::make_search(rules.strategy, specs_, 0)) {
  const std::int64_t few = std::max<std::int64_t>(kAllOf, kPerParameter * std::ssize(defaults_));
  budget_ = std::min(specs_.size(), rules.evaluations > 0 ? rules.evaluations : few);
  if (!configuration_of(defaults_)) {
    configurations_.push_back({kDefault, std::nullopt, defaults_, {}, false, {}});
    by_name_[kDefault] = 0;
    ++budget_;
  }
  configurations_.front().finalist.entrant.kind = Entrant::Kind::current_default;
  if (first)
    if (const auto found = configuration_of(*first); found && *found != 0) pending_.push_back(*found);
  pending_.push_back(0);
}

std::optional<std::size_t> Region::configuration_of(const std::vector<Value>& values) {
  Spec spec;
  for (std::size_t i = 0; i < values.size(); ++i)
    spec.params.push_back({space_.mappings()[0].parameters[i].name, values[i]});
  const auto point = space_.point(spec);
  return point ? std::optional(configuration_at(*point)) : std::nullopt;
}

std::size_t Region::configuration_at(const search::Point& point) {
  const auto [known, is_new] = by_name_.try_emplace(name_of(point), configurations_.size());
  if (!is_new) return known->second;
  Configuration configuration{known->first, point, {}, {}, false, {}};
  for (const Setting& setting : specs_.spec(point).params) configuration.values.push_back(setting.value);
  configurations_.push_back(std::move(configuration));
  return known->second;
}

void Region::replay(const Turn& turn) {
  auto known = by_name_.find(turn.configuration);
  if (known == by_name_.end()) {
    const auto point = point_named(turn.configuration, defaults_.size());
    if (!point || !specs_.contains(*point)) return;
    configuration_at(*point);
    known = by_name_.find(turn.configuration);
  }
  Configuration& configuration = configurations_[known->second];
  if (turn.round > 0) {
    configuration.finalist.rounds[turn.round] = {.seconds = turn.cost};
  } else if (!configuration.cost && !configuration.failed) {
    tell(configuration, is_valid_time(turn.cost) ? std::optional(turn.cost) : std::nullopt);
  }
}

void Region::start() {
  std::erase_if(pending_, [&](std::size_t i) { return configurations_[i].cost || configurations_[i].failed; });
  search_on();
}

/// The search learns what it did not ask for, too.
void Region::tell(Configuration& configuration, std::optional<double> cost) {
  configuration.cost = cost;
  configuration.failed = !cost;
  if (cost) best_ = std::min(best_.value_or(*cost), *cost);
  ++tried_;
  if (!configuration.point) return;
  search_->claim(*configuration.point);
  search_->tell(*configuration.point, cost);
}

void Region::begin_turn(std::size_t configuration) {
  warm_ = turn_ > 0 && current_ == configuration;
  current_ = configuration;
  costs_.clear();
  first_ = 0;
  unusable_ = 0;
  ++turn_;
}

bool Region::is_over(double cost) const {
  if (round_ > 0 || costs_.size() >= kRuns || (best_ && std::min(first_, cost) > kSlow * *best_)) return true;
  if (costs_.size() < 2) return false;
  const auto [low, high] = std::ranges::minmax(costs_);
  return high <= low * (1 + kAgreement);
}

std::optional<Turn> Region::add(double cost) {
  const std::string name = configurations_[current_].name;
  const int round = round_;
  if (!is_valid_time(cost)) {
    if (++unusable_ < kMostUnusable) return std::nullopt;
    end_turn(std::nullopt);
    return Turn{name, round, 0};
  }
  const bool crawls = round_ == 0 && best_ && cost > kCrawl * *best_;
  if (!std::exchange(warm_, true)) {
    first_ = cost;
    if (!crawls) return std::nullopt;
  }
  costs_.push_back(cost);
  if (!is_over(cost)) return std::nullopt;
  const double middle = median(costs_);
  end_turn(middle);
  return Turn{name, round, middle};
}

void Region::end_turn(std::optional<double> cost) {
  Configuration& configuration = configurations_[current_];
  if (round_ == 0) {
    tell(configuration, cost);
    return search_on();
  }
  if (cost) {
    configuration.finalist.rounds[round_] = {.seconds = *cost};
  } else {
    configuration.finalist.failure = Failure{Stage::measure, Cause::reported, "its runs have no cost", {}};
    std::erase(contenders_, current_);
  }
  next_in_round();
}

void Region::search_on() {
  if (!pending_.empty()) {
    const std::size_t next = pending_.back();
    pending_.pop_back();
    if (configurations_[next].point) search_->claim(*configurations_[next].point);
    return begin_turn(next);
  }
  if (tried_ < budget_)
    if (const auto point = search_->ask()) return begin_turn(configuration_at(*point));
  begin_finals();
}

/// The default takes part even if it was slow in the search, unless it is far behind: nothing else can tell whether
/// another configuration is better.
void Region::begin_finals() {
  if (!best_) return decide(0);
  const auto cost_of = [&](std::size_t i) { return *configurations_[i].cost; };
  for (std::size_t i = 0; i < configurations_.size(); ++i)
    if (i > 0 && configurations_[i].cost && cost_of(i) <= *best_ * (1 + kMargin)) contenders_.push_back(i);
  std::ranges::stable_sort(contenders_, {}, cost_of);
  if (contenders_.size() > kMostContenders) contenders_.resize(kMostContenders);
  if (configurations_[0].cost && cost_of(0) <= *best_ * kSlow) contenders_.push_back(0);
  if (contenders_.size() == 1) return decide(contenders_.front());
  std::vector<Finalist*> finalists;
  for (const std::size_t i : contenders_) finalists.push_back(&configurations_[i].finalist);
  tournament_.emplace(std::move(finalists), kAccuracy);
  for (const std::size_t i : contenders_)
    if (!configurations_[i].finalist.rounds.empty())
      round_ = std::max(round_, configurations_[i].finalist.rounds.rbegin()->first);
  end_round();
}

void Region::next_in_round() {
  if (in_round_.empty()) return end_round();
  const std::size_t next = in_round_.back();
  in_round_.pop_back();
  begin_turn(next);
}

void Region::end_round() {
  if (contenders_.empty()) return decide(0);
  const auto measured = [&](std::size_t i) { return finished(configurations_[i].finalist); };
  if (std::ranges::all_of(contenders_, measured)) {
    tournament_->eliminate_losers(round_);
    std::erase_if(contenders_, [&](std::size_t i) { return configurations_[i].finalist.eliminated_after > 0; });
    // What is not shown to be better than the default does not replace it.
    const Choice choice = tournament_->choice();
    const bool default_is_left = std::ranges::find(contenders_, std::size_t{0}) != contenders_.end();
    const std::size_t winner = default_is_left ? 0 : index_of(*choice.winner);
    const bool decided = choice.decided(kAccuracy) && index_of(*choice.winner) == winner;
    if (decided || round_ >= kMostRounds) return decide(winner);
  }
  ++round_;
  in_round_ = contenders_;
  Random random(static_cast<std::uint64_t>(round_));
  shuffle(in_round_, random);
  next_in_round();
}

std::size_t Region::index_of(const Finalist& finalist) const {
  return static_cast<std::size_t>(
      std::ranges::find(configurations_, &finalist, [](const Configuration& c) { return &c.finalist; }) -
      configurations_.begin());
}

void Region::decide(std::size_t winner) {
  const Configuration& best = configurations_[winner];
  Decision decision{best.values, {best.cost.value_or(0)}};
  if (finished(best.finalist)) {
    const std::vector<double> costs = seconds_of(best.finalist);
    decision.cost = {median(costs), median_interval(costs)};
  }
  const Configuration& standard = configurations_.front();
  const std::vector<double> per_round = ratios(standard.finalist, best.finalist, Basis::times);
  if (!per_round.empty())
    decision.default_ratio = median(per_round);
  else if (standard.cost && best.cost)
    decision.default_ratio = *standard.cost / *best.cost;
  current_ = winner;
  ++turn_;
  decision_ = std::move(decision);
}

}  // namespace tune::kokkos
