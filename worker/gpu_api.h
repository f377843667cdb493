#pragma once
// The only place that names a vendor's interface: types, the functions that are looked up at run time, constants. The
// rest of the GPU backend is written in these names, so that another vendor's backend is another version of this file.

#include <cuda.h>
#include <nvrtc.h>

namespace tune::gpu {

inline constexpr const char* kVendor = "CUDA";

using Status = CUresult;
using Device = CUdevice;
using Context = CUcontext;
using Module = CUmodule;
using Function = CUfunction;
using Address = CUdeviceptr;
using Stream = CUstream;
using Event = CUevent;
using Attribute = CUdevice_attribute;
using CompilerStatus = nvrtcResult;
using Program = nvrtcProgram;

inline constexpr Status kSuccess = CUDA_SUCCESS;
inline constexpr Status kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
inline constexpr CompilerStatus kCompiled = NVRTC_SUCCESS;

// X(member, function): what is opened at run time. The headers rename functions by macros to their current version;
// both the member's type and the symbol's name follow them.
#define TUNE_GPU_DRIVER(X)                                \
  X(init, cuInit)                                         \
  X(version, cuDriverGetVersion)                          \
  X(error_name, cuGetErrorName)                           \
  X(error_text, cuGetErrorString)                         \
  X(device, cuDeviceGet)                                  \
  X(device_count, cuDeviceGetCount)                       \
  X(device_name, cuDeviceGetName)                         \
  X(device_attribute, cuDeviceGetAttribute)               \
  X(device_memory, cuDeviceTotalMem)                      \
  X(retain_context, cuDevicePrimaryCtxRetain)             \
  X(set_context, cuCtxSetCurrent)                         \
  X(synchronize, cuCtxSynchronize)                        \
  X(allocate, cuMemAlloc)                                 \
  X(free, cuMemFree)                                      \
  X(free_memory, cuMemGetInfo)                            \
  X(copy_to_device, cuMemcpyHtoD)                         \
  X(copy_to_host, cuMemcpyDtoH)                           \
  X(set_bytes, cuMemsetD8Async)                           \
  X(set_words, cuMemsetD16Async)                          \
  X(load_module, cuModuleLoadData)                        \
  X(unload_module, cuModuleUnload)                        \
  X(find_function, cuModuleGetFunction)                   \
  X(function_attribute, cuFuncGetAttribute)               \
  X(set_function_attribute, cuFuncSetAttribute)           \
  X(parameter, cuFuncGetParamInfo)                        \
  X(launch, cuLaunchKernelEx)                             \
  X(create_event, cuEventCreate)                          \
  X(destroy_event, cuEventDestroy)                        \
  X(record_event, cuEventRecord)                          \
  X(wait_for_event, cuEventSynchronize)                   \
  X(elapsed, cuEventElapsedTime)                          \
  X(encode_tensor_map, cuTensorMapEncodeTiled)

#define TUNE_GPU_COMPILER(X)                              \
  X(version, nvrtcVersion)                                \
  X(error_text, nvrtcGetErrorString)                      \
  X(architecture_count, nvrtcGetNumSupportedArchs)        \
  X(architectures, nvrtcGetSupportedArchs)                \
  X(create, nvrtcCreateProgram)                           \
  X(destroy, nvrtcDestroyProgram)                         \
  X(compile, nvrtcCompileProgram)                         \
  X(log_size, nvrtcGetProgramLogSize)                     \
  X(log, nvrtcGetProgramLog)                              \
  X(code_size, nvrtcGetCUBINSize)                         \
  X(code, nvrtcGetCUBIN)

}  // namespace tune::gpu
