#include "measuring/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "checking/layout.h"

namespace tune::worker {
namespace {

struct Work {
  double flops = 0, bytes = 0;
};

/// Matrices of a batch may overlap: no more is moved than the buffers hold, and C perhaps twice.
Work work_of(const Gemm& gemm) {
  double held = 0;
  for (const Buffer& buffer : buffers_of(gemm)) {
    const double passes = buffer.role == Buffer::Role::inout ? 2 : 1;
    held += passes * static_cast<double>(buffer.count * size_of(buffer.type));
  }
  return {gemm.flops(), std::min(gemm.bytes(), held)};
}

Work work_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return work_of(*gemm);
  if (const auto* custom = std::get_if<Custom>(&problem)) return {custom->flops, custom->bytes};
  return {};
}

/// `137 TFLOP/s`.
std::string rate_text(double rate, const char* unit) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  for (; rate >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) rate /= 1000;
  return fmt::format("{:.3g} {}{}", rate, kPrefixes[prefix], unit);
}

std::optional<std::string> beyond(double work, double seconds, double limit, const char* unit, const char* what) {
  if (limit <= 0 || work <= seconds * limit) return std::nullopt;
  return fmt::format("faster than the device can be: {:.4g} ms would be {}, and its {} is below {}", 1e3 * seconds,
                     rate_text(work / seconds, unit), what, rate_text(limit, unit));
}

}  // namespace

std::optional<std::string> faster_than_possible(const Problem& problem, double seconds, double peak_flops,
                                                double bandwidth, double cached) {
  const Work work = work_of(problem);
  if (auto reason = beyond(work.flops, seconds, peak_flops, "FLOP/s", "peak")) return reason;
  return beyond(std::max(0.0, work.bytes - cached), seconds, bandwidth, "B/s", "memory's bandwidth");
}

}  // namespace tune::worker
