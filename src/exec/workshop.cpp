#include "exec/workshop.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "exec/occupancy.h"
#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

// Of all users, and whatever their TMPDIR is.
constexpr const char* kLockFolder = "/tmp";
constexpr const char* kCpu = "cpu";  // the device of kernels on the CPU, and of programs
constexpr int kRefusals = 3;         // in a row mean that the device is lost
constexpr auto kTurnPoll = std::chrono::milliseconds(2);

/// There is nothing to compare its results with.
bool checks_itself(const Plan& plan) {
  return plan.backend == Backend::program || std::holds_alternative<std::monostate>(plan.problem);
}

bool is_gpu(Backend backend) { return backend == Backend::cuda || backend == Backend::hip; }

std::string lock_name(const ChosenDevice& device, Backend backend) {
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

Workshop::Workshop(const Requests& requests, WorkshopOptions options)
    : requests_(&requests),
      options_(std::move(options)),
      builder_(processes_, options_.worker, options_.store, temporary_.folder(), options_.deadlines, options_.jobs),
      processes_(true),
      holders_(options_.devices.size()),
      waiting_(options_.devices.size()),
      waiting_to_open_(options_.devices.size()),
      told_(options_.devices.size()),
      refused_(options_.devices.size()) {
  take_turns_with_other_runs();
}

Workshop::~Workshop() = default;

void Workshop::take_turns_with_other_runs() {
  for (const ChosenDevice& device : options_.devices) {
    const std::string name = options_.turns ? lock_name(device, requests_->hello().backend) : "";
    locks_.emplace_back(lock_folder(), name, requests_->plan().yaml.filename().string());
    if (const std::string& problem = locks_.back().problem(); !problem.empty() && options_.say)
      options_.say("warning: this run does not take turns with other runs: " + problem + lock_folder_hint());
  }
}

void Workshop::want_build(const Spec& spec) {
  if (!requests_->has_build()) return;
  const std::string key = requests_->build_key(spec);
  if (builder_.find(key) != nullptr) return;
  if (requests_->hello().compiler.empty())
    throw Error(ExitCode::environment, "no compiler for the " + std::string(to_text(requests_->hello().backend)) +
                                           " backend was found; install one (CPU: apt-get install g++, or set CXX)");
  builder_.want(key, requests_->build(spec));
}

void Workshop::finish_builds() {
  builder_.start_queued();
  while (builder_.running() > 0) {
    const auto event = processes_.wait(std::nullopt);
    if (const auto* interrupted = std::get_if<Processes::Interrupted>(&*event)) throw Interrupted{interrupted->signal};
    handle(*event);
    builder_.start_queued();
  }
}

const Builder::Result* Workshop::find_build(const Spec& spec) {
  static const Builder::Result kNotBuilt = Artifact{};
  return requests_->has_build() ? builder_.find(requests_->build_key(spec)) : &kNotBuilt;
}

const Builder::Result* Workshop::find_intact_build(const Spec& spec) {
  if (!requests_->has_build()) return find_build(spec);
  const Builder::Result* result = builder_.find_intact(requests_->build_key(spec));
  if (result == nullptr) want_build(spec);
  return result;
}

// It depends on the launch, which is not part of the build, and so cannot be the builder's word.
BuildInfo Workshop::info_of(const Spec& spec, const Artifact& artifact) const {
  BuildInfo info = artifact.info;
  try {
    const auto share = occupancy(requests_->measure(spec).launches, info.properties, requests_->hello().device);
    if (share) info.properties["occupancy"] = *share;
  } catch (const Unlaunchable&) {
    // The measure request will say why.
  }
  return info;
}

// One process may be refused for lack of memory, or while the driver recovers from a fault.
void Workshop::note_refused(std::size_t device, const std::string& why) {
  if (++refused_[device] >= kRefusals)
    throw_device_lost(device, "the last " + std::to_string(kRefusals) + " workers could not open it: " + why);
}

void Workshop::throw_device_lost(std::size_t device, const std::string& why) const {
  const ChosenDevice& lost = options_.devices[device];
  std::string name = requests_->hello().device.name;
  if (!lost.id.empty()) name += " (device " + std::to_string(lost.index) + ", " + lost.id + ")";
  throw DeviceLost(ExitCode::environment, name + " no longer answers: " + why +
                                              "; the results so far are in the journal, and the same command "
                                              "continues from there once it does");
}

bool Workshop::take_turn(std::size_t device, bool timed) {
  DeviceLock& lock = locks_[device];
  waiting_[device] = (timed && !lock.begin(DeviceLock::Use::timing)) || !lock.take();
  if (waiting_[device]) tell_of_waiting(device);
  return !waiting_[device];
}

void Workshop::end_turn(std::size_t device, bool more_to_time) {
  locks_[device].release();
  if (!more_to_time) locks_[device].end(DeviceLock::Use::timing);
  waiting_[device] = false;
}

bool Workshop::begin_opening(std::size_t device) {
  waiting_to_open_[device] = !locks_[device].begin(DeviceLock::Use::opening);
  if (waiting_to_open_[device]) tell_of_waiting(device);
  return !waiting_to_open_[device];
}

void Workshop::end_opening(std::size_t device) {
  locks_[device].end(DeviceLock::Use::opening);
  waiting_to_open_[device] = false;
}

// Another process of this run may have been the last to take it, and who has just taken it has not yet written who it is.
void Workshop::tell_of_waiting(std::size_t device) {
  const std::string holder = locks_[device].holder();
  if (told_[device] || !options_.say || holder.empty() || holder.starts_with(DeviceLock::our_name())) return;
  const bool cpu = lock_name(options_.devices[device], requests_->hello().backend) == kCpu;
  options_.say("waiting for " + (cpu ? "the CPU" : "device " + std::to_string(options_.devices[device].index)) +
               ", used by " + holder + "; --no-turns does not wait");
  told_[device] = true;
}

std::optional<Processes::Event> Workshop::wait(std::optional<Processes::Clock::time_point> until) {
  const auto any = [](const std::vector<bool>& flags) { return std::ranges::find(flags, true) != flags.end(); };
  if (!any(waiting_) && !any(waiting_to_open_)) return processes_.wait(until);
  const auto soon = Processes::Clock::now() + kTurnPoll;
  return processes_.wait(until ? std::min(*until, soon) : soon);
}

std::uint64_t Workshop::reference_bytes() const {
  // Results in double precision and a margin for norms and headers.
  constexpr std::uint64_t kMargin = 64 << 20;
  std::int64_t elements = 0;
  if (const auto* gemm = std::get_if<Gemm>(&requests_->plan().problem)) elements = gemm->m * gemm->n * gemm->batch;
  if (const auto* custom = std::get_if<Custom>(&requests_->plan().problem))
    for (const Buffer& buffer : custom->buffers) elements += buffer.count;
  return static_cast<std::uint64_t>(elements) * sizeof(double) + kMargin;
}

bool Workshop::reference_ready(const Spec& spec) {
  if (!reference_.empty() || checks_itself(requests_->plan())) return true;
  if (!reference_failure_.empty())
    throw Unlaunchable(reference_name() + ", built like this spec, failed: " + std::exchange(reference_failure_, {}));
  if (reference_process_ == nullptr) make_reference(spec);
  return false;
}

std::string Workshop::reference_name() const {
  const auto& kernel = requests_->plan().reference.kernel;
  return kernel ? "reference kernel '" + kernel->kernel + "'" : "reference.spec";
}

void Workshop::begin_reference() {
  const Spec none;
  const Plan& plan = requests_->plan();
  if (std::holds_alternative<Gemm>(plan.problem) && !checks_itself(plan) && reference_.empty() && !making_reference())
    make_reference(none);
}

void Workshop::make_reference(const Spec& spec) {
  wire::ReferenceRequest request = requests_->reference(spec);
  if (std::holds_alternative<Custom>(requests_->plan().problem)) {
    const std::string key = requests_->reference_build_key(spec);
    const Builder::Result* result = builder_.find_intact(key);
    if (result == nullptr) {
      builder_.want(key, requests_->reference_build(spec));
      return builder_.start_queued();
    }
    if (const auto* failure = std::get_if<Failure>(result))
      throw Error(ExitCode::bad_input, reference_name() + " cannot be built: " + failure->headline());
    request.artifact = std::get<Artifact>(*result).path.string();
  }
  if (scratch_ == nullptr) scratch_ = std::make_unique<Scratch>(reference_bytes());
  request.output = (scratch_->folder() / "reference").string();
  request.share = shares_reference();
  if (!take_turn(0, false)) return;
  hold_open(0);
  reference_process_ = std::make_unique<WorkerProcess>(processes_, options_.worker, request, options_.deadlines,
                                                       temporary_.folder(), options_.devices[0].environment);
}

wire::MeasureRequest Workshop::complete(wire::MeasureRequest request, const std::string& artifact) const {
  request.artifact = artifact;
  request.reference = reference_;
  return request;
}

WorkerProcess Workshop::start_measuring(const wire::MeasureRequest& completed, std::size_t device) {
  hold_open(device);
  return WorkerProcess(processes_, options_.worker, completed, options_.deadlines, temporary_.folder(),
                       options_.devices[device].environment);
}

// While one process has a GPU open, its driver opens it to others in 8 ms instead of 95 (H200).
void Workshop::hold_open(std::size_t device) {
  if (holders_[device] != 0 || !is_gpu(requests_->hello().backend)) return;
  Command command;
  command.argv = {options_.worker.string(), "hold"};
  command.environment = options_.devices[device].environment;
  holders_[device] = processes_.start(command);
}

bool Workshop::handle(const Processes::Event& event) {
  if (builder_.handle(event)) return true;
  const auto* line = std::get_if<Processes::Line>(&event);
  const auto* ended = std::get_if<Processes::Ended>(&event);
  const Processes::Id id = line ? line->id : ended ? ended->id : 0;
  if (id != 0 && std::ranges::find(holders_, id) != holders_.end()) return true;
  if (reference_process_ == nullptr || reference_process_->id() != id) return false;
  handle_reference(event);
  return true;
}

bool Workshop::shares_reference() const {
  return is_gpu(requests_->hello().backend) && std::holds_alternative<Gemm>(requests_->plan().problem) &&
         !options_.devices[0].one_process;
}

void Workshop::handle_reference(const Processes::Event& event) {
  if (const auto* line = std::get_if<Processes::Line>(&event)) reference_process_->handle(*line);
  const auto* ended = std::get_if<Processes::Ended>(&event);
  if (ended) reference_process_->handle(*ended);
  // It stays where it shares what is on the device; else its end is waited for, because the device may admit one alone.
  const bool stays = reference_process_->referenced() && shares_reference();
  if (!reference_.empty() || (!ended && !stays)) return;
  end_turn(0);
  if (reference_process_->no_device()) {
    const auto refused = std::exchange(reference_process_, nullptr);
    return note_refused(0, refused->failure()->message);
  }
  note_opened(0);
  if (const auto& failure = reference_process_->failure()) {
    // A reference kernel is built with the parameters of the spec that needs it first; another spec's may do.
    if (!requests_->plan().reference.kernel)
      throw Error(ExitCode::environment, "cannot make the reference result: " + failure->message);
    reference_failure_ = failure->headline();
    return reference_process_.reset();
  }
  reference_ = (scratch_->folder() / "reference").string();
}

}  // namespace tune
