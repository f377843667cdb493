// A kernel of demo/hopper for the emulated machine. KERNEL and the parameters are defined on the command line.
#include "demo/hopper_emulator/machine.h"

#define gemm KERNEL
#include "gemm.cu"
#undef gemm

namespace {

#if HAS_BLOCK_SCALES
constexpr auto kScaleA = tune::hopper::Kernel::Scales::blocks, kScaleB = kScaleA;
#elif HAS_LINE_SCALES
#if scale_a_row
constexpr auto kScaleA = tune::hopper::Kernel::Scales::line;
#else
constexpr auto kScaleA = tune::hopper::Kernel::Scales::tensor;
#endif
#if scale_b_col
constexpr auto kScaleB = tune::hopper::Kernel::Scales::line;
#else
constexpr auto kScaleB = tune::hopper::Kernel::Scales::tensor;
#endif
#else
constexpr auto kScaleA = tune::hopper::Kernel::Scales::none, kScaleB = kScaleA;
#endif

#define AS_TEXT(x) #x
#define TEXT_OF_NAME(x) AS_TEXT(x)

void call(const tune::hopper::Kernel::Arguments& x) {
  KERNEL(x.a, x.b,
#if EPILOGUE_tma
         x.c_map,
#endif
         x.c, x.workspace, x.m, x.n, x.k, x.ldc, x.group, x.parts, x.stagger, x.cluster_m, x.cluster_n
#if HAS_BIAS
         ,
         x.bias
#endif
#if HAS_RESIDUAL
         ,
         x.residual
#endif
#if HAS_SCALES
         ,
         x.scale_a, x.scale_b
#endif
#if HAS_GROUPS
         ,
         x.groups_list, x.groups, x.max_rows
#endif
  );
}

const bool is_listed = [] {
  tune::hopper::kernels().push_back({
    TEXT_OF_NAME(KERNEL), BM, BN, BK, STAGES, CONSUMERS, SWAP != 0, kStoreBytes, kSplit, HAS_EPILOGUE != 0,
#ifdef epilogue_bias_col
        true,
#else
        false,
#endif
        IS_SWIGLU != 0, kScaleA, kScaleB, HAS_GROUPS != 0,
#ifdef groups_masked
        true,
#else
        false,
#endif
#if HAS_GROUPS
        kHalf > 0 ? 64
        : SWAP    ? BN
                  : BM,
#else
        SWAP ? BN : BM,
#endif
        &call
  });
  return true;
}();

}  // namespace
