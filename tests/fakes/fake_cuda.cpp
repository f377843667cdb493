// Stands in for the CUDA driver (libcuda.so.1) on a machine without a GPU, so that the workers' own executables run:
// the card of fake_card.h. It runs no machine code, but has the workers' own kernels, compiled for the host, and
// kernels of the tests (A[m,k] * B[k,n] in f32), whose launch takes as long as the card's clock says: 1 ms at 1980 MHz.
// Of these, `gemm` is honest, and the others keep B in another layout. Time passes for the card only while something is
// launched, and everything is done when it is asked for.
#include <cuda.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/fake_card.h"

// One thread of one block does all that a launch is to do: the kernels below walk over what they are given, whatever
// their number of threads is, and what is shared begins as zero.
#define __host__
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
#define TUNE_DEVICE_IS_AMD  // without NVIDIA's machine code in the text
namespace {
struct Index {
  unsigned x = 0, y = 0, z = 0;
};
struct uint4 {
  unsigned x, y, z, w;
};
const Index threadIdx, blockIdx, blockDim{1, 1, 1}, gridDim{1, 1, 1};
using std::min;
void __syncthreads() {}
template <typename T>
void atomicMax(T* at, T value) {
  *at = std::max(*at, value);
}
template <typename T>
void atomicMin(T* at, T value) {
  *at = std::min(*at, value);
}
template <typename T>
void atomicAdd(T* at, T value) {
  *at += value;
}
unsigned long long clock64() { return 0; }
unsigned long long __builtin_amdgcn_s_memrealtime() { return 0; }
}  // namespace
#include "checking/gpu_kernels.cu"

