#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "backend.h"
#include "base/store.h"
#include "gpu_build.h"
#include "gpu_kernel.h"
#include "gpu_memory.h"
#include "gpu_probe.h"
#include "gpu_reference.h"
#include "measure.h"
#include "reference_file.h"
#include "support.h"
#include "verifier.h"

namespace tune {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

wire::MeasureRequest measure_request(const wire::ReferenceRequest& request) {
  wire::MeasureRequest result;
  result.artifact = request.artifact;
  result.problem = request.problem;
  result.launches = request.launches;
  result.workspace_bytes = request.workspace_bytes;
  result.zero_workspace = request.zero_workspace;
  result.seed = request.seed;
  return result;
}

/// What the reference process left, or else compiled now: a worker that is run by hand may have no reference.
std::string helpers_code(const std::string& reference, const std::string& arch) {
  const auto file = helpers_beside(reference);
  return !reference.empty() && std::filesystem::exists(file) ? read_file(file) : compile_gpu_helpers(arch);
}

/// Requests with the same key need the same memory and are verified alike.
std::string memory_key(wire::MeasureRequest request) {
  request.artifact.clear();
  request.launches.clear();
  return wire::encode(wire::Request(request));
}

/// Kernels that are compiled at run time and launched on the first device.
class GpuBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return gpu::kBackend; }
  wire::Hello probe() override { return probe_gpu(kind()); }
  void hold() override { GpuHandle::open(); }
  wire::Built build(const wire::BuildRequest& request) override;
  void reference(const wire::ReferenceRequest& request) override;
  void load(const wire::MeasureRequest& request) override;
  wire::Measured measure(const wire::Go& go, const Report& report) override;

 private:
  void open(const std::string& helpers);
  std::vector<double> outputs() const;
  void provide_memory(const wire::MeasureRequest& request);
  double timed_launch();
  wire::Checked check();

  MeasureRules rules_;
  bool filled_ = false;
  std::string memory_key_;
  std::optional<Gpu> gpu_;
  std::optional<GpuHelpers> helpers_;
  std::optional<Verifier> verifier_;
  std::optional<GpuMemory> memory_;
  std::optional<GpuKernel> kernel_;
  std::optional<GpuTimer> timer_;
};

wire::Built GpuBackend::build(const wire::BuildRequest& request) {
  require_supported(request.problem, kind(), Stage::build);
  return build_gpu_code(request);
}

void GpuBackend::reference(const wire::ReferenceRequest& request) {
  require_supported(request.problem, kind(), Stage::start);
  gpu_.emplace();
  const std::string code = compile_gpu_helpers(gpu_->arch());
  helpers_.emplace(*gpu_, code);
  write_file(helpers_beside(request.output), code);
  const std::string identity = reference_identity(request.problem, request.seed);
  if (const auto* gemm = std::get_if<Gemm>(&request.problem))
    return write_reference(request.output, identity, compute_reference_on(*gpu_, *helpers_, *gemm, request.seed));
  load(measure_request(request));
  memory_->fill();
  memory_->reset(Poison::nan);
  timed_launch();
  memory_->verify_guards();
  write_reference(request.output, identity, outputs());
}

/// All outputs of a custom problem as doubles, one after the other.
std::vector<double> GpuBackend::outputs() const {
  std::vector<double> values;
  for (const Buffer& buffer : verifier_->buffers()) {
    if (buffer.role == Buffer::Role::in) continue;
    const DeviceMemory wide(*gpu_, static_cast<std::size_t>(buffer.count) * sizeof(double), "the reference");
    helpers_->widen(buffer.type, memory_->address(buffer.name), {1, 1, buffer.count, 0, 0, 1}, wide.address());
    const std::size_t start = values.size();
    values.resize(start + static_cast<std::size_t>(buffer.count));
    wide.copy_to(std::as_writable_bytes(std::span(values).subspan(start)));
  }
  return values;
}

void GpuBackend::load(const wire::MeasureRequest& request) {
  require_supported(request.problem, kind(), Stage::load);
  if (request.vendor) throw Refusal(Stage::load, "the GPU backend knows no vendor library");
  rules_ = request.measure;
  provide_memory(request);
  timer_.emplace(*gpu_);
  kernel_.emplace(*gpu_, request.artifact, request.launches, request.problem,
                  [this](const std::string& name) { return memory_->address(name); });
}

/// Specs of one run differ in little; what one leaves behind is made anew, and verified, for each. Memory that serves
/// the next one too saves it most of its load.
void GpuBackend::provide_memory(const wire::MeasureRequest& request) {
  if (memory_ && memory_key(request) == memory_key_) return;
  memory_.reset();
  verifier_.emplace(request);
  if (!gpu_) gpu_.emplace();
  if (!helpers_) helpers_.emplace(*gpu_, helpers_code(request.reference, gpu_->arch()));
  memory_.emplace(*gpu_, *helpers_, request, *verifier_);
  memory_key_ = memory_key(request);
  filled_ = false;
}

double GpuBackend::timed_launch() {
  // Either keeps the device busy until everything up to the second event is queued, so that no time of the host counts.
  rules_.cold_cache ? memory_->flush() : helpers_->hold();
  timer_->start();
  memory_->zero();
  kernel_->launch();
  return std::max(timer_->stop(), 1e-9);
}

wire::Checked GpuBackend::check() {
  wire::Checked checked;
  for (const Poison pattern : verifier_->patterns()) {
    memory_->reset(pattern);
    const double seconds = timed_launch();
    checked.seconds = checked.seconds > 0 ? std::min(checked.seconds, seconds) : seconds;
    checked.max_error = std::max(checked.max_error, memory_->verify(pattern));
  }
  return checked;
}

wire::Measured GpuBackend::measure(const wire::Go& go, const Report& report) {
  if (!std::exchange(filled_, true)) memory_->fill();
  const wire::Checked checked = go.check ? check() : wire::Checked();
  const bool compared = go.check && verifier_->has_reference();
  if (compared) report(checked);
  const auto launch = [this] {
    memory_->restore();
    return timed_launch();
  };
  const Timing timing = Sampler(rules_, go, launch, seconds_now).run(checked.seconds);
  // What was timed must still be right: a kernel may count its launches, or rely on what the one before left behind.
  if (go.check)
    memory_->verify(verifier_->patterns().back());
  else
    memory_->verify_guards();
  return {timing, compared, {}};
}

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<GpuBackend>(); }

}  // namespace tune
