#pragma once
// What the host passes to gpu_kernels.cu. Both sides compile this text.
#include "checking/gpu_epilogue.h"

namespace tune::gpu {

/// MatrixView of layout.h.
struct View {
  long long batch, rows, cols, batch_stride, row_stride, col_stride;
};

/// ScaleView of layout.h and where the scales lie; null: there are none, and elements count as they are.
struct Scales {
  const float* data;
  long long rows, cols, matrix_stride, row_stride, col_stride;

  TUNE_HOST_DEVICE double at(long long matrix, long long row, long long col) const {
    return data ? static_cast<double>(data[matrix * matrix_stride + row / rows * row_stride + col / cols * col_stride])
                : 1;
  }
};

/// The groups of a product's rows: the offsets and max_rows of Gemm, and how many groups there are; 0: none, and the
/// others are unused.
struct Groups {
  const int* offsets;
  long long count, max_rows;

  TUNE_HOST_DEVICE constexpr long long first(long long group) const {
    return max_rows > 0 ? group * max_rows : offsets[group];
  }
  TUNE_HOST_DEVICE constexpr long long rows(long long group) const { return offsets[group + 1] - offsets[group]; }
  /// Whether a row is one of a group, and no padding behind its rows; without groups all are.
  TUNE_HOST_DEVICE constexpr bool have(long long row) const {
    return count == 0 || max_rows == 0 || row % max_rows < rows(row / max_rows);
  }
  /// The group that has this row or padding. Precondition: there are groups.
  TUNE_HOST_DEVICE constexpr long long of(long long row) const {
    if (max_rows > 0) return row / max_rows;
    long long first = 0, last = count;
    while (last - first > 1) {
      const long long middle = (first + last) / 2;
      (offsets[middle] <= row ? first : last) = middle;
    }
    return first;
  }
};

/// The index of what has taken the place `index`, where the first `moving` are rotated, or those of each group.
TUNE_HOST_DEVICE constexpr long long rotated(long long index, long long by, long long moving, Groups groups = {}) {
  if (groups.count > 0 && groups.have(index)) {
    const long long group = groups.of(index), first = groups.first(group);
    return first + (index - first + by) % groups.rows(group);
  }
  if (index >= moving || groups.count > 0) return index;
  return index + by < moving ? index + by : index + by - moving;
}

/// Matrices that are rotated, as lines of elements: element i of a line is what is otherwise element i + shift of the
/// line that is `skipped` further on, modulo the numbers of those that move.
struct Lines {
  long long matrices, lines, length;  ///< lines of each matrix
  long long matrix_stride, line_stride, element_stride, skipped, shift, moving_lines, moving;
  Groups groups;  ///< in which lines are skipped, instead of in all that move
};

/// Elements of a line that a thread reads before it uses the first.
constexpr int kReadAtOnce = 8;

/// Values of k at which the signs of A or of B are turned, all different; a negative one stands for none.
constexpr int kTurns = 4;
struct Turns {
  long long k[kTurns];  ///< half of them of A, the others of B
};

/// How the inputs of a launch differ from those that the reference was computed from. The rows and columns of the
/// result are rotated, as by Rotation of rotated_inputs.h; and alpha * A * B is another because of the signs that are
/// turned: element (row, col) of the product b by the sum over i of by_row[r][i] by_col[c][i], r = b * (rows of a
/// matrix) + row, c = (number of B's matrix) * (its columns) + col. `by_row` null: no signs are.
struct Change {
  long long rows, cols, moving_rows, moving_cols;
  const double *by_row, *by_col;
  Groups groups;

  /// The number of the matrix of B that a row is multiplied by.
  TUNE_HOST_DEVICE constexpr long long matrix_of_b(long long batch, long long row) const {
    return groups.count > 0 ? groups.of(row) : batch;
  }
};

/// What becomes of a product; `key` is that of the residual's content, if there is one.
struct Finish {
  Epilogue epilogue;
  bool has_residual;
  Source source;
  generator::Bits key;
};

/// What two clocks of a multiprocessor say at one moment: a steady one, and its own, which power and heat slow down.
struct Stamp {
  unsigned long long nanoseconds, cycles;
};

/// Around a timed launch: the device was held from `held` to `released`, then came the launch, and then `after`.
struct Watch {
  Stamp held, released, after;
  unsigned multiprocessor;
};

/// What a comparison found.
struct Verdict {
  unsigned long long wrong;          ///< elements that are not within tolerance; a NaN never is
  unsigned long long largest_ratio;  ///< of error to tolerance: the bits of a double, which order as numbers do
};

}  // namespace tune::gpu
