#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/problem.h"
#include "model/space.h"

namespace tune::config {

/// A GEMM as BLAS libraries are called: D[m,n] = op(A)[m,k] * op(B)[k,n], all matrices in columns.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transposed_a = false, transposed_b = false;
  Type a = Type::f32, b = Type::f32, c = Type::f32;
  std::optional<double> calls;  ///< how many such calls the line stands for; unset: it only names the problem
};

/// The same product as the entries of a shape. A product in columns is that of the swapped and transposed matrices in
/// rows, which is what a program computes that has its matrices in rows, such as one in PyTorch: so M and N change
/// places, and rowMajorA tells how B lies.
std::vector<Setting> settings_of(const GemmCall& call);

/// What one line of a log says.
struct LogLine {
  enum class Kind {
    other,       ///< nothing about a GEMM
    call,        ///< a GEMM that a shape can stand for
    unreadable,  ///< a GEMM, but of types, orders or sizes that a shape cannot say
    library,     ///< a line of a library's log that is no GEMM
  };
  Kind kind = Kind::other;
  GemmCall call;
};

/// Understands, each on a line of its own,
/// - the trace of cuBLASLt (CUBLASLT_LOG_LEVEL=2 or more) and of hipBLASLt (HIPBLASLT_LOG_LEVEL=2 or more):
///   `[...][Trace][cublasLtMatmul] ... Adesc=[type=R_16BF rows=64 cols=32 ld=64] ... computeDesc=[... transa=OP_T]`;
/// - commands of hipblaslt-bench (HIPBLASLT_LOG_MASK=32): `hipblaslt-bench ... -m 64 -n 32 -k 16 ... --transA T`;
/// - the profile of hipBLASLt (HIPBLASLT_LOG_MASK=64): `- {function: matmul, M: 64, ..., call_count: 3}`;
/// - results of PyTorch's TunableOp: `GemmTunableOp_BFloat16_TN,tn_64_32_16_ld_16_16_64,Gemm_Rocblas_1,0.01`.
LogLine read_log_line(std::string_view line);

}  // namespace tune::config
