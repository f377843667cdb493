#pragma once
#include "gpu/gpu_device.h"
#include "wire/messages.h"

namespace tune::worker {

/// The descriptor of a buffer for the tensor memory accelerator: a matrix, innermost dimension first, with the batch as
/// third dimension if `box` has three entries; a custom problem's buffer is a vector. Outside of it the kernel reads
/// zeros. Throws SpecFailure of the load stage with the rules that a box must obey, or if the vendor's devices have no
/// such thing.
gpu::TensorMap make_tensor_map(const Gpu& gpu, const wire::Arg& arg, const Problem& problem, gpu::Address address);

}  // namespace tune::worker
