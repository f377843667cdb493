#include "gpu/gpu_helpers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "checking/generator.h"
#include "checking/gpu_elements.h"
#include "gpu/gpu_compiler.h"
#include "gpu/gpu_sources.h"

namespace tune::worker {
namespace {

using gpu::Bits;
using gpu::Element;

constexpr unsigned kThreads = 256;
constexpr std::int64_t kMostBlocks = 2048;

// The enumerations cross to the device as numbers.
static_assert(static_cast<int>(Type::f64) == static_cast<int>(Element::f64) &&
              static_cast<int>(Type::e4m3) == static_cast<int>(Element::e4m3) &&
              static_cast<int>(Type::s8) == static_cast<int>(Element::s8));
static_assert(static_cast<int>(tune::Epilogue::relu) == static_cast<int>(gpu::Epilogue::relu) &&
              static_cast<int>(tune::Epilogue::swiglu) == static_cast<int>(gpu::Epilogue::swiglu));

Element element(Type type) { return static_cast<Element>(type); }
Bits key(const Content& content) {
  return content.list != nullptr ? std::bit_cast<Bits>(content.list) : generator::key(content.seed, content.buffer);
}
Bits bits(std::int64_t number) { return static_cast<Bits>(number); }

gpu::View device_view(const MatrixView& view) {
  return {view.batch, view.rows, view.cols, view.batch_stride, view.row_stride, view.col_stride};
}

gpu::Scales device_scales(const GpuHelpers::Operand& matrix) {
  const auto& [rows, cols, view] = matrix.scale_view;
  const auto* const data = reinterpret_cast<const float*>(matrix.scales);
  return {data, rows, cols, view.batch_stride, view.row_stride, view.col_stride};
}

/// As many as it takes for one thread each, but no more than that.
unsigned blocks(std::int64_t count, unsigned threads, std::int64_t most) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((count + threads - 1) / threads, 1, std::max<std::int64_t>(most, 1)));
}

/// For blocks that share columns (x), rows (y) and matrices (z).
GpuLaunch::Extents grid(std::int64_t cols, unsigned x, std::int64_t rows, unsigned y, std::int64_t matrices) {
  const unsigned across = blocks(cols, x, kMostBlocks), down = blocks(rows, y, kMostBlocks / across);
  return {across, down, blocks(matrices, 1, kMostBlocks / (across * down))};
}

std::span<std::byte> bytes_of(auto& object) { return std::as_writable_bytes(std::span(&object, 1)); }

}  // namespace

std::string compile_gpu_helpers(const std::string& arch) {
  const GpuCompiler compiler;
  // They wait for memory: a run is ready sooner, and no pass over a matrix takes longer.
  std::vector<std::string> options = compiler.quick_options();
  options.insert(options.end(), {"-std=c++20", gpu::kNoContraction});
  const auto result = compiler.compile("gpu_kernels.cu", gpu_sources::kernels, arch, options,
                                       {{"checking/generator.h", gpu_sources::generator},
                                        {"checking/gpu_elements.h", gpu_sources::elements},
                                        {"checking/gpu_epilogue.h", gpu_sources::epilogue},
                                        {"checking/gpu_kernels.h", gpu_sources::structs}});
  if (!result.compiled)
    throw std::runtime_error(fmt::format("the worker's own kernels do not compile\n{}", result.log));
  return result.code;
}

std::filesystem::path helpers_beside(const std::filesystem::path& reference) { return reference.string() + ".kernels"; }

GpuHelpers::GpuHelpers(const Gpu& gpu, const std::string& code)
    : gpu_(&gpu), module_(gpu, code, "the worker's own kernels"), result_(gpu, sizeof(gpu::Verdict), "a verdict") {}

template <typename... Args>
void GpuHelpers::launch(const char* kernel, GpuLaunch::Extents grid, GpuLaunch::Extents block, Args... args) const {
  GpuLaunch launch;
  launch.function = module_.function(kernel);
  launch.grid = grid;
  launch.block = block;
  void* pointers[] = {&args...};
  gpu_->launch(launch, pointers, kernel);
}

template <typename... Args>
void GpuHelpers::launch_over(const char* kernel, std::int64_t count, Args... args) const {
  launch(kernel, {blocks(count, kThreads, kMostBlocks), 1, 1}, {kThreads, 1, 1}, args...);
}

template <typename... Args>
void GpuHelpers::launch_over(const char* kernel, const gpu::Lines& lines, Args... args) const {
  const std::int64_t across = (lines.length + gpu::kReadAtOnce - 1) / gpu::kReadAtOnce;
  const auto most = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(across, 1)));
  const auto x = static_cast<unsigned>(std::min<std::uint64_t>(most, kThreads)), y = kThreads / x;
  launch(kernel, grid(across, x, lines.lines, y, lines.matrices), {x, y, 1}, args...);
}

void GpuHelpers::fill(const Content& content, gpu::Address data, std::int64_t count) const {
  launch_over("tune_fill", count, element(content.type), content.source, key(content), content.factor, data,
              bits(count));
}

void GpuHelpers::copy_rotated(Type type, gpu::Address original, gpu::Address data, const RotatedView& matrices,
                              bool late) const {
  const gpu::Lines lines = lines_of(matrices);
  launch_over("tune_copy_rotated", lines, element(type), original, data, lines, late);
}

