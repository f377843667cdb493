#include "exec/evaluate/worker_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/build/kept_files.h"
#include "exec/device/queue_rules.h"
#include "exec/request/spec_launches.h"
#include "model/program.h"

namespace tune::exec {
namespace {

constexpr std::int64_t kCalibration = 0;  // ticket of the spec that every device times
constexpr std::int64_t kNone = -1;        // no ticket
constexpr int kMostLosses = 3;            // of an artifact; who removes it more often may be the kernel

}  // namespace

WorkerRunner::WorkerRunner(MeasureService& service)
    : service_(&service),
      exclusive_(!is_gpu(service.requests().hello().backend)),
      batch_(4 * service.options().jobs),
      sharing_(!exclusive_ && service.options().share_processes),
      created_(service.now()),
      built_before_(service.builds().builder().seconds()),
      scales_(service.devices().size()) {
  for (std::size_t i = 0; i < service.devices().size(); ++i)
    devices_.push_back({DeviceQueue(service.devices()[i], rules_of(i))});
}

DeviceQueue::Rules WorkerRunner::rules_of(std::size_t device) const {
  const MeasureDevice& its = service_->devices()[device];
  DeviceQueue::Rules rules = queue_rules(service_->requests(), its.chosen(), sharing_, workspace_bytes_);
  // For the few specs of each of several tunings, another process is not worth its opening.
  if (its.keeps_measuring()) rules.loaded_ahead = 0;
  return rules;
}

void WorkerRunner::renew_rules() {
  for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i].queue.set_rules(rules_of(i));
}

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
  best_.best_seconds = seconds;
  best_.best_joules = joules;
  const bool again = std::ranges::any_of(tasks_, [](const Task& task) { return !task.asked; });
  if (best.recorded && devices_.size() > 1 && !scales_.chosen() && !again) add(best.spec, false);
}

bool WorkerRunner::anything_asked() const { return std::ranges::any_of(tasks_, &Task::asked); }

Activity WorkerRunner::activity() const {
  Activity activity;
  activity.building = service_->builds().builder().running();
  for (const Device& device : devices_) {
    const auto ticket = device.queue.launched();
    const auto task = std::ranges::find_if(tasks_, [&](const Task& t) { return t.ticket == ticket; });
    if (task != tasks_.end()) activity.measuring.push_back(task->spec.mesh_idx);
  }
  return activity;
}

Usage WorkerRunner::usage() const {
  Usage usage;
  usage.devices = static_cast<int>(devices_.size());
  usage.stages.of(Stage::build) = service_->builds().builder().seconds() - built_before_;
  for (const Device& device : devices_) {
    usage.stages += device.queue.stage_times();
    const std::chrono::duration<double> span = device.queue.last_launch() - created_;
    usage.idle_seconds += span.count() - device.queue.busy_seconds();
    usage.sweep_seconds = std::max(usage.sweep_seconds, span.count());
  }
  // So many processes wait for the driver, which opens the device for one after the other.
  if (!exclusive_ && !service_->options().share_processes)
    usage.opening_at_once = usage.devices * std::min(rules_of(0).opening_at_once, 1 + rules_of(0).loaded_ahead);
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
  std::ranges::any_of(devices_, [&](Device& device) { return device.queue.handle(event); });
}

// A device that still times the calibration spec would keep its turn, although no remaining spec needs the factor.
void WorkerRunner::dismiss() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    DeviceQueue& queue = devices_[i].queue;
    for (const Task& task : tasks_) queue.abandon(task.ticket);
    if (scales_.end(i)) queue.abandon(kCalibration);
    queue.dismiss();
  }
  tasks_.clear();
}

bool WorkerRunner::building() const {
  return service_->builds().builder().running() > 0 || service_->reference().is_being_made();
}

int WorkerRunner::ready() const {
  return static_cast<int>(std::ranges::count(tasks_, Task::State::built, &Task::state));
}

bool WorkerRunner::measuring() const {
  return std::ranges::any_of(devices_, [](const Device& device) { return device.queue.active(); });
}

