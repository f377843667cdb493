#include "model/problem_size.h"

#include <fmt/format.h>

namespace tune {
namespace {

std::string gemm_text(const Gemm& gemm) {
  std::string text = fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k);
  if (gemm.batch != 1) text += fmt::format("x{}", gemm.batch);
  if (gemm.groups() > 0) text += fmt::format(" {} groups {}", gemm.groups(), gemm.routing);
  if (gemm.max_rows > 0) text += fmt::format(" of at most {} rows", gemm.max_rows);
  if (gemm.any_padding) text += ", any padding";
  if (gemm.a != Type::f32 || gemm.b != Type::f32 || gemm.c != Type::f32)
    text += fmt::format(" {} {} {}", to_text(gemm.a), to_text(gemm.b), to_text(gemm.c));
  if (gemm.epilogue != Epilogue::none) text += fmt::format(" {}", to_text(gemm.epilogue));
  if (gemm.residual) text += " residual";
  if (gemm.scale_a != Scale::none || gemm.scale_b != Scale::none)
    text += fmt::format(" scales {} {}", scale_text(gemm, "scale_a"), scale_text(gemm, "scale_b"));
  const auto layout = [](Layout value) { return value == Layout::row ? "row" : "col"; };
  if (gemm.layout_a != Layout::row || gemm.layout_b != Layout::row || gemm.layout_c != Layout::row)
    text += fmt::format(" {} {} {}", layout(gemm.layout_a), layout(gemm.layout_b), layout(gemm.layout_c));
  return text;
}

}  // namespace

std::string problem_size_text(const Problem& problem, const std::map<std::string, Value>& constants) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return gemm_text(*gemm);
  if (!std::holds_alternative<Custom>(problem)) return {};
  std::string text;
  for (const auto& [name, value] : constants)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_text(value));
  return text;
}

}  // namespace tune
