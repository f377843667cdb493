#include "cpu_support.h"

#include <fmt/format.h>

#include <cmath>

#include "backend.h"

namespace tune {
namespace {

bool is_float(Type type) { return type == Type::f64 || type == Type::f32 || type == Type::f16 || type == Type::bf16; }

bool is_accumulator(Type type) { return type == Type::f64 || type == Type::f32; }

void require(bool condition, Stage stage, const std::string& what) {
  if (!condition) throw Refusal(stage, "the cpu backend has no " + what);
}

void require_types(const Gemm& g, Stage stage) {
  const bool integer = g.acc == Type::s32;
  require(integer || is_accumulator(g.acc), stage,
          fmt::format("accumulation in {}: acc is f32, f64 or s32", to_text(g.acc)));
  for (const Type type : {g.a, g.b})
    require(integer ? type == Type::s8 : is_float(type), stage,
            fmt::format("{} matrices with {} accumulation", to_text(type), to_text(g.acc)));
  require(integer ? g.c == Type::s32 : is_float(g.c), stage,
          fmt::format("{} result with {} accumulation", to_text(g.c), to_text(g.acc)));
  for (const double factor : {g.alpha, g.beta})
    require(!integer || factor == std::trunc(factor), stage,
            fmt::format("alpha or beta of {} with s32 accumulation", factor));
}

}  // namespace

void require_supported(const Problem& problem, Stage stage) {
  require(!std::holds_alternative<std::monostate>(problem), stage, "kernels without a `problem`");
  if (const auto* gemm = std::get_if<Gemm>(&problem)) require_types(*gemm, stage);
  if (const auto* custom = std::get_if<Custom>(&problem))
    for (const Buffer& buffer : custom->buffers)
      require(is_float(buffer.type) || buffer.type == Type::s32 || buffer.type == Type::s8, stage,
              fmt::format("buffers of {} ({})", to_text(buffer.type), buffer.name));
}

const char* cpp_type(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
    case Type::tf32:
      return "float";
    case Type::f16:
      return "_Float16";
    case Type::bf16:
      return "std::uint16_t";
    case Type::e4m3:
    case Type::e5m2:
      return "std::uint8_t";
    case Type::s32:
      return "std::int32_t";
    case Type::s8:
      return "std::int8_t";
  }
  return "";
}

}  // namespace tune
