#include "exec/worker_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/memory.h"
#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

// Opening a GPU takes 61 ms of the driver's lock (H200): a few processes keep it busy, while those that are open are
// checked, and a batch of so many loses little at its ends. A process that is reused loads the next spec in 3 ms: one
// beside the one that measures is enough.
constexpr int kOpeningAtOnce = 4;
constexpr int kLoadedAhead = 15;
constexpr int kLoadedAheadInReused = 1;
constexpr std::int64_t kCommon = 0;  // ticket of the spec that every device times
constexpr std::int64_t kNone = -1;   // no ticket

bool cores_are_the_device(Backend backend) { return backend == Backend::cpu || backend == Backend::program; }

bool failed(const Lane::Result& result) { return std::holds_alternative<Failure>(result.outcome); }

}  // namespace

WorkerRunner::WorkerRunner(Workshop& workshop)
    : workshop_(&workshop),
      exclusive_(cores_are_the_device(workshop.requests().hello().backend)),
      batch_(4 * workshop.options().jobs),
      sharing_(!exclusive_ && workshop.options().share_processes),
      spot_checks_(workshop.requests().seed()),
      created_(Clock::now()) {
  for (std::size_t i = 0; i < workshop.options().devices.size(); ++i) {
    const bool alone = is_alone(i);
    const Lane::Rules rules = {loaded_ahead(i), kOpeningAtOnce, sharing_, alone, !alone && !sharing_};
    devices_.push_back({Lane(workshop, i, rules), 1, i == 0, false, {}, {}});
  }
}

// A measure process beside no other.
bool WorkerRunner::is_alone(std::size_t device) const {
  return exclusive_ || workshop_->options().devices[device].one_process;
}

// All of them have their memory at the same time, and the batch before them while it leaves.
int WorkerRunner::loaded_ahead(std::size_t device) const {
  if (is_alone(device)) return 0;
  const int wanted = sharing_ ? kLoadedAheadInReused : kLoadedAhead;
  const Requests& requests = workshop_->requests();
  const wire::Hello& hello = requests.hello();
  const auto fitting = processes_that_fit(hello.backend, requests.plan().problem, hello.device, workspace_bytes_);
  return fitting ? std::clamp(*fitting / (sharing_ ? 1 : 2) - 1, 0, wanted) : wanted;
}

int WorkerRunner::free_slots() const { return 2 * batch_ - static_cast<int>(tasks_.size() + finished_.size()); }

void WorkerRunner::start(const Spec& spec) { add(spec, true); }

void WorkerRunner::add(const Spec& spec, bool asked) {
  Task& task = tasks_.emplace_back();
  task.asked = asked;
  task.ticket = ++last_ticket_;
  task.spec = spec;
  task.started = Clock::now();
  try {
    workshop_->want_build(spec);
  } catch (const Unlaunchable& error) {
    finish(tasks_.back(), Failure{Stage::start, Cause::reported, error.what(), {}});
  }
}

void WorkerRunner::set_best(const Trial& best, double seconds, double joules) {
  best_.best_seconds = seconds;
  best_.best_joules = joules;
  const bool again = std::ranges::any_of(tasks_, [](const Task& task) { return !task.asked; });
  if (best.recorded && devices_.size() > 1 && !common_ && !again) add(best.spec, false);
}

bool WorkerRunner::anything_asked() const { return std::ranges::any_of(tasks_, &Task::asked); }

Activity WorkerRunner::activity() const {
  Activity activity;
  activity.building = workshop_->builder().running();
  for (const Device& device : devices_) {
    const auto ticket = device.lane.launched();
    const auto task = std::ranges::find_if(tasks_, [&](const Task& t) { return t.ticket == ticket; });
    if (task != tasks_.end()) activity.measuring.push_back(task->spec.mesh_idx);
  }
  return activity;
}

