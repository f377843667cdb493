#pragma once
// The vendor's interface under names of our own: types, constants, and the functions that are looked up at run time.
// The GPU backend is compiled once for each vendor; all but gpu_*_cuda.* and gpu_*_hip.* is written in these names.

#ifdef TUNE_HIP
#include "gpu/hip/gpu_api_hip.h"
#else
#include "gpu/cuda/gpu_api_cuda.h"
#endif
