#include "exec/evaluate/finals_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "exec/device/queue_rules.h"
#include "exec/evaluate/finals_entry.h"
#include "exec/request/spec_launches.h"
#include "model/values/random.h"

namespace tune::exec {
namespace {

constexpr int kMinRounds = 7;
constexpr double kExactSeconds = 120;          // that rounds may take to show that costs never change
constexpr int kBaselineRounds = 15;            // are enough to know a ratio to 1 %; the decision is among the specs
constexpr std::ptrdiff_t kFew = 4;             // specs that have processes of their own at the end
constexpr std::ptrdiff_t kManyContenders = 8;  // to share one is worth opening the device again for those few
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
    : service_(&service), device_(&service.devices().front()), rules_(rules) {
  if (!rules_.by_time) objective_.emplace(service.requests().plan());
  for (wire::Contender& contender : contenders) {
    auto& entry = entries_.emplace_back(std::make_unique<FinalsEntry>());
    entry->result.entrant = contender.entrant;
    entry->result.failure = contender.failure;
    entry->tried_again = contender.failure.has_value();
    entry->contender = std::move(contender);
  }
}

FinalsRunner::~FinalsRunner() = default;

Finals FinalsRunner::run(const Tick& tick) {
  tick_ = tick;
  load_all();
  began_ = service_->now();
  Random random(rules_.seed);
  std::vector<FinalsEntry*> order;
  for (const auto& entry : entries_) order.push_back(entry.get());
  if (!is_gpu(service_->requests().hello().backend)) stolen_.emplace();
  for (round_ = 1; round_ <= SequentialIntervals::looks().back(); ++round_) {
    shuffle(order, random);
    if (!hold_round(order)) break;
    complete_ = round_;
    sample_load();
    if (winner_ == nullptr) end_round();
    if (settled()) break;
    if (active_specs() <= kFew && !rules_.together) separate();
  }
  time_in_other_state();
  return result();
}

void FinalsRunner::load_all() {
  const std::vector<FinalsEntry*> all = in_order_of_loading();
  may_leave_out_ = rules_.end_is_asked_for;
  const bool are_many = std::ranges::count_if(all, &FinalsEntry::is_spec) >= kManyContenders;
  if (is_gpu(service_->requests().hello().backend) && (are_many || rules_.together)) load_beside(all);
  load(without_process());
  may_leave_out_ = false;
  for (FinalsEntry* entry : all) {
    if (entry->active() || !may_try_again(*entry)) continue;
    entry->tried_again = true;
    load({entry});
  }
  std::erase_if(entries_, [](const auto& entry) { return entry->left_out(); });
  std::vector<Finalist*> specs;
  for (const auto& entry : entries_)
    if (entry->is_spec()) specs.push_back(&entry->result);
  tournament_.emplace(std::move(specs), rules_.accuracy);
}

// The best spec and the baselines come first, as where contenders are cut before.
std::vector<FinalsEntry*> FinalsRunner::in_order_of_loading() const {
  std::vector<FinalsEntry*> order;
  for (const auto& entry : entries_)
    if (!entry->result.failure) order.push_back(entry.get());
  if (order.size() > 1)
    std::stable_partition(order.begin() + 1, order.end(), [](const FinalsEntry* entry) { return !entry->is_spec(); });
  return order;
}

/// Those that are to take part and do not yet.
std::vector<FinalsEntry*> FinalsRunner::without_process() const {
  std::vector<FinalsEntry*> found;
  for (FinalsEntry* entry : in_order_of_loading())
    if (!entry->active() && !entry->left_out() && entry->result.eliminated_after == 0) found.push_back(entry);
  return found;
}

// What ends the process while it is loaded is loaded apart, and the others begin anew.
void FinalsRunner::load_beside(const std::vector<FinalsEntry*>& entries) {
  wait_for_others([&] { return device_->begin_opening(); });
  const auto begin = service_->now();
  std::shared_ptr<WorkerProcess> process;
  std::string group;
  for (FinalsEntry* entry : entries) {
    if (is_late(begin)) entry->state = FinalsEntry::LeftOut{};
    if (!std::holds_alternative<FinalsEntry::Absent>(entry->state)) continue;
    auto request = request_of(*entry);
    if (!request) continue;
    const std::string own = wire::load_group_of(*request);
    if (group.empty()) group = own;
    const bool may_be_missing =
        entry->contender.entrant.is_vendor() && service_->requests().hello().vendor_library.empty();
    if (own != group || may_be_missing) {
      entry->state = FinalsEntry::Apart{};
      continue;
    }
    if (load_next_to(process, *entry, std::move(*request))) continue;
    entry->state = FinalsEntry::Apart{};
    device_->end_opening();
    return load_beside(entries);
  }
  device_->end_opening();
}

/// The one that rests on the device, or a fresh one.
std::shared_ptr<WorkerProcess> FinalsRunner::first_process(const wire::MeasureRequest& request) {
  auto process = device_->take_measuring();
  if (!process) return std::make_shared<WorkerProcess>(device_->start(request));
  rested_ = process->id();
  process->send(wire::Next{request});
  return process;
}

/// Loads the entry, and starts the shared process for the first of them. Returns false if that process has ended.
bool FinalsRunner::load_next_to(std::shared_ptr<WorkerProcess>& process, FinalsEntry& entry,
                                wire::MeasureRequest request) {
  const std::size_t place = active_count();
  if (place > 0) {
    process->send(wire::Next{std::move(request), true});
  } else {
    process = first_process(request);
  }
  entry.state = FinalsEntry::Active{process, place};
  await(entry, [&] { return process->phase() == Phase::ready; });
  if (entry.active()) process->send(wire::Load{});
  await(entry, [&] { return process->loaded(); });
  return entry.active() != nullptr;
}

// Their rounds so far count.
void FinalsRunner::separate() {
  std::vector<FinalsEntry*> together;
  for (const auto& entry : entries_)
    if (entry->active() && !entry->active()->is_alone()) together.push_back(entry.get());
  if (together.empty()) return;
  leave(together);
  load(together);
}

// Never are so many left out that fewer than two remain, one of them a spec.
bool FinalsRunner::is_late(FinalsRules::Clock::time_point begin) const {
  const bool any_spec =
      std::ranges::any_of(entries_, [](const auto& entry) { return entry->active() && entry->is_spec(); });
  return may_leave_out_ && any_spec && active_count() >= 2 && service_->now() >= begin + (rules_.end - begin) / 2;
}

// An entry whose process could not open the device is neither active nor failed, and is started again.
void FinalsRunner::load(const std::vector<FinalsEntry*>& entries) {
  wait_for_others([&] { return device_->begin_opening(); });
  const int at_once = opening_at_once(service_->requests().hello().backend);
  const auto is_loading = [](const FinalsEntry* entry) {
    return entry->active() && !entry->active()->process->loaded();
  };
  const auto begin = service_->now();
  std::vector<FinalsEntry*> missing = entries;
  while (!missing.empty()) {
    for (FinalsEntry* entry : missing) {
      while (std::ranges::count_if(missing, is_loading) >= at_once) handle_next();
      if (is_late(begin)) {
        entry->state = FinalsEntry::LeftOut{};
        continue;
      }
      start(*entry);
      await(*entry, [&] { return entry->active()->process->phase() == Phase::ready; });
      if (const auto* active = entry->active()) active->process->send(wire::Load{});
    }
    for (FinalsEntry* entry : missing) await(*entry, [&] { return entry->active()->process->loaded(); });
    std::erase_if(missing, [](const FinalsEntry* entry) {
      return entry->active() || entry->result.failure || entry->left_out();
    });
  }
  device_->end_opening();
}

// Waits for the build of a spec.
std::variant<FinalsRunner::Prepared, Failure> FinalsRunner::prepare(const wire::Contender& contender) {
  if (contender.entrant.is_vendor())
    return Prepared{service_->requests().vendor(contender.entrant.kind == Entrant::Kind::vendor_fastest)};
  if (contender.stored) return prepare_stored(*contender.stored);
  const Builder::Result* built = nullptr;
  while ((built = service_->builds().find_or_build(contender.entrant.spec)) == nullptr) {
    service_->builds().builder().start_queued();
    handle_next();
  }
  if (const auto* failure = std::get_if<Failure>(built)) return *failure;
  return Prepared{service_->requests().measure(contender.entrant.spec), std::get<Artifact>(*built).path.string()};
}

std::variant<FinalsRunner::Prepared, Failure> FinalsRunner::prepare_stored(
    const wire::Contender::Stored& stored) const {
  const Builder::Result* found = service_->builds().builder().find_intact(stored.key);
  const auto* then = found != nullptr ? std::get_if<Artifact>(found) : nullptr;
  if (then != nullptr && then->info.artifact_hash == stored.hash) return Prepared{stored.request, then->path.string()};
  return Failure{
      Stage::load, Cause::reported, "the artifact that was timed then is not in the build store, or has changed", {}};
}

/// What a process is to measure for it; nullopt: it has failed.
std::optional<wire::MeasureRequest> FinalsRunner::request_of(FinalsEntry& entry) {
  entry.state = FinalsEntry::Absent{};
  entry.result.failure.reset();
  auto prepared = prepare(entry.contender);
  if (const auto* failure = std::get_if<Failure>(&prepared)) {
    entry.result.failure = *failure;
    return std::nullopt;
  }
  try {
    while (!service_->reference().ready(entry.contender.entrant.spec)) handle_next();
  } catch (const Unlaunchable& error) {
    entry.result.failure = Failure{Stage::start, Cause::reported, error.what(), {}};
    return std::nullopt;
  }
  note_turn(entry);
  auto& [request, artifact] = std::get<Prepared>(prepared);
  return service_->complete(std::move(request), artifact);
}

void FinalsRunner::start(FinalsEntry& entry) {
  if (const auto request = request_of(entry))
    entry.state = FinalsEntry::Active{std::make_shared<WorkerProcess>(device_->start(*request))};
}

// A round that runs out of time is forgotten: the contenders that had their turn would be known better than the others.
bool FinalsRunner::hold_round(std::vector<FinalsEntry*>& order) {
  for (FinalsEntry* entry : order) {
    if (rests(*entry) || (!entry->active() && !may_try_again(*entry))) continue;
    if (round_ > 1 && service_->now() >= end() && !needs_another_round()) {
      for (FinalsEntry* timed : order) timed->forget(round_);
      return false;
    }
    time_in_turn(*entry);
    if (const auto lost = without_process(); !lost.empty()) {
      for (FinalsEntry* timed : order) timed->forget(round_);
      load(lost);
      return hold_round(order);
    }
  }
  return true;
}

void FinalsRunner::time_in_turn(FinalsEntry& entry) {
  const auto begin = service_->now();
  // An entry that is not active has ended since its last turn.
  auto measured = time_once(entry, {.launches = rules_.launches});
  if (!measured && !rules_.end_is_asked_for)
    for (auto* time : {&rules_.end, &rules_.last_end}) *time += service_->now() - begin;
  if (!measured && may_try_again(entry)) {
    entry.tried_again = true;
    load({&entry});
    measured = time_once(entry, {.launches = rules_.launches});
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

std::optional<wire::Measured> FinalsRunner::time_once(FinalsEntry& entry, wire::Go go) {
  wait_for_others([&] { return !entry.active() || device_->take_turn(); });
  std::optional<wire::Measured> measured;
  const DeviceSettings clocks = device_settings(entry.contender.entrant.spec);
  std::optional<std::string> why = entry.active() ? device_->set_clocks(clocks) : std::nullopt;
  if (entry.active() && !why) {
    note_turn(entry);
    go.spec = entry.active()->place;
    if (entry.active()->checked) go.check = wire::Go::Check::no;
    entry.active()->process->send(go);
    await(entry, [&] { return (measured = entry.active()->process->take_measured()).has_value(); });
    if (measured) std::get<FinalsEntry::Active>(entry.state).checked = true;
  }
  device_->end_turn();
  service_->builds().builder().inputs().check_unbuilt();
  if (measured && &entry != in_other_state_) why = unusable(entry, clocks, *measured);
  if (!why) return measured;
  drop(entry, *why);
  return std::nullopt;
}

/// Why a measurement does not count: it was not made at the clocks that its parameters say, or lacks the objective.
std::optional<std::string> FinalsRunner::unusable(const FinalsEntry& entry, const DeviceSettings& clocks,
                                                  const wire::Measured& measured) const {
  if (auto why = contradiction(clocks, measured.metrics)) return why;
  if (!objective_ || !entry.is_spec()) return std::nullopt;
  std::string why = objective_->why_none(entry.contender.entrant.spec, measurement_of(measured));
  return why.empty() ? std::nullopt : std::optional(std::move(why));
}

void FinalsRunner::drop(FinalsEntry& entry, const std::string& why) {
  entry.result.failure = Failure{Stage::measure, Cause::reported, why, {}, {.machine_suspected = true}};
  if (entry.active()->is_alone()) entry.active()->process->kill();
  entry.state = FinalsEntry::Absent{};
}

// A spec may have failed by chance; the vendor's library is either there or not. Who has been eliminated stays out.
bool FinalsRunner::may_try_again(const FinalsEntry& entry) const {
  return entry.result.failure && !entry.tried_again && !entry.contender.entrant.is_vendor() &&
         entry.result.eliminated_after == 0;
}

void FinalsRunner::note_turn(const FinalsEntry& entry) const {
  if (rules_.note_turn) rules_.note_turn(entry.contender);
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
    if (service_->now() >= rules_.end && (rules_.end_is_asked_for || !is_expected(entry))) continue;
    if (!entry->active()) continue;
    const double fitting = kSecondsInBurst / median_seconds(entry->result);
    const auto launches = *rules_.other_state == PowerState::sustained
                              ? kSamplesInSustained
                              : static_cast<std::int64_t>(std::clamp(fitting, 3.0, kMostLaunchesInBurst));
    in_other_state_ = entry;
    const auto measured =
        time_once(*entry, {.launches = launches, .check = wire::Go::Check::no, .state = rules_.other_state});
    in_other_state_ = nullptr;
    if (measured) entry->result.other_state_seconds = measured->timing.median;
  }
}

void FinalsRunner::sample_load() {
  const bool builds = service_->builds().builder().running() > 0;  // these are not others
  if (const auto running = platform::others_running(); running && !builds) others_running_.push_back(*running);
  if (stolen_) stolen_cores_ = stolen_->so_far().cores;
}

// A process that stayed would hold memory, and would end while another is launched.
void FinalsRunner::end_round() {
  const std::vector<Finalist*> lost = tournament_->end_round(round_, slow_without_time());
  std::vector<FinalsEntry*> leaving;
  for (const auto& entry : entries_)
    if (std::ranges::find(lost, &entry->result) != lost.end()) leaving.push_back(entry.get());
  leave(leaving);
}

/// The specs that were slow in the sweep, if there is no time for the rounds that tell any two specs apart, by what
/// rounds have taken so far.
std::set<const Finalist*> FinalsRunner::slow_without_time() const {
  std::set<const Finalist*> slow;
  const auto now = service_->now();
  if (!rules_.by_time || now + (Judge::kFewest - round_) * ((now - began_) / round_) <= end()) return slow;
  for (const auto& entry : entries_)
    if (entry->contender.was_slow) slow.insert(&entry->result);
  return slow;
}

// The other specs rest while the winner's own time or a question is left.
bool FinalsRunner::settled() {
  const Choice choice = tournament_->choice();
  if (choice.winner == nullptr) return true;
  if (round_ < (objective_ ? Judge::kFewest : kMinRounds) || !choice.decided(rules_.accuracy)) return false;
  if (rules_.width && relative_width(*choice.winner) > *rules_.width) return false;
  if (!rules_.question || !is_open(*rules_.question, *choice.winner)) return true;
  if (std::exchange(winner_, choice.winner) == nullptr) decided_after_ = round_;
  return false;
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
  const auto interval = judge_of_two(specs).compared_ratio(winner, (*asked)->result);
  return !interval || (interval->low <= 1 + question.threshold && interval->high > 1 + question.threshold);
}

bool FinalsRunner::rests(const FinalsEntry& entry) const {
  if (rules_.question && entry.result.entrant.name == rules_.question->baseline) return false;
  return entry.is_spec() ? winner_ != nullptr && winner_ != &entry.result : round_ > kBaselineRounds;
}

// Costs that have never changed are known exactly after kFewest rounds, for which slow specs get more time.
bool FinalsRunner::needs_another_round() const {
  return objective_ && !rules_.end_is_asked_for && round_ <= Judge::kFewest && active_specs() > 1 &&
         tournament_->judge().never_changed() && service_->now() < end() + platform::ticks(kExactSeconds);
}

// While the winner meets the baseline in question alone, the answer is what is waited for.
FinalsRules::Clock::time_point FinalsRunner::end() const {
  return round_ <= kFirstRounds || rules_.question ? std::max(rules_.end, rules_.last_end) : rules_.end;
}

// The last of those that share a process ends it.
void FinalsRunner::leave(std::span<FinalsEntry* const> entries) {
  for (FinalsEntry* entry : entries)
    if (entry->active() && !entry->active()->is_alone()) entry->state = FinalsEntry::Absent{};
  if (std::ranges::none_of(entries, &FinalsEntry::active)) return;
  wait_for_others([&] { return device_->begin_opening(); });
  for (FinalsEntry* entry : entries)
    if (const auto* active = entry->active()) active->process->send(wire::Done{});
  for (FinalsEntry* entry : entries) await(*entry, [] { return false; });
  device_->end_opening();
}

void FinalsRunner::rest_shared_process() {
  std::shared_ptr<WorkerProcess> shared;
  for (const auto& entry : entries_) {
    const auto* active = entry->active();
    if (active == nullptr || (shared ? active->process != shared : active->is_alone())) continue;
    shared = active->process;
    entry->state = FinalsEntry::Absent{};
  }
  if (!shared) return;
  shared->take_stage_times();  // of the finals, which are told apart from the sweep's
  device_->rest_measuring(shared);
}

Finals FinalsRunner::result() {
  std::vector<FinalsEntry*> all;
  for (const auto& entry : entries_) all.push_back(entry.get());
  if (rules_.together && device_->keeps_measuring()) rest_shared_process();
  leave(all);
  return collect(round_);
}

Finals FinalsRunner::collect(int last_round) const {
  Finals finals;
  finals.cores = static_cast<int>(std::thread::hardware_concurrency());
  finals.accuracy = rules_.accuracy;
  if (objective_) finals.objective = objective_->definition();
  finals.decided_after = decided_after_ < last_round ? decided_after_ : 0;
  for (const auto& entry : entries_) finals.finalists.push_back(entry->result_until(last_round));
  finals.stolen_cores = stolen_cores_;
  if (!others_running_.empty())
    finals.others_running = std::accumulate(others_running_.begin(), others_running_.end(), 0.0) /
                            static_cast<double>(others_running_.size());
  return finals;
}

template <typename Condition>
void FinalsRunner::await(FinalsEntry& entry, Condition reached) {
  while (entry.active() && !reached()) handle_next();
}

// While the finals wait, no contender runs.
template <typename Condition>
void FinalsRunner::wait_for_others(Condition free) {
  if (free()) return;
  if (rules_.note_waiting) rules_.note_waiting();
  while (!free()) handle_next();
}

std::ptrdiff_t FinalsRunner::active_specs() const {
  return std::ranges::count_if(entries_, [](const auto& entry) { return entry->active() && entry->is_spec(); });
}

std::size_t FinalsRunner::active_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(entries_, [](const auto& entry) { return entry->active(); }));
}

// The next tunings wait for what they try first. Times on a GPU do not depend on what the cores do.
void FinalsRunner::build_for_others() {
  if (is_gpu(service_->requests().hello().backend)) service_->builds().builder().start_queued();
}

void FinalsRunner::handle_next() {
  tick_(round_, active_count());
  const auto event = service_->wait(service_->now() + std::chrono::milliseconds(100));
  if (!event) return;
  heed(*event);
  if (service_->handle(*event)) return build_for_others();
  std::vector<FinalsEntry*> entries;
  for (const auto& entry : entries_)
    if (entry->active() && entry->active()->process->id() == process_of(*event)) entries.push_back(entry.get());
  if (entries.empty()) return;
  WorkerProcess& process = *entries.front()->active()->process;
  if (const auto* line = std::get_if<platform::ProcessHost::Line>(&*event)) process.handle(*line);
  if (process.loaded()) device_->note_opened();
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&*event);
  if (ended == nullptr) return;
  if (ended->exit.unreaped) device_->throw_lost("a worker on it could not be killed");
  process.handle(*ended);
  const bool refused = process.no_device() && !process.loaded();
  if (refused)
    device_->note_refused(process.failure()->message);
  else if (entries.size() == 1 && process.id() != rested_ && entries.front() != in_other_state_)
    entries.front()->result.failure = process.failure();
  for (FinalsEntry* entry : entries) entry->state = FinalsEntry::Absent{};
}

}  // namespace tune::exec
