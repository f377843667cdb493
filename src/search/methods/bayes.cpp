#include "search/methods/bayes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/methods/methods.h"
#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = -1;
constexpr double kLeastSpread = 0.02;
constexpr double kLeastDeviation = 1e-9;
constexpr double kLeastChance = 0.02;  ///< of a candidate not to fail, whatever the model predicts
constexpr std::size_t kTop = 5;
// Where no prior predicts the cost: the share of it that is of single parameters, and what an octave of a value's odd
// part adds to it, in deviations of the target. The latter is fitted, with an inverse variance around what is usual.
constexpr double kAlone = 0.9;
constexpr double kOddCost = 0.3, kOddCostPrior = 25;
constexpr double kOddCosts[] = {0, 0.1, 0.2, kOddCost, 0.45, 0.6};
constexpr double kOddUse = 0.5;

/// Of the odd parts of a point's values.
double octaves_of(std::span<const Coordinate> coordinates) {
  int sum = 0;
  for (const Coordinate& coordinate : coordinates) sum += coordinate.odd_part;
  return sum / kOddParts;
}

}  // namespace

double Bayes::Warp::raw(double cost) const { return logarithmic ? sign * natural_log(sign * cost) : cost; }

double Bayes::Warp::bent(double cost) const {
  const double above = (raw(cost) - low) / spread;
  return above > 0 ? natural_log(1 + above) : above;
}

Bayes::Bayes(const ValidSpecs& specs, std::uint64_t seed, BayesOptions options, const Prior* prior)
    : options_(options),
      has_prior_(prior != nullptr),
      odd_cost_(has_prior_ ? 0 : kOddCost),
      random_(seed),
      untried_(specs),
      coordinate_system_(specs.space(), prior),
      moves_(specs),
      design_(coordinate_system_, specs, has_prior_ ? 0 : kOddUse),
      kernel_(coordinate_system_.axes(), has_prior_ ? 0 : kAlone),
      process_(kernel_, static_cast<std::size_t>(options.points), static_cast<std::size_t>(options.candidates)),
      slots_(static_cast<std::size_t>(options.candidates)) {}

// Hardware has powers of two of most things: a block of 48 or a tile of 3 leaves a part of it idle.
double Bayes::expected(std::span<const Coordinate> coordinates) const {
  return odd_cost_ * (octaves_of(coordinates) - usual_octaves_);
}

bool Bayes::ready() const {
  return kernel_.axes() > 0 && observations_.size() >= static_cast<std::size_t>(options_.design) && measured_ >= 2 &&
         2 * (measured_ + failed_) >= observations_.size();
}

std::optional<Point> Bayes::note(std::optional<Point> point) {
  if (!point) return point;
  observations_.push_back({*point, coordinate_system_(*point), State::out, 0});
  if (process_.points() > 0 && !process_.full()) {
    process_.add_points(observations_.back().coordinates);
    rows_.push_back(observations_.size() - 1);
  }
  return point;
}

std::optional<Point> Bayes::spread() { return note(design_.draw(untried_, random_)); }

std::optional<Point> Bayes::ask() {
  if (!ready()) return spread();
  if (observations_.size() >= next_fit_ || process_.full())
    rebuild();
  else
    set_targets();
  std::vector<double> scores = this->scores();
  const auto best = std::ranges::max_element(scores);
  const auto chosen = static_cast<std::size_t>(best - scores.begin());
  if (*best < 0) return note(untried_.draw(random_));
  Point point = untried_.specs().at(slots_[chosen]->index);
  untried_.take(point);
  empty(chosen);
  renew(std::move(scores));
  return note(std::move(point));
}

bool Bayes::claim(const Point& point) {
  const auto index = untried_.find(point);
  if (!index) return false;
  untried_.take(point);
  note(point);
  return true;
}

