#pragma once
// What the host passes to gpu_kernels.cu. Both sides compile this text.

namespace tune::gpu {

/// MatrixView of layout.h.
struct View {
  long long batch, rows, cols, batch_stride, row_stride, col_stride;
};

/// Right is |out - ref| <= of_norms * row norm * column norm + of_reference * |ref| + constant.
struct Tolerance {
  double of_norms, of_reference, constant;
};

/// How far alpha * A * B is from the reference because signs of A were turned at two values of k: element (row, col) of
/// matrix b by rows[r][0] cols[c][0] + rows[r][1] cols[c][1], r = b % batches * (rows of a matrix) + row, c = b * (its
/// columns) + col. `rows` null: not at all.
struct Change {
  const double *rows, *cols;
  long long batches;  ///< of A: 1 where all of a batch share it
};

struct Pair {
  long long first, second;
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
