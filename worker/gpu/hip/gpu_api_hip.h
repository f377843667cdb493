#pragma once
// AMD's HIP run time and run-time compiler; gpu_library.h says what for.

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#define __HIP_DISABLE_CPP_FUNCTIONS__  // overloads of functions whose address is taken

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstddef>
#include <cstdint>

#include "model/device.h"

// The code generator's; its header may not be installed. 0 is success.
extern "C" int amd_comgr_get_isa_count(std::size_t* count);
extern "C" int amd_comgr_get_isa_name(std::size_t index, const char** name);

namespace tune::gpu {

inline constexpr Backend kBackend = Backend::hip;
inline constexpr const char* kVendor = "HIP";
inline constexpr const char* kCompilerAdvice = "install ROCm (Debian: libamdhip64-dev) or set ROCM_PATH";
inline constexpr const char* kToolkitVariables[] = {"ROCM_PATH", "HIP_PATH"};
inline constexpr const char* kToolkit = "/opt/rocm";
inline constexpr bool kDriverInToolkit = true;
// Libraries of one release belong together: the newest available one of each kind is taken.
inline constexpr const char* kDriverLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                                   "libamdhip64.so"};
// Up to ROCm 5.2 the compiler is a part of the run time.
inline constexpr const char* kCompilerLibraries[] = {"libhiprtc.so.7",   "libhiprtc.so.6", "libhiprtc.so.5",
                                                     "libamdhip64.so.5", "libhiprtc.so",   "libamdhip64.so"};
inline constexpr const char* kGeneratorLibraries[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

using Status = hipError_t;
using Device = hipDevice_t;
using Uuid = hipUUID;
using Module = hipModule_t;
using Function = hipFunction_t;
using Address = std::uintptr_t;  // a number, to calculate with
using Pointer = hipDeviceptr_t;  // what the interface takes
using Stream = hipStream_t;
using Event = hipEvent_t;
using Attribute = hipDeviceAttribute_t;
using CompilerStatus = hiprtcResult;
using Program = hiprtcProgram;
struct TensorMap {};  // there are none
using ShareHandle = hipIpcMemHandle_t;

inline Pointer to_pointer(Address address) { return reinterpret_cast<Pointer>(address); }
inline Address to_address(Pointer pointer) { return reinterpret_cast<Address>(pointer); }

inline constexpr Attribute kComputeMajor = hipDeviceAttributeComputeCapabilityMajor;
inline constexpr Attribute kComputeMinor = hipDeviceAttributeComputeCapabilityMinor;
inline constexpr Attribute kCooperativeLaunch = hipDeviceAttributeCooperativeLaunch;
inline constexpr Attribute kL2Bytes = hipDeviceAttributeL2CacheSize;
inline constexpr Attribute kMaxBlocks = hipDeviceAttributeMaxBlocksPerMultiProcessor;
inline constexpr Attribute kMaxRegisters = hipDeviceAttributeMaxRegistersPerBlock;
inline constexpr Attribute kMaxShared = hipDeviceAttributeMaxSharedMemoryPerBlock;
inline constexpr Attribute kMultiprocessorShared = hipDeviceAttributeMaxSharedMemoryPerMultiprocessor;
inline constexpr Attribute kMaxThreads = hipDeviceAttributeMaxThreadsPerBlock;
inline constexpr Attribute kMultiprocessorThreads = hipDeviceAttributeMaxThreadsPerMultiProcessor;
inline constexpr Attribute kMultiprocessors = hipDeviceAttributeMultiprocessorCount;
inline constexpr Attribute kWarpSize = hipDeviceAttributeWarpSize;
inline constexpr Attribute kComputeMode = hipDeviceAttributeComputeMode;
inline constexpr int kExclusiveProcess = hipComputeModeExclusiveProcess;
inline constexpr int kProhibited = hipComputeModeProhibited;
inline constexpr Attribute kClock = hipDeviceAttributeClockRate;                // kHz
inline constexpr Attribute kMemoryClock = hipDeviceAttributeMemoryClockRate;    // kHz
inline constexpr Attribute kMemoryBusWidth = hipDeviceAttributeMemoryBusWidth;  // bits

inline constexpr unsigned kMappedToDevice = hipHostMallocMapped;
inline constexpr unsigned kOpenShared = hipIpcMemLazyEnablePeerAccess;
// Some have a last-level cache of up to 256 MB behind the L2 cache, of which HIP tells nothing.
inline constexpr std::size_t kLeastFlush = 512 << 20;
inline constexpr auto kStaticShared = HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;

inline constexpr Status kSuccess = hipSuccess;
inline constexpr Status kOutOfMemory = hipErrorOutOfMemory;
inline constexpr CompilerStatus kCompiled = HIPRTC_SUCCESS;

// X(member, function), as in gpu_api_cuda.h.
#define TUNE_GPU_DRIVER(X)                     \
  X(init, hipInit)                             \
  X(version, hipRuntimeGetVersion)             \
  X(error_name, hipGetErrorName)               \
  X(error_text, hipGetErrorString)             \
  X(device, hipDeviceGet)                      \
  X(device_count, hipGetDeviceCount)           \
  X(device_name, hipDeviceGetName)             \
  X(device_uuid, hipDeviceGetUuid)             \
  X(device_attribute, hipDeviceGetAttribute)   \
  X(device_memory, hipDeviceTotalMem)          \
  X(device_properties, hipGetDeviceProperties) \
  X(set_device, hipSetDevice)                  \
  X(synchronize, hipDeviceSynchronize)         \
  X(allocate, hipMalloc)                       \
  X(free, hipFree)                             \
  X(free_memory, hipMemGetInfo)                \
  X(allocate_on_host, hipHostMalloc)           \
  X(share, hipIpcGetMemHandle)                 \
  X(open_shared, hipIpcOpenMemHandle)          \
  X(close_shared, hipIpcCloseMemHandle)        \
  X(copy_on_device, hipMemcpyDtoD)             \
  X(copy_to_device, hipMemcpyHtoD)             \
  X(copy_to_host, hipMemcpyDtoH)               \
  X(set_bytes, hipMemsetD8Async)               \
  X(set_words, hipMemsetD16Async)              \
  X(load_module, hipModuleLoadData)            \
  X(unload_module, hipModuleUnload)            \
  X(find_function, hipModuleGetFunction)       \
  X(function_attribute, hipFuncGetAttribute)   \
  X(launch, hipModuleLaunchKernel)             \
  X(create_event, hipEventCreateWithFlags)     \
  X(destroy_event, hipEventDestroy)            \
  X(record_event, hipEventRecord)              \
  X(wait_for_event, hipEventSynchronize)       \
  X(elapsed, hipEventElapsedTime)

#define TUNE_GPU_COMPILER(X)           \
  X(version, hiprtcVersion)            \
  X(error_text, hiprtcGetErrorString)  \
  X(create, hiprtcCreateProgram)       \
  X(destroy, hiprtcDestroyProgram)     \
  X(compile, hiprtcCompileProgram)     \
  X(log_size, hiprtcGetProgramLogSize) \
  X(log, hiprtcGetProgramLog)          \
  X(code_size, hiprtcGetCodeSize)      \
  X(code, hiprtcGetCode)

// Functions of the library with which hipRTC generates code, and which hipRTC loads when it needs it.
#define TUNE_GPU_GENERATOR(X)                    \
  X(architecture_count, amd_comgr_get_isa_count) \
  X(architecture, amd_comgr_get_isa_name)

}  // namespace tune::gpu
