#pragma once
#include "model/problem.h"
#include "model/trial.h"

namespace tune {

/// What the CPU backend can compute with: f64, f32, f16 and bf16 accumulated in f32 or f64, and s8 accumulated in s32;
/// in custom problems buffers of these and of s32. Throws Refusal with the first thing it has not.
void require_supported(const Problem& problem, Stage stage);

/// The C++ type of an element in a kernel's parameters.
const char* cpp_type(Type type);

}  // namespace tune
