// C = alpha*A*B + beta*C by definition, for every element type and every layout: IN, OUT and ACC are types, all else is
// an argument. Not an example to follow.
#include <bit>
#include <cstdint>

namespace {

double value(double x) { return x; }
float value(float x) { return x; }
float value(_Float16 x) { return static_cast<float>(x); }
float value(std::uint16_t bf16) { return std::bit_cast<float>(std::uint32_t{bf16} << 16); }
std::int32_t value(std::int8_t x) { return x; }
std::int32_t value(std::int32_t x) { return x; }

template <typename Out, typename Acc>
Out store(Acc x) {
  return static_cast<Out>(x);
}
template <>
std::uint16_t store<std::uint16_t, float>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::int64_t offset(std::int64_t row, std::int64_t col, std::int64_t ld, bool is_col) {
  return is_col ? col * ld + row : row * ld + col;
}

}  // namespace

extern "C" void gemm(const IN* A, const IN* B, OUT* C, int m, int n, int k, int batch, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc, std::int64_t stride_a, std::int64_t stride_b,
                     std::int64_t stride_c, int a_col, int b_col, int c_col, ACC alpha, ACC beta) {
  for (int matrix = 0; matrix < batch; ++matrix, A += stride_a, B += stride_b, C += stride_c)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        ACC sum = 0;
        for (int p = 0; p < k; ++p)
          sum += static_cast<ACC>(value(A[offset(i, p, lda, a_col)])) *
                 static_cast<ACC>(value(B[offset(p, j, ldb, b_col)]));
        OUT& c = C[offset(i, j, ldc, c_col)];
        // With beta 0, C may hold anything, NaN too.
        const ACC before = beta == 0 ? 0 : beta * static_cast<ACC>(value(c));
        c = store<OUT, ACC>(alpha * sum + before);
      }
}
