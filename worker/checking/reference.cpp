#include "checking/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "checking/inputs.h"
#include "checking/layout.h"
#include "checking/multiply.h"
#include "checking/parallel.h"

namespace tune::worker {
namespace {

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

std::vector<double> matrix_values(const Gemm& gemm, std::uint64_t seed, std::size_t buffer, const MatrixView& view) {
  std::vector<double> values(size(view.extent()));
  generate(content_of(gemm, buffer, seed), 0, view.extent(), values.data());
  return values;
}

/// Multiplies the elements of a matrix by their scales.
void apply_scales(const Gemm& gemm, std::uint64_t seed, std::size_t buffer, const ScaleView& scales,
                  const MatrixView& view, std::vector<double>& values) {
  if (scales.view.rows == 0) return;
  std::vector<double> factors(size(buffers_of(gemm)[buffer].count));
  generate(content_of(gemm, buffer, seed), 0, static_cast<std::int64_t>(factors.size()), factors.data());
  parallel_for(view.batch * view.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t matrix = i / view.rows, row = i % view.rows;
      for (std::int64_t col = 0; col < view.cols; ++col)
        values[size(view.offset(matrix, row, col))] *=
            factors[size(scales.view.offset(matrix, row / scales.rows, col / scales.cols))];
    }
  });
}

DoubleMatrix matrix(const std::vector<double>& values, const MatrixView& view, std::int64_t index,
                    std::int64_t row = 0) {
  return {values.data() + view.offset(index, row, 0), view.row_stride, view.col_stride};
}

/// 2-norms of `count` vectors of `length` elements.
void norms(const double* data, std::int64_t count, std::int64_t stride, std::int64_t length, std::int64_t step,
           double* out) {
  parallel_for(count, 64, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < length; ++p) sum += data[i * stride + p * step] * data[i * stride + p * step];
      out[i] = std::sqrt(sum);
    }
  });
}

/// c = alpha*c + beta*c0 in so many rows; returns |beta| max|c0|.
double scale(const Gemm& g, const DoubleMatrix& c0, std::int64_t rows, double* c) {
  double largest = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < g.columns(); ++j) {
      const double before = g.beta != 0 ? c0.at(i, j) : 0;
      largest = std::max(largest, std::fabs(before));
      c[i * g.columns() + j] = g.alpha * c[i * g.columns() + j] + g.beta * before;
    }
  return std::fabs(g.beta) * largest;
}

double smallest_positive(Type type) {
  switch (type) {
    case Type::f64:
      return std::numeric_limits<double>::denorm_min();
    case Type::f32:
    case Type::tf32:
      return std::numeric_limits<float>::denorm_min();
    case Type::bf16:
      return 0x1p-133;
    case Type::f16:
      return 0x1p-24;
    case Type::e4m3:
      return 0x1p-9;
    case Type::e5m2:
      return 0x1p-16;
    case Type::s32:
    case Type::s8:
      return 0;
  }
  return 0;
}

bool is_random(Init init) { return init == Init::uniform || init == Init::normal || init == Init::hpl; }
bool is_wide(Type type) { return type == Type::f32 || type == Type::f64; }

bool is_fp8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

/// What an addition loses at most, relative to the sum.
double sum_roundoff(const Gemm& gemm) {
  const double u = unit_roundoff(gemm.acc);
  return is_fp8(gemm.a) || is_fp8(gemm.b) ? std::max(u, 0x1p-14) : u;
}

/// g in reference.h.
double error_growth(const Gemm& gemm) {
  const double general = 4 * std::sqrt(static_cast<double>(gemm.k));
  if (!is_random(gemm.init)) return general;
  if (gemm.acc == Type::f16 || (is_wide(gemm.a) && is_wide(gemm.b))) return std::min(general, 16.0);
  if (is_fp8(gemm.a) || is_fp8(gemm.b)) return std::min(general, gemm.fast_accum ? std::max(6.0, general / 32) : 4.0);
  return std::min(general, std::max(128.0, general / 4));
}

}  // namespace

