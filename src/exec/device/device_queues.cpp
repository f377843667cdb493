#include "exec/device/device_queues.h"

#include <algorithm>
#include <utility>

#include "exec/device/queue_rules.h"

namespace tune::exec {
namespace {

constexpr std::int64_t kCalibration = 0;  // ticket of the spec that every device times

}  // namespace

DeviceQueues::DeviceQueues(MeasureService& service)
    : service_(&service),
      sharing_(is_gpu(service.requests().hello().backend) && service.rules().share_processes),
      created_(service.now()),
      calibration_(service.devices().size()) {
  for (std::size_t i = 0; i < service.devices().size(); ++i)
    devices_.push_back({DeviceQueue(service.devices()[i], rules_of(i))});
}

DeviceQueue::Rules DeviceQueues::rules_of(std::size_t device) const {
  const MeasureDevice& its = service_->devices()[device];
  DeviceQueue::Rules rules = queue_rules(service_->requests(), its.chosen(), sharing_, workspace_bytes_);
  // For the few specs of each of several tunings, another process is not worth its opening.
  if (its.keeps_measuring()) rules.loaded_ahead = 0;
  return rules;
}

void DeviceQueues::renew_rules() {
  for (std::size_t i = 0; i < size(); ++i) devices_[i].queue.set_rules(rules_of(i));
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
    if (calibration_.takes_specs(i) && devices_[i].queue.has_room() &&
        (!least || devices_[i].queue.jobs() < devices_[*least].queue.jobs()))
      least = i;
  return least;
}

void DeviceQueues::start(std::size_t device, Job job, bool for_comparison) {
  if (job.request.workspace_bytes() > workspace_bytes_) {
    workspace_bytes_ = job.request.workspace_bytes();
    renew_rules();
  }
  // Once a best time is known, any other spec may be stopped early, and would be useless as the calibration spec.
  if (!calibration_.was_chosen() && (best_.best_seconds == 0 || for_comparison)) choose_calibration(job, {});
  devices_[device].queue.start(std::move(job));
}

void DeviceQueues::advance(const std::function<void(std::size_t, std::int64_t)>& launches,
                           const std::function<void(std::size_t)>& waits) {
  for (std::size_t i = 0; i < size(); ++i) {
    wire::Go go = calibration_.known(i) ? best_ : wire::Go{};
    go.best_seconds /= calibration_.factor(i);
    devices_[i].queue.advance(go, [&](std::int64_t ticket) { launches(i, ticket); });
    if (devices_[i].queue.waits_for_turn()) waits(i);
  }
}

bool DeviceQueues::handle(const platform::ProcessHost::Event& event) {
  return std::ranges::any_of(devices_, [&](Device& device) { return device.queue.handle(event); });
}

void DeviceQueues::abandon(std::int64_t ticket) {
  for (Device& device : devices_) device.queue.abandon(ticket);
}

void DeviceQueues::dismiss() {
  for (std::size_t i = 0; i < size(); ++i) {
    if (calibration_.end(i)) devices_[i].queue.abandon(kCalibration);
    devices_[i].queue.dismiss();
  }
}

bool DeviceQueues::collect(const Accept& accept) {
  bool any = false;
  for (std::size_t i = 0; i < size(); ++i)
    while (auto result = devices_[i].queue.take_result()) {
      any = true;
      if (result->job.ticket != kCalibration) {
        take(i, std::move(*result), accept);
        continue;
      }
      calibration_.end(i);
      if (!result->to_repeat) calibration_.take(i, std::move(result->outcome));
    }
  compare(accept);
  return any;
}

void DeviceQueues::take(std::size_t device, Result result, const Accept& accept) {
  const auto* measurement = std::get_if<Measurement>(&result.outcome);
  const bool in_full = measurement != nullptr && !measurement->timing.stopped_early;
  if (calibration_.is_calibration(result.job.ticket) && !in_full) drop_calibration(accept);
  const bool counts = measurement != nullptr && (sharing_ || !result.reused);
  if (counts && !calibration_.known(device) && calibration_.chosen())
    return devices_[device].held.push_back(std::move(result));
  if (counts) return take_measurement(device, std::move(result), accept);
  accept(std::move(result));
}

void DeviceQueues::take_measurement(std::size_t device, Result result, const Accept& accept) {
  auto& measurement = std::get<Measurement>(result.outcome);
  if (calibration_.is_calibration(result.job.ticket))
    calibration_.set_seconds(measurement.timing.median);
  else if (calibration_.known(device) && !calibration_.chosen() && !measurement.timing.stopped_early)
    choose_calibration(result.job, measurement.timing.median);
  result.to_repeat = !calibration_.known(device);
  scale_times(measurement, calibration_.factor(device));
  accept(std::move(result));
}

void DeviceQueues::choose_calibration(Job job, std::optional<double> seconds) {
  if (size() == 1) return;
  calibration_.choose(job.ticket, seconds);
  calibration_job_ = std::move(job);
  calibration_job_.ticket = kCalibration;
  calibration_job_.request.keep.clear();
  calibration_job_.fresh = true;
}

void DeviceQueues::calibrate() {
  for (std::size_t i = 0; i < size(); ++i) {
    DeviceQueue& queue = devices_[i].queue;
    if (!calibration_.lacks_calibration(i) || !queue.has_room() || !queue.make_way_for(true)) continue;
    queue.start(calibration_job_);
    calibration_.begin(i);
  }
}

// What other devices have timed meanwhile cannot be compared, and is timed again.
void DeviceQueues::drop_calibration(const Accept& accept) {
  calibration_.drop();
  for (std::size_t i = 0; i < size(); ++i) {
    if (calibration_.end(i)) devices_[i].queue.abandon(kCalibration);
    release_held(i, accept);
  }
}

void DeviceQueues::compare(const Accept& accept) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (const Failure* failure = calibration_.failure(i))
      devices_[i].queue.device().throw_lost("what the first device could time fails on it: " + failure->message);
    if (calibration_.compare(i)) release_held(i, accept);
  }
}

void DeviceQueues::release_held(std::size_t device, const Accept& accept) {
  for (Result& result : std::exchange(devices_[device].held, {})) take(device, std::move(result), accept);
}

bool DeviceQueues::active() const {
  return std::ranges::any_of(devices_, [](const Device& device) { return device.queue.active(); });
}

Usage DeviceQueues::usage() const {
  Usage usage;
  usage.devices = static_cast<int>(size());
  for (const Device& device : devices_) {
    usage.stages += device.queue.stage_times();
    const std::chrono::duration<double> span = device.queue.last_launch() - created_;
    usage.idle_seconds += span.count() - device.queue.busy_seconds();
    usage.sweep_seconds = std::max(usage.sweep_seconds, span.count());
  }
  // So many processes wait for the driver, which opens the device for one after the other.
  if (is_gpu(service_->requests().hello().backend) && !service_->rules().share_processes)
    usage.opening_at_once = usage.devices * std::min(rules_of(0).opening_at_once, 1 + rules_of(0).loaded_ahead);
  return usage;
}

}  // namespace tune::exec
