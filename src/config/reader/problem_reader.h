#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "model/problem.h"

namespace tune::config {

/// `problem:`, and the names it adds to every scope.
struct ProblemSection {
  Problem problem;
  std::map<std::string, Value> constants;
  std::vector<Expression> counts = {};  ///< custom: the elements of each buffer
  const Node* reference = nullptr;      ///< custom: unread, because it needs the parameters' names
};

/// Reads `problem: {gemm: ...}` or `problem: {custom: ...}` and adds its constants to `scope`. Of a gemm every default
/// is filled in: types by type of a, leading dimensions and strides tight. Throws what is in `diagnostics` if it is
/// neither.
ProblemSection read_problem(const Node& node, SymbolTable& scope, Diagnostics& diagnostics);

/// The buffers a kernel's arguments may name.
std::vector<std::string> buffer_names(const Problem& problem);

// What a problem has within, in gemm_reader.cpp.

/// The keys of `gemm:` that have one value; beside them it has `layout`.
inline constexpr std::array<std::string_view, 27> kGemmKeys = {
    "m",          "n",        "k",        "batch",    "lda",      "ldb",    "ldc",     "acc",      "a",
    "b",          "c",        "stride_a", "stride_b", "stride_c", "alpha",  "beta",    "bias",     "init",
    "fast_accum", "epilogue", "residual", "scale_a",  "scale_b",  "groups", "routing", "max_rows", "padding"};

/// Reads `gemm:`. Defaults: a f32, b as a, c as a (s32 for s8, f32 for tf32, bf16 for fp8), acc f32 (f64 for f64, s32
/// for s8), all row-major, tight, no bias, uniform.
Gemm read_gemm(const Node& node, Diagnostics& diagnostics);

/// m n k batch groups max_rows lda ldb ldc stride_a stride_b stride_c alpha beta fast_accum; as texts type_a type_b
/// type_c type_acc layout_a layout_b layout_c epilogue scale_a scale_b; of scales also ld_scale_a ld_scale_b.
std::map<std::string, Value> constants_of(const Gemm& gemm);

/// These read a type's short name, and how a buffer is filled. They return nullopt if it is invalid, which is reported.
std::optional<Type> read_type(const Node& node, std::string_view what, Diagnostics& diagnostics);
std::optional<Init> read_init(const Node& node, std::string_view what, Diagnostics& diagnostics);

}  // namespace tune::config
