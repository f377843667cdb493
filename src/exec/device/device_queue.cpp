#include "exec/device/device_queue.h"

#include <algorithm>
#include <utility>

#include "exec/process/runner.h"

namespace tune::exec {

DeviceQueue::DeviceQueue(MeasureDevice& device, Rules rules)
    : device_(&device), rules_(rules), last_launch_(device.now()) {}

int DeviceQueue::occupied() const {
  return static_cast<int>(
      std::ranges::count_if(slots_, [this](const Slot& slot) { return rules_.exits_disturb || !slot.leaving(); }));
}

bool DeviceQueue::room_for_another() const {
  return occupied() < 1 + rules_.loaded_ahead && std::ranges::count_if(slots_, &Slot::opens) < rules_.opening_at_once;
}

bool DeviceQueue::has_room() const {
  return !timing_batch_ && ((rules_.reuse && std::ranges::any_of(slots_, &Slot::idle)) || room_for_another());
}

DeviceQueue::Slots::iterator DeviceQueue::reusable() {
  return rules_.reuse ? std::ranges::find_if(slots_, &Slot::idle) : slots_.end();
}

bool DeviceQueue::make_way_for(bool fresh) {
  const auto idle = reusable();
  if (idle != slots_.end() && !fresh) return true;
  if (!device_->begin_opening()) return false;
  if (idle == slots_.end() || !rules_.exits_disturb) return true;
  leave(*idle);
  return false;
}

int DeviceQueue::jobs() const {
  return static_cast<int>(std::ranges::count_if(slots_, [](const Slot& slot) { return slot.job && !slot.leaving(); }));
}

bool DeviceQueue::active() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.job || slot.leaving(); });
}

std::optional<std::int64_t> DeviceQueue::launched() const {
  const auto slot = std::ranges::find(slots_, true, &Slot::launches);
  return slot == slots_.end() ? std::nullopt : std::optional(slot->job->ticket);
}

StageTimes DeviceQueue::stage_times() const {
  StageTimes sum = stage_times_;
  for (const Slot& slot : slots_) sum += slot.process->stage_times();
  return sum;
}

void DeviceQueue::start(Job job) {
  const auto idle = reusable();
  if (idle != slots_.end() && !job.fresh) return serve_next(*idle, std::move(job));
  if (idle != slots_.end() && !room_for_another()) leave(*idle);
  Slot& slot = slots_.emplace_back();
  slot.process = rules_.reuse ? device_->take_measuring() : nullptr;
  if (slot.process && job.fresh) std::exchange(slot.process, nullptr)->send(wire::Done{});
  slot.rested = slot.process != nullptr;
  if (slot.rested) return serve_next(slot, std::move(job));
  slot.process = std::make_shared<WorkerProcess>(device_->start(job.request));
  slot.job = std::move(job);
}

void DeviceQueue::serve_next(Slot& slot, Job job) {
  slot.process->send(wire::Next{job.request});
  slot.process->send(wire::Load{});
  slot.job = std::move(job);
}

void DeviceQueue::leave(Slot& slot) { slot.process->send(wire::Done{}); }

void DeviceQueue::advance(const wire::Go& go, const NoteLaunch& note) {
  for (Slot& slot : slots_) {
    if (!slot.job || slot.leaving()) continue;
    if (slot.process->phase() == Phase::ready) slot.process->send(wire::Load{});
    take_answer(slot);
  }
  launch_next(go, note);
  if (timing_batch_) return;
  for (Slot& slot : slots_) {
    const bool done = slot.measured || (slot.idle() && !rules_.reuse);
    if (done && !slot.leaving() && device_->begin_opening()) leave(slot);
  }
}

void DeviceQueue::take_answer(Slot& slot) {
  if (!slot.launches) return;
  if (slot.process->phase() == Phase::waiting) return stop_launching(slot);
  auto measured = slot.process->take_measured();
  if (!measured) return;
  device_->tell_remarks(measured->remarks);
  slot.measured = std::move(measured);
  stop_launching(slot);
  if (rules_.reuse) serve_again(slot);
}

// The measurement is final: the worker has verified it, and the device has finished all that was launched.
void DeviceQueue::serve_again(Slot& slot) {
  auto outcome = outcome_of(slot);
  results_.push_back(
      {std::move(*slot.job), std::move(outcome), slot.is_used(), false, std::exchange(slot.device_seconds, 0)});
  device_->note_opened();
  ++slot.served;
  slot.job.reset();
  slot.measured.reset();
}

bool DeviceQueue::quiet() const { return std::ranges::none_of(slots_, &Slot::opens_or_closes); }

// The next spec to be checked; if there is none, the next to be timed.
DeviceQueue::Slots::iterator DeviceQueue::next_to_launch(wire::Go& go) {
  auto next = std::ranges::find_if(slots_, &Slot::may_launch);
  go.check = rules_.batches ? wire::Go::Check::alone : wire::Go::Check::yes;
  if (rules_.batches && next == slots_.end()) {
    next = std::ranges::find_if(slots_, &Slot::waits);
    go.check = wire::Go::Check::yes;
    timing_batch_ = next != slots_.end() && quiet();
  }
  return go.checks_alone() || quiet() ? next : slots_.end();
}

