#include "exec/evaluate/worker_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/build/kept_files.h"
#include "exec/request/spec_launches.h"
#include "model/program.h"

namespace tune::exec {
namespace {

constexpr std::int64_t kNone = -1;  // no ticket
constexpr int kMostTimesGone = 3;   // of an artifact; who removes it more often may be the kernel

}  // namespace

WorkerRunner::WorkerRunner(MeasureService& service)
    : service_(&service),
      exclusive_(!is_gpu(service.requests().hello().backend)),
      batch_(4 * service.rules().jobs),
      built_before_(service.builds().builder().seconds()),
      queues_(service),
      started_(queues_.size(), kNone) {}

int WorkerRunner::free_slots() const { return 2 * batch_ - static_cast<int>(tasks_.size() + finished_.size()); }

void WorkerRunner::start(const Spec& spec) { add(spec, true); }

void WorkerRunner::add(const Spec& spec, bool asked) {
  Task& task = tasks_.emplace_back();
  task.asked = asked;
  task.ticket = ++last_ticket_;
  task.spec = spec;
  task.started = service_->now();
  try {
    service_->builds().want(spec);
  } catch (const Unlaunchable& error) {
    finish(tasks_.back(), Failure{Stage::start, Cause::reported, error.what(), {}});
  }
}

void WorkerRunner::set_best(const Trial& best, double seconds, double joules) {
  queues_.set_best(seconds, joules);
  const bool again = std::ranges::any_of(tasks_, [](const Task& task) { return !task.asked; });
  if (best.recorded && queues_.may_need_calibration() && !again) add(best.spec, false);
}

bool WorkerRunner::anything_asked() const { return std::ranges::any_of(tasks_, &Task::asked); }

Activity WorkerRunner::activity() const {
  Activity activity;
  activity.building = service_->builds().builder().running();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const auto ticket = queues_.launched(i);
    const auto task = std::ranges::find_if(tasks_, [&](const Task& t) { return t.ticket == ticket; });
    if (task != tasks_.end()) activity.measuring.push_back(task->spec.mesh_idx);
  }
  return activity;
}

Usage WorkerRunner::usage() const {
  Usage usage = queues_.usage();
  usage.stages.of(Stage::build) += service_->builds().builder().seconds() - built_before_;
  return usage;
}

std::optional<Trial> WorkerRunner::wait(Clock::time_point until) {
  for (;;) {
    if (finished_.empty()) pump();
    if (!finished_.empty()) {
      Trial trial = std::move(finished_.front());
      finished_.pop_front();
      if (!anything_asked() && finished_.empty()) dismiss();
      return trial;
    }
    const auto event = service_->wait(until);
    if (!event && service_->now() >= until) return std::nullopt;
    if (event) handle(*event);
  }
}

void WorkerRunner::look_after_processes() {
  while (const auto event = service_->wait(service_->now())) handle(*event);
}

void WorkerRunner::handle(const platform::ProcessHost::Event& event) {
  if (service_->handle(event)) return;
  heed(event);
  queues_.handle(event);
}

void WorkerRunner::dismiss() {
  for (const Task& task : tasks_) queues_.abandon(task.ticket);
  queues_.dismiss();
  tasks_.clear();
}

bool WorkerRunner::building() const {
  return service_->builds().builder().running() > 0 || service_->reference().is_being_made();
}

int WorkerRunner::ready() const {
  return static_cast<int>(std::ranges::count(tasks_, Task::State::built, &Task::state));
}

// Repeats until a trial is finished, or nothing can be done without waiting: a result may make room for the next spec.
void WorkerRunner::pump() {
  bool any = true;
  while (any && finished_.empty()) {
    collect_builds();
    start_builds();
    queues_.advance([&](std::size_t device, std::int64_t ticket) { note_started(device, ticket); },
                    [&](std::size_t device) { note_waiting(device); });
    start_measuring();
    any = queues_.collect([&](DeviceQueue::Result result) { accept(std::move(result)); });
  }
}

void WorkerRunner::collect_builds() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (current->state != Task::State::building) continue;
    const Builder::Result* result = service_->builds().find(current->spec);
    if (result == nullptr) continue;
    if (const auto* artifact = std::get_if<Artifact>(result)) {
      collect_build(current, *artifact);
    } else {
      keep(*current, std::get<Failure>(*result));
      finish(*current, std::get<Failure>(*result));
    }
  }
}

void WorkerRunner::collect_build(Tasks::iterator task, const Artifact& artifact) {
  task->build = service_->builds().info_of(task->spec, artifact);
  task->artifact = artifact.path.string();
  task->state = Task::State::built;
  if (const auto reason = service_->requests().pruned_after_build(task->spec, task->build))
    finish(*task, PrunedAfterBuild{*reason, task->build});
}

void WorkerRunner::start_builds() {
  const bool none_to_build = service_->builds().builder().queued() + service_->builds().builder().running() == 0;
  if (ready() == 0 && !queues_.active()) measuring_phase_ = false;
  if (ready() > 0 && (none_to_build || ready() >= batch_)) measuring_phase_ = true;
  if (exclusive_ && measuring_phase_) return;
  if (!tasks_.empty()) service_->reference().begin();
  service_->builds().builder().start_queued();
}