void Bayes::tell(const Point& point, std::optional<double> cost) {
  const auto found = std::find_if(observations_.rbegin(), observations_.rend(),
                                  [&](const Observation& other) { return other.point == point; });
  if (found == observations_.rend()) return;
  const auto index = static_cast<std::size_t>(observations_.rend() - found) - 1;
  found->state = cost ? State::measured : State::failed;
  ++(cost ? measured_ : failed_);
  if (!cost) return;
  found->cost = *cost;
  if (best_ && observations_[*best_].cost <= *cost) return;
  best_ = index;
  stale_warp_ = true;
  if (process_.points() > 0) queue_steps(point);
}

void Bayes::queue_steps(const Point& point) {
  for (Point& step : moves_.around(point)) queue_.push_back(std::move(step));
}

std::vector<std::size_t> Bayes::best_first() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < observations_.size(); ++i)
    if (observations_[i].state == State::measured) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return observations_[i].cost; });
  return order;
}

void Bayes::set_warp() {
  const std::vector<std::size_t> order = best_first();
  const double lowest = observations_[order.front()].cost, highest = observations_[order.back()].cost;
  warp_ = {};
  warp_.logarithmic = lowest > 0 || highest < 0;
  warp_.sign = lowest > 0 ? 1 : -1;
  warp_.low = warp_.raw(lowest);
  const double middle = warp_.raw(observations_[order[order.size() / 2]].cost);
  warp_.spread = std::max(middle - warp_.low,
                          warp_.logarithmic ? kLeastSpread : std::fabs(middle) * kLeastSpread + kLeastDeviation);
  double sum = 0, squares = 0;
  for (const std::size_t i : order) sum += warp_.bent(observations_[i].cost);
  warp_.mean = sum / static_cast<double>(order.size());
  for (const std::size_t i : order) {
    const double off = warp_.bent(observations_[i].cost) - warp_.mean;
    squares += off * off;
  }
  warp_.deviation = std::sqrt(squares / static_cast<double>(order.size())) + kLeastDeviation;
  stale_warp_ = false;
}

void Bayes::set_targets() {
  if (stale_warp_) set_warp();
  std::vector<double> costs, failures;
  for (const std::size_t row : rows_) {
    const Observation& observation = observations_[row];
    costs.push_back(observation.state == State::measured ? warp_(observation.cost) - expected(observation.coordinates)
                    : observation.state == State::failed ? 0
                                                         : kUnknown);
    failures.push_back(observation.state == State::out ? kUnknown : observation.state == State::failed);
  }
  process_.set_targets(outputs_[0], costs);
  if (failed_ > 0) process_.set_targets(outputs_[1], failures);
}

// Half of the room goes to the best points, the rest to the latest ones.
std::vector<std::size_t> Bayes::kept_rows() const {
  std::vector<std::size_t> rows;
  const auto room = static_cast<std::size_t>(options_.points) * 3 / 4;
  if (observations_.size() <= room) {
    for (std::size_t i = 0; i < observations_.size(); ++i) rows.push_back(i);
    return rows;
  }
  rows = best_first();
  rows.resize(std::min(rows.size(), room / 2));
  for (std::size_t i = observations_.size(); i-- > 0 && rows.size() < room;)
    if (std::ranges::find(rows, i) == rows.end()) rows.push_back(i);
  std::ranges::sort(rows);
  return rows;
}

void Bayes::fit() {
  std::vector<std::size_t> order = best_first();
  const auto most = static_cast<std::size_t>(options_.fit_points);
  if (order.size() > most) {
    std::vector<std::size_t> others(order.begin() + static_cast<std::ptrdiff_t>(most / 2), order.end());
    shuffle(others, random_);
    std::copy_n(others.begin(), most - most / 2, order.begin() + static_cast<std::ptrdiff_t>(most / 2));
    order.resize(most);
  }
  std::vector<Coordinate> coordinates;
  std::vector<double> targets;
  for (const std::size_t i : order) {
    coordinates.insert(coordinates.end(), observations_[i].coordinates.begin(), observations_[i].coordinates.end());
    targets.push_back(warp_(observations_[i].cost));
  }
  usual_octaves_ = octaves_of(coordinates) / static_cast<double>(targets.size());
  if (!has_prior_) fit_odd_cost(coordinates, targets);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] -= expected(observations_[order[i]].coordinates);
  kernel_.fit(coordinates, targets);
}

