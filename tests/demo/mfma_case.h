// demo/gemm_mfma.hip with the parameters that are defined, as a class CASE with what the test calls; included once per
// case. The parameters are undefined again.
#define gemm TUNE_GLUE(gemm_, CASE)
#define TUNE_GLUE(x, y) TUNE_GLUE_(x, y)
#define TUNE_GLUE_(x, y) x##y
namespace TUNE_GLUE(kernel_, CASE) {
#include "gemm_mfma.hip"
}
struct CASE {
  using Element = TUNE_GLUE(kernel_, CASE)::Element;
  using Result = TUNE_GLUE(kernel_, CASE)::Result;
  static constexpr int rows = BM, cols = BN, threads = TUNE_GLUE(kernel_, CASE)::kThreads;
  static constexpr auto* kernel = &TUNE_GLUE(kernel_, CASE)::gemm;
};
#undef gemm
#undef TUNE_GLUE
#undef TUNE_GLUE_
#undef CASE
#undef BM
#undef BN
#undef BK
#undef WM
#undef WN
#undef MFMA
#undef KPACK
#undef PAD
#undef STAGES
#undef type_a_f16
#undef type_a_bf16
#undef type_a_f32
#undef type_c_f16
#undef type_c_bf16