// Repeats until a trial is finished, or nothing can be done without waiting: a result may make room for the next spec.
void WorkerRunner::pump() {
  do {
    collect_builds();
    start_builds();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      wire::Go go = scales_.known(i) ? best_ : wire::Go{};
      go.best_seconds /= scales_.factor(i);
      devices_[i].queue.advance(go, [&](std::int64_t ticket) { note_started(i, ticket); });
      if (devices_[i].queue.waits_for_turn()) note_waiting(i);
    }
    start_measuring();
  } while (collect_results() && finished_.empty());
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
  if (ready() == 0 && !measuring()) measuring_phase_ = false;
  if (ready() > 0 && (none_to_build || ready() >= batch_)) measuring_phase_ = true;
  if (exclusive_ && measuring_phase_) return;
  if (!tasks_.empty()) service_->reference().begin();
  service_->builds().builder().start_queued();
}

void WorkerRunner::start_measuring() {
  if (scales_.chosen()) start_calibration();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (current->state != Task::State::built) continue;
    const auto device = least_busy();
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
  return is_another && ++task.losses <= kMostLosses;
}

// Chooses among the devices that can be given a spec now.
std::optional<std::size_t> WorkerRunner::least_busy() const {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (scales_.takes_specs(i) && devices_[i].queue.has_room() &&
        (!least || devices_[i].queue.jobs() < devices_[*least].queue.jobs()))
      least = i;
  return least;
}

// Returns false if it has to wait, because there is no reference to check its result against yet, or because another
// run has the device. Throws Unlaunchable.
bool WorkerRunner::start_one(Task& task, std::size_t device) {
  DeviceQueue& queue = devices_[device].queue;
  wire::MeasureRequest request = service_->requests().measure(task.spec);
  if (!service_->reference().ready(task.spec) || !queue.make_way_for(task.fresh)) return false;
  if (request.workspace_bytes() > workspace_bytes_) {
    workspace_bytes_ = request.workspace_bytes();
    renew_rules();
  }
  if (!service_->options().keep.empty())
    request.keep = (service_->options().keep / std::to_string(task.spec.mesh_idx)).string();
  // Loading runs code of a kernel on the CPU. On a GPU it does not, and several are loaded at a time.
  if (exclusive_) note_started(device, task.ticket);
  task.stamp = platform::stamp_of(task.artifact);
  queue.start(
      {task.ticket, service_->complete(std::move(request), task.artifact), task.fresh, device_settings(task.spec)});
  // Once a best time is known, any other spec may be stopped early, and would be useless as the calibration spec.
  if (!scales_.was_chosen() && (best_.best_seconds == 0 || !task.asked)) choose_calibration(task, {});
  task.state = Task::State::measuring;
  return true;
}

// A spec is noted once, until something else is started on the device.
void WorkerRunner::note_started(std::size_t device, std::int64_t ticket) {
  const auto task = std::ranges::find(tasks_, ticket, &Task::ticket);
  const bool noted = std::exchange(devices_[device].started, ticket) == ticket;
  if (!noted && task != tasks_.end() && task->asked) service_->options().observer->started(task->spec, device);
}

// A spec that waits does not run. The note applies to all devices, so those that launch are noted again.
void WorkerRunner::note_waiting(std::size_t device) {
  if (std::exchange(devices_[device].started, kNone) == kNone) return;
  service_->options().observer->waits();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].started = kNone;
    if (const auto launched = devices_[i].queue.launched()) note_started(i, *launched);
  }
}

void WorkerRunner::choose_calibration(const Task& task, std::optional<double> seconds) {
  if (devices_.size() == 1) return;
  calibration_ = service_->complete(service_->requests().measure(task.spec), task.artifact);
  calibration_clocks_ = device_settings(task.spec);
  scales_.choose(task.ticket, seconds);
}

void WorkerRunner::start_calibration() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    DeviceQueue& queue = devices_[i].queue;
    if (!scales_.lacks_calibration(i) || !queue.has_room() || !queue.make_way_for(true)) continue;
    queue.start({kCalibration, calibration_, true, calibration_clocks_});
    scales_.begin(i);
  }
}

