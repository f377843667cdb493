#include "gpu_blas_library.h"

namespace tune::blas {

std::string Library::text(Status status) const { return status_text(status); }
std::string Library::objection() const { return ""; }

}  // namespace tune::blas
