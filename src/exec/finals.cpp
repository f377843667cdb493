#include "exec/finals.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "model/random.h"

namespace tune {

struct FinalsRunner::Entry {
  Contender contender;
  Finalist result;
  std::vector<std::map<std::string, double>> metrics;  ///< of each round
  std::unique_ptr<WorkerProcess> process;
  bool active() const { return process != nullptr; }
  /// Those of the round nearest to the median; what only some rounds tell (energy) is the median over those.
  std::map<std::string, double> metrics_of_median() const {
    if (metrics.empty()) return {};
    const double middle = median(result.rounds);
    const auto nearest = std::ranges::min_element(result.rounds, {}, [&](double x) { return std::abs(x - middle); });
    std::map<std::string, double> chosen = metrics[static_cast<std::size_t>(nearest - result.rounds.begin())];
    std::map<std::string, std::vector<double>> all;
    for (const auto& round : metrics)
      for (const auto& [name, value] : round) all[name].push_back(value);
    for (const auto& [name, values] : all)
      if (values.size() < metrics.size()) chosen[name] = median(values);
    return chosen;
  }
};

FinalsRunner::FinalsRunner(Workshop& workshop, std::vector<Contender> contenders, FinalsRules rules)
    : workshop_(&workshop), rules_(rules) {
  for (Contender& contender : contenders) {
    auto& entry = entries_.emplace_back(std::make_unique<Entry>());
    entry->result.label = contender.label;
    entry->result.spec = contender.spec;
    entry->contender = std::move(contender);
  }
}

FinalsRunner::~FinalsRunner() = default;

Finals FinalsRunner::run(const Tick& tick) {
  using Clock = std::chrono::steady_clock;
  tick_ = tick;
  load_all();
  const auto end = Clock::now() + std::chrono::duration<double>(rules_.max_seconds);
  Random random(rules_.seed);
  std::vector<Entry*> order;
  for (const auto& entry : entries_) order.push_back(entry.get());
  for (round_ = 1; round_ <= rules_.max_rounds; ++round_) {
    if (round_ > rules_.min_rounds && (settled() || Clock::now() > end)) break;
    shuffle(order, random);
    for (Entry* entry : order) time_once(*entry);
  }
  Finals finals;
  leave_all();
  for (const auto& entry : entries_) {
    entry->result.metrics = entry->metrics_of_median();
    finals.finalists.push_back(std::move(entry->result));
  }
  return finals;
}

// On the CPU one after the other: loading would disturb nobody yet, but 20 at once would swap.
void FinalsRunner::load_all() {
  const Backend backend = workshop_->requests().hello().backend;
  const bool at_once = backend == Backend::cuda || backend == Backend::hip;
  while (!workshop_->begin_opening(0)) handle_next();
  std::vector<Entry*> missing;
  for (const auto& entry : entries_) missing.push_back(entry.get());
  // One that could not open the device is neither there nor has failed.
  while (!missing.empty()) {
    for (Entry* entry : missing) {
      start(*entry);
      await(*entry, [&] { return entry->process->said_hello(); });
      if (!entry->active()) continue;
      entry->process->send(wire::Load{});
      if (!at_once) await(*entry, [&] { return entry->process->loaded(); });
    }
    for (Entry* entry : missing) await(*entry, [&] { return entry->process->loaded(); });
    std::erase_if(missing, [](const Entry* entry) { return entry->active() || entry->result.failure; });
  }
  workshop_->end_opening(0);
}

void FinalsRunner::start(Entry& entry) {
  const Spec& spec = entry.contender.spec;
  wire::MeasureRequest request;
  std::string artifact;
  if (entry.contender.is_vendor()) {
    request = workshop_->requests().vendor();
    request.vendor_best = entry.contender.vendor == Contender::Vendor::fastest;
  } else {
    request = workshop_->requests().measure(spec);
    workshop_->want_build(spec);
    workshop_->builder().start_queued();
    while (workshop_->find_build(spec) == nullptr) handle_next();
    const Builder::Result& built = *workshop_->find_build(spec);
    if (const auto* failure = std::get_if<Failure>(&built)) {
      entry.result.failure = *failure;
      return;
    }
    artifact = std::get<Artifact>(built).path.string();
  }
  try {
    while (!workshop_->reference_ready(spec)) handle_next();
  } catch (const Unlaunchable& error) {
    entry.result.failure = Failure{Stage::start, Cause::reported, error.what(), {}};
    return;
  }
  entry.process =
      std::make_unique<WorkerProcess>(workshop_->start_measuring(workshop_->complete(std::move(request), artifact), 0));
}

void FinalsRunner::time_once(Entry& entry) {
  if (!entry.active()) return;
  while (!workshop_->take_turn(0)) handle_next();
  if (!entry.active()) return workshop_->end_turn(0);
  std::optional<wire::Measured> measured;
  entry.process->send(wire::Go{.launches = rules_.launches, .check = round_ == 1});
  await(entry, [&] { return (measured = entry.process->take_measured()).has_value(); });
  workshop_->end_turn(0);
  if (!measured) return;
  entry.result.rounds.push_back(measured->timing.median);
  entry.result.launches += measured->timing.count;
  entry.metrics.push_back(std::move(measured->metrics));
  for (std::string& remark : measured->remarks)
    if (std::ranges::find(entry.result.remarks, remark) == entry.result.remarks.end())
      entry.result.remarks.push_back(std::move(remark));
}

void FinalsRunner::leave_all() {
  while (!workshop_->begin_opening(0)) handle_next();
  for (const auto& entry : entries_)
    if (entry->active()) entry->process->send(wire::Done{});
  for (const auto& entry : entries_) await(*entry, [] { return false; });
  workshop_->end_opening(0);
}

template <typename Condition>
void FinalsRunner::await(Entry& entry, Condition reached) {
  while (entry.active() && !reached()) handle_next();
}

void FinalsRunner::handle_next() {
  tick_(round_);
  const auto event = workshop_->wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
  if (!event) return;
  if (const auto* interrupted = std::get_if<Processes::Interrupted>(&*event)) throw Interrupted{interrupted->signal};
  if (workshop_->handle(*event)) return;
  const auto* line = std::get_if<Processes::Line>(&*event);
  const auto* ended = std::get_if<Processes::Ended>(&*event);
  const Processes::Id id = line ? line->id : ended->id;
  for (const auto& entry : entries_) {
    if (!entry->active() || entry->process->id() != id) continue;
    if (line) entry->process->handle(*line);
    if (entry->process->loaded()) workshop_->note_opened(0);
    if (!ended) return;
    if (ended->exit.unreaped) workshop_->throw_device_lost(0, "a worker on it could not be killed");
    entry->process->handle(*ended);
    const bool refused = entry->process->no_device() && !entry->process->loaded();
    if (refused)
      workshop_->note_refused(0, entry->process->failure()->message);
    else
      entry->result.failure = entry->process->failure();
    entry->process.reset();
  }
}

// Settled: no spec's interval of ratios to the leader holds 1. Baselines do not compete.
bool FinalsRunner::settled() const {
  const Entry* leader = nullptr;
  for (const auto& entry : entries_)
    if (entry->active() && entry->contender.label.empty() &&
        (leader == nullptr || median(entry->result.rounds) < median(leader->result.rounds)))
      leader = entry.get();
  return leader == nullptr || std::all_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
           if (entry.get() == leader || !entry->active() || !entry->contender.label.empty()) return true;
           std::vector<double> ratios;
           for (std::size_t i = 0; i < entry->result.rounds.size(); ++i)
             ratios.push_back(entry->result.rounds[i] / leader->result.rounds[i]);
           return median_interval(ratios).low > 1;
         });
}

}  // namespace tune
