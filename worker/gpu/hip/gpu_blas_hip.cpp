#include <fmt/format.h>

#include <array>

#include "gpu/gpu_blas.h"
#include "gpu/gpu_blas_library.h"

namespace tune::blas {

/// The library itself names none.
std::string Library::text(Status status) const {
  constexpr std::array kNames = {"SUCCESS",       "NOT_INITIALIZED",   "ALLOC_FAILED",   "INVALID_VALUE",
                                 "MAPPING_ERROR", "EXECUTION_FAILED",  "INTERNAL_ERROR", "NOT_SUPPORTED",
                                 "ARCH_MISMATCH", "HANDLE_IS_NULLPTR", "INVALID_ENUM",   "UNKNOWN"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? fmt::format("HIPBLAS_STATUS_{}", kNames[index]) : fmt::format("status {}", index);
}

std::string Library::objection() const {
  int number = 0;
  check(version(handle, &number));
  if (number >= kOldest) return "";
  return fmt::format("is hipBLASLt {}; 0.10 (ROCm 6.3) is the oldest that can be used", version_text());
}

std::string Library::version_text() const {
  int number = 0;
  check(version(handle, &number));
  return fmt::format("{}.{}.{}", number / 100'000, number / 100 % 1000, number % 100);
}

}  // namespace tune::blas

namespace tune::worker {

/// That of hipBLAS is new, and no AMD GPU has shown what it does.
std::unique_ptr<GroupedBlas> open_grouped_blas(const Gpu& /*gpu*/, const Gemm& /*gemm*/) { return nullptr; }

}  // namespace tune::worker
