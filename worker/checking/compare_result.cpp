#include "checking/compare_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <tuple>

#include "checking/elements.h"
#include "checking/generator.h"
#include "checking/gpu_epilogue.h"
#include "checking/gpu_kernels.h"
#include "checking/parallel.h"

namespace tune::worker {
namespace {

using Index = Deviation::Index;

using gpu::Estimate;

template <typename T>
bool is_unwritten(const T& element, Poison pattern) {
  if constexpr (sizeof(T) == 1) return false;  // one byte says too little: poisoned, it is an ordinary number
  const auto* bytes = reinterpret_cast<const std::byte*>(&element);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (bytes[i] != poison_at(i, pattern)) return false;
  return true;
}

bool before(const Index& x, const Index& y) {
  return std::tie(x.batch, x.row, x.col) < std::tie(y.batch, y.row, y.col);
}

void widen(Index& low, Index& high, const Index& to_low, const Index& to_high) {
  low = {std::min(low.batch, to_low.batch), std::min(low.row, to_low.row), std::min(low.col, to_low.col)};
  high = {std::max(high.batch, to_high.batch), std::max(high.row, to_high.row), std::max(high.col, to_high.col)};
}

void merge(Deviation& into, const Deviation& part) {
  into.elements += part.elements;
  into.largest_error = std::max(into.largest_error, part.largest_error);
  into.largest_ratio = std::max(into.largest_ratio, part.largest_ratio);
  if (part.wrong == 0) return;
  if (into.wrong == 0) std::tie(into.low, into.high) = std::tie(part.low, part.high);
  if (into.wrong == 0 || before(part.first, into.first))
    std::tie(into.first, into.found, into.expected) = std::tie(part.first, part.found, part.expected);
  widen(into.low, into.high, part.low, part.high);
  into.wrong += part.wrong;
  into.nans += part.nans;
  into.unwritten += part.unwritten;
}

void add_wrong(Deviation& deviation, const Index& index, double found, double expected, bool unwritten) {
  if (deviation.wrong++ == 0) {
    deviation.first = deviation.low = deviation.high = index;
    deviation.found = found;
    deviation.expected = expected;
  }
  widen(deviation.low, deviation.high, index, index);
  deviation.nans += std::isnan(found - expected);
  deviation.unwritten += unwritten;
}

template <typename T>
void compare_element(Deviation& deviation, const T& element, const Estimate& expected, const Index& index,
                     Poison pattern) {
  const double found = to_double(element), error = std::fabs(found - expected.value);
  ++deviation.elements;
  // All comparisons with a NaN are false; this one must be false for a right element only.
  if (error <= expected.error) {
    if (error > deviation.largest_ratio * expected.error) deviation.largest_ratio = error / expected.error;
    deviation.largest_error = std::max(deviation.largest_error, error);
    return;
  }
  const bool is_nan = std::isnan(error);
  if (!is_nan) deviation.largest_error = std::max(deviation.largest_error, error);
  const double ratio = is_nan ? std::numeric_limits<double>::infinity() : error / expected.error;
  deviation.largest_ratio = std::max(deviation.largest_ratio, ratio);
  add_wrong(deviation, index, found, expected.value, is_unwritten(element, pattern));
}

/// In the rows that the groups have. `expected_in(batch, row)` gives what tells a row's elements by their columns.
template <typename ExpectedIn>
Deviation compare(Type type, const void* data, const MatrixView& view, const gpu::Groups& groups, Poison pattern,
                  const ExpectedIn& expected_in) {
  Deviation total;
  std::mutex mutex;
  with_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t grain = 1 + (1 << 16) / std::max<std::int64_t>(1, view.cols);
    parallel_for(view.batch * view.rows, grain, [&](std::int64_t begin, std::int64_t end) {
      Deviation part;
      for (std::int64_t line = begin; line < end; ++line) {
        Index i{line / view.rows, line % view.rows, 0};
        if (!groups.have(i.row)) continue;
        const auto expected = expected_in(i.batch, i.row);
        for (; i.col < view.cols; ++i.col)
          compare_element(part, static_cast<const T*>(data)[view.offset(i.batch, i.row, i.col)], expected(i.col), i,
                          pattern);
      }
      const std::lock_guard lock(mutex);
      merge(total, part);
    });
  });
  return total;
}

std::string range(const char* one, const char* several, std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("{} {}", one, low) : fmt::format("{} {}-{}", several, low, high);
}

std::string region(const Deviation& d) {
  if (d.is_list) return range("element", "elements", d.low.col, d.high.col);
  std::string text =
      range("row", "rows", d.low.row, d.high.row) + ", " + range("column", "columns", d.low.col, d.high.col);
  if (d.high.batch > 0) text += ", " + range("matrix", "matrices", d.low.batch, d.high.batch);
  return text;
}

