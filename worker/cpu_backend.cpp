#include <algorithm>
#include <iterator>
#include <optional>

#include "backend.h"
#include "cpu_build.h"
#include "cpu_kernel.h"
#include "cpu_memory.h"
#include "cpu_probe.h"
#include "elements.h"
#include "idle.h"
#include "measure.h"
#include "reference.h"
#include "support.h"
#include "vendor_blas.h"
#include "verifier.h"

namespace tune {
namespace {

/// Kernels in shared objects, compiled with the system's C++ compiler and called in this process.
class CpuBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return Backend::cpu; }
  wire::Hello probe() override;
  wire::Built build(const wire::BuildRequest& request) override { return build_shared_object(request); }
  void reference(const wire::ReferenceRequest& request) override;
  void load(const wire::MeasureRequest& request) override;
  std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) override;

 private:
  void load_vendor(const wire::MeasureRequest& request);
  void load_kernel(const wire::MeasureRequest& request);
  std::vector<double> outputs() const;
  double timed_launch();
  wire::Checked check();

  MeasureRules rules_;
  std::optional<Verifier> verifier_;
  std::optional<CpuMemory> memory_;
  std::optional<CpuKernel> kernel_;
  std::optional<VendorGemm> vendor_;
};

wire::Hello CpuBackend::probe() {
  wire::Hello hello;
  hello.backend = kind();
  hello.device = probe_cpu();
  hello.compiler = cpp_compiler_version();
  return hello;
}

void CpuBackend::reference(const wire::ReferenceRequest& request) {
  require_supported(request.problem, kind(), Stage::start);
  const std::string identity = reference_identity(request.problem, request.seed);
  if (const auto* gemm = std::get_if<Gemm>(&request.problem))
    return write_reference(request.output, identity, compute_reference(*gemm, request.seed));
  load(measure_request(request));
  timed_launch();
  memory_->verify_guards();
  write_reference(request.output, identity, outputs());
}

/// All outputs of a custom problem as doubles, one after the other.
std::vector<double> CpuBackend::outputs() const {
  std::vector<double> values;
  for (std::size_t i = 0; i < verifier_->buffers().size(); ++i) {
    const Buffer& buffer = verifier_->buffers()[i];
    if (buffer.role == Buffer::Role::in) continue;
    with_type(buffer.type, [&](auto tag) {
      const auto* elements = static_cast<const typename decltype(tag)::type*>(memory_->data(i));
      std::transform(elements, elements + buffer.count, std::back_inserter(values),
                     [](auto element) { return to_double(element); });
    });
  }
  return values;
}

void CpuBackend::load(const wire::MeasureRequest& request) {
  require_supported(request.problem, kind(), Stage::load);
  rules_ = request.measure;
  verifier_.emplace(request);
  memory_.emplace(request, *verifier_);
  request.vendor ? load_vendor(request) : load_kernel(request);
}

void CpuBackend::load_vendor(const wire::MeasureRequest& request) {
  const auto* gemm = std::get_if<Gemm>(&request.problem);
  if (!gemm) throw Refusal(Stage::load, "the vendor library knows no custom problem");
  vendor_.emplace(*gemm, memory_->address("A"), memory_->address("B"), memory_->address("C"));
}

void CpuBackend::load_kernel(const wire::MeasureRequest& request) {
  const auto* gemm = std::get_if<Gemm>(&request.problem);
  kernel_.emplace(request.artifact, request.launches, gemm ? gemm->acc : Type::f32,
                  [this](const std::string& name) { return memory_->address(name); });
}

double CpuBackend::timed_launch() {
  if (rules_.cold_cache) memory_->flush();
  const double start = seconds_now();
  memory_->zero();
  vendor_ ? vendor_->launch() : kernel_->launch();
  // A clock that does not tick between two readings must not make a launch free.
  return std::max(seconds_now() - start, 1e-9);
}

wire::Checked CpuBackend::check() {
  wire::Checked checked;
  for (const Poison pattern : verifier_->patterns()) {
    memory_->reset(pattern);
    const double seconds = timed_launch();
    checked.seconds = checked.seconds > 0 ? std::min(checked.seconds, seconds) : seconds;
    checked.max_error = std::max(checked.max_error, memory_->verify(pattern));
  }
  return checked;
}

std::optional<wire::Measured> CpuBackend::measure(const wire::Go& go, const Report& report) {
  const wire::Checked checked = go.check ? check() : wire::Checked();
  const bool compared = go.check && verifier_->has_reference();
  if (compared) report(checked);
  const auto launch = [this] {
    memory_->restore();
    return timed_launch();
  };
  const Timing timing = Sampler(rules_, go, launch, seconds_now, {}).run(checked.seconds);
  // What was timed must still be right: a kernel may count its launches, or rely on what the one before left behind.
  if (go.check)
    memory_->verify(verifier_->patterns().back());
  else
    memory_->verify_guards();
  if (go.launches > 0) wait_until_idle();
  return wire::Measured{timing, compared, {}, vendor_ ? vendor_->remarks() : std::vector<std::string>()};
}

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace tune
