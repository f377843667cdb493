#pragma once
// AMD's hipBLASLt; gpu_blas_library.h says what for. Its headers need not be installed (Debian 12 has none), so the
// part that is used is declared here, after hipblaslt/hipblaslt.h of ROCm/hipBLASLt, hipblas-common.h of
// ROCm/hipBLAS-common and hip/library_types.h of ROCm/hip. All of it is the same from hipBLASLt 0.10 (ROCm 6.3) to 1.2
// (ROCm 7.2). Before 0.6 (ROCm 6.0) the types had other numbers, before 0.10 there was no OCP fp8.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tune::blas {

inline constexpr const char* kName = "hipBLASLt";
inline constexpr const char* kLibraries[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"};
inline constexpr int kOldest = 1000;  // 0.10.0, as hipblasLtGetVersion counts

enum Status : int { kSuccess = 0, kNotSupported = 7 };
using Handle = void*;
using Product = struct OpaqueProduct*;
using Matrix = struct OpaqueMatrix*;
using Preference = struct OpaquePreference*;

struct Algorithm {
  std::uint8_t bytes[16];
  std::size_t max_workspace_bytes;
};
struct Found {
  Algorithm algo;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Found) == 56);  // the library fills an array of them

enum Operation : std::int32_t { kAsIs = 111, kTransposed = 112 };
// fp8 is OCP's, which is ours; that of gfx94x (FNUZ) has other values under the same bits, and numbers of its own.
enum DataType : std::int32_t { kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14, kE4m3 = 28, kE5m2 = 29 };
enum ComputeType : int { kComputeF16 = 0, kComputeF32 = 2, kComputeTf32 = 6, kComputeF64 = 7, kComputeS32 = 9 };
enum ProductAttribute : int {
  kFirstOperation = 0,
  kSecondOperation = 1,
  kEpilogue = 2,
  kBiasPointer = 3,
  kBiasType = 4,
};
// An epilogue is a function, a bias, or the sum of both numbers.
inline constexpr std::uint32_t kAddBias = 4, kRelu = 2, kGelu = 32;
// It has no such attribute.
inline constexpr ProductAttribute kFastAccumulation{};
inline constexpr bool kHasFastAccumulation = false;
// It declares scales of 128 and of 128x128 as not supported yet, and no AMD GPU has shown what the others do.
inline constexpr ProductAttribute kFirstScalePointer{}, kSecondScalePointer{}, kFirstScaleMode{}, kSecondScaleMode{};
inline constexpr std::int32_t kScaleLine = 0, kScaleOf128 = 0, kScaleOf128x128 = 0;
inline constexpr std::string_view kScalesSince;
enum MatrixAttribute : int { kBatchCount = 0, kBatchStride = 1 };
enum PreferenceAttribute : int { kMaxWorkspace = 1 };
inline constexpr std::array<PreferenceAttribute, 0> kAlignments{};  // it asks for none

extern "C" {
Status hipblasLtCreate(Handle* handle);
Status hipblasLtGetVersion(Handle handle, int* version);
Status hipblasLtMatmulDescCreate(Product* product, ComputeType compute, DataType scale);
Status hipblasLtMatmulDescSetAttribute(Product product, ProductAttribute attribute, const void* value,
                                       std::size_t bytes);
Status hipblasLtMatrixLayoutCreate(Matrix* matrix, DataType type, std::uint64_t rows, std::uint64_t cols,
                                   std::int64_t leading);
Status hipblasLtMatrixLayoutSetAttribute(Matrix matrix, MatrixAttribute attribute, const void* value,
                                         std::size_t bytes);
Status hipblasLtMatmulPreferenceCreate(Preference* preference);
Status hipblasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute attribute, const void* value,
                                             std::size_t bytes);
Status hipblasLtMatmulAlgoGetHeuristic(Handle handle, Product product, Matrix a, Matrix b, Matrix c, Matrix d,
                                       Preference preference, int most, Found* found, int* count);
Status hipblasLtMatmul(Handle handle, Product product, const void* alpha, const void* a, Matrix a_layout, const void* b,
                       Matrix b_layout, const void* beta, const void* c, Matrix c_layout, void* d, Matrix d_layout,
                       const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, void* stream);
}

}  // namespace tune::blas

// X(member, function), as in gpu_api_cuda.h.
#define TUNE_GPU_BLAS(X)                                   \
  X(create, hipblasLtCreate)                               \
  X(version, hipblasLtGetVersion)                          \
  X(make_product, hipblasLtMatmulDescCreate)               \
  X(set_product, hipblasLtMatmulDescSetAttribute)          \
  X(make_matrix, hipblasLtMatrixLayoutCreate)              \
  X(set_matrix, hipblasLtMatrixLayoutSetAttribute)         \
  X(make_preference, hipblasLtMatmulPreferenceCreate)      \
  X(set_preference, hipblasLtMatmulPreferenceSetAttribute) \
  X(find_algorithms, hipblasLtMatmulAlgoGetHeuristic)      \
  X(multiply, hipblasLtMatmul)
