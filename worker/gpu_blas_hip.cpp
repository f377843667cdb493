#include "backend.h"
#include "gpu_blas.h"

namespace tune {

std::unique_ptr<GpuBlas> open_gpu_blas(const Gpu&, const Gemm&, const AddressOf&, int) {
  throw Refusal(Stage::load, "the HIP worker knows no vendor library");
}

}  // namespace tune
