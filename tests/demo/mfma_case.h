// demo/gemm_mfma.hip with the parameters that are defined, as a class CASE with what the test calls; included once per
// case. The parameters are undefined again.
#define gemm TUNE_GLUE(gemm_, CASE)
#define reduce TUNE_GLUE(reduce_, CASE)
#define TUNE_GLUE(x, y) TUNE_GLUE_(x, y)
#define TUNE_GLUE_(x, y) x##y
namespace TUNE_GLUE(kernel_, CASE) {
#include "gemm_mfma.hip"
}
struct CASE {
  using Element = TUNE_GLUE(kernel_, CASE)::Element;
  using Result = TUNE_GLUE(kernel_, CASE)::Result;
  static constexpr int rows = BLOCK_SIZE_M, cols = BLOCK_SIZE_N, threads = TUNE_GLUE(kernel_, CASE)::kThreads;
  static constexpr auto* kernel = &TUNE_GLUE(kernel_, CASE)::gemm;
  static constexpr auto* reduction = &TUNE_GLUE(kernel_, CASE)::reduce;
#if defined(__gfx942__)
  static constexpr bool fp8_is_fnuz = true;
#else
  static constexpr bool fp8_is_fnuz = false;
#endif
  static constexpr int group = GROUP_SIZE_M, splits = SPLIT_K;
};
#undef gemm
#undef reduce
#undef TUNE_GLUE
#undef TUNE_GLUE_
#undef CASE
#undef BLOCK_SIZE_M
#undef BLOCK_SIZE_N
#undef BLOCK_SIZE_K
#undef GROUP_SIZE_M
#undef SPLIT_K
#undef num_warps
#undef WAVES_M
#undef num_stages
#undef waves_per_eu
#undef WAVES_PER_SIMD
#undef matrix_instr_nonkdim
#undef kpack
#undef type_a_f16
#undef type_a_bf16
#undef type_a_f32
#undef type_a_e4m3
#undef type_c_f16
#undef type_c_bf16