GemmReference::GemmReference(const Gemm& g, std::span<const double> values, std::uint64_t seed_of_inputs)
    : x(values.first(size(g.batch * g.rows() * g.columns()))),
      row_norms(values.subspan(x.size(), size(g.batch * g.rows()))),
      col_norms(values.subspan(x.size() + row_norms.size(), size(g.matrices_of_b() * g.columns()))),
      largest_addend(values.back()),
      seed(seed_of_inputs) {}

std::vector<double> compute_reference(const Gemm& gemm, std::uint64_t seed) {
  const Gemm g = resolved(gemm);
  const MatrixView a_view = view_a(g), b_view = view_b(g), c_view = view_c(g);
  std::vector<double> a = matrix_values(g, seed, kNumberOfA, a_view), b = matrix_values(g, seed, kNumberOfB, b_view);
  apply_scales(g, seed, number_of_scale_a(g), scales_of_a(g), a_view, a);
  apply_scales(g, seed, number_of_scale_b(g), scales_of_b(g), b_view, b);
  const std::vector<double> c0 = g.beta != 0 ? matrix_values(g, seed, kNumberOfC, c_view) : std::vector<double>();
  const std::int64_t columns = g.columns();
  std::vector<double> values(size(g.batch * g.rows() * (columns + 1) + g.matrices_of_b() * columns + 1));
  double* const row_norms = values.data() + g.batch * g.rows() * columns;
  double* const col_norms = row_norms + g.batch * g.rows();
  for (const Product& p : products_of(g)) {
    const std::int64_t row = p.batch * g.rows() + p.row;
    double* const c = values.data() + row * columns;
    const DoubleMatrix of_a = matrix(a, a_view, p.batch, p.row), of_b = matrix(b, b_view, p.b);
    multiply(of_a, of_b, p.rows, columns, g.k, c);
    const DoubleMatrix before = g.beta != 0 ? matrix(c0, c_view, p.batch, p.row) : DoubleMatrix();
    values.back() = std::max(values.back(), scale(g, before, p.rows, c));
    norms(of_a.data, p.rows, of_a.row_stride, g.k, of_a.col_stride, row_norms + row);
    norms(of_b.data, columns, of_b.col_stride, g.k, of_b.row_stride, col_norms + p.b * columns);
  }
  add_bias(g, seed, values);
  return values;
}

void add_bias(const Gemm& g, std::uint64_t seed, std::span<double> values) {
  if (g.bias == Bias::none) return;
  std::vector<double> bias(size(g.bias_length()));
  generate(content_of(g, kNumberOfBias, seed), 0, g.bias_length(), bias.data());
  parallel_for(g.batch * g.m, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t col = 0; col < g.columns(); ++col)
        values[size(row * g.columns() + col)] += bias[size(g.bias == Bias::row ? col : row % g.m)];
  });
  values.back() += std::fabs(*std::ranges::max_element(bias, {}, [](double x) { return std::fabs(x); }));
}

gpu::Tolerance tolerance_of(const Gemm& gemm, double largest_addend) {
  constexpr double kFastInstructions = 0x1p-11;
  const double u_acc = unit_roundoff(gemm.acc), u_c = unit_roundoff(gemm.c);
  const double u_sum = gemm.acc == Type::s32 ? u_c : u_acc;
  // |alpha*ab| <= |ref| + |beta*c0| + |bias|, which needs none of the three by itself.
  return {error_growth(gemm) * sum_roundoff(gemm) * std::fabs(gemm.alpha), 4 * u_sum, 8 * u_sum * largest_addend,
          std::min(kFastInstructions, 8 * std::max(u_acc, u_c)),           u_c,       smallest_positive(gemm.c)};
}

double custom_tolerance(const Custom& problem, Type type) {
  return problem.tolerance > 0 ? problem.tolerance : std::sqrt(unit_roundoff(type));
}

}  // namespace tune::worker
