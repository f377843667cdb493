#include "gpu_support.h"

#include <fmt/format.h>

#include <cmath>

#include "backend.h"

namespace tune {
namespace {

bool is_short_float(Type type) { return type == Type::e4m3 || type == Type::e5m2; }
bool is_integer(Type type) { return type == Type::s8 || type == Type::s32; }

void require(bool condition, Stage stage, const std::string& what) {
  if (!condition) throw Refusal(stage, "the GPU backend has no " + what);
}

/// f64 is kept to itself; integers need exact sums; f16 sums are of f16 or fp8 inputs.
bool accumulates(Type input, Type acc) {
  switch (acc) {
    case Type::s32:
      return input == Type::s8;
    case Type::f16:
      return input == Type::f16 || is_short_float(input);
    case Type::f32:
      return !is_integer(input) && input != Type::f64;
    case Type::f64:
      return !is_integer(input);
    default:
      return false;
  }
}

bool stores(Type acc, Type result) {
  if (acc == Type::s32) return result == Type::s32;
  return !is_integer(result) && !is_short_float(result) && (result != Type::f64 || acc == Type::f64);
}

void require_types(const Gemm& g, Stage stage) {
  for (const Type type : {g.a, g.b})
    require(accumulates(type, g.acc), stage,
            fmt::format("{} matrices with {} accumulation", to_text(type), to_text(g.acc)));
  require(stores(g.acc, g.c), stage, fmt::format("{} result with {} accumulation", to_text(g.c), to_text(g.acc)));
  for (const double factor : {g.alpha, g.beta})
    require(g.acc != Type::s32 || factor == std::trunc(factor), stage,
            fmt::format("alpha or beta of {} with s32 accumulation", factor));
}

}  // namespace

void require_gpu_supported(const Problem& problem, Stage stage) {
  require(!std::holds_alternative<std::monostate>(problem), stage, "kernels without a `problem`");
  if (const auto* gemm = std::get_if<Gemm>(&problem)) require_types(*gemm, stage);
  if (const auto* custom = std::get_if<Custom>(&problem))
    for (const Buffer& buffer : custom->buffers)
      require(buffer.role == Buffer::Role::in || !is_short_float(buffer.type), stage,
              fmt::format("outputs of {} ({})", to_text(buffer.type), buffer.name));
}

}  // namespace tune
