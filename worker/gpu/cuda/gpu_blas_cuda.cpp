#include <fmt/format.h>

#include "gpu/gpu_blas_library.h"

namespace tune::blas {

std::string Library::text(Status status) const { return status_text(status); }
std::string Library::objection() const { return ""; }

// 130100 is 13.1.0; up to CUDA 12 it was 120103 likewise.
std::string Library::version_text() const {
  const std::size_t number = version();
  return fmt::format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
}

}  // namespace tune::blas