namespace {

using tune::fake::Card;
using tune::gpu::Stamp;

constexpr double kCycles = 1.98e6;  // of a launch of `gemm`
constexpr char kUuid[] = "0123456789abcdef";
constexpr std::size_t kMemory = std::size_t{8} << 30;

double now = 1;     ///< seconds
double cycles = 0;  ///< of a multiprocessor

double hertz() { return 1e6 * Card::read().sm_clock(); }
void pass(double seconds) {
  now += seconds;
  cycles += seconds * hertz();
}
Stamp stamp_now() { return {static_cast<Bits>(1e9 * now), static_cast<Bits>(cycles)}; }

void hold(const int*, Bits least, Bits, Watch* watch) {
  watch->held = stamp_now();
  pass(std::max(1e-9 * static_cast<double>(least), 1e-4));
  watch->released = stamp_now();
  watch->after = {};
}
void look(Watch* watch) { watch->after = stamp_now(); }

void multiply(const double* a, const double* b, double* c, long long m, long long n, long long k) {
  for (long long i = 0; i < m; ++i)
    for (long long j = 0; j < n; ++j) {
      double sum = 0;
      for (long long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}

/// FAKE_LAUNCHES: the name of a file that gets the number of the process for each launch.
void take_time() {
  if (const std::string file = Card::variable("FAKE_LAUNCHES"); !file.empty())
    std::ofstream(file, std::ios::app) << ::getpid() << '\n';
  const double seconds = kCycles / hertz();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));  // so that energy is power times this
  pass(seconds);
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  take_time();
}

/// With B in another layout, which is made anew where `key` is not what it was in the launch before.
template <typename Key>
void gemm_by_columns(const float* a, const float* b, float* c, int m, int n, int k, const Key& key) {
  static std::optional<Key> last;
  static std::vector<float> columns;
  columns.resize(static_cast<std::size_t>(n) * k);
  for (int i = 0; last != key && i < n * k; ++i) columns[i] = b[i % k * n + i / k];
  last = key;
  for (int i = 0; i < m * n; ++i)
    c[i] = std::inner_product(a + i / n * k, a + (i / n + 1) * k, columns.begin() + i % n * k, 0.0F);
  take_time();
}
void gemm_of_first_b(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm_by_columns(a, b, c, m, n, k, true);
}
void gemm_of_b_at(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm_by_columns(a, b, c, m, n, k, b);
}
void gemm_of_b_that_begins(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm_by_columns(a, b, c, m, n, k, std::vector(b, b + 8));
}

std::map<void*, std::size_t> taken;  ///< memory of the card, with its bytes

/// These compute C and change a bit elsewhere.
void gemm_into_a(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm(a, b, c, m, n, k);
  *reinterpret_cast<unsigned char*>(const_cast<float*>(a)) ^= 1;
}
void change_bit_of_all_with(std::size_t bytes) {
  for (const auto& [memory, size] : taken)
    if (size == bytes) *static_cast<unsigned char*>(memory) ^= 1;
}
void gemm_into_original_of_a(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm(a, b, c, m, n, k);
  change_bit_of_all_with(sizeof(float) * static_cast<std::size_t>(m * k));
}
void gemm_into_reference(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm(a, b, c, m, n, k);
  change_bit_of_all_with(sizeof(double) * static_cast<std::size_t>(m * n + m + n + 1));  // with its norms
}

float silu(float x) { return x / (1 + std::exp(-x)); }

/// An element is what `finish` makes of one of the product, of the one n columns further on and of the residual's.
template <typename Finish>
void gemm_and(const float* a, const float* b, float* c, int m, int n, int k, const float* residual, int columns,
              const Finish& finish) {
  const auto product = [&](int i, int j) {
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * columns + j];
    return sum;
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      c[i * n + j] = finish(product(i, j), columns > n ? product(i, n + j) : 0, residual[i * n + j]);
  take_time();
}
void gemm_silu(const float* a, const float* b, float* c, int m, int n, int k, const float* residual) {
  gemm_and(a, b, c, m, n, k, residual, n, [](float x, float, float r) { return silu(x) + r; });
}
void gemm_relu(const float* a, const float* b, float* c, int m, int n, int k, const float* residual) {
  gemm_and(a, b, c, m, n, k, residual, n, [](float x, float, float r) { return std::max(x, 0.0F) + r; });
}
void gemm_silu_of_all(const float* a, const float* b, float* c, int m, int n, int k, const float* residual) {
  gemm_and(a, b, c, m, n, k, residual, n, [](float x, float, float r) { return silu(x + r); });
}
void gemm_swiglu(const float* a, const float* b, float* c, int m, int n, int k, const float* residual) {
  gemm_and(a, b, c, m, n, k, residual, 2 * n, [](float x, float up, float r) { return silu(x) * up + r; });
}
void gemm_swiglu_exchanged(const float* a, const float* b, float* c, int m, int n, int k, const float* residual) {
  gemm_and(a, b, c, m, n, k, residual, 2 * n, [](float x, float up, float r) { return silu(up) * x + r; });
}

/// Of e4m3 matrices, B by columns, with one scale for 128 of k in a row of A and 128x128 of B.
/// `kTile` columns get the scale of their first.
template <int kTile>
void multiply_scaled(const unsigned char* a, const unsigned char* b, float* c, int m, int n, int k,
                     const float* scale_a, int ld_scale_a, const float* scale_b, int ld_scale_b) {
  const auto decoded = [](unsigned char code) {
    return static_cast<float>(tune::gpu::decode(tune::gpu::Element::e4m3, code));
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += decoded(a[i * k + p]) * scale_a[p / 128 * ld_scale_a + i] * decoded(b[j * k + p]) *
               scale_b[j / kTile * kTile / 128 * ld_scale_b + p / 128];
      c[i * n + j] = sum;
    }
  take_time();
}
constexpr auto gemm_scaled = multiply_scaled<1>, gemm_scaled_in_tiles = multiply_scaled<192>;

/// Of groups of rows, each B by columns. `kTile` rows get the matrix of their first.
template <int kTile>
void multiply_groups(const float* a, const float* b, float* c, int m, int n, int k, const int* offsets, int groups) {
  for (int i = 0; i < m; ++i) {
    const auto group = std::upper_bound(offsets, offsets + groups, i / kTile * kTile) - offsets - 1;
    for (int j = 0; j < n; ++j)
      c[i * n + j] = std::inner_product(a + i * k, a + (i + 1) * k, b + (group * n + j) * k, 0.0F);
  }
  take_time();
}
constexpr auto gemm_grouped = multiply_groups<1>, gemm_grouped_in_tiles = multiply_groups<8>;

/// FAKE_LARGE: it takes as long as that of a large reference, after which a device that idles is asleep.
void digest(const Bits* words, Bits begin, Bits count, Bits* total) {
  tune_digest(words, begin, count, total);
  if (!Card::variable("FAKE_LARGE").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(4));
}

struct Kernel {
  std::string name;
  std::vector<std::size_t> sizes;  ///< of its parameters
  std::function<void(void**)> run;
};

template <typename... Parameters, std::size_t... I>
Kernel kernel(const char* name, void (*function)(Parameters...), std::index_sequence<I...>) {
  return {name, {sizeof(Parameters)...}, [function](void** values) {
            function(*static_cast<std::remove_reference_t<Parameters>*>(values[I])...);
          }};
}
template <typename... Parameters>
Kernel kernel(const char* name, void (*function)(Parameters...)) {
  return kernel(name, function, std::index_sequence_for<Parameters...>());
}

#define FAKE_KERNEL(function) kernel(#function, function)
std::vector<Kernel> kernels = {FAKE_KERNEL(tune_fill),
                               FAKE_KERNEL(tune_copy_rotated),
                               FAKE_KERNEL(tune_first_difference),
                               FAKE_KERNEL(tune_padding),
                               FAKE_KERNEL(tune_compare),
                               kernel("tune_digest", digest),
                               FAKE_KERNEL(tune_turn_signs),
                               FAKE_KERNEL(tune_guards),
                               FAKE_KERNEL(tune_widen),
                               FAKE_KERNEL(tune_scale),
                               FAKE_KERNEL(tune_norms),
                               FAKE_KERNEL(tune_find_infinite),
                               FAKE_KERNEL(tune_flush),
                               kernel("tune_multiply", multiply),
                               kernel("tune_hold", hold),
                               kernel("tune_look", look),
                               FAKE_KERNEL(gemm),
                               FAKE_KERNEL(gemm_of_first_b),
                               FAKE_KERNEL(gemm_of_b_at),
                               FAKE_KERNEL(gemm_of_b_that_begins),
                               FAKE_KERNEL(gemm_into_a),
                               FAKE_KERNEL(gemm_into_original_of_a),
                               FAKE_KERNEL(gemm_into_reference),
                               FAKE_KERNEL(gemm_silu),
                               FAKE_KERNEL(gemm_relu),
                               FAKE_KERNEL(gemm_silu_of_all),
                               FAKE_KERNEL(gemm_swiglu),
                               FAKE_KERNEL(gemm_grouped),
                               FAKE_KERNEL(gemm_grouped_in_tiles),
                               FAKE_KERNEL(gemm_scaled),
                               FAKE_KERNEL(gemm_scaled_in_tiles),
                               FAKE_KERNEL(gemm_swiglu_exchanged)};

const Kernel& kernel_of(CUfunction function) { return *reinterpret_cast<const Kernel*>(function); }

const std::map<CUdevice_attribute, int> kAttributes = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 16},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1'980'000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2'619'000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120}};

