#pragma once
// The vendor's GEMM library under names of our own, as gpu_api.h has the driver: types, constants, and the functions
// that are looked up at run time. The two interfaces differ in names and numbers alone.

#ifdef TUNE_HIP
#include "gpu/hip/gpu_blas_api_hip.h"
#else
#include "gpu/cuda/gpu_blas_api_cuda.h"
#endif