std::string place(const Index& index, bool is_list) {
  if (is_list) return fmt::format("element {}", index.col);
  std::string text = fmt::format("row {}, column {}", index.row, index.col);
  return index.batch > 0 ? text + fmt::format(", matrix {}", index.batch) : text;
}

/// Calls `gap(first, count)` for each run of elements within the view's extent that belongs to no matrix, or to a row
/// that is none of the groups, in order, until it returns true.
template <typename Gap>
void find_gap(const MatrixView& view, const gpu::Groups& groups, Gap&& gap) {
  const bool by_rows = view.col_stride == 1;
  const std::int64_t lines = by_rows ? view.rows : view.cols, length = by_rows ? view.cols : view.rows;
  const std::int64_t stride = by_rows ? view.row_stride : view.col_stride;
  const std::int64_t matrix = (lines - 1) * stride + length;
  if (view.batch > 1 && view.batch_stride < matrix) return;
  for (std::int64_t b = 0; b < view.batch; ++b) {
    const std::int64_t start = b * view.batch_stride;
    for (std::int64_t line = 0; line < lines && (stride > length || groups.count > 0); ++line) {
      if (!groups.have(line) && gap(start + line * stride, length)) return;
      if (line + 1 < lines && stride > length && gap(start + line * stride + length, stride - length)) return;
    }
    if (b + 1 < view.batch && view.batch_stride > matrix && gap(start + matrix, view.batch_stride - matrix)) return;
  }
}

std::optional<std::int64_t> first_unpoisoned(const void* data, std::int64_t size, std::int64_t first,
                                             std::int64_t count, Poison pattern) {
  for (std::int64_t i = first * size; i < (first + count) * size; ++i)
    if (static_cast<const std::byte*>(data)[i] != poison_at(static_cast<std::size_t>(i), pattern)) return i / size;
  return std::nullopt;
}

/// What elements of a GEMM's C are in a launch whose inputs varied.
class ExpectedGemm {
 public:
  ExpectedGemm(const Gemm& gemm, const GemmReference& reference, const Variation& variation)
      : gemm_(gemm),
        reference_(reference),
        variation_(variation),
        change_(change_of(gemm, variation.rotation)),
        tolerance_(tolerance_of(gemm, reference.largest_addend)),
        epilogue_(static_cast<gpu::Epilogue>(gemm.epilogue)) {}

  /// The elements of one row, by their columns; what is the same for all of them is looked up once.
  class Row {
   public:
    Row(const ExpectedGemm& all, std::int64_t batch, std::int64_t row)
        : all_(&all),
          batch_(batch),
          row_there_(gpu::rotated(row, all.change_.rows, all.change_.moving_rows, all.change_.groups)) {
      const std::int64_t columns = all.gemm_.columns(), line = batch * all.gemm_.rows() + row_there_;
      first_of_b_ = all.change_.matrix_of_b(batch, row) * columns;
      row_of_signs_ = batch * all.gemm_.rows() + row;
      x_ = &all.reference_.x[static_cast<std::size_t>(line * columns)];
      row_norm_ = all.reference_.row_norms[static_cast<std::size_t>(line)];
      col_norms_ = &all.reference_.col_norms[static_cast<std::size_t>(first_of_b_)];
    }

    Estimate operator()(std::int64_t col) const {
      const std::int64_t there = gpu::rotated(col, all_->change_.cols, all_->change_.moving_cols);
      const Estimate x = product(col, there, 0);
      const Estimate up = all_->gemm_.epilogue == Epilogue::swiglu ? product(col, there, all_->gemm_.n) : Estimate{};
      const Estimate y = gpu::after_epilogue(all_->epilogue_, all_->tolerance_, x, up);
      return gpu::rounded(all_->tolerance_, y, all_->gemm_.residual ? residual(there) : 0);
    }

   private:
    /// The element of the product that is so many columns further on.
    Estimate product(std::int64_t col, std::int64_t there, std::int64_t further) const {
      const TurnedSigns& signs = all_->variation_.signs;
      double value = x_[there + further];
      if (!signs.by_row.empty()) value += signs.change(row_of_signs_, first_of_b_ + col + further);
      return gpu::before_epilogue(all_->tolerance_, value, row_norm_ * col_norms_[there + further]);
    }

    double residual(std::int64_t there) const {
      const auto type = static_cast<gpu::Element>(all_->gemm_.c);
      const auto at = static_cast<std::uint64_t>(view_c(all_->gemm_).offset(batch_, row_there_, there));
      const std::uint64_t key = generator::key(all_->reference_.seed, number_of_residual(all_->gemm_));
      return gpu::decode(type, gpu::element(type, source_of(all_->gemm_.init), key, at));
    }

    const ExpectedGemm* all_;
    std::int64_t batch_, row_there_;
    std::int64_t first_of_b_ = 0;    ///< the number of the first column of its matrix of B among those of all
    std::int64_t row_of_signs_ = 0;  ///< its number among the rows of all matrices
    const double* x_ = nullptr;
    double row_norm_ = 0;
    const double* col_norms_ = nullptr;
  };

