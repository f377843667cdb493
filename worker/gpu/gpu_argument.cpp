#include "gpu/gpu_argument.h"

#include <fmt/format.h>

#include <cstring>

#include "backend.h"
#include "checking/elements.h"
#include "gpu/gpu_tensor_map.h"

namespace tune::worker {
namespace {

template <typename T>
GpuArgument pack(const T& value) {
  static_assert(sizeof(T) <= sizeof(GpuArgument::bytes));
  GpuArgument argument;
  argument.size = sizeof(T);
  std::memcpy(argument.bytes.data(), &value, sizeof(T));
  return argument;
}

GpuArgument pack_int(std::int64_t value) {
  if (value != static_cast<std::int32_t>(value))
    throw SpecFailure(Stage::load, fmt::format("args: {} does not fit an int; write {{i64: ...}}", value));
  return pack(static_cast<std::int32_t>(value));
}

GpuArgument pack_scalar(const wire::Arg& arg) {
  switch (arg.type) {
    case Argument::Scalar::i32:
      return pack_int(arg.integer);
    case Argument::Scalar::i64:
      return pack(arg.integer);
    case Argument::Scalar::f32:
      return pack(static_cast<float>(arg.number));
    case Argument::Scalar::f64:
      break;
  }
  return pack(arg.number);
}

/// alpha and beta have the accumulator's type.
GpuArgument pack_factor(double value, Type acc) {
  switch (acc) {
    case Type::f64:
      return pack(value);
    case Type::f16:
      return pack(rounded<Half>(value));
    case Type::s32:
      return pack(static_cast<std::int32_t>(value));
    default:
      return pack(static_cast<float>(value));
  }
}

}  // namespace

GpuArgument make_argument(const Gpu& gpu, const wire::Arg& arg, const Problem& problem, const AddressOf& address) {
  switch (arg.kind) {
    case Argument::Kind::buffer:
      return pack(address(arg.buffer));
    case Argument::Kind::scalar:
      return pack_scalar(arg);
    case Argument::Kind::tensor_map:
      return pack(make_tensor_map(gpu, arg, problem, address(arg.buffer)));
    case Argument::Kind::alpha:
    case Argument::Kind::beta:
      break;
  }
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (!gemm) throw SpecFailure(Stage::load, "launch.args: only a gemm problem has alpha and beta");
  return pack_factor(arg.number, gemm->acc);
}

}  // namespace tune::worker
