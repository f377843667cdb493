#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checking/guarded_buffer.h"
#include "checking/inputs.h"
#include "checking/layout.h"
#include "checking/reference.h"
#include "checking/rotated_inputs.h"

namespace tune::worker {

/// What the comparison of an output with its reference found. An error is |out - ref|.
struct Deviation {
  struct Index {
    std::int64_t batch = 0, row = 0, col = 0;
  };

  std::int64_t elements = 0;   ///< compared
  std::int64_t wrong = 0;      ///< not within tolerance; a NaN never is
  std::int64_t nans = 0;       ///< of those
  std::int64_t unwritten = 0;  ///< of those, still poisoned
  double largest_error = 0;    ///< of numbers
  double largest_ratio = 0;    ///< largest error over its tolerance; infinite if there is a NaN
  Index first;                 ///< first wrong element in the order of (batch, row, col)
  double found = 0;            ///< that element
  double expected = 0;         ///< what it should be
  Index low, high;             ///< the smallest box that holds all wrong elements
  bool is_list = false;        ///< the elements are one after the other: only the columns tell them apart
};

/// How far a launch's result is from the reference because signs of its inputs were turned: `by_row` and `by_col` of
/// gpu::Change in gpu_kernels.h, on the host. Empty: not at all.
struct TurnedSigns {
  std::vector<double> by_row, by_col;

  /// The change of the element of the product in this one of all rows of A and of all columns of B. Precondition: the
  /// change is not empty.
  double change(std::int64_t row, std::int64_t col) const;
};

/// How the inputs of one launch differ from those that the reference was computed from: the matrices are rotated in
/// another way, and on GPUs a few signs are turned, too.
struct Variation {
  Rotation rotation = {};
  TurnedSigns signs = {};
};

/// Compares a GEMM's C, which was poisoned with `pattern`, with its reference. Precondition: a resolved problem.
Deviation compare_gemm(const Gemm& gemm, const void* c, const GemmReference& reference, Poison pattern,
                       const Variation& variation = {});

/// Compares an output of a custom problem; `values` is this buffer's part of the reference.
Deviation compare_custom(const Custom& problem, const Buffer& buffer, const void* data, std::span<const double> values,
                         Poison pattern);

/// The results that right elements of C are near, row-major and tight.
std::vector<double> expected_result(const Gemm& gemm, const GemmReference& reference, const Variation& variation);

/// The failure's text. Its first line is the same for all specs that fail alike: `wrong result in C` or `C was not
/// fully written`; the second says how many, how far, the first and where. Precondition: wrong > 0.
std::string describe(const Deviation& deviation, const std::string& buffer);

/// `input A was overwritten at element 17`.
std::string overwritten_text(const std::string& buffer, std::int64_t element);

/// That text, if the buffer no longer holds what it was filled with; nullopt if it does.
std::optional<std::string> input_damage(const std::string& buffer, const Content& content, const void* data,
                                        std::int64_t count);

/// Does the same for a GEMM input whose rows or columns are rotated. Precondition: a resolved problem that can be
/// rotated.
std::optional<std::string> input_damage(const Gemm& gemm, std::size_t index, const Buffer& buffer,
                                        const Content& content, const void* data, const Rotation& rotation);

/// `padding of C was overwritten at element 4100`, if an element between the rows, columns or matrices of `view`, or of
/// a row that is none of `groups`, is not what it was before the launch: `before`, or else the poison. Interleaved
/// matrices have no padding.
std::optional<std::string> padding_damage(const std::string& buffer, Type type, const void* data,
                                          const MatrixView& view, const gpu::Groups& groups,
                                          const std::optional<Content>& before, Poison pattern);

}  // namespace tune::worker