void WorkerRunner::start_measuring() {
  queues_.calibrate();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (current->state != Task::State::built) continue;
    const auto device = queues_.least_busy();
    if (!device || (exclusive_ && (!measuring_phase_ || building()))) return;
    try {
      if (must_build_again(*current)) continue;
      if (!start_one(*current, *device)) return;
    } catch (const Unlaunchable& error) {
      finish(*current, Failure{Stage::start, Cause::reported, error.what(), {}});
    }
  }
}

// Kernels may remove or overwrite their own files.
bool WorkerRunner::must_build_again(Task& task) {
  const Builder::Result* result = service_->builds().find_or_build(task.spec);
  if (const auto* artifact = result != nullptr ? std::get_if<Artifact>(result) : nullptr) {
    task.artifact = artifact->path.string();  // another one, if what was built could not be read at first
    return false;
  }
  task.state = Task::State::building;
  start_builds();
  return true;
}

// Whether it could not be loaded because others, such as `tune cache clear`, have removed it since it was looked at.
bool WorkerRunner::lost_artifact(Task& task, const Failure& failure) {
  if (failure.stage != Stage::load || task.artifact.empty()) return false;
  const platform::FileStamp stamp = platform::stamp_of(task.artifact);
  const bool is_another = stamp == platform::FileStamp() || stamp != task.stamp;
  return is_another && ++task.times_gone <= kMostTimesGone;
}

// Returns false if it has to wait, because there is no reference to check its result against yet, or because another
// run has the device. Throws Unlaunchable.
bool WorkerRunner::start_one(Task& task, std::size_t device) {
  wire::MeasureRequest request = service_->requests().measure(task.spec);
  if (!service_->reference().ready(task.spec) || !queues_.make_way_for(device, task.fresh)) return false;
  if (!service_->rules().keep.empty())
    request.keep = (service_->rules().keep / std::to_string(task.spec.mesh_idx)).string();
  // Loading runs code of a kernel on the CPU. On a GPU it does not, and several are loaded at a time.
  if (exclusive_) note_started(device, task.ticket);
  task.stamp = platform::stamp_of(task.artifact);
  queues_.start(
      device,
      {task.ticket, service_->complete(std::move(request), task.artifact), task.fresh, device_settings(task.spec)},
      !task.asked);
  task.state = Task::State::measuring;
  return true;
}

// A spec is noted once, until something else is started on the device.
void WorkerRunner::note_started(std::size_t device, std::int64_t ticket) {
  const auto task = std::ranges::find(tasks_, ticket, &Task::ticket);
  const bool noted = std::exchange(started_[device], ticket) == ticket;
  if (!noted && task != tasks_.end() && task->asked) service_->rules().observer->started(task->spec, device);
}

// A spec that waits does not run. The note applies to all devices, so those that launch are noted again.
void WorkerRunner::note_waiting(std::size_t device) {
  if (std::exchange(started_[device], kNone) == kNone) return;
  service_->rules().observer->waits();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    started_[i] = kNone;
    if (const auto launched = queues_.launched(i)) note_started(i, *launched);
  }
}

void WorkerRunner::accept(DeviceQueue::Result result) {
  const auto found = std::ranges::find(tasks_, result.job.ticket, &Task::ticket);
  if (found == tasks_.end()) return;  // dismissed
  service_->builds().builder().inputs().check_unbuilt();
  Task& task = *found;
  const auto* failure = std::get_if<Failure>(&result.outcome);
  const bool again = result.to_repeat || (result.reused && (failure || !queues_.sharing())) ||
                     (failure && lost_artifact(task, *failure));
  if (again) {
    task.state = Task::State::built;
    task.fresh = task.fresh || !result.to_repeat;
  } else if (failure) {
    if (task.shared) compare(task, *failure);
    keep(task, *failure);
    finish(task, *failure, result.device_seconds);
  } else {
    accept_measurement(task, std::get<Measurement>(std::move(result.outcome)), result.device_seconds);
  }
}

void WorkerRunner::accept_measurement(Task& task, Measurement measurement, double device_seconds) {
  measurement.build = task.build;
  if (task.shared) compare(task, measurement);
  if (measurement.shared && service_->spot_checks().next()) {
    task.shared = measurement.timing;
    task.fresh = true;
    task.state = Task::State::built;
    return;
  }
  finish(task, std::move(measurement), device_seconds);
}

// Compares the result of a shared process with that of a process of its own.
void WorkerRunner::compare(const Task& task, const std::variant<Measurement, Failure>& own) {
  const auto why = disagreement(*task.shared, own);
  if (!why || !queues_.sharing()) return;
  distrust_ = fmt::format("spec {} {}", task.spec.mesh_idx, *why);
  service_->rules().observer->distrusts(distrust_);
  service_->rules().observer->news(distrust_ + "; from here on every spec has a process of its own");
  queues_.stop_sharing();
}

void WorkerRunner::finish(Task& task, Outcome outcome, double device_seconds) {
  const std::chrono::duration<double> seconds = service_->now() - task.started;
  if (task.asked)
    finished_.push_back({std::move(task.spec), std::move(outcome), seconds.count(), false, device_seconds});
  tasks_.remove_if([&](const Task& other) { return &other == &task; });
}

void WorkerRunner::keep(const Task& task, const Failure& failure) const {
  const auto& folder = service_->rules().keep;
  if (!folder.empty())
    keep_files(folder / std::to_string(task.spec.mesh_idx), task.artifact,
               file_of(service_->requests().plan(), task.spec.params), failure);
}

}  // namespace tune::exec
