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

/// What a comparison found.
struct Verdict {
  unsigned long long wrong;          ///< elements that are not within tolerance; a NaN never is
  unsigned long long largest_ratio;  ///< of error to tolerance: the bits of a double, which order as numbers do
};

}  // namespace tune::gpu
