// C = epilogue(A*B + bias) + residual by definition in f32, row-major and tight, with the macros of `defines:
// [epilogue]`. Each fault is one mistake; without one the kernel is right. It is compiled often, and <cmath> would take
// most of the compiler's time: its functions are the compiler's own.
#include "epilogue_faults.h"

namespace {

using enum EpilogueFault;
EpilogueFault fault = kNone;  ///< of this launch

float gelu_tanh(float x) { return 0.5F * x * (1 + __builtin_tanhf(0.797884561F * (x + 0.044715F * x * x * x))); }
float gelu_erf(float x) { return 0.5F * x * (1 + __builtin_erff(0.707106781F * x)); }
float sigmoid(float x) { return 1 / (1 + __builtin_expf(-x)); }

float right(float x) {
#if defined(epilogue_relu)
  return x > 0 ? x : 0;
#elif defined(epilogue_gelu_tanh)
  return gelu_tanh(x);
#elif defined(epilogue_gelu_erf)
  return gelu_erf(x);
#elif defined(epilogue_silu) || defined(epilogue_swiglu)
  return x * sigmoid(x);
#else
  return x;
#endif
}

float activated(float x) {
  switch (fault) {
    case kNoActivation:
      return x;
    case kRelu:
      return x > 0 ? x : 0;
    case kGeluErf:
      return gelu_erf(x);
    case kGeluTanh:
      return gelu_tanh(x);
    case kSilu:
      return x * sigmoid(x);
    case kSigmoid:
      return sigmoid(x);
    default:
      return right(x);
  }
}

struct Product {
  const float *a, *b;
  int m, n, k;
  int columns;  ///< of B

  /// Over [begin, end) of k.
  float sum(int row, int col, int begin, int end) const {
    float total = 0;
    for (int p = begin; p < end; ++p) total += a[row * k + p] * b[p * columns + col];
    return total;
  }
  float sum(int row, int col) const { return sum(row, col, 0, k); }
};

struct Addends {
  const float *bias, *residual;
  float bias_at(int row, int col) const {
#if defined(epilogue_bias_row)
    return bias[col];
#elif defined(epilogue_bias_col)
    return bias[row];
#else
    return 0;
#endif
  }
};

float element(const Product& product, const Addends& addends, int row, int col) {
  const int n = product.n, k = product.k;
  const float bias = fault == kNoBias ? 0 : addends.bias_at(row, col);
  float residual = 0;
#ifdef epilogue_residual
  if (fault == kResidualTransposed && product.m == n)
    residual = addends.residual[col * n + row];
  else if (fault != kNoResidual)
    residual = addends.residual[row * n + col];
#endif
#ifdef epilogue_swiglu
  const float up = product.sum(row, n + col) + addends.bias_at(row, n + col), gate = product.sum(row, col) + bias;
  return (fault == kHalvesExchanged ? activated(up) * gate : activated(gate) * up) + residual;
#else
  if (fault == kBiasAfterActivation) return activated(product.sum(row, col)) + bias + residual;
  if (fault == kResidualBeforeActivation) return activated(product.sum(row, col) + bias + residual);
  if (fault == kActivationOfPartialSums)
    return activated(product.sum(row, col, 0, k / 2)) + activated(product.sum(row, col, k / 2, k) + bias) + residual;
  return activated(product.sum(row, col) + bias) + residual;
#endif
}

}  // namespace

extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int number_of_fault
#if defined(epilogue_bias_row) || defined(epilogue_bias_col)
                     ,
                     const float* bias
#endif
#ifdef epilogue_residual
                     ,
                     const float* residual
#endif
) {
  fault = EpilogueFault{number_of_fault};
  Addends addends = {nullptr, nullptr};
#if defined(epilogue_bias_row) || defined(epilogue_bias_col)
  addends.bias = bias;
#endif
#ifdef epilogue_residual
  addends.residual = residual;
#endif
#ifdef epilogue_swiglu
  const Product product = {A, B, m, n, k, 2 * n};
#else
  const Product product = {A, B, m, n, k, n};
#endif
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) C[i * n + j] = element(product, addends, i, j);
}
