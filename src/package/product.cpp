#include "package/product.h"

#include <fmt/format.h>

#include "package/expression_text.h"

namespace tune::package {
namespace {

int times_of_b(const Gemm& gemm) { return gemm.epilogue == Epilogue::swiglu ? 2 : 1; }

/// Of sizes m, n, k, and the number of matrices or groups.
constexpr const char *kM = "sizes[0]", *kN = "sizes[1]", *kK = "sizes[2]", *kCount = "sizes[3]";

/// Those of A and C in memory.
std::string rows_text(const Gemm& gemm) {
  return gemm.max_rows > 0 ? fmt::format("multiply({}, sizes[4])", kCount) : kM;
}

std::string columns_text(const Gemm& gemm) { return fmt::format("multiply({}, {})", times_of_b(gemm), kN); }

/// Elements of the scales of so many lines, padding included.
std::string scales_text(Scale scale, const std::string& lines) {
  switch (scale) {
    case Scale::line:
      return lines;
    case Scale::of_128:
      return fmt::format("multiply({}, ceil_divide({}, 128))", lines, kK);
    case Scale::of_128x128:
      return fmt::format("multiply(ceil_divide({}, 128), multiply(4, ceil_divide({}, 512)))", lines, kK);
    case Scale::tensor:
    case Scale::none:
      break;
  }
  return "1";
}

/// How scales of `lines`, which are rows or columns, lie in memory.
std::string description_of(Scale scale, const std::string& lines) {
  switch (scale) {
    case Scale::line:
      return fmt::format("one for each of the {}", lines);
    case Scale::of_128:
      return fmt::format("for each 128 of k one for each of the {}", lines);
    case Scale::of_128x128:
      return fmt::format("for each 128 of the {} one for each 128 of k, padded to a multiple of 4", lines);
    case Scale::tensor:
    case Scale::none:
      break;
  }
  return "one";
}

}  // namespace

std::string text_of(const Extent& extent, const std::function<std::string(const std::string&)>& size) {
  std::string text = size(extent.size);
  if (extent.times != 1) text = fmt::format("multiply({}, {})", extent.times, text);
  return extent.of_each.empty() ? text : fmt::format("multiply({}, {})", size(extent.of_each), text);
}

MatrixShape matrix_of(const Gemm& gemm, const std::string& operand) {
  const std::string all = gemm.groups() > 0 ? "" : "batch";
  const Extent rows = gemm.max_rows > 0 ? Extent{"max_rows", 1, "groups"} : Extent{"m"};
  if (operand == "A")
    return gemm.layout_a == Layout::row ? MatrixShape{gemm.a, 'a', {"k"}, rows, all}
                                        : MatrixShape{gemm.a, 'a', rows, {"k"}, all};
  if (operand == "B") {
    const std::string count = gemm.groups() > 0 ? "groups" : "batch";
    const Extent columns = {"n", times_of_b(gemm)};
    return gemm.layout_b == Layout::row ? MatrixShape{gemm.b, 'b', columns, {"k"}, count}
                                        : MatrixShape{gemm.b, 'b', {"k"}, columns, count};
  }
  if (operand == "C")
    return gemm.layout_c == Layout::row ? MatrixShape{gemm.c, 'c', {"n"}, rows, all}
                                        : MatrixShape{gemm.c, 'c', rows, {"n"}, all};
  throw NotPackaged(fmt::format("a tensor map of {} is not known to packages", operand));
}

std::string description_of_size(const Gemm& gemm, const std::string& size) {
  if (gemm.max_rows == 0) return "";
  if (size == "m") return "the sum of group_rows, or more where the host does not know it";
  return size == "max_rows" ? "rows of A and C that each group has room for" : "";
}

std::string description_of(const Gemm& gemm, const std::string& operand) {
  const std::string columns = times_of_b(gemm) == 2 ? "2n" : "n";
  const std::string rows = gemm.max_rows > 0 ? "groups * max_rows" : "m";
  const std::string begin = gemm.max_rows > 0 ? ", of which those of group e begin at row e * max_rows" : "";
  const auto matrix = [](Type type, const std::string& height, const std::string& width, Layout layout) {
    return fmt::format("{}, {} x {} by {}", to_text(type), height, width, layout == Layout::row ? "rows" : "columns");
  };
  if (operand == "A") return matrix(gemm.a, rows, "k", gemm.layout_a) + begin;
  if (operand == "B")
    return matrix(gemm.b, "k", columns, gemm.layout_b) + (gemm.groups() > 0 ? ", one for each group" : "");
  if (operand == "C") {
    const std::string behind = gemm.any_padding ? "may be written" : "stays as it is";
    return matrix(gemm.c, rows, "n", gemm.layout_c) +
           (begin.empty() ? "" : begin + "; what lies behind them " + behind);
  }
  if (operand == "bias")
    return fmt::format("{}, one for each of the {}", to_text(gemm.c),
                       gemm.bias == Bias::row ? columns + " columns" : "m rows");
  if (operand == "residual") return fmt::format("{}, as C", to_text(gemm.c));
  if (operand == "scale_a") return "f32, " + description_of(gemm.scale_a, rows + " rows of A");
  if (operand == "scale_b")
    return "f32, " + description_of(gemm.scale_b, columns + " columns of B") +
           (gemm.groups() > 0 ? ", for one group after the other" : "");
  if (operand == "group_rows") return "int32, how many rows each group has: from 0 to max_rows";
  return "int32, the first row of each group, and m";
}

std::string ld_of_scales(const Gemm& gemm, bool of_a) {
  const Scale scale = of_a ? gemm.scale_a : gemm.scale_b;
  if (scale == Scale::of_128x128) return "ceil_div(k, 512)*4";
  return scale != Scale::of_128 ? "0"
         : !of_a                ? fmt::format("{}*n", times_of_b(gemm))
         : gemm.max_rows > 0    ? "groups*max_rows"
                                : "m";
}

std::string bytes_text(const Gemm& gemm, const std::string& operand) {
  const auto elements = [&](std::int64_t size, const std::string& count) {
    return fmt::format("multiply({}, {})", size, count);
  };
  if (operand == "bias") return elements(size_of(gemm.c), gemm.bias == Bias::row ? columns_text(gemm) : kM);
  if (operand == "scale_a") return elements(4, scales_text(gemm.scale_a, rows_text(gemm)));
  if (operand == "scale_b") {
    const std::string of_matrix = scales_text(gemm.scale_b, columns_text(gemm));
    return elements(4, gemm.groups() > 0 ? fmt::format("multiply({}, {})", kCount, of_matrix) : of_matrix);
  }
  if (operand == "group_offsets") return elements(4, fmt::format("add({}, 1)", kCount));
  if (operand == "group_rows") return elements(4, kCount);
  return "";
}

}  // namespace tune::package
