#pragma once
// The vendor's GEMM library under names of our own, as gpu_library.h has the driver: types, constants, and the
// functions that are looked up at run time. The two interfaces differ in names and numbers alone.
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu_device.h"
#include "model/problem.h"

#ifdef TUNE_HIP
#include "gpu/hip/gpu_blas_api_hip.h"
#else
#include "gpu/cuda/gpu_blas_api_cuda.h"
#endif

namespace tune::blas {

/// An algorithm that the library offers for a problem and then does not launch for it.
class NotSupported : public worker::GpuError {
 public:
  using worker::GpuError::GpuError;
};

DataType data_type(Type type);
/// nullopt: none. f32 must stay f32, so tf32 is computed with only where both matrices are of it.
std::optional<ComputeType> compute_type(const Gemm& gemm);

/// The vendor's GEMM library and its context. Opened at run time, where the driver and the compiler are looked for, and
/// open until the process ends.
struct Library {
#define TUNE_MEMBER(member, function) decltype(&function) member = nullptr;
  TUNE_GPU_BLAS(TUNE_MEMBER)
#undef TUNE_MEMBER
  Handle handle = nullptr;
  std::string place;  ///< its file

  /// Where it may be, the newest first in each folder.
  static std::vector<std::string> places();
  /// The file behind the first of these that has an absolute path; its name has the version. Empty: there is none.
  static std::string likely_file();
  /// Opens the first available library; `places` keeps those after it. Throws SpecFailure of the load stage if there is
  /// none, or if that library is unknown or does not start.
  static Library open(std::vector<std::string>& places);
  /// Throws GpuError, NotSupported.
  void check(Status status) const;

  // Each vendor's own:
  std::string text(Status status) const;
  std::string version_text() const;  ///< `13.1.0`; throws GpuError
  /// Why this library is not used; empty: it is. Throws GpuError.
  std::string objection() const;
};

}  // namespace tune::blas
