#pragma once

/// The text of gpu_kernels.cu and of what it includes, for the run-time compiler.
namespace tune::gpu_sources {

extern const char* const generator;  ///< generator.h
extern const char* const elements;   ///< gpu_elements.h
extern const char* const structs;    ///< gpu_kernels.h
extern const char* const kernels;    ///< gpu_kernels.cu

}  // namespace tune::gpu_sources
