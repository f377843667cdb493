#include "cpu/cpu_limits.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "cpu/cpu_probe.h"

namespace tune::worker {
namespace {

constexpr double kHertz = 6.5e9;
constexpr double kBandwidthOfCore = 200e9;
// Operations per cycle of two units for fused multiplication and addition of 512-bit vectors.
constexpr double kVectorF32 = 2 * 2 * 16;
// Of a matrix unit (AMX): 16 x 16 sums of 32 products of 16 bits in 16 cycles. It makes f32 out of several bf16.
constexpr double kMatrix16 = 2 * 16 * 16 * 32 / 16.0;

double cores() { return static_cast<double>(std::max<long>(1, ::sysconf(_SC_NPROCESSORS_CONF))); }

/// Features of other architectures are not known.
bool has_matrix_unit() {
#if defined(__x86_64__)
  return cpu_features().contains("amx_tile");
#else
  return true;
#endif
}

/// The most that elements of a type can be processed with.
double operations_per_cycle(Type type, bool matrix_unit) {
  const auto bytes = static_cast<double>(size_of(type));
  if (type == Type::f64) return matrix_unit ? kMatrix16 / 4 : kVectorF32 / 2;
  // Short types have instructions for sums of products, of twice as many operations.
  const double vector = kVectorF32 * 4 / bytes * (bytes < 4 ? 2 : 1);
  return matrix_unit ? std::max(vector, kMatrix16 * (bytes < 2 ? 2 : 1)) : vector;
}

Type input_type(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  return gemm ? size_of(gemm->a) < size_of(gemm->b) ? gemm->a : gemm->b : Type::s8;
}

}  // namespace

double cpu_most_flops(const Problem& problem) {
  return cores() * kHertz * operations_per_cycle(input_type(problem), has_matrix_unit());
}

double cpu_most_bandwidth() { return cores() * kBandwidthOfCore; }

}  // namespace tune::worker
