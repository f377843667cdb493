#include "exec/device/reference_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "exec/process/runner.h"
#include "exec/request/spec_launches.h"
#include "model/settings.h"
#include "model/values/error.h"

namespace tune::exec {
namespace {

/// Whether there is nothing to compare its results with.
bool checks_itself(const Plan& plan) {
  return plan.is_program() || std::holds_alternative<std::monostate>(plan.problem);
}

}  // namespace

bool ReferenceService::ready(const Spec& spec) {
  if (!path_.empty() || checks_itself(requests_->plan())) return true;
  if (!failure_.empty())
    throw Unlaunchable(name() + ", built like this spec, failed: " + std::exchange(failure_, {}) +
                       "\nlook at it, and at the count of each buffer that it uses");
  if (process_ == nullptr) make(spec);
  return false;
}

std::string ReferenceService::name() const {
  const ReferenceRule& rule = requests_->plan().kernel()->reference;
  if (const auto* kernel = std::get_if<Launch>(&rule)) return "reference kernel '" + kernel->kernel + "'";
  return "reference.spec " + to_text(std::get<TrustedSpec>(rule).settings);
}

void ReferenceService::begin() {
  const Plan& plan = requests_->plan();
  if (std::holds_alternative<Gemm>(plan.problem) && !checks_itself(plan) && path_.empty() && !is_being_made())
    make(Spec());
}

void ReferenceService::make(const Spec& spec) {
  wire::ReferenceRequest request = requests_->reference(spec);
  if (std::holds_alternative<Custom>(requests_->plan().problem)) {
    const Builder::Result* result = builds_->find_or_build_reference(spec);
    if (result == nullptr) return;
    if (const auto* failure = std::get_if<Failure>(result))
      throw Error(ExitCode::bad_input, name() + " cannot be built: " + failure->headline());
    request.artifact = std::get<Artifact>(*result).path.string();
  }
  if (scratch_ == nullptr) scratch_ = std::make_unique<Scratch>(bytes());
  request.output = (scratch_->folder() / "reference").string();
  request.share = stays_on_device();
  if (!device_->take_turn(false)) return;
  if (request.share && !used_before_) process_ = device_->take_reference();
  used_before_ = process_ != nullptr;
  if (used_before_)
    process_->send(request);
  else
    process_ = std::make_unique<WorkerProcess>(device_->start(request));
}

void ReferenceService::leave() {
  if (process_ != nullptr && process_->phase() == Phase::serving) device_->rest_reference(std::move(process_));
}

// Results in double precision, and a margin for norms and headers.
std::uint64_t ReferenceService::bytes() const {
  constexpr std::uint64_t kMargin = 64 << 20;
  std::int64_t elements = 0;
  if (const auto* gemm = std::get_if<Gemm>(&requests_->plan().problem))
    elements = gemm->rows() * gemm->columns() * gemm->batch + gemm->matrices_of_b() * gemm->columns();
  if (const auto* custom = std::get_if<Custom>(&requests_->plan().problem))
    for (const Buffer& buffer : custom->buffers) elements += buffer.count;
  return static_cast<std::uint64_t>(elements) * sizeof(double) + kMargin;
}

bool ReferenceService::stays_on_device() const {
  const Backend backend = requests_->hello().backend;
  return is_gpu(backend) && std::holds_alternative<Gemm>(requests_->plan().problem) && !of_several_devices_ &&
         !device_->chosen().one_process;
}

bool ReferenceService::handle(const platform::ProcessHost::Event& event) {
  const auto* line = std::get_if<platform::ProcessHost::Line>(&event);
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&event);
  if (process_ == nullptr || process_->id() != process_of(event)) return false;
  if (line) process_->handle(*line);
  if (ended) process_->handle(*ended);
  // Where it does not stay, its end is waited for: the device may admit one process alone.
  const bool stays = process_->phase() == Phase::serving && stays_on_device();
  if (path_.empty() && (ended || stays)) take_end();
  return true;
}

void ReferenceService::take_end() {
  device_->end_turn();
  if (process_->no_device()) {
    const auto refused = std::exchange(process_, nullptr);
    return device_->note_refused(refused->failure()->message);
  }
  device_->note_opened();
  if (process_->failure() && used_before_) {  // a fresh one may have what this one lacks, such as memory
    device_->stop_keeping();
    return process_.reset();
  }
  if (const auto& failure = process_->failure()) {
    // A reference kernel is built with the parameters of the spec that needs it first; it may work with another's.
    const ReferenceRule& rule = requests_->plan().kernel()->reference;
    if (std::holds_alternative<TrustedSpec>(rule))
      throw Error(failure->facts.machine_suspected ? ExitCode::environment : ExitCode::bad_input,
                  name() + " failed: " + failure->headline() + "; mend it, or choose another");
    if (!std::holds_alternative<Launch>(rule))
      throw Error(ExitCode::environment, "cannot make the reference result: " + failure->message);
    failure_ = failure->headline();
    return process_.reset();
  }
  const std::filesystem::path file = scratch_->folder() / "reference";
  path_ = is_gpu(requests_->hello().backend) ? file.string() : hold(file);  // kernels on GPUs reach no files
}

/// Removes the name of the file, so that no kernel removes the file or puts another in its place. Returns the path that
/// it has instead while we hold it open.
std::string ReferenceService::hold(const std::filesystem::path& file) {
  file_ = platform::Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_ || ::unlink(file.c_str()) != 0) return file.string();
  return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get());
}

}  // namespace tune::exec
