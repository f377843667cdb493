// C = alpha*A*B + beta*C + bias by definition, for every element type and every layout: IN, OUT and ACC are types, all
// else is an argument. Not an example to follow.
#include <cstdint>

namespace {

double value(double x) { return x; }
float value(float x) { return x; }
float value(_Float16 x) { return static_cast<float>(x); }
float value(std::uint16_t bf16) { return __builtin_bit_cast(float, std::uint32_t{bf16} << 16); }
#ifndef FRACTION
#define FRACTION 3
#endif
/// fp8 with so many bits behind the point.
float value(std::uint8_t code) {
  const float x = __builtin_bit_cast(float, (code & 0x80U) << 24 | (code & 0x7fU) << (23 - FRACTION));
  return x * (FRACTION == 3 ? 0x1p120F : 0x1p112F);
}
std::int32_t value(std::int8_t x) { return x; }
std::int32_t value(std::int32_t x) { return x; }

template <typename Out, typename Acc>
Out store(Acc x) {
  return static_cast<Out>(x);
}
template <>
std::uint16_t store<std::uint16_t, float>(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::int64_t offset(std::int64_t row, std::int64_t col, std::int64_t ld, bool is_col) {
  return is_col ? col * ld + row : row * ld + col;
}

struct Bias {
  const OUT* values = nullptr;
  bool is_col = false;
  template <typename Acc>
  Acc at(int row, int col) const {
    return values ? static_cast<Acc>(value(values[is_col ? row : col])) : 0;
  }
};

struct Sizes {
  int m, n, k, batch;
  std::int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  int a_col, b_col, c_col;
};

void multiply(const IN* A, const IN* B, OUT* C, const Sizes& s, ACC alpha, ACC beta, const Bias& bias) {
  for (int matrix = 0; matrix < s.batch; ++matrix, A += s.stride_a, B += s.stride_b, C += s.stride_c)
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        ACC sum = 0;
        for (int p = 0; p < s.k; ++p)
          sum += static_cast<ACC>(value(A[offset(i, p, s.lda, s.a_col)])) *
                 static_cast<ACC>(value(B[offset(p, j, s.ldb, s.b_col)]));
        OUT& c = C[offset(i, j, s.ldc, s.c_col)];
        // What is added has C's type if the accumulator is an integer. With beta 0, C may hold anything, NaN too.
        using Sum = decltype(ACC() + value(OUT()));
        const Sum before = beta == 0 ? 0 : static_cast<Sum>(beta) * static_cast<Sum>(value(c));
        c = store<OUT, Sum>(static_cast<Sum>(alpha * sum) + before + bias.at<Sum>(i, j));
      }
}

}  // namespace

extern "C" void gemm(const IN* A, const IN* B, OUT* C, int m, int n, int k, int batch, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc, std::int64_t stride_a, std::int64_t stride_b,
                     std::int64_t stride_c, int a_col, int b_col, int c_col, ACC alpha, ACC beta) {
  multiply(A, B, C, {m, n, k, batch, lda, ldb, ldc, stride_a, stride_b, stride_c, a_col, b_col, c_col}, alpha, beta,
           {});
}

extern "C" void gemm_bias(const IN* A, const IN* B, OUT* C, int m, int n, int k, int batch, std::int64_t lda,
                          std::int64_t ldb, std::int64_t ldc, std::int64_t stride_a, std::int64_t stride_b,
                          std::int64_t stride_c, int a_col, int b_col, int c_col, ACC alpha, ACC beta, const OUT* bias,
                          int bias_is_col) {
  multiply(A, B, C, {m, n, k, batch, lda, ldb, ldc, stride_a, stride_b, stride_c, a_col, b_col, c_col}, alpha, beta,
           {bias, bias_is_col != 0});
}
