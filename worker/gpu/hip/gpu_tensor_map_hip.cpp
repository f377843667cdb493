#include "backend.h"
#include "gpu/gpu_tensor_map.h"

namespace tune::worker {

gpu::TensorMap make_tensor_map(const Gpu&, const wire::Arg& arg, const Problem&, gpu::Address) {
  throw SpecFailure(Stage::load, "tma " + arg.buffer + ": HIP devices have no tensor memory accelerator");
}

}  // namespace tune::worker
