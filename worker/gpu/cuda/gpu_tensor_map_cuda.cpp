#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backend.h"
#include "checking/layout.h"
#include "checking/rotated_inputs.h"
#include "gpu/gpu_tensor_map.h"

namespace tune::worker {
namespace {

CUtensorMapDataType tensor_type(Type type) {
  switch (type) {
    case Type::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case Type::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Type::tf32:
      return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case Type::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Type::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Type::s32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case Type::e4m3:
    case Type::e5m2:
    case Type::s8:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle(int bytes) {
  switch (bytes) {
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

CUtensorMapL2promotion promotion(int bytes) {
  switch (bytes) {
    case 64:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case 128:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case 256:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    default:
      return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

/// Dimensions, innermost first; strides in bytes, from the second dimension on.
struct Tensor {
  Type type = Type::f32;
  std::vector<cuuint64_t> dimensions, strides;
};

Tensor tensor_of(const Problem& problem, const std::string& name) {
  const std::vector<Buffer> buffers = buffers_of(problem);
  for (std::size_t number = 0; number < buffers.size(); ++number) {
    const Buffer& buffer = buffers[number];
    if (buffer.name != name) continue;
    const auto* gemm = std::get_if<Gemm>(&problem);
    if (!gemm || name == "bias") return {buffer.type, {static_cast<cuuint64_t>(buffer.count)}, {}};
    const Gemm g = resolved(*gemm);
    const MatrixView view = rotated_view(g, number, {}).view;
    const auto bytes = [&](std::int64_t elements) { return static_cast<cuuint64_t>(elements * size_of(buffer.type)); };
    const bool by_rows = view.col_stride == 1;
    const std::int64_t inner = by_rows ? view.cols : view.rows, outer = by_rows ? view.rows : view.cols;
    return {buffer.type,
            {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer), static_cast<cuuint64_t>(view.batch)},
            {bytes(by_rows ? view.row_stride : view.col_stride), bytes(view.batch_stride)}};
  }
  throw SpecFailure(Stage::load, fmt::format("launch.args: there is no buffer {}", name));
}

}  // namespace

gpu::TensorMap make_tensor_map(const Gpu& gpu, const wire::Arg& arg, const Problem& problem, gpu::Address address) {
  const Tensor tensor = tensor_of(problem, arg.buffer);
  const std::size_t rank = arg.box.size();
  if (rank < std::min<std::size_t>(2, tensor.dimensions.size()) || rank > tensor.dimensions.size())
    throw SpecFailure(Stage::load,
                      fmt::format("tma {}: box has {} entries; a matrix has 2, or 3 with the batch, another "
                                  "buffer 1",
                                  arg.buffer, rank));
  const std::vector<cuuint32_t> box(arg.box.begin(), arg.box.end()), steps(rank, 1);
  CUtensorMap map{};
  const gpu::Status status = gpu.driver().encode_tensor_map(
      &map, tensor_type(tensor.type), static_cast<cuuint32_t>(rank), reinterpret_cast<void*>(address),
      tensor.dimensions.data(), tensor.strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle(arg.swizzle), promotion(arg.l2_promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status == gpu::kSuccess) return map;
  throw SpecFailure(
      Stage::load, fmt::format("tma {}: the driver refuses this tensor map\nbox {} of {}, swizzle {}, {} bytes between "
                               "rows: a box has at most 256 entries a side, its first at most `swizzle` bytes and a "
                               "multiple of 16, and so are the bytes between rows",
                               arg.buffer, arg.box, to_text(tensor.type), arg.swizzle,
                               tensor.strides.empty() ? 0 : tensor.strides.front()));
}

}  // namespace tune::worker
