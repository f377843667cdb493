#pragma once
#include <map>
#include <optional>
#include <string>

#include "config/yaml/node.h"
#include "model/problem.h"
#include "model/values/value.h"

namespace tune::config {

/// Reads `gemm: {m, n, k, a, b, c, acc, layout, alpha, beta, batch, lda.., stride_a.., bias, epilogue, residual,
/// scale_a, scale_b, groups, routing, max_rows, padding, init}`. Defaults: a f32, b as a, c as a (s32 for s8, f32 for
/// tf32, bf16 for fp8), acc f32 (f64 for f64, s32 for s8), all row-major, tight, no bias, uniform.
Gemm read_gemm(const Node& node, Diagnostics& diagnostics);

/// m n k batch groups max_rows lda ldb ldc stride_a stride_b stride_c alpha beta fast_accum; as texts type_a type_b
/// type_c type_acc layout_a layout_b layout_c epilogue scale_a scale_b; of scales also ld_scale_a ld_scale_b.
std::map<std::string, Value> constants_of(const Gemm& gemm);

/// These read a type's short name, and how a buffer is filled. They return nullopt if it is invalid, which is reported.
std::optional<Type> read_type(const Node& node, std::string_view what, Diagnostics& diagnostics);
std::optional<Init> read_init(const Node& node, std::string_view what, Diagnostics& diagnostics);

}  // namespace tune::config
