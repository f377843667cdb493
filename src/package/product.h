#pragma once
#include <functional>
#include <string>

#include "model/plan.h"

namespace tune::package {

/// `times` times the size that is named `size`, and that for each of another size.
struct Extent {
  std::string size;
  int times = 1;             ///< 2: of B's columns, of which an epilogue makes one column of C each
  std::string of_each = {};  ///< the name of that size; empty: once
};

/// C++ for an extent, by the functions of files/number.h.in; `size` gives that for the name of a size.
std::string text_of(const Extent& extent, const std::function<std::string(const std::string&)>& size);

/// A matrix of a product as it lies in memory: `outer` runs of `inner` elements, and `count` such matrices. `count` is
/// the name of a size; empty: there is one matrix.
struct MatrixShape {
  Type type;
  char letter;  ///< of `lda`, `stride_a`
  Extent inner, outer;
  std::string count;

  std::string ld() const { return std::string("ld") + letter; }
  std::string stride() const { return std::string("stride_") + letter; }
};

/// Of A, B or C. Throws NotPackaged for other operands.
MatrixShape matrix_of(const Gemm& gemm, const std::string& operand);

/// What a user has to know of a size whose name does not say it; otherwise empty.
std::string description_of_size(const Gemm& gemm, const std::string& size);
/// What a user has to know of an operand: its type, and how it lies in memory.
std::string description_of(const Gemm& gemm, const std::string& operand);

/// An expression of the tuning file's sizes for `ld_scale_a` or `ld_scale_b`.
std::string ld_of_scales(const Gemm& gemm, bool of_a);

/// C++ that computes the bytes of an operand beside the matrices, by the functions of files/number.h.in: `sizes` are as
/// size_names() orders them. Of a residual, which lies as C does, nothing.
std::string bytes_text(const Gemm& gemm, const std::string& operand);

}  // namespace tune::package
