#include "exec/evaluate/finals_processes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "exec/device/queue_rules.h"
#include "exec/request/spec_launches.h"

namespace tune::exec {

// To share a process is worth opening the device again for the last few.
constexpr std::ptrdiff_t kManyContenders = 8;

FinalsProcesses::FinalsProcesses(MeasureService& service, const FinalsRules& rules, FinalsEntries& entries,
                                 std::function<void()> tick)
    : service_(&service),
      device_(&service.devices().front()),
      rules_(&rules),
      entries_(&entries),
      tick_(std::move(tick)) {}

void FinalsProcesses::load_all() {
  const std::vector<FinalsEntry*> all = in_order_of_loading();
  may_leave_out_ = rules_->end_is_firm;
  const bool are_many = std::ranges::count_if(all, &FinalsEntry::is_spec) >= kManyContenders;
  if (is_gpu(service_->requests().hello().backend) && (are_many || rules_->one_of_several)) load_beside(all);
  load(without_process());
  may_leave_out_ = false;
  for (FinalsEntry* entry : all)
    if (!entry->active() && entry->may_try_again()) try_again(*entry);
  std::erase_if(*entries_, [](const auto& entry) { return entry->left_out(); });
}

void FinalsProcesses::try_again(FinalsEntry& entry) {
  entry.tried_again = true;
  load({&entry});
}

// The best spec and the baselines come first, as where contenders are cut before.
std::vector<FinalsEntry*> FinalsProcesses::in_order_of_loading() const {
  std::vector<FinalsEntry*> order;
  for (const auto& entry : *entries_)
    if (!entry->result.failure) order.push_back(entry.get());
  if (order.size() > 1)
    std::stable_partition(order.begin() + 1, order.end(), [](const FinalsEntry* entry) { return !entry->is_spec(); });
  return order;
}

std::vector<FinalsEntry*> FinalsProcesses::without_process() const {
  std::vector<FinalsEntry*> found;
  for (FinalsEntry* entry : in_order_of_loading())
    if (entry->lacks_process()) found.push_back(entry);
  return found;
}

// What ends the process while it is loaded is loaded apart, and the others begin anew.
void FinalsProcesses::load_beside(const std::vector<FinalsEntry*>& entries) {
  wait_for_other_runs([&] { return device_->begin_opening(); });
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
std::shared_ptr<WorkerProcess> FinalsProcesses::first_process(const wire::MeasureRequest& request) {
  auto process = device_->take_measuring();
  if (!process) return std::make_shared<WorkerProcess>(device_->start(request));
  rested_ = process->id();
  process->send(wire::Next{request});
  return process;
}

/// Loads the entry, and starts the shared process for the first of them. Returns false if that process has ended.
bool FinalsProcesses::load_next_to(std::shared_ptr<WorkerProcess>& process, FinalsEntry& entry,
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

void FinalsProcesses::separate() {
  std::vector<FinalsEntry*> sharing;
  for (const auto& entry : *entries_)
    if (entry->active() && !entry->active()->is_alone()) sharing.push_back(entry.get());
  if (sharing.empty()) return;
  leave(sharing);
  load(sharing);
}

// Never are so many left out that fewer than two remain, one of them a spec.
bool FinalsProcesses::is_late(FinalsRules::Clock::time_point begin) const {
  const bool any_spec =
      std::ranges::any_of(*entries_, [](const auto& entry) { return entry->active() && entry->is_spec(); });
  return may_leave_out_ && any_spec && active_count() >= 2 && service_->now() >= begin + (rules_->end - begin) / 2;
}

// An entry whose process could not open the device is neither active nor failed, and is started again.
void FinalsProcesses::load(const std::vector<FinalsEntry*>& entries) {
  wait_for_other_runs([&] { return device_->begin_opening(); });
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
      if (const auto request = request_of(*entry))
        entry->state = FinalsEntry::Active{std::make_shared<WorkerProcess>(device_->start(*request))};
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
std::variant<FinalsProcesses::Prepared, Failure> FinalsProcesses::prepare(const wire::Contender& contender) {
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

std::variant<FinalsProcesses::Prepared, Failure> FinalsProcesses::prepare_stored(
    const wire::Contender::Stored& stored) const {
  const std::optional<Artifact> then = service_->builds().builder().stored(stored.key);
  if (then && then->info.artifact_hash == stored.hash) return Prepared{stored.request, then->path.string()};
  return Failure{
      Stage::load, Cause::reported, "the artifact that was timed then is not in the build store, or has changed", {}};
}

/// What a process is to measure for it; nullopt: it has failed.
std::optional<wire::MeasureRequest> FinalsProcesses::request_of(FinalsEntry& entry) {
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
  if (rules_->note_turn) rules_->note_turn(entry.contender);
  auto& [request, artifact] = std::get<Prepared>(prepared);
  return service_->complete(std::move(request), artifact);
}

std::optional<wire::Measured> FinalsProcesses::time(FinalsEntry& entry, wire::Go go, bool forgives) {
  wait_for_other_runs([&] { return !entry.active() || device_->take_turn(); });
  std::optional<wire::Measured> measured;
  const std::optional<std::string> why =
      entry.active() ? device_->set_clocks(device_settings(entry.contender.entrant.spec)) : std::nullopt;
  if (entry.active() && !why) {
    if (rules_->note_turn) rules_->note_turn(entry.contender);
    go.spec = entry.active()->place;
    if (entry.active()->checked) go.check = wire::Go::Check::no;
    entry.active()->process->send(go);
    await(entry, [&] { return (measured = entry.active()->process->take_measured()).has_value(); });
    if (measured) std::get<FinalsEntry::Active>(entry.state).checked = true;
  }
  if (forgives) entry.result.failure.reset();
  device_->end_turn();
  service_->builds().builder().inputs().check_unbuilt();
  if (why && !forgives) drop(entry, *why);
  return measured;
}

void FinalsProcesses::drop(FinalsEntry& entry, const std::string& why) {
  entry.result.failure = Failure{Stage::measure, Cause::reported, why, {}, {.machine_suspected = true}};
  if (entry.active()->is_alone()) entry.active()->process->kill();
  entry.state = FinalsEntry::Absent{};
}

void FinalsProcesses::leave(std::span<FinalsEntry* const> entries) {
  for (FinalsEntry* entry : entries)
    if (entry->active() && !entry->active()->is_alone()) entry->state = FinalsEntry::Absent{};
  if (std::ranges::none_of(entries, &FinalsEntry::active)) return;
  wait_for_other_runs([&] { return device_->begin_opening(); });
  for (FinalsEntry* entry : entries)
    if (const auto* active = entry->active()) active->process->send(wire::Done{});
  for (FinalsEntry* entry : entries) await(*entry, [] { return false; });
  device_->end_opening();
}

void FinalsProcesses::end_all() {
  if (rules_->one_of_several && device_->keeps_measuring()) rest_shared_process();
  std::vector<FinalsEntry*> all;
  for (const auto& entry : *entries_) all.push_back(entry.get());
  leave(all);
}

void FinalsProcesses::rest_shared_process() {
  std::shared_ptr<WorkerProcess> shared;
  for (const auto& entry : *entries_) {
    const auto* active = entry->active();
    if (active == nullptr || (shared ? active->process != shared : active->is_alone())) continue;
    shared = active->process;
    entry->state = FinalsEntry::Absent{};
  }
  if (!shared) return;
  shared->take_stage_times();  // of the finals, which are told apart from the sweep's
  device_->rest_measuring(shared);
}

template <typename Condition>
void FinalsProcesses::await(FinalsEntry& entry, Condition reached) {
  while (entry.active() && !reached()) handle_next();
}

// While the finals wait, no contender runs.
template <typename Condition>
void FinalsProcesses::wait_for_other_runs(Condition free) {
  if (free()) return;
  if (rules_->note_waiting) rules_->note_waiting();
  while (!free()) handle_next();
}

std::ptrdiff_t FinalsProcesses::active_specs() const {
  return std::ranges::count_if(*entries_, [](const auto& entry) { return entry->active() && entry->is_spec(); });
}

std::size_t FinalsProcesses::active_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(*entries_, [](const auto& entry) { return entry->active(); }));
}

// The next tunings wait for what they try first. Times on a GPU do not depend on what the cores do.
void FinalsProcesses::build_for_next_tunings() {
  if (is_gpu(service_->requests().hello().backend)) service_->builds().builder().start_queued();
}

void FinalsProcesses::handle_next() {
  tick_();
  const auto event = service_->wait(service_->now() + std::chrono::milliseconds(100));
  if (!event) return;
  heed(*event);
  if (service_->handle(*event)) return build_for_next_tunings();
  std::vector<FinalsEntry*> entries;
  for (const auto& entry : *entries_)
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
  else if (entries.size() == 1 && process.id() != rested_)
    entries.front()->result.failure = process.failure();
  for (FinalsEntry* entry : entries) entry->state = FinalsEntry::Absent{};
}

}  // namespace tune::exec
