#include "model/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tune {
namespace {

/// Which types can be multiplied with one type of accumulator, and as which types the result can be stored.
struct Sums {
  Type acc;
  std::vector<Type> inputs, results;
};

std::vector<Sums> sums_of(Backend backend) {
  using enum Type;
  const Sums in_f64 = {f64, {f64, f32}, {f64, f32}}, in_s32 = {s32, {s8}, {s32, f32}};
  if (!is_gpu(backend)) return {{f32, {f32, f16, bf16, e4m3, e5m2}, {f32, f16, bf16}}, in_f64, in_s32};
  return {{f32, {f32, tf32, f16, bf16, e4m3, e5m2}, {f32, f16, bf16}},
          {f16, {f16, e4m3, e5m2}, {f16, f32}},
          in_f64,
          in_s32};
}

std::string names(const std::vector<Type>& types) {
  std::string text;
  for (const Type type : types) text += fmt::format("{}{}", text.empty() ? "" : " ", to_text(type));
  return text;
}

std::optional<std::string> missing(const Gemm& gemm, Backend backend) {
  const std::vector<Sums> all = sums_of(backend);
  const auto sums = std::ranges::find(all, gemm.acc, &Sums::acc);
  if (sums == all.end()) {
    std::vector<Type> accumulators;
    for (const Sums& other : all) accumulators.push_back(other.acc);
    return fmt::format("accumulation in {}; acc is one of {}", to_text(gemm.acc), names(accumulators));
  }
  const auto lacks = [](const std::vector<Type>& types, Type type) { return !std::ranges::count(types, type); };
  for (const Type type : {gemm.a, gemm.b})
    if (lacks(sums->inputs, type))
      return fmt::format("{} matrices with {} accumulation; a and b are one of {}", to_text(type), to_text(gemm.acc),
                         names(sums->inputs));
  if (lacks(sums->results, gemm.c))
    return fmt::format("{} result with {} accumulation; c is one of {}", to_text(gemm.c), to_text(gemm.acc),
                       names(sums->results));
  for (const double factor : {gemm.alpha, gemm.beta})
    if (gemm.acc == Type::s32 && factor != std::trunc(factor))
      return fmt::format("alpha or beta of {} with s32 accumulation; they are integers", factor);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unsupported(const Problem& problem, Backend backend) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (gemm == nullptr || backend == Backend::automatic || is_program(backend)) return std::nullopt;
  const auto what = missing(*gemm, backend);
  if (!what) return std::nullopt;
  return fmt::format("the {} backend has no {}", to_text(backend), *what);
}

}  // namespace tune
