#include "exec/device/device_queues.h"

#include <algorithm>
#include <utility>

#include "exec/device/queue_rules.h"

namespace tune::exec {
namespace {

constexpr std::int64_t kCalibration = 0;  // ticket of the calibration spec on devices that are compared with the first

}  // namespace

DeviceQueues::DeviceQueues(MeasureService& service)
    : service_(&service),
      sharing_(is_gpu(service.requests().hello().backend) && service.rules().share_processes),
      created_(service.now()),
      calibration_(service.devices().size()) {
  calibration_.set_anchor(0);
  for (std::size_t i = 0; i < service.devices().size(); ++i) queues_.emplace_back(service.devices()[i], rules_of(i));
}

DeviceQueue::Rules DeviceQueues::rules_of(std::size_t device) const {
  const MeasureDevice& its = service_->devices()[device];
  DeviceQueue::Rules rules = queue_rules(service_->requests(), its.chosen(), sharing_, workspace_bytes_);
  // For the few specs of each of several tunings, another process is not worth its opening.
  if (its.keeps_measuring()) rules.loaded_ahead = 0;
  return rules;
}

void DeviceQueues::renew_rules() {
  for (std::size_t i = 0; i < size(); ++i) queues_[i].set_rules(rules_of(i));
}

void DeviceQueues::set_best(double seconds, double joules) {
  best_.best_seconds = seconds;
  best_.best_joules = joules;
}

void DeviceQueues::stop_sharing() {
  if (!std::exchange(sharing_, false)) return;
  best_ = {};
  for (MeasureDevice& device : service_->devices()) device.stop_keeping();
  renew_rules();
}

std::optional<std::size_t> DeviceQueues::least_busy() const {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < size(); ++i)
    if (!calibration_.waits(i) && queues_[i].has_room() && (!least || queues_[i].jobs() < queues_[*least].jobs()))
      least = i;
  return least;
}

void DeviceQueues::start(std::size_t device, Job job, bool for_comparison) {
  if (job.request.workspace_bytes() > workspace_bytes_) {
    workspace_bytes_ = job.request.workspace_bytes();
    renew_rules();
  }
  // Once a best time is known, any other spec may be stopped early, and would be useless as the calibration spec.
  if (!calibration_job_ && (best_.best_seconds == 0 || for_comparison)) choose_calibration(job, {});
  queues_[device].start(std::move(job));
}

void DeviceQueues::advance(const std::function<void(std::size_t, std::int64_t)>& launches,
                           const std::function<void(std::size_t)>& waits) {
  for (std::size_t i = 0; i < size(); ++i) {
    wire::Go go = calibration_.known(i) ? best_ : wire::Go{};
    go.best_seconds /= calibration_.factor(i);
    queues_[i].advance(go, [&](std::int64_t ticket) { launches(i, ticket); });
    if (queues_[i].waits_for_turn()) waits(i);
  }
}

bool DeviceQueues::handle(const platform::ProcessHost::Event& event) {
  return std::ranges::any_of(queues_, [&](DeviceQueue& queue) { return queue.handle(event); });
}

void DeviceQueues::abandon(std::int64_t ticket) {
  for (DeviceQueue& queue : queues_) queue.abandon(ticket);
}

void DeviceQueues::dismiss() {
  if (!calibration_.specs_are_timed()) calibration_.drop_specs();  // nor will they be: the job was abandoned
  for (std::size_t i = 0; i < size(); ++i) calibration_.take_back(i);
  abandon(kCalibration);
  for (DeviceQueue& queue : queues_) queue.dismiss();
}

bool DeviceQueues::collect(const Accept& accept) {
  bool any = false;
  for (std::size_t i = 0; i < size(); ++i)
    while (auto result = queues_[i].take_result()) {
      any = true;
      if (result->job.ticket != kCalibration)
        take(i, std::move(*result), accept);
      else if (result->to_repeat)
        calibration_.take_back(i);
      else if (const auto* failure = std::get_if<Failure>(&result->outcome))
        calibration_.note(i, 0, failure->message);
      else
        calibration_.note(i, 0, std::get<Measurement>(result->outcome).timing.median);
    }
  for (std::size_t i = 0; i < size(); ++i) {
    if (const std::string* why = calibration_.failure(i))
      queues_[i].device().throw_lost("what the first device could time fails on it: " + *why);
    if (calibration_.known(i)) release_held(i, accept);
  }
  return any;
}

void DeviceQueues::take(std::size_t device, Result result, const Accept& accept) {
  auto* measurement = std::get_if<Measurement>(&result.outcome);
  const bool in_full = measurement != nullptr && !measurement->timing.stopped_early;
  if (is_calibration(result.job) && !in_full) drop_calibration(accept);
  if (measurement == nullptr || (result.reused && !sharing_)) return accept(std::move(result));
  const bool known = calibration_.known(device);
  if (!known && calibration_.has_specs()) return calibration_.hold(device, std::move(result));
  scale_times(*measurement, calibration_.factor(device));
  if (is_calibration(result.job))
    calibration_.set_specs({measurement->timing.median});
  else if (known && in_full && !calibration_.has_specs())
    choose_calibration(result.job, measurement->timing.median);
  result.to_repeat = !known;
  accept(std::move(result));
}

bool DeviceQueues::is_calibration(const Job& job) const {
  return calibration_.has_specs() && job.ticket == calibration_job_->ticket;
}

void DeviceQueues::choose_calibration(Job job, std::optional<double> seconds) {
  if (size() == 1) return;
  calibration_.set_specs({seconds});
  calibration_job_ = std::move(job);
}

void DeviceQueues::calibrate() {
  for (std::size_t i = 0; calibration_.has_specs() && i < size(); ++i) {
    if (!calibration_.waits(i) || !queues_[i].has_room() || !queues_[i].make_way_for(true)) continue;
    Job job = *calibration_job_;
    job.ticket = kCalibration;
    job.request.keep.clear();
    job.fresh = true;
    queues_[i].start(std::move(job));
    calibration_.give(i);
  }
}

// What other devices have timed meanwhile cannot be compared, and is timed again.
void DeviceQueues::drop_calibration(const Accept& accept) {
  calibration_.drop_specs();
  abandon(kCalibration);
  for (std::size_t i = 0; i < size(); ++i) release_held(i, accept);
}

void DeviceQueues::release_held(std::size_t device, const Accept& accept) {
  for (Result& result : calibration_.take_held(device)) take(device, std::move(result), accept);
}

bool DeviceQueues::active() const { return std::ranges::any_of(queues_, &DeviceQueue::active); }

Usage DeviceQueues::usage() const {
  Usage usage;
  usage.devices = static_cast<int>(size());
  for (const DeviceQueue& queue : queues_) {
    usage.stages += queue.stage_times();
    const std::chrono::duration<double> span = queue.last_launch() - created_;
    usage.idle_seconds += span.count() - queue.busy_seconds();
    usage.sweep_seconds = std::max(usage.sweep_seconds, span.count());
  }
  // So many processes wait for the driver, which opens the device for one after the other.
  if (is_gpu(service_->requests().hello().backend) && !service_->rules().share_processes)
    usage.opening_at_once = usage.devices * std::min(rules_of(0).opening_at_once, 1 + rules_of(0).loaded_ahead);
  return usage;
}

}  // namespace tune::exec
