#include "gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend.h"
#include "check.h"
#include "reference.h"

namespace tune {
namespace {

constexpr const char* kWorkspace = "workspace";
constexpr std::size_t kRound = 512;

std::uint16_t word(Poison pattern) { return static_cast<std::uint16_t>(pattern); }

MatrixView view_of(const Problem& problem, const Buffer& buffer) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return view_c(*gemm);
  return {1, 1, buffer.count, 0, 0, 1};
}

/// Matrices that overlap have none: what lies between the rows of one belongs to another.
bool has_padding(const MatrixView& view, std::int64_t count) {
  MatrixView one = view;
  one.batch = 1;
  const bool overlap = view.batch > 1 && view.batch_stride < one.extent();
  return !overlap && view.batch * view.rows * view.cols != count;
}

/// As compare_gemm and compare_custom judge.
gpu::Tolerance tolerance_of(const Verifier& verifier, std::size_t index) {
  if (const auto* gemm = std::get_if<Gemm>(&verifier.problem())) {
    const GemmTolerance tolerance(*gemm, GemmReference(*gemm, verifier.reference()).largest_addend);
    return {tolerance.of_norms(), tolerance.of_reference(), tolerance.constant()};
  }
  double largest = 0;
  for (const double value : verifier.reference_of(index)) largest = std::max(largest, std::fabs(value));
  return {0, 0, custom_tolerance(std::get<Custom>(verifier.problem()), verifier.buffers()[index].type) * largest};
}

}  // namespace

GpuMemory::GpuMemory(const Gpu& gpu, const GpuHelpers& helpers, const wire::MeasureRequest& request,
                     const Verifier& verifier)
    : helpers_(helpers), verifier_(verifier), zero_workspace_(request.zero_workspace), zero_c_(request.zero_c) {
  for (const Buffer& buffer : verifier.buffers()) add(gpu, buffer.name, buffer.count * size_of(buffer.type));
  if (request.workspace_bytes > 0) add(gpu, kWorkspace, request.workspace_bytes);
  sweep_ = DeviceMemory(gpu, 2 * static_cast<std::size_t>(gpu.attribute(gpu::kL2Bytes)), "flushing the L2 cache");
  if (!verifier.has_reference()) return;
  const auto values = std::as_bytes(verifier.reference());
  reference_ = DeviceMemory(gpu, values.size(), "the reference");
  reference_.copy_from(values);
}

void GpuMemory::add(const Gpu& gpu, const std::string& name, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes), rounded = (size + kRound - 1) / kRound * kRound;
  buffers_.push_back({name, size, DeviceMemory(gpu, kBand + rounded + kBand, name)});
}

gpu::Address GpuMemory::address(const std::string& name) const {
  for (const Guarded& buffer : buffers_)
    if (buffer.name == name) return buffer.address();
  throw Refusal(Stage::load, fmt::format("launch.args: there is no buffer {}", name));
}

void GpuMemory::fill() {
  for (Guarded& buffer : buffers_) buffer.memory.set_words(word(Poison::nan), 0, buffer.memory.bytes());
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (const auto content = verifier_.content(i))
      helpers_.fill(*content, buffers_[i].address(), verifier_.buffers()[i].count);
}

void GpuMemory::reset(Poison pattern) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool keeps = i < verifier_.buffers().size() && verifier_.buffers()[i].role != Buffer::Role::out;
    if (!keeps) buffers_[i].memory.set_words(word(pattern), kBand, buffers_[i].bytes);
  }
  restore();
}

void GpuMemory::restore() {
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (const Buffer& buffer = verifier_.buffers()[i]; buffer.role == Buffer::Role::inout)
      helpers_.fill(*verifier_.content(i), buffers_[i].address(), buffer.count);
}

bool GpuMemory::needs_restoring() const {
  return std::ranges::any_of(verifier_.buffers(),
                             [](const Buffer& buffer) { return buffer.role == Buffer::Role::inout; });
}

void GpuMemory::zero() {
  for (Guarded& buffer : buffers_)
    if ((zero_c_ && buffer.name == "C") || (zero_workspace_ && buffer.name == kWorkspace))
      buffer.memory.set_bytes(0, kBand, buffer.bytes);
}

void GpuMemory::flush() { sweep_.set_bytes(0, 0, sweep_.bytes()); }

void GpuMemory::verify_guards() const {
  for (const Guarded& buffer : buffers_) {
    std::vector<std::byte> before(kBand), behind(buffer.memory.bytes() - kBand - buffer.bytes);
    buffer.memory.copy_to(before);
    buffer.memory.copy_to(behind, kBand + buffer.bytes);
    if (const auto hit = intrusion(buffer.name, before, behind, buffer.bytes)) throw Refusal(Stage::check, *hit);
  }
}

double GpuMemory::verify(Poison pattern) const {
  verify_guards();
  double largest = 0;
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i) {
    const Buffer& buffer = verifier_.buffers()[i];
    if (buffer.role != Buffer::Role::in) {
      largest = std::max(largest, verify_output(i, pattern));
    } else if (const auto at = helpers_.first_difference(*verifier_.content(i), buffers_[i].address(), buffer.count)) {
      throw Refusal(Stage::check, overwritten_text(buffer.name, *at));
    }
  }
  return largest;
}

double GpuMemory::verify_output(std::size_t index, Poison pattern) const {
  const MatrixView view = view_of(verifier_.problem(), verifier_.buffers()[index]);
  const Buffer& buffer = verifier_.buffers()[index];
  GpuHelpers::Verdict verdict;
  if (verifier_.has_reference()) verdict = helpers_.compare(comparison(index));
  const bool damaged =
      has_padding(view, buffer.count) && helpers_.padding_differs(buffer.type, verifier_.content(index), pattern,
                                                                  buffers_[index].address(), view, buffer.count);
  return verdict.wrong > 0 || damaged ? verify_on_host(index, pattern) : verdict.largest_ratio;
}

double GpuMemory::verify_on_host(std::size_t index, Poison pattern) const {
  std::vector<std::byte> copy(buffers_[index].bytes);
  buffers_[index].memory.copy_to(copy, kBand);
  return verifier_.verify(index, copy.data(), pattern);
}

GpuHelpers::Comparison GpuMemory::comparison(std::size_t index) const {
  const Buffer& buffer = verifier_.buffers()[index];
  GpuHelpers::Comparison result;
  result.type = buffer.type;
  result.data = buffers_[index].address();
  result.view = view_of(verifier_.problem(), buffer);
  result.tolerance = tolerance_of(verifier_, index);
  const auto device_address = [this](std::span<const double> values) {
    return reference_.address() +
           static_cast<std::size_t>(values.data() - verifier_.reference().data()) * sizeof(double);
  };
  if (const auto* gemm = std::get_if<Gemm>(&verifier_.problem())) {
    const GemmReference reference(*gemm, verifier_.reference());
    result.reference = device_address(reference.c);
    result.row_norms = device_address(reference.row_norms);
    result.col_norms = device_address(reference.col_norms);
  } else {
    result.reference = device_address(verifier_.reference_of(index));
  }
  return result;
}

}  // namespace tune
