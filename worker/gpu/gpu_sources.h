#pragma once

/// The text of the GPU backend's own kernels and of what they include, for the run-time compiler.
namespace tune::gpu_sources {

extern const char* const generator;  ///< generator.h
extern const char* const elements;   ///< gpu_elements.h
extern const char* const epilogue;   ///< gpu_epilogue.h
extern const char* const structs;    ///< gpu_kernels.h
extern const char* const kernels;    ///< gpu_kernels.cu
extern const char* const multiply;   ///< gpu_multiply.cu

}  // namespace tune::gpu_sources
