// What comes after a product, in f32, for kernels on CPUs and GPUs. The macros are those of `defines: [epilogue]` in a
// tuning file (docs/tuning-file.md, GEMM problems): of a plain product there is none, and all of this does nothing.
//
//   epilogue_bias_row, epilogue_bias_col   bias[column] or bias[row] is added to the product
//   epilogue_relu, epilogue_gelu_tanh, epilogue_gelu_erf, epilogue_silu, epilogue_swiglu   then comes a function
//   epilogue_residual                      last, an element of the residual is added, which is laid out as C
//
// With swiglu the product has 2n columns: an element of C is silu(x) times the element n columns further on.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define FINISHES_ON_GPU
#define FINISHING __device__ __forceinline__
#else
#include <cmath>
#include <cstdint>
#include <cstring>
#define FINISHING [[gnu::always_inline]] inline
#endif

#if defined(epilogue_bias_row) || defined(epilogue_bias_col)
#define HAS_BIAS 1
#define BIAS_OR_NULL bias  // the argument of a kernel
#else
#define HAS_BIAS 0
#define BIAS_OR_NULL nullptr
#endif
#ifdef epilogue_residual
#define HAS_RESIDUAL 1
#define RESIDUAL_OR_NULL residual
#else
#define HAS_RESIDUAL 0
#define RESIDUAL_OR_NULL nullptr
#endif
#ifdef epilogue_swiglu
#define IS_SWIGLU 1
#else
#define IS_SWIGLU 0
#endif
#if HAS_BIAS || HAS_RESIDUAL || IS_SWIGLU || defined(epilogue_relu) || defined(epilogue_gelu_tanh) || \
    defined(epilogue_gelu_erf) || defined(epilogue_silu)
#define HAS_EPILOGUE 1
#else
#define HAS_EPILOGUE 0
#endif

namespace {

#ifndef FINISHES_ON_GPU
/// e^x without a branch or a call, so that compilers make vectors of it: 2^(i + f), and 2^f as a polynomial.
FINISHING float exponential(float x) {
  const float t = (x < -87 ? -87 : x > 88 ? 88 : x) * 1.44269504F;
  constexpr float kRound = 12582912;  // 1.5 * 2^23: the sum's last bit is 1
  const float whole = t + kRound, f = t - (whole - kRound);
  const float power =
      1 +
      f * (0.693147181F + f * (0.240226507F + f * (0.0555041087F +
                                                   f * (0.00961812911F + f * (0.00133335581F + f * 0.000154035304F)))));
  std::uint32_t exponent, bits;
  std::memcpy(&exponent, &whole, sizeof whole);
  std::memcpy(&bits, &power, sizeof power);
  bits += exponent << 23;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
#endif

/// x / (1 + e^-s), which is silu for s = x.
FINISHING float gated(float x, float s) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  // Six instructions. With __expf and __fdividef, which keep tiny numbers apart from zero, there would be eleven.
  float power, result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(s * -1.44269504F));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1 + power));
  return x * result;
#elif defined(FINISHES_ON_GPU)
  // A division would be a call.
  return __fdividef(x, 1 + __expf(-s));
#else
  return x / (1 + exponential(-s));
#endif
}

FINISHING float activated(float x) {
#if defined(epilogue_relu)
  return x > 0 ? x : 0;
#elif defined(epilogue_gelu_tanh)
  return gated(x, x * (1.59576912F + 0.0713548163F * x * x));  // (1 + tanh z) / 2 = 1 / (1 + e^-2z)
#elif defined(epilogue_gelu_erf)
  return 0.5F * x * (1 + erff(x * 0.707106781F));
#elif defined(epilogue_silu) || defined(epilogue_swiglu)
  return gated(x, x);
#else
  return x;
#endif
}

/// What the kernel was given besides the matrices; null where there is none. C and the residual are row-major.
struct Epilogue {
  const float *bias, *residual;
  int n;  ///< columns of C

  FINISHING float biased(float sum, long long row, int col) const {
#if defined(epilogue_bias_row)
    return sum + bias[col];
#elif defined(epilogue_bias_col)
    return sum + bias[row];
#else
    return sum;
#endif
  }
  /// The element of C. `further`: the sum n columns further on, which swiglu alone takes.
  FINISHING float finished(float sum, float further, long long row, int col) const {
    float y = activated(biased(sum, row, col));
    if (IS_SWIGLU) y *= biased(further, row, n + col);
    return HAS_RESIDUAL ? y + residual[row * n + col] : y;
  }
};

}  // namespace