Usage WorkerRunner::usage() const {
  Usage usage;
  usage.devices = static_cast<int>(devices_.size());
  usage.spent.of(Stage::build) = workshop_->builder().seconds();
  for (const Device& device : devices_) {
    usage.spent += device.lane.spent();
    const std::chrono::duration<double> span = device.lane.last_launch() - created_;
    usage.idle_seconds += span.count() - device.lane.busy_seconds();
    usage.sweep_seconds = std::max(usage.sweep_seconds, span.count());
  }
  // So many wait for the driver, which opens one after the other.
  if (!exclusive_ && !workshop_->options().share_processes)
    usage.opening_at_once = usage.devices * std::min(kOpeningAtOnce, 1 + loaded_ahead(0));
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
    const auto event = workshop_->wait(until);
    if (!event && Clock::now() >= until) return std::nullopt;
    if (!event || workshop_->handle(*event)) continue;
    if (const auto* interrupted = std::get_if<Processes::Interrupted>(&*event)) throw Interrupted{interrupted->signal};
    std::ranges::any_of(devices_, [&](Device& device) { return device.lane.handle(*event); });
  }
}

// A device that still times the common spec keeps its turn: nothing is left that it could be compared for.
void WorkerRunner::dismiss() {
  for (Device& device : devices_) {
    for (const Task& task : tasks_) device.lane.abandon(task.ticket);
    if (std::exchange(device.timing_common, false)) device.lane.abandon(kCommon);
    device.lane.dismiss();
  }
  tasks_.clear();
}

bool WorkerRunner::building() const { return workshop_->builder().running() > 0 || workshop_->making_reference(); }

int WorkerRunner::ready() const {
  return static_cast<int>(
      std::ranges::count_if(tasks_, [](const Task& task) { return task.built && !task.measuring; }));
}

bool WorkerRunner::measuring() const {
  return std::ranges::any_of(devices_, [](const Device& device) { return device.lane.active(); });
}

// Until there is something to say, or to wait for: a result may make room.
void WorkerRunner::pump() {
  do {
    collect_builds();
    start_builds();
    for (Device& device : devices_) {
      wire::Go go = device.comparable ? best_ : wire::Go{};
      go.best_seconds /= device.scale;
      device.lane.advance(go, [&](std::int64_t ticket) { note_started(device, ticket); });
      if (device.lane.waits_for_turn()) note_waiting(device);
    }
    start_measuring();
  } while (collect_results() && finished_.empty());
}

void WorkerRunner::collect_builds() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (current->built) continue;
    const Builder::Result* result = workshop_->find_build(current->spec);
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
  task->build = workshop_->info_of(task->spec, artifact);
  task->artifact = artifact.path.string();
  task->built = true;
  if (const auto reason = workshop_->requests().pruned_after_build(task->spec, task->build))
    finish(*task, PrunedAfterBuild{*reason, task->build});
}

void WorkerRunner::start_builds() {
  const bool none_to_build = workshop_->builder().queued() + workshop_->builder().running() == 0;
  if (ready() == 0 && !measuring()) measuring_phase_ = false;
  if (ready() > 0 && (none_to_build || ready() >= batch_)) measuring_phase_ = true;
  if (exclusive_ && measuring_phase_) return;
  if (!tasks_.empty()) workshop_->begin_reference();
  workshop_->builder().start_queued();
}

void WorkerRunner::start_measuring() {
  if (common_) start_common();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (!current->built || current->measuring) continue;
    Device* device = least_busy();
    if (device == nullptr || (exclusive_ && (!measuring_phase_ || building()))) return;
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
  const Builder::Result* result = workshop_->find_intact_build(task.spec);
  if (result != nullptr && std::holds_alternative<Artifact>(*result)) return false;
  task.built = false;
  start_builds();
  return true;
}

// Of those that can be given a spec now; null: none.
WorkerRunner::Device* WorkerRunner::least_busy() {
  Device* least = nullptr;
  for (Device& device : devices_)
    if (takes_jobs(device) && device.lane.has_room() && (!least || device.lane.jobs() < least->lane.jobs()))
      least = &device;
  return least;
}

