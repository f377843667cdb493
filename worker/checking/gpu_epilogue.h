#pragma once
// What a right element of C is, of what is known of the product before the epilogue. Host and device compile this text,
// for which run-time compilers declare the functions of <cmath> themselves.
#include "checking/gpu_elements.h"

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#include <cmath>
#endif

namespace tune::gpu {

/// Numbered as Epilogue of model/problem.h.
enum class Epilogue : int { none, relu, gelu_tanh, gelu_erf, silu, swiglu };

/// A number, and how far from it that of a right kernel may be.
struct Estimate {
  double value, error;
};

/// How far right elements may be from the reference; reference.h says why.
struct Tolerance {
  double of_norms, of_sum, addends;  ///< before the epilogue: of the norms' product, relative to the sum, and fixed
  double of_function;                ///< of the activation: relative to the sum
  double of_result, smallest;        ///< of rounding to C's type: relative to the result, and fixed
};

/// The activation of one number; that of swiglu is silu.
TUNE_HOST_DEVICE inline double activated(Epilogue epilogue, double x) {
  constexpr double kRootOf2OverPi = 0.79788456080286535588, kRootOfHalf = 0.70710678118654752440;
  switch (epilogue) {
    case Epilogue::relu:
      return x < 0 ? 0 : x;
    case Epilogue::gelu_tanh:
      return 0.5 * x * (1 + tanh(kRootOf2OverPi * (x + 0.044715 * x * x * x)));
    case Epilogue::gelu_erf:
      return 0.5 * x * (1 + erf(x * kRootOfHalf));
    case Epilogue::silu:
    case Epilogue::swiglu:
      return x / (1 + exp(-x));
    default:
      return x;
  }
}

/// No activation is steeper anywhere.
TUNE_HOST_DEVICE inline double steepest(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::gelu_tanh:
    case Epilogue::gelu_erf:
      return 1.13;
    case Epilogue::silu:
    case Epilogue::swiglu:
      return 1.1;
    default:
      return 1;
  }
}

TUNE_HOST_DEVICE inline double magnitude(double x) { return x < 0 ? -x : x; }

/// alpha*A*B + beta*C + bias. `norms` is the product of its row's and its column's norm.
TUNE_HOST_DEVICE inline Estimate before_epilogue(const Tolerance& tolerance, double value, double norms) {
  return {value, tolerance.of_norms * norms + tolerance.of_sum * magnitude(value) + tolerance.addends};
}

/// An element of C before the residual is added and all is rounded. `up` is what swiglu multiplies the activation by.
TUNE_HOST_DEVICE inline Estimate after_epilogue(Epilogue epilogue, const Tolerance& tolerance, Estimate x,
                                                Estimate up) {
  if (epilogue == Epilogue::none) return x;
  const double value = activated(epilogue, x.value);
  const bool approximated = epilogue != Epilogue::relu;
  const double error = steepest(epilogue) * x.error + (approximated ? tolerance.of_function * magnitude(x.value) : 0);
  if (epilogue != Epilogue::swiglu) return {value, error};
  // Kernels that round both factors to C's type are right, too.
  const double product = value * up.value;
  return {product, error * (magnitude(up.value) + up.error) + magnitude(value) * up.error +
                       2 * tolerance.of_result * magnitude(product)};
}

/// With the residual (0: none) added and rounded to C's type.
TUNE_HOST_DEVICE inline Estimate rounded(const Tolerance& tolerance, Estimate y, double residual) {
  const double value = y.value + residual;
  const double added = residual == 0 ? 0 : tolerance.of_sum * (magnitude(y.value) + magnitude(residual));
  return {value, y.error + added + tolerance.of_result * magnitude(value) + tolerance.smallest};
}

}  // namespace tune::gpu