// What other devices have timed meanwhile cannot be compared, and is timed again.
void WorkerRunner::drop_calibration() {
  scales_.drop();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (scales_.end(i)) devices_[i].queue.abandon(kCalibration);
    release_held(i);
  }
}

void WorkerRunner::compare_devices() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (const Failure* failure = scales_.failure(i))
      devices_[i].queue.device().throw_lost("what the first device could time fails on it: " + failure->message);
    if (scales_.compare(i)) release_held(i);
  }
}

void WorkerRunner::release_held(std::size_t device) {
  for (DeviceQueue::Result& result : std::exchange(devices_[device].held, {})) accept(device, std::move(result));
}

// Returns whether there were any.
bool WorkerRunner::collect_results() {
  bool any = false;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    while (auto result = devices_[i].queue.take_result()) {
      any = true;
      if (result->ticket != kCalibration) {
        accept(i, std::move(*result));
        continue;
      }
      scales_.end(i);
      if (!result->no_device) scales_.take(i, std::move(result->outcome));  // else it is tried again
    }
  compare_devices();
  return any;
}

void WorkerRunner::accept(std::size_t device, DeviceQueue::Result result) {
  const auto found = std::ranges::find_if(tasks_, [&](const Task& t) { return t.ticket == result.ticket; });
  if (found == tasks_.end()) return;  // dismissed
  service_->builds().builder().inputs().check_unbuilt();
  Task& task = *found;
  const auto* failure = std::get_if<Failure>(&result.outcome);
  const bool again =
      result.no_device || (result.reused && (failure || !sharing_)) || (failure && lost_artifact(task, *failure));
  auto* measurement = std::get_if<Measurement>(&result.outcome);
  if (scales_.is_calibration(task.ticket) && (!measurement || measurement->timing.stopped_early)) drop_calibration();
  if (again) {
    task.state = Task::State::built;
    task.fresh = task.fresh || !result.no_device;
  } else if (failure) {
    if (task.shared) compare(task, *failure);
    keep(task, *failure);
    finish(task, *failure, result.device_seconds);
  } else if (scales_.known(device)) {
    accept_measurement(device, task, std::move(*measurement), result.device_seconds);
  } else if (scales_.chosen()) {
    devices_[device].held.push_back(std::move(result));
  } else {
    task.state = Task::State::built;
  }
}

void WorkerRunner::accept_measurement(std::size_t device, Task& task, Measurement measurement, double device_seconds) {
  if (scales_.is_calibration(task.ticket))
    scales_.set_seconds(measurement.timing.median);
  else if (!scales_.chosen() && !measurement.timing.stopped_early)
    choose_calibration(task, measurement.timing.median);
  measurement.build = task.build;
  scale_times(measurement, scales_.factor(device));
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
  if (!why || !sharing_) return;
  distrust_ = fmt::format("spec {} {}", task.spec.mesh_idx, *why);
  service_->options().observer->distrusts(distrust_);
  service_->options().observer->news(distrust_ + "; from here on every spec has a process of its own");
  stop_sharing();
}

void WorkerRunner::stop_sharing() {
  if (!std::exchange(sharing_, false)) return;
  best_ = {};
  for (MeasureDevice& device : service_->devices()) device.stop_keeping();
  renew_rules();
}

void WorkerRunner::finish(Task& task, Outcome outcome, double device_seconds) {
  const std::chrono::duration<double> seconds = service_->now() - task.started;
  if (task.asked)
    finished_.push_back({std::move(task.spec), std::move(outcome), seconds.count(), false, device_seconds});
  tasks_.remove_if([&](const Task& other) { return &other == &task; });
}

void WorkerRunner::keep(const Task& task, const Failure& failure) const {
  const auto& folder = service_->options().keep;
  if (!folder.empty())
    keep_files(folder / std::to_string(task.spec.mesh_idx), task.artifact,
               file_of(service_->requests().plan(), task.spec.params), failure);
}

}  // namespace tune::exec