std::optional<std::int64_t> GpuHelpers::smallest(const std::function<void()>& searches) const {
  Bits first = 0;
  result_.set_bytes(0xff, 0, sizeof(first));
  searches();
  result_.copy_to(bytes_of(first));
  if (first == std::numeric_limits<Bits>::max()) return std::nullopt;
  return static_cast<std::int64_t>(first);
}

void GpuHelpers::find_difference(Type type, gpu::Address original, gpu::Address data,
                                 const RotatedView& matrices) const {
  const gpu::Lines lines = lines_of(matrices);
  launch_over("tune_first_difference", lines, element(type), original, data, lines, result_.address());
}

void GpuHelpers::find_padding_difference(Type type, gpu::Address original, Poison pattern, gpu::Address data,
                                         const MatrixView& view, const gpu::Groups& groups, std::int64_t count) const {
  launch_over("tune_padding", count, element(type), original, static_cast<Bits>(pattern), data, device_view(view),
              groups, bits(count), result_.address());
}

void GpuHelpers::find_guard_difference(gpu::Address memory, std::size_t bytes, std::size_t start,
                                       std::size_t size) const {
  launch_over("tune_guards", static_cast<std::int64_t>(bytes - size), memory, Bits{bytes}, Bits{start}, Bits{size},
              static_cast<Bits>(Poison::nan), result_.address());
}

GpuHelpers::Verdict GpuHelpers::compare(const Comparison& c) const {
  gpu::Verdict verdict{};
  result_.set_bytes(0, 0, sizeof(verdict));
  launch("tune_compare", grid(c.view.cols, kThreads, c.view.rows, 1, c.view.batch), {kThreads, 1, 1}, element(c.type),
         c.data, device_view(c.view), c.reference, c.row_norms, c.col_norms, c.change, c.tolerance, c.finish,
         result_.address());
  result_.copy_to(bytes_of(verdict));
  return {static_cast<std::int64_t>(verdict.wrong), std::bit_cast<double>(verdict.largest_ratio)};
}

void GpuHelpers::widen(const Operand& matrix, gpu::Address out) const {
  const MatrixView& view = matrix.view;
  launch_over("tune_widen", view.batch * view.rows * view.cols, element(matrix.type), matrix.data, device_view(view),
              device_scales(matrix), out);
}

double GpuHelpers::scale(gpu::Address c, gpu::Address before, std::int64_t count, double alpha, double beta) const {
  double largest = 0;
  result_.set_bytes(0, 0, sizeof(largest));
  launch_over("tune_scale", count, c, before, bits(count), alpha, beta, result_.address());
  result_.copy_to(bytes_of(largest));
  return largest;
}

void GpuHelpers::norms(gpu::Address data, std::int64_t count, std::int64_t stride, std::int64_t length,
                       std::int64_t elements_apart, gpu::Address out) const {
  launch_over("tune_norms", count, data, bits(count), bits(stride), bits(length), bits(elements_apart), out);
}

void GpuHelpers::turn_signs(const Operand& a, const Operand& b, const gpu::Turns& old, const gpu::Turns& now,
                            double alpha, gpu::Address by_row, gpu::Address by_col) const {
  launch_over("tune_turn_signs", std::max(a.view.batch * a.view.rows, b.view.batch * b.view.cols), element(a.type),
              a.data, device_view(a.view), device_scales(a), element(b.type), b.data, device_view(b.view),
              device_scales(b), old, now, alpha, by_row, by_col);
}

void GpuHelpers::find_infinite(gpu::Address values, std::int64_t count) const {
  launch_over("tune_find_infinite", count, values, bits(count), result_.address());
}

std::uint64_t GpuHelpers::digest(const std::vector<const DeviceMemory*>& memory) const {
  Bits sum = 0, begin = 0;
  result_.set_bytes(0, 0, sizeof(sum));
  for (const DeviceMemory* each : memory) {
    const Bits words = each->bytes() / sizeof(Bits);
    launch_over("tune_digest", static_cast<std::int64_t>(words), each->address(), begin, words, result_.address());
    begin += words;
  }
  result_.copy_to(bytes_of(sum));
  return sum;
}

void GpuHelpers::hold(gpu::Address go, double least, double most, gpu::Address watch) const {
  const auto nanoseconds = [](double seconds) { return static_cast<Bits>(seconds * 1e9); };
  launch("tune_hold", {1, 1, 1}, {1, 1, 1}, go, nanoseconds(least), nanoseconds(most), watch);
}

// Idle multiprocessors get a block each before one gets a second.
void GpuHelpers::look(gpu::Address watch) const {
  const auto blocks = static_cast<unsigned>(2 * std::max(1, gpu_->attribute(gpu::kMultiprocessors)));
  launch("tune_look", {blocks, 1, 1}, {1, 1, 1}, watch);
}

void GpuHelpers::flush(gpu::Address data, std::size_t bytes) const {
  const Bits parts = bytes / 16;
  launch_over("tune_flush", static_cast<std::int64_t>(parts), data, parts, result_.address());
}

}  // namespace tune::worker
