#include "exec/device/measure_service.h"

#include <algorithm>
#include <utility>

namespace tune::exec {
namespace {

constexpr auto kTurnPoll = std::chrono::milliseconds(2);
constexpr auto kClocksPoll = std::chrono::milliseconds(200);

std::deque<MeasureDevice> devices_of(const WorkerLauncher& launcher, const RequestFactory& requests,
                                     const MeasureOptions& options) {
  std::deque<MeasureDevice> devices;
  for (const ChosenDevice& device : options.devices)
    devices.emplace_back(launcher, requests, device, options.turns, *options.observer);
  return devices;
}

}  // namespace

MeasureService::MeasureService(const RequestFactory& requests, MeasureOptions options,
                               std::unique_ptr<platform::ProcessHost> host)
    : requests_(&requests),
      options_(std::move(options)),
      launcher_(*host, options_.worker, options_.deadlines, temporary_.folder()),
      builds_(requests, launcher_, options_.store, options_.jobs, options_.builds, *options_.observer),
      devices_(devices_of(launcher_, requests, options_)),
      reference_(requests, builds_, devices_.front()),
      host_(std::move(host)) {}

MeasureService::~MeasureService() = default;

void MeasureService::claim_clocks() {
  for (MeasureDevice& device : devices_)
    while (!device.claim_clocks())
      if (const auto event = wait(now() + kClocksPoll))
        if (const auto* interrupted = std::get_if<platform::ProcessHost::Interrupted>(&*event))
          throw Interrupted{interrupted->signal};
}

void MeasureService::finish_builds() {
  Builder& builder = builds_.builder();
  builder.start_queued();
  while (builder.running() > 0) {
    const auto event = host_->wait(std::nullopt);
    if (const auto* interrupted = std::get_if<platform::ProcessHost::Interrupted>(&*event))
      throw Interrupted{interrupted->signal};
    handle(*event);
    builder.start_queued();
  }
}

wire::MeasureRequest MeasureService::complete(wire::MeasureRequest request, const std::string& artifact) const {
  request.artifact = artifact;
  request.reference = reference_.path();
  return request;
}

std::optional<platform::ProcessHost::Event> MeasureService::wait(
    std::optional<platform::ProcessHost::Clock::time_point> until) {
  if (std::ranges::none_of(devices_, &MeasureDevice::waits)) return host_->wait(until);
  const auto soon = now() + kTurnPoll;
  return host_->wait(until ? std::min(*until, soon) : soon);
}

bool MeasureService::handle(const platform::ProcessHost::Event& event) {
  if (builds_.builder().handle(event)) return true;
  const auto* line = std::get_if<platform::ProcessHost::Line>(&event);
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&event);
  const platform::ProcessHost::Id id = line ? line->id : ended ? ended->id : 0;
  return std::ranges::any_of(devices_, [&](const MeasureDevice& device) { return device.is_holder(id); }) ||
         reference_.handle(event);
}

}  // namespace tune::exec
