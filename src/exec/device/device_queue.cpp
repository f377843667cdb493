#include "exec/device/device_queue.h"

#include <algorithm>
#include <utility>

#include "exec/process/runner.h"

namespace tune::exec {

DeviceQueue::DeviceQueue(MeasureDevice& device, Rules rules)
    : device_(&device), rules_(rules), last_launch_(device.now()) {}

int DeviceQueue::count(SlotState state) const {
  return static_cast<int>(std::ranges::count(slots_, state, &Slot::state));
}

int DeviceQueue::ending() const { return static_cast<int>(std::ranges::count_if(slots_, is_ending, &Slot::state)); }

bool DeviceQueue::room_for_another() const {
  const int occupied = static_cast<int>(slots_.size()) - (rules_.exits_disturb ? 0 : ending());
  return occupied < 1 + rules_.loaded_ahead && count(SlotState::opening) < rules_.opening_at_once;
}

bool DeviceQueue::has_room() const {
  return !timing_batch_ && ((rules_.reuse && count(SlotState::idle) > 0) || room_for_another());
}

DeviceQueue::Slots::iterator DeviceQueue::reusable() { return rules_.reuse ? first(SlotState::idle) : slots_.end(); }

bool DeviceQueue::make_way_for(bool fresh) {
  const auto idle = reusable();
  if (idle != slots_.end() && !fresh) return true;
  if (!device_->begin_opening()) return false;
  if (idle == slots_.end() || !rules_.exits_disturb) return true;
  idle->process->send(wire::Done{});
  return false;
}

int DeviceQueue::jobs() const { return static_cast<int>(slots_.size()) - count(SlotState::idle) - ending(); }

bool DeviceQueue::active() const { return count(SlotState::idle) < static_cast<int>(slots_.size()); }

std::optional<std::int64_t> DeviceQueue::launched() const {
  const auto slot = std::ranges::find(slots_, SlotState::launched, &Slot::state);
  return slot == slots_.end() ? std::nullopt : std::optional(slot->due->job.ticket);
}

StageTimes DeviceQueue::stage_times() const {
  StageTimes sum = stage_times_;
  for (const Slot& slot : slots_) sum += slot.process->stage_times();
  return sum;
}

void DeviceQueue::start(Job job) {
  const auto idle = reusable();
  if (idle != slots_.end() && !job.fresh) return serve_next(*idle, std::move(job));
  if (idle != slots_.end() && !room_for_another()) idle->process->send(wire::Done{});
  auto process = rules_.reuse ? device_->take_measuring() : nullptr;
  if (process && job.fresh) std::exchange(process, nullptr)->send(wire::Done{});
  if (process) {
    slots_.push_back({std::move(process), std::nullopt});
    return serve_next(slots_.back(), std::move(job));
  }
  process = std::make_shared<WorkerProcess>(device_->start(job.request));
  slots_.push_back({std::move(process), Result{std::move(job)}});
}

void DeviceQueue::serve_next(Slot& slot, Job job) {
  slot.process->send(wire::Next{job.request});
  slot.process->send(wire::Load{});
  slot.due = Result{std::move(job), true};
}

void DeviceQueue::advance(const wire::Go& go, const NoteLaunch& note) {
  for (Slot& slot : slots_)
    if (slot.process->phase() == Phase::ready) slot.process->send(wire::Load{});
  launch_next(go, note);
  if (timing_batch_) return;
  for (Slot& slot : slots_) {
    const bool done = slot.is(SlotState::measured) || (slot.is(SlotState::idle) && !rules_.reuse);
    if (done && device_->begin_opening()) slot.process->send(wire::Done{});
  }
}

// What was launched has been checked or measured. Where processes are reused, a measurement is final: the worker has
// verified it, and the device has finished all that was launched.
void DeviceQueue::take_answer(Slot& slot) {
  stop_launching(slot);
  auto measured = slot.process->take_measured();
  if (!measured) return;
  device_->tell_remarks(measured->remarks);
  slot.due->outcome = outcome_of(slot, std::move(*measured));
  if (!rules_.reuse) return;
  results_.push_back(std::move(*slot.due));
  slot.due.reset();
}

bool DeviceQueue::quiet() const { return std::ranges::none_of(slots_, opens_or_closes, &Slot::state); }

// The next spec to be checked; if there is none, the next to be timed.
DeviceQueue::Slots::iterator DeviceQueue::next_to_launch(wire::Go& go) {
  auto next = first(SlotState::loaded);
  go.check = rules_.batches ? wire::Go::Check::alone : wire::Go::Check::yes;
  if (rules_.batches && next == slots_.end()) {
    next = first(SlotState::checked);
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
  if (const auto why = device_->set_clocks(next->due->job.clocks)) return refuse(next, *why);
  note(next->due->job.ticket);
  launched_at_ = device_->now();
  next->process->send(go);
}

// Its process has launched nothing.
void DeviceQueue::refuse(Slots::iterator slot, const std::string& why) {
  Result result = *slot->due;
  result.outcome = Failure{Stage::measure, Cause::reported, why, {}, {.machine_suspected = true}};
  abandon(result.job.ticket);
  results_.push_back(std::move(result));
}

void DeviceQueue::stop_launching(Slot& slot) {
  last_launch_ = device_->now();
  const std::chrono::duration<double> seconds = last_launch_ - launched_at_;
  slot.due->device_seconds += seconds.count();
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
    const bool launched = slot->is(SlotState::launched);
    slot->process->handle(*line);
    if (launched && !slot->is(SlotState::launched)) take_answer(*slot);
    if (slot->process->loaded()) device_->note_opened();
    if (quiet()) device_->end_opening();
  }
  if (!end) return true;
  slot->process->handle(*end);
  if (slot->is(SlotState::launched)) stop_launching(*slot);
  if (end->exit.unreaped) device_->throw_lost("a worker on it could not be killed");
  ended(slot);
  return true;
}

void DeviceQueue::ended(Slots::iterator slot) {
  stage_times_ += slot->process->stage_times();
  if (slot->due) {
    const auto& failure = slot->process->failure();
    if (failure) slot->due->outcome = *failure;
    slot->due->to_repeat = slot->process->no_device();
    slot->due->to_repeat ? device_->note_refused(failure->message) : device_->note_opened();
    results_.push_back(std::move(*slot->due));
  }
  slots_.erase(slot);
  if (quiet()) device_->end_opening();
}

// What has not run at the clocks that its parameters say is no result of theirs.
std::variant<Measurement, Failure> DeviceQueue::outcome_of(const Slot& slot, wire::Measured measured) const {
  if (const auto why = contradiction(slot.due->job.clocks, measured.metrics))
    return Failure{Stage::measure, Cause::reported, *why, {}, {.machine_suspected = true}};
  Measurement measurement;
  measurement.timing = measured.timing;
  measurement.checked = measured.checked;
  measurement.max_error = slot.process->checked().max_error;
  measurement.metrics = std::move(measured.metrics);
  measurement.name = std::move(measured.name);
  measurement.clean_seconds = measured.clean_seconds;
  measurement.device = device_->chosen().id;
  measurement.shared = slot.due->reused;
  return measurement;
}

std::optional<DeviceQueue::Result> DeviceQueue::take_result() {
  if (results_.empty()) return std::nullopt;
  Result result = std::move(results_.front());
  results_.pop_front();
  return result;
}

void DeviceQueue::abandon(std::int64_t ticket) {
  std::erase_if(results_, [=](const Result& result) { return result.job.ticket == ticket; });
  const auto slot = std::ranges::find_if(slots_, [=](const Slot& s) { return s.due && s.due->job.ticket == ticket; });
  if (slot == slots_.end()) return;
  if (slot->is(SlotState::launched))
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
    if (!current->is(SlotState::idle)) continue;
    stage_times_ += current->process->take_stage_times();
    device_->rest_measuring(current->process);
    if (current->is(SlotState::idle)) slots_.erase(current);
  }
  end_turn();
  device_->end_opening();
}

}  // namespace tune::exec
