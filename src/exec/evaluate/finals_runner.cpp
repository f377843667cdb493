#include "exec/evaluate/finals_runner.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "exec/request/spec_launches.h"
#include "model/values/random.h"

namespace tune::exec {
namespace {

constexpr int kMinRounds = 7;
constexpr double kExactSeconds = 120;  // that rounds may take to show that costs never change
constexpr int kBaselineRounds = 15;    // are enough to know a ratio to 1 %; the decision is among the specs
constexpr std::ptrdiff_t kFew = 4;     // specs that have processes of their own at the end
// In the other state:
constexpr double kMostLaunchesInBurst = 20, kSecondsInBurst = 1;
constexpr std::int64_t kSamplesInSustained = 1;  // the mean of a tenth of a second

/// As far as an objective asks.
Measurement measurement_of(const wire::Measured& measured) {
  Measurement measurement;
  measurement.timing = measured.timing;
  measurement.metrics = measured.metrics;
  return measurement;
}

}  // namespace

FinalsRunner::FinalsRunner(MeasureService& service, std::vector<wire::Contender> contenders, FinalsRules rules)
    : service_(&service),
      rules_(rules),
      processes_(service, rules_, entries_, [this] { tick_(round_, processes_.active_count()); }) {
  if (!rules_.by_time) objective_.emplace(service.requests().plan());
  for (wire::Contender& contender : contenders) {
    auto& entry = entries_.emplace_back(std::make_unique<FinalsEntry>());
    entry->result.entrant = contender.entrant;
    entry->result.failure = contender.failure;
    entry->tried_again = contender.failure.has_value();
    entry->contender = std::move(contender);
  }
}

Finals FinalsRunner::run(const Tick& tick) {
  tick_ = tick;
  processes_.load_all();
  std::vector<FinalsEntry*> order;
  std::vector<Finalist*> specs;
  for (const auto& entry : entries_) {
    order.push_back(entry.get());
    if (entry->is_spec()) specs.push_back(&entry->result);
  }
  tournament_.emplace(std::move(specs), rules_.accuracy);
  began_ = service_->now();
  Random random(rules_.seed);
  others_.emplace();
  if (!is_gpu(service_->requests().hello().backend)) stolen_.emplace();
  // The rounds end with the last there may be, with one that runs out of time, or when nothing is left to tell.
  for (round_ = 1; round_ <= SequentialIntervals::looks().back(); ++round_) {
    shuffle(order, random);
    if (!hold_round(order)) break;
    complete_ = round_;
    sample_load();
    if (winner_ == nullptr) eliminate_losers();
    const Aim aim = aim_of_next_round();
    if (aim == Aim::none) break;
    if (aim == Aim::answer && std::exchange(winner_, tournament_->choice().winner) == nullptr) decided_after_ = round_;
    if (processes_.active_specs() <= kFew && !rules_.one_of_several) processes_.separate();
  }
  time_in_other_state();
  processes_.end_all();
  return collect(round_);
}

// A round that runs out of time is forgotten: the contenders that had their turn would be known better than the others.
bool FinalsRunner::hold_round(std::vector<FinalsEntry*>& order) {
  for (FinalsEntry* entry : order) {
    if (rests(*entry) || (!entry->active() && !entry->may_try_again())) continue;
    if (is_out_of_time()) {
      for (FinalsEntry* timed : order) timed->forget(round_);
      return false;
    }
    time_in_turn(*entry);
    if (const auto without = processes_.without_process(); !without.empty()) {
      for (FinalsEntry* timed : order) timed->forget(round_);
      processes_.load(without);
      return hold_round(order);
    }
  }
  return true;
}

void FinalsRunner::time_in_turn(FinalsEntry& entry) {
  const auto begin = service_->now();
  // An entry that is not active has ended since its last turn.
  auto measured = time_once(entry);
  if (!measured && !rules_.end_is_firm)
    for (auto* time : {&rules_.end, &rules_.end_of_first_rounds}) *time += service_->now() - begin;
  if (!measured && entry.may_try_again()) {
    processes_.try_again(entry);
    measured = time_once(entry);
  }
  if (!measured) return;
  FinalsRound round{.seconds = measured->timing.median};
  // On a GPU another process need not compute.
  if (measured->clean_seconds > 0 && !is_gpu(service_->requests().hello().backend))
    round.clean_seconds = measured->clean_seconds;
  if (objective_ && (entry.is_spec() || !entry.contender.entrant.spec.params.empty()))
    round.cost = objective_->merit(entry.contender.entrant.spec, measurement_of(*measured)).cost();
  if (round.cost && !std::isfinite(*round.cost)) round.cost.reset();  // of a baseline that does not say it
  entry.add(round_, round, {measured->timing.count, std::move(measured->metrics)});
  for (std::string& remark : measured->remarks)
    if (std::ranges::find(entry.result.remarks, remark) == entry.result.remarks.end())
      entry.result.remarks.push_back(std::move(remark));
}

/// nullopt: the contender's result says why.
std::optional<wire::Measured> FinalsRunner::time_once(FinalsEntry& entry) {
  auto measured = processes_.time(entry, {.launches = rules_.launches});
  const auto why = measured ? unusable(entry, *measured) : std::nullopt;
  if (!why) return measured;
  processes_.drop(entry, *why);
  return std::nullopt;
}

/// Why a measurement does not count: it was not made at the clocks that its parameters say, or lacks the objective.
std::optional<std::string> FinalsRunner::unusable(const FinalsEntry& entry, const wire::Measured& measured) const {
  const DeviceSettings clocks = device_settings(entry.contender.entrant.spec);
  if (auto why = contradiction(clocks, measured.metrics)) return why;
  if (!objective_ || !entry.is_spec()) return std::nullopt;
  std::string why = objective_->why_none(entry.contender.entrant.spec, measurement_of(measured));
  return why.empty() ? std::nullopt : std::optional(std::move(why));
}

// The winner and what it is compared with; the other specs while the finals' own time lasts.
void FinalsRunner::time_in_other_state() {
  if (!rules_.other_state) return;
  const Finalist* winner = tournament_->choice().winner;
  const auto is_expected = [&](const FinalsEntry* entry) {
    return &entry->result == winner || entry->contender.entrant.kind != Entrant::Kind::spec;
  };
  std::vector<FinalsEntry*> left;
  for (const auto& entry : entries_)
    if (entry->active() && finished(entry->result)) left.push_back(entry.get());
  std::stable_partition(left.begin(), left.end(), is_expected);
  for (FinalsEntry* entry : left) {
    if (service_->now() >= rules_.end && (rules_.end_is_firm || !is_expected(entry))) continue;
    if (!entry->active()) continue;
    const double fitting = kSecondsInBurst / median_seconds(entry->result);
    const auto launches = *rules_.other_state == PowerState::sustained
                              ? kSamplesInSustained
                              : static_cast<std::int64_t>(std::clamp(fitting, 3.0, kMostLaunchesInBurst));
    const auto measured = processes_.time(
        *entry, {.launches = launches, .check = wire::Go::Check::no, .state = rules_.other_state}, true);
    if (measured) entry->result.other_state_seconds = measured->timing.median;
  }
}

void FinalsRunner::sample_load() {
  others_running_ = others_->cores();
  if (stolen_) stolen_cores_ = stolen_->so_far().cores;
}

// A process that stayed would hold memory, and would end while another is launched.
void FinalsRunner::eliminate_losers() {
  const std::vector<Finalist*> losers = tournament_->eliminate_losers(round_, slow_without_time());
  std::vector<FinalsEntry*> leaving;
  for (const auto& entry : entries_)
    if (std::ranges::find(losers, &entry->result) != losers.end()) leaving.push_back(entry.get());
  processes_.leave(leaving);
}

/// The specs that were slow in the sweep, if there is no time for the rounds that tell any two specs apart, by what
/// rounds have taken so far.
std::set<const Finalist*> FinalsRunner::slow_without_time() const {
  std::set<const Finalist*> slow;
  const auto now = service_->now();
  if (!rules_.by_time || now + (Judge::kFewest - round_) * ((now - began_) / round_) <= latest_end()) return slow;
  for (const auto& entry : entries_)
    if (entry->contender.was_slow) slow.insert(&entry->result);
  return slow;
}

/// What is left to tell after a round that was held as a whole.
FinalsRunner::Aim FinalsRunner::aim_of_next_round() const {
  const Choice choice = tournament_->choice();
  if (choice.winner == nullptr) return Aim::none;  // all specs have failed
  if (round_ < (objective_ ? Judge::kFewest : kMinRounds) || !choice.decided(rules_.accuracy)) return Aim::winner;
  if (rules_.width && relative_width(*choice.winner) > *rules_.width) return Aim::winner;
  return rules_.question && is_open(*rules_.question, *choice.winner) ? Aim::answer : Aim::none;
}

/// Whether there is no time for another turn of this round. Costs that have never changed are known exactly after
/// kFewest rounds, for which slow specs get more of it.
bool FinalsRunner::is_out_of_time() const {
  if (round_ == 1) return false;
  const bool is_worth_more = objective_ && !rules_.end_is_firm && round_ <= Judge::kFewest &&
                             processes_.active_specs() > 1 && tournament_->judge().never_changed();
  return service_->now() >= latest_end() + platform::ticks(is_worth_more ? kExactSeconds : 0);
}

// While the winner meets the baseline in question alone, the answer is what is waited for.
FinalsRules::Clock::time_point FinalsRunner::latest_end() const {
  return round_ <= kFirstRounds || rules_.question ? std::max(rules_.end, rules_.end_of_first_rounds) : rules_.end;
}

bool FinalsRunner::is_open(const wire::Question& question, const Finalist& winner) const {
  const auto asked = std::ranges::find_if(
      entries_, [&](const auto& entry) { return entry->result.entrant.name == question.baseline && entry->active(); });
  if (asked == entries_.end()) return false;
  const std::string& code = (*asked)->contender.code;
  const auto is_same = [&](const auto& entry) { return &entry->result == &winner && entry->contender.code == code; };
  if (!code.empty() && std::ranges::any_of(entries_, is_same)) return false;
  std::vector<const Finalist*> specs;
  for (const auto& entry : entries_)
    if (entry->is_spec()) specs.push_back(&entry->result);
  const auto interval = judge_of_two(specs).safe_interval(winner, (*asked)->result);
  return !interval || (interval->low <= 1 + question.threshold && interval->high > 1 + question.threshold);
}

// The other specs rest while a question is left.
bool FinalsRunner::rests(const FinalsEntry& entry) const {
  if (rules_.question && entry.result.entrant.name == rules_.question->baseline) return false;
  return entry.is_spec() ? winner_ != nullptr && winner_ != &entry.result : round_ > kBaselineRounds;
}

Finals FinalsRunner::collect(int last_round) const {
  Finals finals;
  finals.cores = static_cast<int>(std::thread::hardware_concurrency());
  finals.accuracy = rules_.accuracy;
  if (objective_) finals.objective = objective_->definition();
  finals.decided_after = decided_after_ < last_round ? decided_after_ : 0;
  for (const auto& entry : entries_) finals.finalists.push_back(entry->result_until(last_round));
  finals.stolen_cores = stolen_cores_;
  finals.others_running = others_running_;
  return finals;
}

}  // namespace tune::exec
