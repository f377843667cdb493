#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "checking/gpu_kernels.h"
#include "checking/inputs.h"
#include "checking/layout.h"

namespace tune::worker {

/// Another GEMM with the same numbers at other places, whose result is known without another reference. The rows of A
/// are rotated by `rows`, the columns of B by `cols`, and C before the launch and the bias by both: element (i, j) of
/// the result is what (i + rows, j + cols) is otherwise, both taken modulo the number of those that move. The columns
/// of A and the rows of B are rotated by `depth`, which changes the order of the sum alone. Scales go with the elements
/// that they are for. The rows of each group are rotated among themselves.
struct Rotation {
  std::int64_t rows = 0, cols = 0, depth = 0;
  bool operator==(const Rotation&) const = default;
};

/// How many rows of A, columns of B and elements of the sum move in a rotation: all but the last ones that share a
/// scale, if they are fewer than those before.
struct Moving {
  std::int64_t rows = 0, cols = 0, depth = 0;
};
Moving moving_in_rotations(const Gemm& gemm);

/// False: custom problems, of which nothing is known, and matrices of a batch that share elements.
bool can_be_rotated(const Problem& problem);

/// What that changes, apart from signs; its groups are the problem's own.
gpu::Change change_of(const Gemm& gemm, const Rotation& rotation);

/// The groups whose padding in C kernels leave alone; none, if they may write it or there is none.
gpu::Groups groups_of_kept_padding(const Gemm& gemm);

/// One at random: below(n) is a number of [0, n). Elements that share a scale stay together. Columns stay where they
/// are with swiglu: those of one element of C are n apart.
Rotation draw_rotation(const Gemm& gemm, const std::function<std::int64_t(std::int64_t)>& below);

/// A buffer's matrices, and how they are rotated themselves.
struct RotatedView {
  MatrixView view;
  std::int64_t rows = 0, cols = 0;
  std::int64_t moving_rows = 0, moving_cols = 0;  ///< the others, behind them, stay where they are
  gpu::Groups groups = {};                        ///< in which rows are rotated; none: in the whole matrix
};

/// All of a buffer as it is.
inline RotatedView whole(std::int64_t count) { return {{1, 1, count, 0, count, 1}}; }

/// Where no groups are, the elements of a line are neighbours in memory.
gpu::Lines lines_of(const RotatedView& rotated);

/// The view of the buffer with this number; its groups are the problem's own. Precondition: a resolved problem that can
/// be rotated.
RotatedView rotated_view(const Gemm& gemm, std::size_t buffer, const Rotation& rotation);

/// Copies the matrices from a buffer in which they are not rotated. The padding between them is left as it is.
void copy_rotated(std::int64_t element_bytes, const RotatedView& rotated, const void* original, void* data);

/// Whether the matrices are what copy_rotated puts there.
bool equals_rotated(std::int64_t element_bytes, const RotatedView& rotated, const void* original, const void* data);

/// The offset of the first element of the matrices that is not what copy_rotated puts there, if the original was filled
/// with this content.
std::optional<std::int64_t> first_rotated_difference(const Content& content, const RotatedView& rotated,
                                                     const void* data);

}  // namespace tune::worker