void DeviceQueue::launch_next(wire::Go go, const NoteLaunch& note) {
  if (launched()) return;
  const auto next = next_to_launch(go);
  if (next == slots_.end()) {
    end_turn();
    return;
  }
  in_turn_ = true;
  if (!device_->take_turn(!go.checks_alone())) return;
  if (const auto why = device_->set_clocks(next->job->clocks)) return refuse(next, *why);
  note(next->job->ticket);
  launched_at_ = device_->now();
  next->launches = true;
  next->process->send(go);
}

// Its process has launched nothing.
void DeviceQueue::refuse(Slots::iterator slot, const std::string& why) {
  Job job = *slot->job;
  const bool reused = slot->is_used();
  abandon(job.ticket);
  results_.push_back(
      {std::move(job), Failure{Stage::measure, Cause::reported, why, {}, {.machine_suspected = true}}, reused});
}

void DeviceQueue::stop_launching(Slot& slot) {
  slot.launches = false;
  last_launch_ = device_->now();
  const std::chrono::duration<double> seconds = last_launch_ - launched_at_;
  slot.device_seconds += seconds.count();
  busy_seconds_ += seconds.count();
  device_->end_turn(timing_batch_);
}

void DeviceQueue::end_turn() {
  if (std::exchange(in_turn_, false)) device_->end_turn();
}

bool DeviceQueue::handle(const platform::ProcessHost::Event& event) {
  const auto* line = std::get_if<platform::ProcessHost::Line>(&event);
  const auto* end = std::get_if<platform::ProcessHost::Ended>(&event);
  const platform::ProcessHost::Id id = process_of(event);
  const auto slot = std::ranges::find_if(slots_, [id](const Slot& s) { return s.process->id() == id; });
  if (slot == slots_.end()) return false;
  if (line) {
    slot->process->handle(*line);
    if (slot->process->loaded()) device_->note_opened();
    if (quiet()) device_->end_opening();
  }
  if (!end) return true;
  // Its last message may have come together with its end.
  if (slot->job && !slot->leaving()) take_answer(*slot);
  slot->process->handle(*end);
  if (slot->launches) stop_launching(*slot);
  if (end->exit.unreaped) device_->throw_lost("a worker on it could not be killed");
  ended(slot);
  return true;
}

void DeviceQueue::ended(Slots::iterator slot) {
  stage_times_ += slot->process->stage_times();
  if (slot->job) {
    Result result{*slot->job, {}, slot->is_used(), slot->process->no_device(), slot->device_seconds};
    if (const auto& failure = slot->process->failure())
      result.outcome = *failure;
    else
      result.outcome = outcome_of(*slot);
    if (result.to_repeat)
      device_->note_refused(std::get<Failure>(result.outcome).message);
    else
      device_->note_opened();
    results_.push_back(std::move(result));
  }
  slots_.erase(slot);
  if (quiet()) device_->end_opening();
}

// What has not run at the clocks that its parameters say is no result of theirs.
std::variant<Measurement, Failure> DeviceQueue::outcome_of(const Slot& slot) const {
  if (const auto why = contradiction(slot.job->clocks, slot.measured->metrics))
    return Failure{Stage::measure, Cause::reported, *why, {}, {.machine_suspected = true}};
  Measurement measurement;
  measurement.timing = slot.measured->timing;
  measurement.checked = slot.measured->checked;
  measurement.max_error = slot.process->checked().max_error;
  measurement.metrics = slot.measured->metrics;
  measurement.name = slot.measured->name;
  measurement.clean_seconds = slot.measured->clean_seconds;
  measurement.device = device_->chosen().id;
  measurement.shared = slot.is_used();
  return measurement;
}

std::optional<DeviceQueue::Result> DeviceQueue::take_result() {
  if (results_.empty()) return std::nullopt;
  Result result = std::move(results_.front());
  results_.pop_front();
  return result;
}

void DeviceQueue::abandon(std::int64_t ticket) {
  const auto slot = std::ranges::find_if(slots_, [=](const Slot& s) { return s.job && s.job->ticket == ticket; });
  if (slot == slots_.end()) return;
  if (slot->launches)
    stop_launching(*slot);
  else
    end_turn();
  slot->process->kill();
  stage_times_ += slot->process->stage_times();
  slots_.erase(slot);
  if (quiet()) device_->end_opening();
}

// The next user of the device need not wait for the processes that leave.
void DeviceQueue::dismiss() {
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const auto current = slot++;
    if (!current->idle()) continue;
    stage_times_ += current->process->take_stage_times();
    device_->rest_measuring(current->process);
    if (!current->leaving()) slots_.erase(current);
  }
  end_turn();
  device_->end_opening();
}

}  // namespace tune::exec