  Row row(std::int64_t batch, std::int64_t row) const { return {*this, batch, row}; }

 private:
  const Gemm& gemm_;
  const GemmReference& reference_;
  const Variation& variation_;
  gpu::Change change_;
  gpu::Tolerance tolerance_;
  gpu::Epilogue epilogue_;
};

}  // namespace

double TurnedSigns::change(std::int64_t row, std::int64_t col) const {
  const auto r = by_row.begin() + gpu::kTurns * row;
  return std::inner_product(r, r + gpu::kTurns, by_col.begin() + gpu::kTurns * col, 0.0);
}

Deviation compare_gemm(const Gemm& g, const void* c, const GemmReference& reference, Poison pattern,
                       const Variation& variation) {
  const ExpectedGemm expected(g, reference, variation);
  return compare(g.c, c, view_c(g), change_of(g, {}).groups, pattern,
                 [&](std::int64_t batch, std::int64_t row) { return expected.row(batch, row); });
}

std::vector<double> expected_result(const Gemm& g, const GemmReference& reference, const Variation& variation) {
  const ExpectedGemm expected(g, reference, variation);
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(g.batch * g.rows() * g.n));
  for (std::int64_t batch = 0; batch < g.batch; ++batch)
    for (std::int64_t row = 0; row < g.rows(); ++row) {
      const ExpectedGemm::Row expected_there = expected.row(batch, row);
      for (std::int64_t col = 0; col < g.n; ++col) result.push_back(expected_there(col).value);
    }
  return result;
}

Deviation compare_custom(const Custom& problem, const Buffer& buffer, const void* data, std::span<const double> values,
                         Poison pattern) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  const double tolerance = custom_tolerance(problem, buffer.type) * largest;
  const auto expected_in = [&](std::int64_t, std::int64_t) {
    return [&](std::int64_t col) { return Estimate{values[static_cast<std::size_t>(col)], tolerance}; };
  };
  Deviation deviation = compare(buffer.type, data, {1, 1, buffer.count, 0, 0, 1}, {}, pattern, expected_in);
  deviation.is_list = true;
  return deviation;
}

std::string describe(const Deviation& d, const std::string& buffer) {
  std::string text =
      d.unwritten > 0 ? fmt::format("{} was not fully written", buffer) : fmt::format("wrong result in {}", buffer);
  text += fmt::format("\n{} of {} elements are wrong ({:.3g} %)", d.wrong, d.elements,
                      100.0 * static_cast<double>(d.wrong) / static_cast<double>(d.elements));
  if (d.unwritten > 0) text += fmt::format(", {} never written, or only added to", d.unwritten);
  if (d.nans > d.unwritten) text += fmt::format(", {} NaN", d.nans - d.unwritten);
  if (d.wrong > d.nans) text += fmt::format(", largest error {:.4g}", d.largest_error);
  if (std::isfinite(d.largest_ratio)) text += fmt::format(" ({:.3g} times the tolerance)", d.largest_ratio);
  text += fmt::format(", first at {}", place(d.first, d.is_list));
  if (d.unwritten == 0) text += fmt::format(": {:.6g} instead of {:.6g}", d.found, d.expected);
  return d.wrong == d.elements ? text : text + ", all within " + region(d);
}

std::string overwritten_text(const std::string& buffer, std::int64_t element) {
  return fmt::format("input {} was overwritten at element {}", buffer, element);
}

std::optional<std::string> input_damage(const std::string& buffer, const Content& content, const void* data,
                                        std::int64_t count) {
  const auto at = first_difference(content, data, 0, count);
  if (!at) return std::nullopt;
  return overwritten_text(buffer, *at);
}

std::optional<std::string> input_damage(const Gemm& gemm, std::size_t index, const Buffer& buffer,
                                        const Content& content, const void* data, const Rotation& rotation) {
  const RotatedView rotated = rotated_view(gemm, index, rotation);
  if (const auto at = first_rotated_difference(content, rotated, data)) return overwritten_text(buffer.name, *at);
  return padding_damage(buffer.name, buffer.type, data, rotated.view, {}, content, Poison::nan);
}

std::optional<std::string> padding_damage(const std::string& buffer, Type type, const void* data,
                                          const MatrixView& view, const gpu::Groups& groups,
                                          const std::optional<Content>& before, Poison pattern) {
  std::optional<std::int64_t> at;
  find_gap(view, groups, [&](std::int64_t first, std::int64_t count) {
    at = before ? first_difference(*before, data, first, count)
                : first_unpoisoned(data, size_of(type), first, count, pattern);
    return at.has_value();
  });
  if (!at) return std::nullopt;
  return fmt::format("padding of {} was overwritten at element {}", buffer, *at);
}

}  // namespace tune::worker
