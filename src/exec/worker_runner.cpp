#include "exec/worker_runner.h"

#include <algorithm>

#include "exec/occupancy.h"
#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

constexpr int kLoadedAhead = 2;

bool cores_are_the_device(Backend backend) { return backend == Backend::cpu || backend == Backend::program; }

}  // namespace

WorkerRunner::WorkerRunner(Workshop& workshop)
    : workshop_(&workshop),
      exclusive_(cores_are_the_device(workshop.requests().hello().backend)),
      batch_(4 * workshop.options().jobs) {}

int WorkerRunner::free_slots() const { return 2 * batch_ - static_cast<int>(tasks_.size() + finished_.size()); }

void WorkerRunner::start(const Spec& spec) {
  Task& task = tasks_.emplace_back();
  task.spec = spec;
  task.started = Clock::now();
  try {
    workshop_->want_build(spec);
  } catch (const Unlaunchable& error) {
    finish(std::prev(tasks_.end()), Failure{Stage::start, Cause::reported, error.what(), {}});
  }
}

Activity WorkerRunner::activity() const {
  Activity activity;
  activity.building = workshop_->builder().running();
  for (const Task& task : tasks_)
    if (task.go_sent) activity.measuring.push_back(task.spec.mesh_idx);
  return activity;
}

std::optional<Trial> WorkerRunner::wait(Clock::time_point until) {
  for (;;) {
    if (finished_.empty()) pump();
    if (!finished_.empty()) {
      Trial trial = std::move(finished_.front());
      finished_.pop_front();
      return trial;
    }
    const auto event = workshop_->processes().wait(until);
    if (!event) return std::nullopt;
    if (const auto* interrupted = std::get_if<Processes::Interrupted>(&*event)) throw Interrupted{interrupted->signal};
    dispatch(*event);
  }
}

bool WorkerRunner::building() const { return workshop_->builder().running() > 0 || workshop_->making_reference(); }

int WorkerRunner::ready() const {
  return static_cast<int>(
      std::count_if(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.built && !task.process; }));
}

// A process that has measured and is on its way out keeps cores busy, but no device.
int WorkerRunner::in_measure_processes() const {
  return static_cast<int>(std::count_if(tasks_.begin(), tasks_.end(), [this](const Task& task) {
    return task.process != nullptr && (exclusive_ || !task.measured);
  }));
}

bool WorkerRunner::device_busy() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.go_sent && !task.measured; });
}

void WorkerRunner::pump() {
  collect_builds();
  start_builds();
  start_measuring();
  for (Task& task : tasks_)
    if (task.process) advance(task);
}

void WorkerRunner::collect_builds() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (current->built) continue;
    const Builder::Result* result = workshop_->find_build(current->spec);
    if (result == nullptr) continue;
    if (const auto* failure = std::get_if<Failure>(result)) {
      keep(*current, *failure);
      finish(current, *failure);
      continue;
    }
    const auto& artifact = std::get<Artifact>(*result);
    current->build = artifact.info;
    if (const auto share = occupancy_of(*current)) current->build.properties["occupancy"] = *share;
    current->artifact = artifact.path.string();
    current->built = true;
    if (const auto reason = workshop_->requests().pruned_after_build(current->spec, current->build))
      finish(current, PrunedAfterBuild{*reason, current->build});
  }
}

void WorkerRunner::start_builds() {
  const bool none_to_build = workshop_->builder().queued() + workshop_->builder().running() == 0;
  if (ready() == 0 && in_measure_processes() == 0) measuring_phase_ = false;
  if (ready() > 0 && (none_to_build || ready() >= batch_)) measuring_phase_ = true;
  if (!exclusive_ || !measuring_phase_) workshop_->builder().start_queued();
}

void WorkerRunner::start_measuring() {
  const int limit = exclusive_ ? 1 : 1 + kLoadedAhead;
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto current = task++;
    if (in_measure_processes() >= limit) return;
    if (exclusive_ && (!measuring_phase_ || building())) return;
    if (!current->built || current->process) continue;
    try {
      wire::MeasureRequest request = workshop_->requests().measure(current->spec);
      if (!workshop_->reference_ready(current->spec)) return;
      if (!workshop_->options().keep.empty())
        request.keep = (workshop_->options().keep / std::to_string(current->spec.mesh_idx)).string();
      current->process =
          std::make_unique<WorkerProcess>(workshop_->start_measuring(std::move(request), current->artifact));
    } catch (const Unlaunchable& error) {
      finish(current, Failure{Stage::start, Cause::reported, error.what(), {}});
    }
  }
}

void WorkerRunner::advance(Task& task) {
  WorkerProcess& process = *task.process;
  if (process.said_hello() && !task.load_sent) {
    task.load_sent = true;
    process.send(wire::Load{});
  }
  if (process.loaded() && !task.go_sent && !device_busy()) {
    task.go_sent = true;
    task.go_at = Clock::now();
    process.send(wire::Go{0, best_seconds_, true});
  }
  if (auto measured = process.take_measured()) {
    task.measured = std::move(measured);
    process.send(wire::Done{});
  }
}

void WorkerRunner::dispatch(const Processes::Event& event) {
  if (workshop_->handle(event)) return;
  const auto* line = std::get_if<Processes::Line>(&event);
  const auto* ended = std::get_if<Processes::Ended>(&event);
  const Processes::Id id = line ? line->id : ended->id;
  const auto task = std::find_if(tasks_.begin(), tasks_.end(), [id](const Task& candidate) {
    return candidate.process && candidate.process->id() == id;
  });
  if (task == tasks_.end()) return;
  if (line) task->process->handle(*line);
  if (!ended) return;
  task->process->handle(*ended);
  if (ended->exit.unreaped) workshop_->throw_device_lost();
  measure_ended(task);
}

void WorkerRunner::measure_ended(Tasks::iterator task) {
  if (const auto& failure = task->process->failure()) {
    keep(*task, *failure);
    return finish(task, *failure);
  }
  Measurement measurement;
  measurement.timing = task->measured->timing;
  measurement.checked = task->measured->checked;
  measurement.max_error = task->process->checked().max_error;
  measurement.metrics = task->measured->metrics;
  measurement.build = task->build;
  finish(task, std::move(measurement));
}

void WorkerRunner::finish(Tasks::iterator task, Outcome outcome) {
  const auto now = Clock::now();
  const auto seconds_since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  finished_.push_back({std::move(task->spec), std::move(outcome), seconds_since(task->started), false,
                       task->go_sent ? seconds_since(task->go_at) : 0});
  tasks_.erase(task);
}

// It depends on the launch, which is not part of the build, and so cannot be the builder's word.
std::optional<double> WorkerRunner::occupancy_of(const Task& task) const try {
  const Requests& requests = workshop_->requests();
  return occupancy(requests.measure(task.spec).launches, task.build.properties, requests.hello().device);
} catch (const Unlaunchable&) {
  return std::nullopt;  // the measure request will say why
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