void Bayes::fit_odd_cost(std::span<const Coordinate> coordinates, std::span<const double> targets) {
  const std::size_t axes = kernel_.axes();
  double chosen = 0, highest = -std::numeric_limits<double>::infinity();
  for (const double cost : kOddCosts) {
    odd_cost_ = cost;
    std::vector<double> rest(targets.begin(), targets.end());
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= expected(coordinates.subspan(i * axes, axes));
    const double off = cost - kOddCost;
    const double score = kernel_.likelihood(coordinates, rest) - 0.5 * kOddCostPrior * off * off;
    if (score <= highest) continue;
    highest = score;
    chosen = cost;
  }
  odd_cost_ = chosen;
}

void Bayes::rebuild() {
  set_warp();
  if (observations_.size() >= next_fit_) {
    fit();
    next_fit_ = static_cast<std::size_t>(static_cast<double>(observations_.size()) * options_.refit) + 1;
  }
  process_.clear();
  outputs_.assign(2, {});
  queue_.clear();
  const std::vector<std::size_t> order = best_first();
  for (std::size_t i = 0; i < std::min(order.size(), kTop); ++i) queue_steps(observations_[order[i]].point);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) fill(slot);
  rows_ = kept_rows();
  std::vector<Coordinate> coordinates;
  for (const std::size_t row : rows_)
    coordinates.insert(coordinates.end(), observations_[row].coordinates.begin(), observations_[row].coordinates.end());
  process_.add_points(coordinates);
  set_targets();
}

// Takes steps from the best points first, then random points.
std::optional<std::int64_t> Bayes::fresh() {
  while (!queue_.empty()) {
    const auto index = untried_.find(queue_.front());
    queue_.pop_front();
    if (index && !pooled_.contains(*index)) return index;
  }
  const auto index = untried_.glance(random_);
  return index && !pooled_.contains(*index) ? index : std::nullopt;
}

void Bayes::empty(std::size_t slot) {
  if (slots_[slot]) pooled_.erase(slots_[slot]->index);
  slots_[slot].reset();
}

void Bayes::fill(std::size_t slot) {
  empty(slot);
  const auto index = fresh();
  if (!index) return;
  pooled_.insert(*index);
  const std::vector<Coordinate> coordinates = coordinate_system_(untried_.specs().at(*index));
  slots_[slot] = {*index, expected(coordinates)};
  process_.set_candidate(slot, coordinates, outputs_);
}

std::vector<double> Bayes::scores() const {
  const double target = warp_(observations_[*best_].cost);
  std::vector<double> scores(slots_.size(), kNever);
  double best = kNever;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot] || untried_.is_taken(slots_[slot]->index)) continue;
    const double deviation = std::sqrt(process_.variance(slot) * outputs_[0].scale());
    const double likely = failed_ == 0 ? 1 : std::clamp(1 - outputs_[1].mean(slot), kLeastChance, 1.0);
    const double mean = outputs_[0].mean(slot) + slots_[slot]->expected;
    scores[slot] = likely * deviation * expected_gain((target - mean) / deviation);
    best = std::max(best, scores[slot]);
  }
  return scores;
}

void Bayes::renew(std::vector<double> scores) {
  const std::size_t count = std::min(static_cast<std::size_t>(options_.renewed), scores.size());
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto worse = [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count) - 1, order.end(), worse);
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), worse);
  for (std::size_t i = 0; i < count; ++i) fill(order[i]);
}

Method bayes_method() {
  const BayesOptions usual;
  return {
      {"bayes",
       {whole("design", usual.design, 2), whole("points", usual.points, 20), whole("candidates", usual.candidates)}},
      [](const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed,
         const Prior*) -> std::unique_ptr<Search> {
        BayesOptions options;
        options.design = choice.whole("design");
        options.points = choice.whole("points");
        options.candidates = choice.whole("candidates");
        return std::make_unique<Bayes>(specs, seed, options);
      }};
}

}  // namespace tune::search
