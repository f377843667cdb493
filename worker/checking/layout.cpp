#include "checking/layout.h"

namespace tune::worker {
namespace {

MatrixView view(std::int64_t batch, std::int64_t stride, std::int64_t rows, std::int64_t cols, Layout layout,
                std::int64_t ld) {
  MatrixView view{batch, rows, cols, stride, 1, 1};
  (layout == Layout::row ? view.row_stride : view.col_stride) = ld;
  return view;
}

void resolve(std::int64_t rows, std::int64_t cols, Layout layout, std::int64_t& ld, std::int64_t& stride) {
  if (ld == 0) ld = layout == Layout::row ? cols : rows;
  if (stride == 0) stride = ld * (layout == Layout::row ? rows : cols);
}

Buffer buffer(const char* name, Type type, const MatrixView& view, Init init, Buffer::Role role) {
  return {name, type, view.extent(), init, role};
}

}  // namespace

std::int64_t MatrixView::extent() const {
  if (batch == 0 || rows == 0 || cols == 0) return 0;
  return offset(batch - 1, rows - 1, cols - 1) + 1;
}

Gemm resolved(Gemm gemm) {
  resolve(gemm.rows(), gemm.k, gemm.layout_a, gemm.lda, gemm.stride_a);
  resolve(gemm.k, gemm.columns(), gemm.layout_b, gemm.ldb, gemm.stride_b);
  resolve(gemm.rows(), gemm.n, gemm.layout_c, gemm.ldc, gemm.stride_c);
  return gemm;
}

MatrixView view_a(const Gemm& g) { return view(g.batch, g.stride_a, g.rows(), g.k, g.layout_a, g.lda); }
MatrixView view_b(const Gemm& g) { return view(g.matrices_of_b(), g.stride_b, g.k, g.columns(), g.layout_b, g.ldb); }
MatrixView view_c(const Gemm& g) { return view(g.batch, g.stride_c, g.rows(), g.n, g.layout_c, g.ldc); }

std::vector<Product> products_of(const Gemm& gemm) {
  std::vector<Product> products;
  if (gemm.groups() == 0)
    for (std::int64_t i = 0; i < gemm.batch; ++i) products.push_back({i, 0, gemm.m, i});
  for (std::int64_t i = 0; i < gemm.groups(); ++i) {
    const auto* const group = gemm.group_offsets.data() + i;
    if (group[1] > group[0]) products.push_back({0, gemm.first_row(i), group[1] - group[0], i});
  }
  return products;
}

ScaleView scales_of_a(const Gemm& gemm) {
  const ScaleGrid grid = gemm.scales_of_a();
  return {grid.lines, grid.depth, {1, grid.line_count, grid.depth_count, 0, grid.line_stride, grid.depth_stride}};
}

ScaleView scales_of_b(const Gemm& gemm) {
  const ScaleGrid grid = gemm.scales_of_b();
  return {
      grid.depth,
      grid.lines,
      {grid.matrices, grid.depth_count, grid.line_count, grid.matrix_stride(), grid.depth_stride, grid.line_stride}};
}

std::vector<Buffer> buffers_of(const Problem& problem) {
  if (const auto* custom = std::get_if<Custom>(&problem)) return custom->buffers;
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (!gemm) return {};
  const Gemm g = resolved(*gemm);
  const auto role_c = g.beta != 0 ? Buffer::Role::inout : Buffer::Role::out;
  std::vector<Buffer> buffers = {buffer("A", g.a, view_a(g), g.init, Buffer::Role::in),
                                 buffer("B", g.b, view_b(g), g.init, Buffer::Role::in),
                                 buffer("C", g.c, view_c(g), g.init, role_c)};
  if (g.bias != Bias::none) buffers.push_back({"bias", g.c, g.bias_length(), g.init, Buffer::Role::in});
  if (g.residual) buffers.push_back(buffer("residual", g.c, view_c(g), g.init, Buffer::Role::in));
  const auto scales = [&](const char* name, const ScaleGrid& grid) {
    if (grid.line_count > 0) buffers.push_back({name, Type::f32, grid.extent(), {}, Buffer::Role::in});
  };
  scales("scale_a", g.scales_of_a());
  scales("scale_b", g.scales_of_b());
  if (g.groups() > 0 && g.max_rows > 0)
    buffers.push_back({"group_rows", Type::s32, g.groups(), {}, Buffer::Role::in});
  else if (g.groups() > 0)
    buffers.push_back({"group_offsets", Type::s32, g.groups() + 1, {}, Buffer::Role::in});
  return buffers;
}

}  // namespace tune::worker
