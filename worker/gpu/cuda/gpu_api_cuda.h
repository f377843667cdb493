#pragma once
// NVIDIA's driver and run-time compiler; gpu_library.h says what for.

#include <cuda.h>
#include <nvrtc.h>

#include "model/device.h"

namespace tune::gpu {

inline constexpr Backend kBackend = Backend::cuda;
inline constexpr const char* kVendor = "CUDA";
inline constexpr const char* kCompilerAdvice = "install NVRTC or set CUDA_HOME";
inline constexpr const char* kToolkitVariables[] = {"CUDA_HOME", "CUDA_PATH"};
inline constexpr const char* kToolkit = "/usr/local/cuda";
inline constexpr bool kDriverInToolkit = false;  // what toolkits have is a stub
inline constexpr const char* kDriverLibraries[] = {"libcuda.so.1"};
inline constexpr const char* kCompilerLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

using Status = CUresult;
using Device = CUdevice;
using Uuid = CUuuid;
using Context = CUcontext;
using Module = CUmodule;
using Function = CUfunction;
using Address = CUdeviceptr;  // a number, to calculate with
using Pointer = CUdeviceptr;  // what the interface takes
using Stream = CUstream;
using Event = CUevent;
using Attribute = CUdevice_attribute;
using CompilerStatus = nvrtcResult;
using Program = nvrtcProgram;

using TensorMap = CUtensorMap;
using ShareHandle = CUipcMemHandle;

inline Pointer to_pointer(Address address) { return address; }
inline Address to_address(Pointer pointer) { return pointer; }

inline constexpr Attribute kComputeMajor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
inline constexpr Attribute kComputeMinor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
inline constexpr Attribute kCooperativeLaunch = CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
inline constexpr Attribute kL2Bytes = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
inline constexpr Attribute kMaxBlocks = CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR;
inline constexpr Attribute kMaxRegisters = CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
inline constexpr Attribute kMaxShared = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
inline constexpr Attribute kMultiprocessorShared = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
inline constexpr Attribute kMaxThreads = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
inline constexpr Attribute kMultiprocessorThreads = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
inline constexpr Attribute kMultiprocessors = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
inline constexpr Attribute kWarpSize = CU_DEVICE_ATTRIBUTE_WARP_SIZE;
inline constexpr Attribute kComputeMode = CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
inline constexpr int kExclusiveProcess = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
inline constexpr int kProhibited = CU_COMPUTEMODE_PROHIBITED;
inline constexpr Attribute kClock = CU_DEVICE_ATTRIBUTE_CLOCK_RATE;                        // kHz
inline constexpr Attribute kMemoryClock = CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;           // kHz
inline constexpr Attribute kMemoryBusWidth = CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;  // bits

inline constexpr unsigned kMappedToDevice = CU_MEMHOSTALLOC_DEVICEMAP;
inline constexpr unsigned kOpenShared = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
inline constexpr std::size_t kLeastFlush = 0;  ///< bytes; what the L2 cache is does
inline constexpr auto kStaticShared = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;

inline constexpr Status kSuccess = CUDA_SUCCESS;
inline constexpr Status kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
inline constexpr CompilerStatus kCompiled = NVRTC_SUCCESS;

// X(member, function): what is opened at run time. The headers rename functions by macros to their current version;
// both the member's type and the symbol's name follow them.
#define TUNE_GPU_DRIVER(X)                          \
  X(init, cuInit)                                   \
  X(version, cuDriverGetVersion)                    \
  X(error_name, cuGetErrorName)                     \
  X(error_text, cuGetErrorString)                   \
  X(device, cuDeviceGet)                            \
  X(device_count, cuDeviceGetCount)                 \
  X(device_name, cuDeviceGetName)                   \
  X(device_uuid, cuDeviceGetUuid)                   \
  X(device_attribute, cuDeviceGetAttribute)         \
  X(device_memory, cuDeviceTotalMem)                \
  X(retain_context, cuDevicePrimaryCtxRetain)       \
  X(set_context, cuCtxSetCurrent)                   \
  X(synchronize, cuCtxSynchronize)                  \
  X(forget_persisting, cuCtxResetPersistingL2Cache) \
  X(allocate, cuMemAlloc)                           \
  X(free, cuMemFree)                                \
  X(free_memory, cuMemGetInfo)                      \
  X(allocate_on_host, cuMemHostAlloc)               \
  X(share, cuIpcGetMemHandle)                       \
  X(open_shared, cuIpcOpenMemHandle)                \
  X(close_shared, cuIpcCloseMemHandle)              \
  X(copy_on_device, cuMemcpyDtoD)                   \
  X(copy_to_device, cuMemcpyHtoD)                   \
  X(copy_to_host, cuMemcpyDtoH)                     \
  X(set_bytes, cuMemsetD8Async)                     \
  X(set_words, cuMemsetD16Async)                    \
  X(load_module, cuModuleLoadData)                  \
  X(unload_module, cuModuleUnload)                  \
  X(find_function, cuModuleGetFunction)             \
  X(function_attribute, cuFuncGetAttribute)         \
  X(set_function_attribute, cuFuncSetAttribute)     \
  X(parameter, cuFuncGetParamInfo)                  \
  X(launch, cuLaunchKernelEx)                       \
  X(create_event, cuEventCreate)                    \
  X(destroy_event, cuEventDestroy)                  \
  X(record_event, cuEventRecord)                    \
  X(wait_for_event, cuEventSynchronize)             \
  X(elapsed, cuEventElapsedTime)                    \
  X(encode_tensor_map, cuTensorMapEncodeTiled)

#define TUNE_GPU_COMPILER(X)                       \
  X(version, nvrtcVersion)                         \
  X(error_text, nvrtcGetErrorString)               \
  X(architecture_count, nvrtcGetNumSupportedArchs) \
  X(architectures, nvrtcGetSupportedArchs)         \
  X(create, nvrtcCreateProgram)                    \
  X(destroy, nvrtcDestroyProgram)                  \
  X(compile, nvrtcCompileProgram)                  \
  X(log_size, nvrtcGetProgramLogSize)              \
  X(log, nvrtcGetProgramLog)                       \
  X(code_size, nvrtcGetCUBINSize)                  \
  X(code, nvrtcGetCUBIN)

}  // namespace tune::gpu
