#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checking/gpu_epilogue.h"
#include "model/problem.h"

namespace tune::worker {

/// What a right result is. Made once per problem and seed, never by the kernel under test.
///
/// GEMM: x = alpha*A*B + beta*C + bias in double precision, and how far from it a right kernel may be. With a_i a row
/// of A, b_j a column of B, both times their scales, and u_acc, u_c the unit roundoffs of the accumulator's and of C's
/// type,
///
///   |x' - x| <= t(x) = g u_acc |alpha| |a_i| |b_j|  +  4 u_acc (|alpha*ab| + |beta*c0| + |bias|)
///   |c - y| <= l t(x)  +  u_f |x|  +  u_c |y|  +  s                                with y = f(x)
///
/// Kept is x, because signs that are turned change it by a known number. f is the epilogue (none: y = x, l = 1, u_f =
/// 0), and l its largest slope. u_f lets a kernel approximate f (relu: 0): 2^-11 where C or the accumulator is a 16-bit
/// type, as fast instructions do, otherwise 8 of the larger of u_acc and u_c. So the two forms of gelu, at most 4.7e-4
/// apart, are told apart where A, B and C are f32 or f64 (f32: up to about k = 65536). Of swiglu, y = f(x) z, the error
/// is that of a product, and 2 u_c |y| more, so that f(x) and z may be rounded to C's type. A residual r adds 4 u_acc
/// (|f(x)| + |r|).
///
/// First term: the sum of k products in any order. Rounding errors that are independent of each other grow with sqrt(k)
/// (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019: lambda
/// sqrt(k) u |a|.|b| for each element), and |a|.|b| is bounded by the norms' product (Cauchy-Schwarz): g = 4 sqrt(k).
///
/// Where inputs are random with mean zero, the sum itself grows with sqrt(k) only, and errors hardly more (Higham and
/// Mary, Sharper probabilistic backward error analysis for basic linear algebra kernels with random data, SIAM J. Sci.
/// Comput. 42, 2020). With f32 or f64 inputs g = min(4 sqrt(k), 16), without which a long sum of products in tf32 would
/// pass for f32; the same where acc is f16, whose tolerance would exceed the result itself. Tensor cores do not round
/// but cut off: where they add b products at a time (b is 4 at least: Fasi, Higham, Mikaitis and Pranesh, Numerical
/// behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7, 2021), k/b sums lose up to 2 u of themselves, all towards
/// zero, together about 0.6 (k/b) u |c|. With |c| at five times its standard deviation, which is a third of |a_i| |b_j|
/// times 3/sqrt(k) for uniform inputs, that is 0.75 sqrt(k) of the unit here: g = min(4 sqrt(k), max(128, sqrt(k))). At
/// k = 65536 that is a quarter of the general bound, which there is more than any single product. Tensor cores keep
/// about 14 bits of a sum of fp8 products (DeepSeek-V3 Technical Report, 2024, section 3.3.2): with such inputs u_acc
/// is at least 2^-14 here, and g = min(4 sqrt(k), 4) if they are random. cuBLASLt's products of e4m3 on an H200 (256 x
/// 256; k 128, 1024, 8192) were off by at most 0.6 of that. Where sums may keep so few digits throughout (fast_accum),
/// they are cut off like the others, 32 products at a time: together 0.6 (k/32) u |c|, or 0.1 sqrt(k) of the unit for
/// such a |c|, so that g = min(4 sqrt(k), max(6, sqrt(k)/8)). The Hopper kernels of demo/ were off by at most 0.8 of
/// that on an H200 (twelve shapes, k from 2048 to 65536), and by 0.72 on an H100 at k = 1040. Second term: alpha, beta,
/// the bias and their sum; with u_c for u_acc where the accumulator is an integer. Third: rounding to C's type; s is
/// its smallest positive number. Integers must be equal.
///
/// Custom problems: |out - ref| <= tolerance * max|ref| over the buffer; where none is declared, the square root of
/// the type's unit roundoff, that is half of its digits, because nothing is known of the computation.
struct GemmReference {
  std::span<const double> x;          ///< batch x rows x columns of B, row-major, tight
  std::span<const double> row_norms;  ///< batch x rows: 2-norms of A's rows
  std::span<const double> col_norms;  ///< matrices of B x columns: 2-norms of B's columns
  double largest_addend = 0;          ///< |beta| max|C| before the launch + max|bias|

  std::uint64_t seed;  ///< of the inputs

  /// The parts of what `compute_reference` returned. Precondition: it was for this problem and seed.
  GemmReference(const Gemm& gemm, std::span<const double> values, std::uint64_t seed_of_inputs);
};

/// The values of a GEMM's reference, as GemmReference takes them apart.
std::vector<double> compute_reference(const Gemm& gemm, std::uint64_t seed);

/// Adds the bias, if there is one, to values in which it is missing.
void add_bias(const Gemm& gemm, std::uint64_t seed, std::span<double> values);

/// The factors of the summands above, for the host and for devices that compare for themselves.
gpu::Tolerance tolerance_of(const Gemm& gemm, double largest_addend);

/// The tolerance relative to the largest element of a custom problem's buffer.
double custom_tolerance(const Custom& problem, Type type);

}  // namespace tune::worker