void* memory_at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult run(CUfunction function, void** parameters) {
  kernel_of(function).run(parameters);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
/// NVRTC asks for functions that are not public, and does without them.
CUresult cuGetExportTable(const void**, const CUuuid*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuDriverGetVersion(int* version) {
  *version = 13'000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "the stand-in of the driver cannot do this";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "fake card", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  std::memcpy(uuid->bytes, kUuid, sizeof(uuid->bytes));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const auto found = kAttributes.find(attribute);
  *value = found == kAttributes.end() ? 0 : found->second;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = kMemory;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuCtxResetPersistingL2Cache() { return CUDA_SUCCESS; }

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  constexpr std::size_t kAlignment = 512;
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  taken[memory] = bytes;
  return memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  taken.erase(memory_at(address));
  std::free(memory_at(address));
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = kMemory;
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return CUDA_SUCCESS;
}
CUresult cuIpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuIpcOpenMemHandle(CUdeviceptr*, CUipcMemHandle, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuIpcCloseMemHandle(CUdeviceptr) { return CUDA_ERROR_NOT_SUPPORTED; }
// Packages use these, on real devices; hip_on_cuda cannot be loaded without them.
CUresult cuMemAllocAsync(CUdeviceptr*, std::size_t, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemFreeAsync(CUdeviceptr, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemcpyDtoDAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemsetD8(CUdeviceptr, unsigned char, std::size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemsetD2D8Async(CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamCreate(CUstream*, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamEndCapture(CUstream, CUgraph*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  std::memmove(memory_at(to), memory_at(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  std::memcpy(memory_at(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, memory_at(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream) {
  std::memset(memory_at(to), value, count);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream) {
  std::fill_n(static_cast<unsigned short*>(memory_at(to)), count, value);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.name == name; });
  if (found == kernels.end()) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(&*found);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule) {
  *count = static_cast<unsigned>(kernels.size());
  return CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule) {
  for (unsigned i = 0; i < count; ++i) functions[i] = reinterpret_cast<CUfunction>(&kernels[i]);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = kernel_of(function).name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const std::vector<std::size_t>& sizes = kernel_of(function).sizes;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  *size = sizes[index];
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction function, void** parameters, void**) {
  return run(function, parameters);
}
CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** parameters, void**) {
  return run(function, parameters);
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new double(0));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<double*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<double*>(event) = now;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  *milliseconds = static_cast<float>(1e3 * (*reinterpret_cast<double*>(stop) - *reinterpret_cast<double*>(start)));
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
}
