// A hipBLASLt that opens and computes nothing: its version is FAKE_HIPBLASLT_VERSION, and without one it does not
// start.
#include <cstdlib>

#include "gpu/hip/gpu_blas_api_hip.h"

namespace tune::blas {
namespace {

const char* version_text() { return std::getenv("FAKE_HIPBLASLT_VERSION"); }

}  // namespace

extern "C" {

Status hipblasLtCreate(Handle* handle) {
  constexpr int kInternalError = 6;
  *handle = handle;
  return version_text() ? kSuccess : static_cast<Status>(kInternalError);
}
Status hipblasLtGetVersion(Handle, int* version) {
  *version = std::atoi(version_text());
  return kSuccess;
}
Status hipblasLtMatmulDescCreate(Product*, ComputeType, DataType) { return kSuccess; }
Status hipblasLtMatmulDescSetAttribute(Product, ProductAttribute, const void*, std::size_t) { return kSuccess; }
Status hipblasLtMatrixLayoutCreate(Matrix*, DataType, std::uint64_t, std::uint64_t, std::int64_t) { return kSuccess; }
Status hipblasLtMatrixLayoutSetAttribute(Matrix, MatrixAttribute, const void*, std::size_t) { return kSuccess; }
Status hipblasLtMatmulPreferenceCreate(Preference*) { return kSuccess; }
Status hipblasLtMatmulPreferenceSetAttribute(Preference, PreferenceAttribute, const void*, std::size_t) {
  return kSuccess;
}
Status hipblasLtMatmulAlgoGetHeuristic(Handle, Product, Matrix, Matrix, Matrix, Matrix, Preference, int, Found*, int*) {
  return kSuccess;
}
Status hipblasLtMatmul(Handle, Product, const void*, const void*, Matrix, const void*, Matrix, const void*, const void*,
                       Matrix, void*, Matrix, const Algorithm*, void*, std::size_t, void*) {
  return kSuccess;
}

}  // extern "C"

}  // namespace tune::blas
