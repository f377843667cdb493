// The kernels of this folder as one source file, so that one space of parameters has them all. KERNEL is gemm or gemv.
#if KERNEL_gemv
#include "gemv.cu"
#else
#include "gemm.cu"
#endif
