// The part of HIP that tune-worker-hip and packages open, as a library over CUDA: with ROCM_PATH set to where it lies,
// the worker's own executable launches, checks and times on an NVIDIA device, which it takes for a gfx90a with waves
// of 32. Code objects are those of HIP in what the worker reads of them: an ELF file with a metadata note; a cubin lies
// behind it.
#define __HIP_PLATFORM_AMD__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <cuda.h>
#include <elf.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <nvrtc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr const char* kArchitecture = "gfx90a";

// Both number their errors alike as far as this library gives any.
hipError_t status(CUresult result) { return static_cast<hipError_t>(result); }
CUresult status(hipError_t error) { return static_cast<CUresult>(error); }
hiprtcResult status(nvrtcResult result) { return static_cast<hiprtcResult>(result); }

CUdeviceptr number(void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

CUstream stream_of(hipStream_t stream) { return reinterpret_cast<CUstream>(stream); }

CUresult current() {
  CUcontext context = nullptr;
  const CUresult made = cuDevicePrimaryCtxRetain(&context, 0);
  return made == CUDA_SUCCESS ? cuCtxSetCurrent(context) : made;
}

CUdevice_attribute attribute_of(hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeComputeCapabilityMajor:
      return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    case hipDeviceAttributeComputeCapabilityMinor:
      return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
    case hipDeviceAttributeL2CacheSize:
      return CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    case hipDeviceAttributeMaxRegistersPerBlock:
      return CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      return CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
    case hipDeviceAttributeMaxThreadsPerBlock:
      return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    case hipDeviceAttributeMultiprocessorCount:
      return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    case hipDeviceAttributeWarpSize:
      return CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    case hipDeviceAttributeComputeMode:
      return CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
    case hipDeviceAttributeClockRate:
      return CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    case hipDeviceAttributeMemoryClockRate:
      return CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;
    case hipDeviceAttributeMemoryBusWidth:
      return CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    default:
      return CU_DEVICE_ATTRIBUTE_MAX;  // an invalid value to CUDA too
  }
}

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  cuFuncGetAttribute(&value, attribute, function);
  return value;
}

nlohmann::json describe(CUfunction function) {
  const char* name = nullptr;
  cuFuncGetName(&name, function);
  nlohmann::json args = nlohmann::json::array();
  std::size_t offset = 0, size = 0;
  while (cuFuncGetParamInfo(function, args.size(), &offset, &size) == CUDA_SUCCESS)
    args.push_back({{".size", size}, {".value_kind", "by_value"}});
  args.push_back({{".size", 8}, {".value_kind", "hidden_global_offset_x"}});
  return {{".name", name},
          {".args", args},
          {".vgpr_count", attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS)},
          {".vgpr_spill_count", attribute_of(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) / 4},
          {".group_segment_fixed_size", attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)}};
}

/// What AMD's compiler notes of the kernels in a code object. Empty if the device does not take the code.
std::string metadata_of(const std::string& cubin) {
  CUmodule module = nullptr;
  unsigned count = 0;
  if (cuInit(0) != CUDA_SUCCESS || current() != CUDA_SUCCESS) return "";
  if (cuModuleLoadData(&module, cubin.data()) != CUDA_SUCCESS) return "";
  cuModuleGetFunctionCount(&count, module);
  std::vector<CUfunction> functions(count);
  cuModuleEnumerateFunctions(functions.data(), count, module);
  nlohmann::json document = {{"amdhsa.kernels", nlohmann::json::array()}};
  for (const CUfunction function : functions) document["amdhsa.kernels"].push_back(describe(function));
  const auto bytes = nlohmann::json::to_msgpack(document);
  return {bytes.begin(), bytes.end()};
}

