#include "exec/device/measure_service.h"

#include <algorithm>
#include <utility>

namespace tune::exec {
namespace {

constexpr auto kTurnPoll = std::chrono::milliseconds(2);
constexpr auto kClocksPoll = std::chrono::milliseconds(200);

std::deque<MeasureDevice> devices_of(WorkerPool& pool, const RequestFactory& requests, const WorkerRules& rules) {
  std::deque<MeasureDevice> devices;
  for (const ChosenDevice& device : rules.devices)
    devices.emplace_back(pool, requests, device, rules.turns, *rules.observer);
  return devices;
}

std::shared_ptr<Builder> builder_of(WorkerPool& pool, const RequestFactory& requests, const WorkerRules& rules) {
  std::shared_ptr<Builder> builder = pool.builder();
  if (builder == nullptr)
    builder = std::make_shared<Builder>(pool.launcher(), requests, rules.store, rules.jobs, rules.builds);
  if (rules.keeps_processes) pool.builder() = builder;
  builder->inputs().tell(rules.observer == &no_observer() ? nullptr : rules.observer);
  return builder;
}

}  // namespace

MeasureService::MeasureService(const RequestFactory& requests, WorkerRules rules)
    : requests_(&requests),
      rules_(std::move(rules)),
      pool_(rules_.pool ? rules_.pool : std::make_shared<WorkerPool>(rules_.worker, rules_.deadlines)),
      builds_(requests, builder_of(*pool_, requests, rules_)),
      devices_(devices_of(*pool_, requests, rules_)),
      reference_(requests, builds_, devices_.front(), devices_.size() > 1) {
  const bool keeps = is_gpu(requests.hello().backend) && rules_.keeps_processes;
  for (MeasureDevice& device : devices_) device.keep_processes(keeps, rules_.share_processes);
}

// The processes end first, because they write to the folders of the others.
MeasureService::~MeasureService() {
  builds_.builder().inputs().tell(nullptr);
  builds_.builder().end_tuning();
  reference_.leave();
  pool_->end_others();
}

void MeasureService::claim_clocks() {
  for (MeasureDevice& device : devices_)
    while (!device.claim_clocks())
      if (const auto event = wait(now() + kClocksPoll)) {
        heed(*event);
        handle(*event);
      }
}

void MeasureService::finish_builds() {
  Builder& builder = builds_.builder();
  builder.start_queued();
  while (builder.running() > 0 || reference_.is_being_made()) {
    const auto event = pool_->wait(std::nullopt);
    heed(*event);
    handle(*event);
    builder.start_queued();
  }
}

void MeasureService::look_after_builds() {
  while (const auto event = wait(now())) {
    heed(*event);
    handle(*event);
  }
}

wire::MeasureRequest MeasureService::complete(wire::MeasureRequest request, const std::string& artifact) const {
  request.artifact = artifact;
  request.reference = reference_.path();
  return request;
}

std::optional<platform::ProcessHost::Event> MeasureService::wait(
    std::optional<platform::ProcessHost::Clock::time_point> until) {
  if (std::ranges::none_of(devices_, &MeasureDevice::waits)) return pool_->wait(until);
  const auto soon = now() + kTurnPoll;
  return pool_->wait(until ? std::min(*until, soon) : soon);
}

bool MeasureService::handle(const platform::ProcessHost::Event& event) {
  if (builds_.builder().handle(event)) return true;
  return std::ranges::any_of(devices_,
                             [&](const MeasureDevice& device) { return device.is_holder(process_of(event)); }) ||
         reference_.handle(event);
}

}  // namespace tune::exec
