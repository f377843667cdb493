#include "model/problem.h"

#include <array>

#include "model/values/text.h"

namespace tune {
namespace {

/// `significand_bits` counts the implicit one; 0 for integers, which do not round.
struct TypeFacts {
  Type type;
  std::int64_t bytes;
  int significand_bits;
};

constexpr std::array<TypeFacts, kElementTypes.size()> kFacts = {{{Type::f64, 8, 53},
                                                                 {Type::f32, 4, 24},
                                                                 {Type::tf32, 4, 11},
                                                                 {Type::f16, 2, 11},
                                                                 {Type::bf16, 2, 8},
                                                                 {Type::e4m3, 1, 4},
                                                                 {Type::e5m2, 1, 3},
                                                                 {Type::s32, 4, 0},
                                                                 {Type::s8, 1, 0}}};

constexpr const TypeFacts& facts(Type type) { return kFacts[static_cast<std::size_t>(type)]; }

constexpr bool in_order_of_the_enumeration() {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].type != static_cast<Type>(i)) return false;
  }
  return true;
}
static_assert(in_order_of_the_enumeration());

}  // namespace

std::optional<Type> parse_type(std::string_view name) { return enumerator<Type>(kElementTypes, name); }

std::int64_t size_of(Type type) { return facts(type).bytes; }

double unit_roundoff(Type type) {
  const int bits = facts(type).significand_bits;
  return bits == 0 ? 0 : 1.0 / static_cast<double>(std::int64_t{1} << bits);
}

int most_doublings(Type type) {
  if (unit_roundoff(type) == 0) return 0;
  if (type == Type::e4m3) return 6;
  return type == Type::f16 || type == Type::e5m2 ? 12 : 60;
}

std::optional<Epilogue> parse_epilogue(std::string_view name) { return enumerator<Epilogue>(kEpilogues, name); }

ScaleGrid scale_grid(Scale scale, std::int64_t lines, std::int64_t k, std::int64_t matrices) {
  constexpr std::int64_t kBlock = 128, kPadded = 4;  // cuBLASLt begins a run of 128x128 scales at 16 bytes
  const auto blocks = [](std::int64_t count) { return (count + kBlock - 1) / kBlock; };
  switch (scale) {
    case Scale::none:
      break;
    case Scale::tensor:
      return {lines, k, 1, 1, 1, 1, matrices};
    case Scale::line:
      return {1, k, lines, 1, 1, lines, matrices};
    case Scale::of_128:
      return {1, kBlock, lines, blocks(k), 1, lines, matrices};
    case Scale::of_128x128:
      return {kBlock, kBlock, blocks(lines), blocks(k), (blocks(k) + kPadded - 1) / kPadded * kPadded, 1, matrices};
  }
  return {};
}

std::int64_t Gemm::used_matrices_of_b() const {
  std::int64_t empty = 0;
  for (std::size_t i = 1; i < group_offsets.size(); ++i) empty += group_offsets[i] == group_offsets[i - 1];
  return matrices_of_b() - empty;
}

double Gemm::bytes() const {
  const auto matrix = [](std::int64_t rows, std::int64_t cols, Type type) {
    return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(size_of(type));
  };
  const auto scales = [&](const ScaleGrid& grid) { return matrix(grid.line_count, grid.depth_count, Type::f32); };
  const double c_passes = (beta != 0 ? 2 : 1) + (residual ? 1 : 0);
  return static_cast<double>(batch) * (matrix(m, k, a) + c_passes * matrix(m, n, c)) +
         static_cast<double>(used_matrices_of_b()) * (matrix(k, columns(), b) + scales(scales_of_b())) +
         matrix(1, bias_length(), c) + scales(scales_of_a());
}

std::vector<std::string> epilogue_macros(const Gemm& gemm) {
  std::vector<std::string> names;
  if (gemm.bias != Bias::none) names.emplace_back(gemm.bias == Bias::row ? "epilogue_bias_row" : "epilogue_bias_col");
  if (gemm.epilogue != Epilogue::none) names.push_back("epilogue_" + std::string(to_text(gemm.epilogue)));
  if (gemm.residual) names.emplace_back("epilogue_residual");
  return names;
}

std::vector<std::string> group_macros(const Gemm& gemm) {
  if (gemm.groups() == 0) return {};
  return {gemm.max_rows > 0 ? "groups_masked" : "groups_contiguous"};
}

std::vector<std::string> scale_macros(const Gemm& gemm, std::string_view name) {
  const std::string_view text = scale_text(gemm, name);
  return text == "none" ? std::vector<std::string>() : std::vector{std::string(name) + "_" + std::string(text)};
}

std::string_view scale_text(const Gemm& gemm, std::string_view name) {
  return name == "scale_a" ? kScalesOfA[static_cast<std::size_t>(gemm.scale_a)]
                           : kScalesOfB[static_cast<std::size_t>(gemm.scale_b)];
}

std::int64_t extent(std::int64_t rows, std::int64_t cols, Layout layout, std::int64_t ld) {
  if (rows == 0 || cols == 0) return 0;
  return layout == Layout::row ? (rows - 1) * ld + cols : (cols - 1) * ld + rows;
}

}  // namespace tune