template <typename T>
std::string bytes_of(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

/// ELF header, one segment with one note, and, where the entry point is said to be, the cubin.
std::string code_object(const std::string& cubin) {
  std::string text = metadata_of(cubin);
  const Elf64_Nhdr note{7, static_cast<Elf64_Word>(text.size()), 32};
  const std::string notes = bytes_of(note) + std::string("AMDGPU\0\0", 8) + text;
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_phoff = sizeof(head);
  head.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(head) + sizeof(segment);
  segment.p_filesz = notes.size() + 3;  // padded by what follows
  head.e_entry = (segment.p_offset + segment.p_filesz + 15) / 16 * 16;
  std::string file = bytes_of(head) + bytes_of(segment) + notes;
  file.resize(head.e_entry);
  return file + cubin;
}

std::string own_option() {
  int major = 0, minor = 0;
  cuInit(0);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
  return "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
}

std::string translated(const std::string& option) {
  if (option == std::string("--offload-arch=") + kArchitecture) return own_option();
  if (option == "-ffp-contract=off") return "--fmad=false";
  return option;
}

nvrtcProgram program_of(hiprtcProgram program) { return reinterpret_cast<nvrtcProgram>(program); }

std::string compiled_code(hiprtcProgram program) {
  std::size_t size = 0;
  nvrtcGetCUBINSize(program_of(program), &size);
  std::string cubin(size, '\0');
  nvrtcGetCUBIN(program_of(program), cubin.data());
  return code_object(cubin);
}

/// What programs were compiled to; making it takes a context.
std::map<hiprtcProgram, std::string> codes;

const std::string& code_of(hiprtcProgram program) {
  const auto found = codes.find(program);
  return found != codes.end() ? found->second : codes.emplace(program, compiled_code(program)).first->second;
}

}  // namespace

/// Which devices are to be seen, under CUDA's name for it; before the first call.
[[gnu::constructor]] static void pass_on_visibility() {
  if (const char* visible = std::getenv("HIP_VISIBLE_DEVICES")) ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
}

extern "C" {

hipError_t hipInit(unsigned flags) { return status(cuInit(flags)); }
hipError_t hipRuntimeGetVersion(int* version) {
  *version = 50'200'000;
  return hipSuccess;
}
const char* hipGetErrorName(hipError_t error) {
  const char* name = "unknown";
  cuGetErrorName(status(error), &name);
  return name;
}
const char* hipGetErrorString(hipError_t error) {
  const char* text = "unknown";
  cuGetErrorString(status(error), &text);
  return text;
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) { return status(cuDeviceGet(device, ordinal)); }
hipError_t hipGetDeviceCount(int* count) {
  const CUresult ready = cuInit(0);
  return status(ready == CUDA_SUCCESS ? cuDeviceGetCount(count) : ready);
}
hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  return status(cuDeviceGetName(name, size, device));
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return status(cuDeviceGetAttribute(value, attribute_of(attribute), device));
}
hipError_t hipDeviceGetUuid(hipUUID* id, hipDevice_t device) {
  return status(cuDeviceGetUuid(reinterpret_cast<CUuuid*>(id), device));
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) { return status(cuDeviceTotalMem(bytes, device)); }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  std::strcpy(properties->gcnArchName, (std::string(kArchitecture) + ":sramecc+:xnack-").c_str());
  return hipSuccess;
}
hipError_t hipSetDevice(int) { return status(current()); }
hipError_t hipGetDevice(int* device) {
  *device = 0;
  return status(current());
}
hipError_t hipDeviceSynchronize() { return status(cuCtxSynchronize()); }

hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  CUdeviceptr address = 0;
  const CUresult result = cuMemAlloc(&address, bytes);
  *pointer = reinterpret_cast<void*>(address);
  return status(result);
}
hipError_t hipFree(void* pointer) { return status(cuMemFree(number(pointer))); }
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) { return status(cuMemGetInfo(free, total)); }
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, std::size_t bytes) {
  return status(cuMemcpyHtoD(number(to), from, bytes));
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return status(cuMemcpyDtoH(to, number(from), bytes));
}
hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned) {
  return status(cuMemHostAlloc(pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream) {
  return status(cuMemcpyDtoDAsync(number(to), number(from), bytes, stream_of(stream)));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return status(cuMemcpyDtoD(number(to), number(from), bytes));
}
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return status(cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), number(pointer)));
}
hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  static_assert(sizeof(handle) == sizeof(CUipcMemHandle));
  CUipcMemHandle same{};
  std::memcpy(&same, &handle, sizeof(same));
  CUdeviceptr address = 0;
  const CUresult result = cuIpcOpenMemHandle(&address, same, flags);
  *pointer = reinterpret_cast<void*>(address);
  return status(result);
}
hipError_t hipIpcCloseMemHandle(void* pointer) { return status(cuIpcCloseMemHandle(number(pointer))); }
hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream) {
  CUdeviceptr address = 0;
  const CUresult result = cuMemAllocAsync(&address, bytes, stream_of(stream));
  *pointer = reinterpret_cast<void*>(address);
  return status(result);
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return status(cuMemFreeAsync(number(pointer), stream_of(stream)));
}
hipError_t hipMemset2DAsync(void* to, std::size_t distance, int value, std::size_t bytes, std::size_t rows,
                            hipStream_t stream) {
  return status(
      cuMemsetD2D8Async(number(to), distance, static_cast<unsigned char>(value), bytes, rows, stream_of(stream)));
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return status(cuMemsetD8(number(to), value, count));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, std::size_t count, hipStream_t stream) {
  return status(cuMemsetD8Async(number(to), value, count, stream_of(stream)));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, std::size_t count, hipStream_t) {
  return status(cuMemsetD16Async(number(to), value, count, nullptr));
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  Elf64_Ehdr head{};
  std::memcpy(&head, image, sizeof(head));
  return status(cuModuleLoadData(reinterpret_cast<CUmodule*>(module), static_cast<const char*>(image) + head.e_entry));
}
hipError_t hipModuleUnload(hipModule_t module) { return status(cuModuleUnload(reinterpret_cast<CUmodule>(module))); }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return status(cuModuleGetFunction(reinterpret_cast<CUfunction*>(function), reinterpret_cast<CUmodule>(module), name));
}
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  if (attribute != HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) return hipErrorInvalidValue;
  *value = attribute_of(reinterpret_cast<CUfunction>(function), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                 hipStream_t stream, void** arguments, void** extra) {
  return status(cuLaunchKernel(reinterpret_cast<CUfunction>(function), grid_x, grid_y, grid_z, block_x, block_y,
                               block_z, shared, stream_of(stream), arguments, extra));
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return status(cuStreamCreate(reinterpret_cast<CUstream*>(stream), flags));
}
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return status(cuStreamBeginCapture(stream_of(stream), static_cast<CUstreamCaptureMode>(mode)));
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return status(cuStreamEndCapture(stream_of(stream), reinterpret_cast<CUgraph*>(graph)));
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* ready, hipGraph_t graph, unsigned long long flags) {
  return status(
      cuGraphInstantiateWithFlags(reinterpret_cast<CUgraphExec*>(ready), reinterpret_cast<CUgraph>(graph), flags));
}
hipError_t hipGraphLaunch(hipGraphExec_t ready, hipStream_t stream) {
  return status(cuGraphLaunch(reinterpret_cast<CUgraphExec>(ready), stream_of(stream)));
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return status(cuEventCreate(reinterpret_cast<CUevent*>(event), flags));
}
hipError_t hipEventDestroy(hipEvent_t event) { return status(cuEventDestroy(reinterpret_cast<CUevent>(event))); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return status(cuEventRecord(reinterpret_cast<CUevent>(event), stream_of(stream)));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return status(cuEventSynchronize(reinterpret_cast<CUevent>(event)));
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return status(cuEventElapsedTime(milliseconds, reinterpret_cast<CUevent>(start), reinterpret_cast<CUevent>(stop)));
}

hiprtcResult hiprtcVersion(int* major, int* minor) { return status(nvrtcVersion(major, minor)); }
const char* hiprtcGetErrorString(hiprtcResult result) { return nvrtcGetErrorString(static_cast<nvrtcResult>(result)); }
hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source, const char* name, int headers,
                                 const char** texts, const char** names) {
  return status(nvrtcCreateProgram(reinterpret_cast<nvrtcProgram*>(program), source, name, headers, texts, names));
}
hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  codes.erase(*program);
  return status(nvrtcDestroyProgram(reinterpret_cast<nvrtcProgram*>(program)));
}
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char** options) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(translated(options[i]));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return status(nvrtcCompileProgram(program_of(program), count, pointers.data()));
}
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, std::size_t* size) {
  return status(nvrtcGetProgramLogSize(program_of(program), size));
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  return status(nvrtcGetProgramLog(program_of(program), log));
}
hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, std::size_t* size) {
  *size = code_of(program).size();
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  code_of(program).copy(code, code_of(program).size());
  return HIPRTC_SUCCESS;
}

int amd_comgr_get_isa_count(std::size_t* count) {
  *count = 1;
  return 0;
}
int amd_comgr_get_isa_name(std::size_t, const char** name) {
  *name = "amdgcn-amd-amdhsa--gfx90a";
  return 0;
}

}  // extern "C"
