#include "model/problem.h"

#include <algorithm>
#include <array>

namespace tune {
namespace {

/// `significand_bits` counts the implicit one; 0 for integers, which do not round.
struct TypeFacts {
  Type type;
  std::string_view name;
  std::int64_t bytes;
  int significand_bits;
};

constexpr std::array<TypeFacts, 9> kTypes = {{{Type::f64, "f64", 8, 53},
                                              {Type::f32, "f32", 4, 24},
                                              {Type::tf32, "tf32", 4, 11},
                                              {Type::f16, "f16", 2, 11},
                                              {Type::bf16, "bf16", 2, 8},
                                              {Type::e4m3, "e4m3", 1, 4},
                                              {Type::e5m2, "e5m2", 1, 3},
                                              {Type::s32, "s32", 4, 0},
                                              {Type::s8, "s8", 1, 0}}};

constexpr const TypeFacts& facts(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

constexpr bool in_order_of_the_enumeration() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].type != static_cast<Type>(i)) return false;
  }
  return true;
}
static_assert(in_order_of_the_enumeration());

}  // namespace

std::optional<Type> parse_type(std::string_view name) {
  for (const TypeFacts& type : kTypes) {
    if (type.name == name) return type.type;
  }
  return std::nullopt;
}

std::string_view to_text(Type type) { return facts(type).name; }
std::int64_t size_of(Type type) { return facts(type).bytes; }

double unit_roundoff(Type type) {
  const int bits = facts(type).significand_bits;
  return bits == 0 ? 0 : 1.0 / static_cast<double>(std::int64_t{1} << bits);
}

std::optional<Epilogue> parse_epilogue(std::string_view name) {
  const auto* const found = std::ranges::find(kEpilogues, name);
  return found != kEpilogues.end() ? std::optional(static_cast<Epilogue>(found - kEpilogues.begin())) : std::nullopt;
}

double Gemm::bytes() const {
  const auto matrix = [](std::int64_t rows, std::int64_t cols, Type type) {
    return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(size_of(type));
  };
  const double c_passes = (beta != 0 ? 2 : 1) + (residual ? 1 : 0);
  return static_cast<double>(batch) * (matrix(m, k, a) + matrix(k, columns(), b) + c_passes * matrix(m, n, c)) +
         matrix(1, bias_length(), c);
}

std::vector<std::string> epilogue_macros(const Gemm& gemm) {
  std::vector<std::string> names;
  if (gemm.bias != Bias::none) names.emplace_back(gemm.bias == Bias::row ? "epilogue_bias_row" : "epilogue_bias_col");
  if (gemm.epilogue != Epilogue::none) names.push_back("epilogue_" + std::string(to_text(gemm.epilogue)));
  if (gemm.residual) names.emplace_back("epilogue_residual");
  return names;
}

std::int64_t extent(std::int64_t rows, std::int64_t cols, Layout layout, std::int64_t ld) {
  if (rows == 0 || cols == 0) return 0;
  return layout == Layout::row ? (rows - 1) * ld + cols : (cols - 1) * ld + rows;
}

}  // namespace tune