// It is, or will be, comparable: the common spec comes first.
bool WorkerRunner::takes_jobs(const Device& device) const {
  return device.comparable || device.timing_common || device.common;
}

// False: not yet, because there is nothing to check its result against, or the device is another run's for now. Throws
// Unlaunchable.
bool WorkerRunner::start_one(Task& task, Device& device) {
  wire::MeasureRequest request = workshop_->requests().measure(task.spec);
  if (!workshop_->reference_ready(task.spec) || !device.lane.may_start(task.fresh)) return false;
  if (request.workspace_bytes > workspace_bytes_) {
    workspace_bytes_ = request.workspace_bytes;
    for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i].lane.load_ahead(loaded_ahead(i));
  }
  if (!workshop_->options().keep.empty())
    request.keep = (workshop_->options().keep / std::to_string(task.spec.mesh_idx)).string();
  // Loading runs code of a kernel on the CPU. On a GPU it does not, and several are loaded at a time.
  if (exclusive_) note_started(device, task.ticket);
  device.lane.start({task.ticket, workshop_->complete(std::move(request), task.artifact), task.fresh});
  // With a best known, another spec than that may be stopped early.
  if (!common_was_chosen_ && (best_.best_seconds == 0 || !task.asked)) choose_common(task, {});
  return task.measuring = true;
}

// Once, until something else is started on the device.
void WorkerRunner::note_started(Device& device, std::int64_t ticket) const {
  const auto& note = workshop_->options().note_started;
  const auto task = std::ranges::find(tasks_, ticket, &Task::ticket);
  const bool noted = std::exchange(device.started, ticket) == ticket;
  if (note && !noted && task != tasks_.end() && task->asked)
    note(task->spec, static_cast<std::size_t>(&device - devices_.data()));
}

// What waits does not run. The note is of all devices, so those that launch are noted again.
void WorkerRunner::note_waiting(Device& device) {
  if (std::exchange(device.started, kNone) == kNone || !workshop_->options().note_waiting) return;
  workshop_->options().note_waiting();
  for (Device& other : devices_) {
    other.started = kNone;
    if (const auto launched = other.lane.launched()) note_started(other, *launched);
  }
}

void WorkerRunner::choose_common(const Task& task, std::optional<double> seconds) {
  if (devices_.size() == 1) return;
  common_ = {workshop_->complete(workshop_->requests().measure(task.spec), task.artifact), task.ticket, seconds};
  common_was_chosen_ = true;
}

void WorkerRunner::start_common() {
  for (Device& device : devices_) {
    if (takes_jobs(device) || !device.lane.has_room() || !device.lane.may_start(true)) continue;
    device.lane.start({kCommon, common_->request, true});
    device.timing_common = true;
  }
}

// The first device has not timed it in full. What others have timed meanwhile cannot be compared, and is timed again.
void WorkerRunner::drop_common() {
  common_.reset();
  for (Device& device : devices_) {
    if (std::exchange(device.timing_common, false)) device.lane.abandon(kCommon);
    device.common.reset();
    for (Lane::Result& result : std::exchange(device.held, {})) accept(device, std::move(result));
  }
}

void WorkerRunner::compare_devices() {
  if (!common_ || !common_->seconds) return;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    Device& device = devices_[i];
    if (device.comparable || !device.common) continue;
    if (const auto* failure = std::get_if<Failure>(&*device.common))
      workshop_->throw_device_lost(i, "what the first device could time fails on it: " + failure->message);
    device.scale = *common_->seconds / std::get<Measurement>(*device.common).timing.median;
    device.comparable = true;
    for (Lane::Result& result : std::exchange(device.held, {})) accept(device, std::move(result));
  }
}

// Whether there were any.
bool WorkerRunner::collect_results() {
  bool any = false;
  for (Device& device : devices_)
    while (auto result = device.lane.take_result()) {
      any = true;
      if (result->ticket != kCommon) {
        accept(device, std::move(*result));
        continue;
      }
      device.timing_common = false;
      if (!result->no_device) device.common = std::move(result->outcome);  // else it is tried again
    }
  compare_devices();
  return any;
}

