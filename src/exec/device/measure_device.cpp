#include "exec/device/measure_device.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace tune::exec {
namespace fs = std::filesystem;
namespace {

// Where the runs of all users find it, whatever their TMPDIR is.
constexpr const char* kLockFolder = "/tmp";
constexpr const char* kCpu = "cpu";  // the device of kernels on the CPU, and of programs
constexpr int kRefusals = 3;         // in a row mean that the device is lost

std::string device_name(const ChosenDevice& device, Backend backend) {
  return device.id.empty() && !is_gpu(backend) ? kCpu : device.id;
}

fs::path lock_folder() {
  const char* asked = std::getenv("TUNE_LOCKS");
  return asked != nullptr && *asked != '\0' ? asked : kLockFolder;
}

std::string lock_folder_hint() {
  std::error_code ignored;
  if (fs::is_directory(lock_folder(), ignored)) return "";
  return lock_folder() == kLockFolder ? "; create the folder" : "; create the folder, or correct TUNE_LOCKS";
}

}  // namespace

MeasureDevice::MeasureDevice(WorkerPool& pool, const RequestFactory& requests, ChosenDevice chosen, bool turns,
                             RunObserver& observer)
    : pool_(&pool),
      requests_(&requests),
      chosen_(std::move(chosen)),
      observer_(&observer),
      lock_(lock_folder(), turns ? device_name(chosen_, requests.hello().backend) : "",
            requests.plan().yaml.filename().string()),
      clocks_({pool.launcher().beside("tune-device-clocks"),
               lock_folder() / wire::clock_file_name(device_name(chosen_, requests.hello().backend)),
               requests.hello().backend, device_name(chosen_, requests.hello().backend), requests.hello().device.name},
              requests.plan(), observer) {
  if (const std::string& problem = lock_.problem(); !problem.empty())
    observer_->warning("this run does not take turns with other runs: " + problem + lock_folder_hint());
}

WorkerProcess MeasureDevice::start(const wire::Request& request) {
  hold_open();
  return pool_->launcher().start(request, chosen_.environment);
}

// While one process has a GPU open, its driver opens it to others in 8 ms instead of 95 (H200).
void MeasureDevice::hold_open() {
  if (resting().holder == 0 && is_gpu(requests_->hello().backend))
    resting().holder = pool_->launcher().start_holder(chosen_.environment);
}

void MeasureDevice::keep_processes(bool any, bool shared) {
  keeps_reference_ = any && !chosen_.one_process;
  keeps_measuring_ = keeps_reference_ && shared;
  if (!keeps_measuring_) stop_keeping();
}

void MeasureDevice::rest_measuring(std::shared_ptr<WorkerProcess> process) {
  if (keeps_measuring_ && !resting().measure)
    resting().measure = std::move(process);
  else
    process->send(wire::Done{});
}

void MeasureDevice::rest_reference(std::unique_ptr<WorkerProcess> process) {
  if (keeps_reference_) resting().reference = std::move(process);
}

void MeasureDevice::stop_keeping() {
  keeps_measuring_ = false;
  if (const auto process = take_measuring()) process->send(wire::Done{});
}

bool MeasureDevice::take_turn(bool timed) {
  waits_for_turn_ = (timed && !lock_.begin(DeviceLock::Use::timing)) || !lock_.take();
  if (waits_for_turn_) tell_of_waiting();
  return !waits_for_turn_;
}

// Whoever waits for a turn must ask for it until it comes, so a run that waits for the clocks does not.
bool MeasureDevice::claim_clocks() {
  if (!clocks_.are_needed()) return true;
  const bool held = clocks_.are_held();
  if (!held && !take_turn()) return false;
  const bool claimed = !held && clocks_.claim();
  end_turn();
  return claimed;
}

std::optional<std::string> MeasureDevice::set_clocks(const DeviceSettings& settings) {
  const auto refused = clocks_.set(settings);
  if (!refused) return std::nullopt;
  if (refused->why == wire::Refused::Why::lost) throw_lost(refused->message);
  return "the clocks or the power limit cannot be set: " + refused->message;
}

void MeasureDevice::end_turn(bool more_to_time) {
  if (!more_to_time) clocks_.reset();
  lock_.release();
  if (!more_to_time) lock_.end(DeviceLock::Use::timing);
  waits_for_turn_ = false;
}

bool MeasureDevice::begin_opening() {
  waits_to_open_ = !lock_.begin(DeviceLock::Use::opening);
  if (waits_to_open_) tell_of_waiting();
  return !waits_to_open_;
}

void MeasureDevice::end_opening() {
  lock_.end(DeviceLock::Use::opening);
  waits_to_open_ = false;
}

// Another process of this run may have been the last to take it; and whoever has just taken it has not yet written who
// it is.
void MeasureDevice::tell_of_waiting() {
  const std::string holder = lock_.holder();
  if (told_ || holder.empty() || holder.starts_with(DeviceLock::our_name())) return;
  const bool cpu = device_name(chosen_, requests_->hello().backend) == kCpu;
  observer_->news("waiting for " + (cpu ? "the CPU" : "device " + std::to_string(chosen_.index)) + ", used by " +
                  holder + "; use --no-turns to start without waiting");
  told_ = true;
}

// One process may be refused for lack of memory, or while the driver recovers from a fault.
void MeasureDevice::note_refused(const std::string& why) {
  if (++refused_ >= kRefusals)
    throw_lost("the last " + std::to_string(kRefusals) + " workers could not open it: " + why);
}

void MeasureDevice::tell_remarks(std::span<const std::string> remarks) {
  if (remarks.empty() || std::exchange(remarked_, true)) return;
  observer_->warning(remarks.front());
}

void MeasureDevice::throw_lost(const std::string& why) const {
  std::string name = requests_->hello().device.name;
  if (!chosen_.id.empty()) name += " (device " + std::to_string(chosen_.index) + ", " + chosen_.id + ")";
  throw DeviceLost(ExitCode::environment, name + " no longer answers: " + why +
                                              "; the results so far are in the journal, and the same command "
                                              "continues from there once it does");
}

}  // namespace tune::exec
