#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "exec/device/calibration.h"
#include "exec/device/device_queue.h"
#include "exec/device/measure_service.h"

namespace tune::exec {

/// The queues of all devices of a run, whose times it makes comparable (Calibration): results have the times of the
/// first device. Knows specs only as jobs.
class DeviceQueues {
 public:
  using Job = DeviceQueue::Job;
  using Result = DeviceQueue::Result;

  /// `service` must outlive this.
  explicit DeviceQueues(MeasureService& service);

  std::size_t size() const { return queues_.size(); }
  /// Jobs that are much worse than this may be timed less from now on; one of the two is 0.
  void set_best(double seconds, double joules);
  /// Whether there are several devices, and no spec yet by which they can be compared.
  bool may_need_calibration() const { return size() > 1 && !calibration_.has_specs(); }

  /// Gives the calibration spec to the devices that have to time it and can do so now.
  void calibrate();
  /// The device that has least to do of those that can be given a job now.
  std::optional<std::size_t> least_busy() const;
  /// See DeviceQueue; to be called right before a job is started.
  bool make_way_for(std::size_t device, bool fresh) { return queues_[device].make_way_for(fresh); }
  /// `for_comparison`: devices are to be compared by it, whatever is known of the best.
  void start(std::size_t device, Job job, bool for_comparison);
  /// Sends the processes the commands that they wait for. `launches` is called with a device and the ticket of a job
  /// right before it launches there, `waits` with a device on which another run has the turn.
  void advance(const std::function<void(std::size_t, std::int64_t)>& launches,
               const std::function<void(std::size_t)>& waits);
  /// Calls `accept` with each result that there is. Returns whether anything has ended, the calibration spec included.
  /// Throws DeviceLost if a device fails what the first one could time.
  bool collect(const std::function<void(Result)>& accept);
  /// Returns false if it is an event of no process of these queues. Throws Error(environment) if a device is lost.
  bool handle(const platform::ProcessHost::Event& event);
  /// There will be no result of this job.
  void abandon(std::int64_t ticket);
  /// Ends what waits for another job, and the calibration: a device that still times that would keep its turn, although
  /// no remaining job needs the factor.
  void dismiss();

  /// Whether a process measures one spec after the other.
  bool sharing() const { return sharing_; }
  /// From now on every spec has a process of its own, and is timed in full until there is a best again.
  void stop_sharing();

  /// Whether any process does more than wait for another spec.
  bool active() const;
  /// The ticket of the job that is launched now.
  std::optional<std::int64_t> launched(std::size_t device) const { return queues_[device].launched(); }
  /// Where the time went since this was made, but for builds.
  Usage usage() const;

 private:
  using Accept = std::function<void(Result)>;

  DeviceQueue::Rules rules_of(std::size_t device) const;
  void renew_rules();
  void take(std::size_t device, Result result, const Accept& accept);
  bool is_calibration(const Job& job) const;
  void choose_calibration(Job job, std::optional<double> seconds);
  void drop_calibration(const Accept& accept);
  void release_held(std::size_t device, const Accept& accept);

  MeasureService* service_;
  bool sharing_;
  std::int64_t workspace_bytes_ = 0;  ///< the most that a job has had so far
  wire::Go best_;                     ///< how a job is timed, by the first device's clock
  platform::ProcessHost::Clock::time_point created_;
  std::vector<DeviceQueue> queues_;
  Calibration<Result> calibration_;
  std::optional<Job> calibration_job_;  ///< of the calibration spec that was chosen last
};

}  // namespace tune::exec