void WorkerRunner::accept(Device& device, Lane::Result result) {
  const auto found = std::ranges::find_if(tasks_, [&](const Task& t) { return t.ticket == result.ticket; });
  if (found == tasks_.end()) return;  // dismissed
  Task& task = *found;
  const bool again = result.no_device || (result.reused && (failed(result) || !sharing_));
  auto* measurement = std::get_if<Measurement>(&result.outcome);
  if (common_ && common_->ticket == task.ticket && (!measurement || measurement->timing.stopped_early)) drop_common();
  if (again) {
    task.measuring = false;
    task.fresh = task.fresh || !result.no_device;
  } else if (measurement == nullptr) {
    const Failure& failure = std::get<Failure>(result.outcome);
    if (task.shared) compare(task, failure);
    keep(task, failure);
    finish(task, failure, result.device_seconds);
  } else if (device.comparable) {
    accept_measurement(device, task, std::move(*measurement), result.device_seconds);
  } else if (common_) {
    device.held.push_back(std::move(result));
  } else {
    task.measuring = false;
  }
}

void WorkerRunner::accept_measurement(const Device& device, Task& task, Measurement measurement,
                                      double device_seconds) {
  if (common_ && common_->ticket == task.ticket)
    common_->seconds = measurement.timing.median;
  else if (!common_ && !measurement.timing.stopped_early)
    choose_common(task, measurement.timing.median);
  measurement.build = task.build;
  scale_times(measurement, device.scale);
  if (task.shared) compare(task, measurement);
  if (measurement.shared && spot_checks_.next()) {
    task.shared = measurement.timing;
    task.fresh = true;
    task.measuring = false;
    return;
  }
  finish(task, std::move(measurement), device_seconds);
}

// What a shared process measured of it, and what became of it in one of its own.
void WorkerRunner::compare(const Task& task, const std::variant<Measurement, Failure>& own) {
  std::optional<std::string> why;
  if (const auto* failure = std::get_if<Failure>(&own))
    why = "could be measured in a process that others had used, but fails in one of its own: " + failure->headline();
  else if (const auto times = disagreement(*task.shared, std::get<Measurement>(own).timing))
    why = "took " + *times;
  if (!why || !sharing_) return;
  distrust_ = fmt::format("spec {} {}", task.spec.mesh_idx, *why);
  if (workshop_->options().say)
    workshop_->options().say(distrust_ + "; from here on every spec has a process of its own");
  stop_sharing();
}

void WorkerRunner::stop_sharing() {
  if (!std::exchange(sharing_, false)) return;
  best_ = {};
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].lane.stop_reusing();
    devices_[i].lane.load_ahead(loaded_ahead(i));
  }
}

void WorkerRunner::finish(Task& task, Outcome outcome, double device_seconds) {
  const std::chrono::duration<double> seconds = Clock::now() - task.started;
  if (task.asked)
    finished_.push_back({std::move(task.spec), std::move(outcome), seconds.count(), false, device_seconds});
  tasks_.remove_if([&](const Task& other) { return &other == &task; });
}

void WorkerRunner::keep(const Task& task, const Failure& failure) const {
  const WorkshopOptions& options = workshop_->options();
  if (options.keep.empty()) return;
  const fs::path folder = options.keep / std::to_string(task.spec.mesh_idx);
  std::error_code error;
  fs::create_directories(folder, error);
  const auto copy = [&](const fs::path& file) {
    if (!error && !file.empty())
      fs::copy_file(file, folder / file.filename(), fs::copy_options::overwrite_existing, error);
  };
  copy(task.artifact);
  copy(workshop_->requests().plan().file);
  if (error) throw Error(ExitCode::environment, "cannot keep files in " + folder.string() + ": " + error.message());
  write_file(folder / "log.txt", failure.message + "\n" + failure.log);
}

}  // namespace tune
