#pragma once
// NVIDIA's cuBLASLt; gpu_blas_library.h says what for.

#include <cublasLt.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace tune::blas {

inline constexpr const char* kName = "cuBLASLt";
inline constexpr const char* kLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

using Status = cublasStatus_t;
using Handle = cublasLtHandle_t;
using Product = cublasLtMatmulDesc_t;
using Matrix = cublasLtMatrixLayout_t;
using Preference = cublasLtMatmulPreference_t;
using Algorithm = cublasLtMatmulAlgo_t;
using Found = cublasLtMatmulHeuristicResult_t;
using DataType = cudaDataType_t;
using ComputeType = cublasComputeType_t;
using ProductAttribute = cublasLtMatmulDescAttributes_t;
using MatrixAttribute = cublasLtMatrixLayoutAttribute_t;

inline constexpr Status kSuccess = CUBLAS_STATUS_SUCCESS;
inline constexpr Status kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;
inline constexpr auto kAsIs = CUBLAS_OP_N;
inline constexpr auto kTransposed = CUBLAS_OP_T;

inline constexpr DataType kF64 = CUDA_R_64F;
inline constexpr DataType kF32 = CUDA_R_32F;
inline constexpr DataType kF16 = CUDA_R_16F;
inline constexpr DataType kBf16 = CUDA_R_16BF;
inline constexpr DataType kE4m3 = CUDA_R_8F_E4M3;
inline constexpr DataType kE5m2 = CUDA_R_8F_E5M2;
inline constexpr DataType kS32 = CUDA_R_32I;
inline constexpr DataType kS8 = CUDA_R_8I;

inline constexpr ComputeType kComputeF64 = CUBLAS_COMPUTE_64F;
inline constexpr ComputeType kComputeF32 = CUBLAS_COMPUTE_32F;
inline constexpr ComputeType kComputeTf32 = CUBLAS_COMPUTE_32F_FAST_TF32;
inline constexpr ComputeType kComputeF16 = CUBLAS_COMPUTE_16F;
inline constexpr ComputeType kComputeS32 = CUBLAS_COMPUTE_32I;

inline constexpr ProductAttribute kFirstOperation = CUBLASLT_MATMUL_DESC_TRANSA;
inline constexpr ProductAttribute kSecondOperation = CUBLASLT_MATMUL_DESC_TRANSB;
inline constexpr ProductAttribute kEpilogue = CUBLASLT_MATMUL_DESC_EPILOGUE;
inline constexpr ProductAttribute kBiasPointer = CUBLASLT_MATMUL_DESC_BIAS_POINTER;
inline constexpr ProductAttribute kBiasType = CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE;
inline constexpr ProductAttribute kFastAccumulation = CUBLASLT_MATMUL_DESC_FAST_ACCUM;
inline constexpr bool kHasFastAccumulation = true;
inline constexpr ProductAttribute kFirstScalePointer = CUBLASLT_MATMUL_DESC_A_SCALE_POINTER;
inline constexpr ProductAttribute kSecondScalePointer = CUBLASLT_MATMUL_DESC_B_SCALE_POINTER;
// These are of CUDA 12.8, and the modes of 12.9: the headers may be older than the library.
inline constexpr auto kFirstScaleMode = static_cast<ProductAttribute>(31);
inline constexpr auto kSecondScaleMode = static_cast<ProductAttribute>(32);
inline constexpr std::int32_t kScaleLine = 3, kScaleOf128 = 4, kScaleOf128x128 = 5;
inline constexpr std::string_view kScalesSince = "12.9";
// An epilogue is a function, a bias, or the sum of both numbers.
inline constexpr std::uint32_t kAddBias = CUBLASLT_EPILOGUE_BIAS, kRelu = CUBLASLT_EPILOGUE_RELU,
                               kGelu = CUBLASLT_EPILOGUE_GELU;
static_assert((kRelu | kAddBias) == CUBLASLT_EPILOGUE_RELU_BIAS && (kGelu | kAddBias) == CUBLASLT_EPILOGUE_GELU_BIAS);

inline constexpr MatrixAttribute kBatchCount = CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
inline constexpr MatrixAttribute kBatchStride = CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
inline constexpr auto kMaxWorkspace = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
// Of the matrices' addresses in bytes: of the first, the second, and C before and after.
inline constexpr std::array kAlignments = {
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};

}  // namespace tune::blas

// X(member, function), as in gpu_api_cuda.h.
#define TUNE_GPU_BLAS(X)                                  \
  X(create, cublasLtCreate)                               \
  X(version, cublasLtGetVersion)                          \
  X(status_text, cublasLtGetStatusString)                 \
  X(make_product, cublasLtMatmulDescCreate)               \
  X(set_product, cublasLtMatmulDescSetAttribute)          \
  X(make_matrix, cublasLtMatrixLayoutCreate)              \
  X(set_matrix, cublasLtMatrixLayoutSetAttribute)         \
  X(make_preference, cublasLtMatmulPreferenceCreate)      \
  X(set_preference, cublasLtMatmulPreferenceSetAttribute) \
  X(find_algorithms, cublasLtMatmulAlgoGetHeuristic)      \
  X(multiply, cublasLtMatmul)
