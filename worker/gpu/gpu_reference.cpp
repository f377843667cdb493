#include "gpu/gpu_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "checking/inputs.h"
#include "checking/reference.h"
#include "checking/reference_file.h"
#include "gpu/gpu_compiler.h"
#include "gpu/gpu_sources.h"

namespace tune::worker {
namespace {

std::size_t bytes(std::int64_t doubles) { return static_cast<std::size_t>(doubles) * sizeof(double); }

/// The kernel of gpu_multiply.cu.
class Multiplication {
 public:
  Multiplication(const Gpu& gpu, const std::string& code) : gpu_(&gpu), module_(gpu, code, "the reference's kernel") {}

  /// Tight and row-major: c[m,n] = a[m,k] * b[k,n]. Launched, and not waited for.
  void operator()(gpu::Address a, gpu::Address b, gpu::Address c, std::array<long long, 3> mnk) const {
    constexpr long long kTile = 64;
    auto [m, n, k] = mnk;
    GpuLaunch launch;
    launch.function = module_.function("tune_multiply");
    launch.grid = {static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile), 1};
    launch.block = {16, 16, 1};
    void* arguments[] = {&a, &b, &c, &m, &n, &k};
    gpu_->launch(launch, arguments, "tune_multiply");
  }

 private:
  const Gpu* gpu_;
  GpuModule module_;
};

DeviceMemory make_input(const Gpu& gpu, const GpuHelpers& helpers, const Content& content, std::int64_t count) {
  DeviceMemory filled(gpu, static_cast<std::size_t>(count * size_of(content.type)), "the reference's input");
  helpers.fill(content, filled.address(), count);
  return filled;
}

/// A matrix of a problem, times its scales (none: null), as tight doubles.
DeviceMemory make_matrix(const Gpu& gpu, const GpuHelpers& helpers, const Content& content, const MatrixView& view,
                         const DeviceMemory& scales = {}, const ScaleView& scale_view = {}) {
  const DeviceMemory filled = make_input(gpu, helpers, content, view.extent());
  DeviceMemory wide(gpu, bytes(view.batch * view.rows * view.cols), "the reference's input in double precision");
  helpers.widen({content.type, filled.address(), view, scales.address(), scale_view}, wide.address());
  return wide;
}

void require_finite(const GpuHelpers& helpers, const DeviceMemory& values) {
  const auto count = static_cast<std::int64_t>(values.bytes() / sizeof(double));
  const auto odd = helpers.smallest([&] { helpers.find_infinite(values.address(), count); });
  if (!odd) return;
  double value = 0;
  values.copy_to(std::as_writable_bytes(std::span(&value, 1)), bytes(*odd));
  refuse_infinite(value, *odd);
}

}  // namespace

std::string compile_gpu_multiply(const std::string& arch) {
  const auto result = GpuCompiler().compile("gpu_multiply.cu", gpu_sources::multiply, arch, {"-std=c++20"});
  if (!result.compiled)
    throw std::runtime_error(fmt::format("the kernel of the reference does not compile\n{}", result.log));
  return result.code;
}

DeviceMemory compute_reference_on(const Gpu& gpu, const GpuHelpers& helpers, const std::string& multiply_code,
                                  const Gemm& gemm, std::uint64_t seed) {
  const Gemm g = resolved(gemm);
  const Multiplication multiply(gpu, multiply_code);
  const auto scales = [&](Scale scale, std::size_t buffer) {
    if (scale == Scale::none) return DeviceMemory();
    return make_input(gpu, helpers, content_of(g, buffer, seed), buffers_of(g)[buffer].count);
  };
  const DeviceMemory scale_a = scales(g.scale_a, number_of_scale_a(g)),
                     scale_b = scales(g.scale_b, number_of_scale_b(g));
  const DeviceMemory a = make_matrix(gpu, helpers, content_of(g, kNumberOfA, seed), view_a(g), scale_a, scales_of_a(g));
  const DeviceMemory b = make_matrix(gpu, helpers, content_of(g, kNumberOfB, seed), view_b(g), scale_b, scales_of_b(g));
  DeviceMemory c0;
  if (g.beta != 0) c0 = make_matrix(gpu, helpers, content_of(g, kNumberOfC, seed), view_c(g));
  const std::int64_t n = g.columns(), rows = g.batch * g.rows(), elements = rows * n, cols = g.matrices_of_b() * n;
  DeviceMemory result(gpu, bytes(elements + rows + cols + 1), "the reference");
  if (g.groups() > 0) result.set_bytes(0, 0, result.bytes());  // the norms of a group without rows are not computed
  const gpu::Address c = result.address(), row_norms = c + bytes(elements), col_norms = row_norms + bytes(rows);
  for (const Product& p : products_of(g)) {
    const std::int64_t row = p.batch * g.rows() + p.row;
    const gpu::Address of_a = a.address() + bytes(row * g.k), of_b = b.address() + bytes(p.b * g.k * n);
    multiply(of_a, of_b, c + bytes(row * n), {p.rows, n, g.k});
    helpers.norms(of_a, p.rows, g.k, g.k, 1, row_norms + bytes(row));
    helpers.norms(of_b, n, 1, g.k, n, col_norms + bytes(p.b * n));
  }
  const double largest_addend = std::fabs(g.beta) * helpers.scale(c, c0.address(), elements, g.alpha, g.beta);
  result.copy_from(std::as_bytes(std::span(&largest_addend, 1)), bytes(elements + rows + cols));
  if (g.bias != Bias::none) {
    std::vector<double> values = reference_on_host(result);
    add_bias(g, seed, values);
    result.copy_from(std::as_bytes(std::span(values)));
  }
  require_finite(helpers, result);
  return result;
}

std::vector<double> reference_on_host(const DeviceMemory& reference) {
  std::vector<double> values(reference.bytes() / sizeof(double));
  reference.copy_to(std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace tune::worker
