// The part of hipBLASLt that tune-worker-hip opens, as a library over cuBLASLt; it lies beside that of hip_on_cuda.cpp.
// HIPBLASLT_ON_CUDA=wrong makes it compute wrong results, =failing none.
#include <cublasLt.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "gpu/hip/gpu_blas_api_hip.h"

namespace tune::blas {
namespace {

/// What the identifiers that are given out stand for.
std::vector<cublasLtMatmulAlgo_t> algorithms;

Status status(cublasStatus_t result) {
  constexpr int kInternalError = 6, kNotSupported = 7;
  if (result == CUBLAS_STATUS_SUCCESS) return kSuccess;
  return static_cast<Status>(result == CUBLAS_STATUS_NOT_SUPPORTED ? kNotSupported : kInternalError);
}

cublasLtHandle_t own(Handle handle) { return static_cast<cublasLtHandle_t>(handle); }
cublasLtMatmulDesc_t own(Product product) { return reinterpret_cast<cublasLtMatmulDesc_t>(product); }
cublasLtMatrixLayout_t own(Matrix matrix) { return reinterpret_cast<cublasLtMatrixLayout_t>(matrix); }

cudaDataType_t own(DataType type) {
  switch (type) {
    case kF32:
      return CUDA_R_32F;
    case kF64:
      return CUDA_R_64F;
    case kF16:
      return CUDA_R_16F;
    case kBf16:
      return CUDA_R_16BF;
    case kE4m3:
      return CUDA_R_8F_E4M3;
    case kE5m2:
      return CUDA_R_8F_E5M2;
    case kS32:
      return CUDA_R_32I;
    case kS8:
      return CUDA_R_8I;
  }
  return CUDA_C_64U;
}

cublasComputeType_t own(ComputeType type) {
  switch (type) {
    case kComputeF16:
      return CUBLAS_COMPUTE_16F;
    case kComputeF32:
      return CUBLAS_COMPUTE_32F;
    case kComputeTf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case kComputeF64:
      return CUBLAS_COMPUTE_64F;
    case kComputeS32:
      return CUBLAS_COMPUTE_32I;
  }
  return CUBLAS_COMPUTE_16F_PEDANTIC;
}

/// `value` is hipBLASLt's for the attribute, and is read as such.
template <typename T>
T read(const void* value) {
  T result{};
  std::memcpy(&result, value, sizeof(result));
  return result;
}

template <typename T>
Status set(Product product, cublasLtMatmulDescAttributes_t attribute, T value) {
  return status(cublasLtMatmulDescSetAttribute(own(product), attribute, &value, sizeof(value)));
}

bool told_to_be(std::string_view what) {
  const char* told = std::getenv("HIPBLASLT_ON_CUDA");
  return told && told == what;
}

cublasOperation_t operation(const void* value) {
  return read<Operation>(value) == kTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

extern "C" {

Status hipblasLtCreate(Handle* handle) { return status(cublasLtCreate(reinterpret_cast<cublasLtHandle_t*>(handle))); }
Status hipblasLtGetVersion(Handle, int* version) {
  *version = kOldest;
  return kSuccess;
}

/// hipBLASLt takes no f16 for the factors.
Status hipblasLtMatmulDescCreate(Product* product, ComputeType compute, DataType scale) {
  if (scale == kF16) return status(CUBLAS_STATUS_NOT_SUPPORTED);
  return status(cublasLtMatmulDescCreate(reinterpret_cast<cublasLtMatmulDesc_t*>(product), own(compute), own(scale)));
}
Status hipblasLtMatmulDescSetAttribute(Product product, ProductAttribute attribute, const void* value, std::size_t) {
  switch (attribute) {
    case kFirstOperation:
      return set(product, CUBLASLT_MATMUL_DESC_TRANSA, operation(value));
    case kSecondOperation:
      return set(product, CUBLASLT_MATMUL_DESC_TRANSB, operation(value));
    case kEpilogue:
      return set(product, CUBLASLT_MATMUL_DESC_EPILOGUE,
                 static_cast<cublasLtEpilogue_t>(read<std::uint32_t>(value)));  // both number them alike
    case kBiasPointer:
      return set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, read<void*>(value));
    case kBiasType:
      return set(product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, own(read<DataType>(value)));
  }
  return status(CUBLAS_STATUS_NOT_SUPPORTED);
}

Status hipblasLtMatrixLayoutCreate(Matrix* matrix, DataType type, std::uint64_t rows, std::uint64_t cols,
                                   std::int64_t leading) {
  return status(
      cublasLtMatrixLayoutCreate(reinterpret_cast<cublasLtMatrixLayout_t*>(matrix), own(type), rows, cols, leading));
}
Status hipblasLtMatrixLayoutSetAttribute(Matrix matrix, MatrixAttribute attribute, const void* value,
                                         std::size_t bytes) {
  const auto which =
      attribute == kBatchCount ? CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT : CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
  return status(cublasLtMatrixLayoutSetAttribute(own(matrix), which, value, bytes));
}

Status hipblasLtMatmulPreferenceCreate(Preference* preference) {
  return status(cublasLtMatmulPreferenceCreate(reinterpret_cast<cublasLtMatmulPreference_t*>(preference)));
}
Status hipblasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute, const void* value,
                                             std::size_t bytes) {
  return status(cublasLtMatmulPreferenceSetAttribute(reinterpret_cast<cublasLtMatmulPreference_t>(preference),
                                                     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, value, bytes));
}

Status hipblasLtMatmulAlgoGetHeuristic(Handle handle, Product product, Matrix a, Matrix b, Matrix c, Matrix d,
                                       Preference preference, int most, Found* found, int* count) {
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  const auto result = cublasLtMatmulAlgoGetHeuristic(own(handle), own(product), own(a), own(b), own(c), own(d),
                                                     reinterpret_cast<cublasLtMatmulPreference_t>(preference), most,
                                                     results.data(), count);
  if (result != CUBLAS_STATUS_SUCCESS) return status(result);
  results.resize(static_cast<std::size_t>(*count));
  for (const auto& own_result : results) {
    const std::size_t identifier = algorithms.size();
    algorithms.push_back(own_result.algo);
    *found = {};
    std::memcpy(found->algo.bytes, &identifier, sizeof(identifier));
    found->state = status(own_result.state);
    ++found;
  }
  return kSuccess;
}

Status hipblasLtMatmul(Handle handle, Product product, const void* alpha, const void* a, Matrix a_layout, const void* b,
                       Matrix b_layout, const void* beta, const void* c, Matrix c_layout, void* d, Matrix d_layout,
                       const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, void* stream) {
  if (told_to_be("failing")) return status(CUBLAS_STATUS_EXECUTION_FAILED);
  return status(cublasLtMatmul(own(handle), own(product), told_to_be("wrong") ? beta : alpha, a, own(a_layout), b,
                               own(b_layout), beta, c, own(c_layout), d, own(d_layout),
                               &algorithms.at(read<std::size_t>(algorithm->bytes)), workspace, workspace_bytes,
                               static_cast<cudaStream_t>(stream)));
}

}  // extern "C"

}  // namespace tune::blas
