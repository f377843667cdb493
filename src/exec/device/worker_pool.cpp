#include "exec/device/worker_pool.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "exec/process/runner.h"

namespace tune::exec {

WorkerPool::WorkerPool(std::filesystem::path worker, const Deadlines& deadlines,
                       std::unique_ptr<platform::ProcessHost> host)
    : host_(std::move(host)), launcher_(*host_, std::move(worker), deadlines, temporary_.folder()) {}

// Those that build write to the builder's folders.
WorkerPool::~WorkerPool() {
  if (const auto builder = std::exchange(builder_, nullptr)) end_others();
}

SpotChecks& WorkerPool::spot_checks(std::uint64_t seed) {
  if (!spot_checks_) spot_checks_.emplace(seed);
  return *spot_checks_;
}

std::optional<platform::ProcessHost::Event> WorkerPool::wait(
    std::optional<platform::ProcessHost::Clock::time_point> until) {
  if (later_.empty()) return host_->wait(until);
  platform::ProcessHost::Event event = std::move(later_.front());
  later_.pop_front();
  return event;
}

void WorkerPool::heed_signals() {
  while (const auto event = wait(launcher_.now())) {
    heed(*event);
    if (builder_) builder_->handle(*event);
  }
  if (builder_) builder_->start_queued();
}

bool WorkerPool::runs(const WorkerProcess& process) const {
  return std::ranges::count(host_->running(), process.id()) > 0;
}

bool WorkerPool::builds(platform::ProcessHost::Id id) const { return builder_ && builder_->is_building(id); }

bool WorkerPool::rests(platform::ProcessHost::Id id) const {
  return builds(id) || std::ranges::any_of(resting_, [id](const auto& entry) {
           const Resting& resting = entry.second;
           return id == resting.holder || (resting.measure && resting.measure->id() == id) ||
                  (resting.reference && resting.reference->id() == id);
         });
}

bool WorkerPool::others_run() const {
  return std::ranges::any_of(host_->running(), [this](const auto id) { return !rests(id); });
}

// Who interrupts us meanwhile is heard when something is waited for again.
void WorkerPool::end_others() {
  for (const auto id : host_->running())
    if (!rests(id)) host_->kill(id);
  std::optional<int> signal;
  while (others_run()) {
    auto event = host_->wait(std::nullopt);
    if (const auto* interrupted = std::get_if<platform::ProcessHost::Interrupted>(&*event))
      signal = interrupted->signal;
    else if (builds(process_of(*event)))
      later_.push_back(std::move(*event));
  }
  if (signal) ::raise(*signal);
}

}  // namespace tune::exec
