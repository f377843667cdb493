#pragma once
#include <algorithm>
#include <span>

#include "model/device.h"
#include "model/problem.h"

namespace tune {

/// One kind of GEMM: the type of A and B, of the accumulator, and of C.
struct Cell {
  Type in, acc, out;
  bool operator==(const Cell&) const = default;
};

/// The table of types: what each backend computes, every cell run by a test. All others are refused with a reason.
inline constexpr Cell kCpuCells[] = {
    {Type::f32, Type::f32, Type::f32},  {Type::f32, Type::f32, Type::f16},  {Type::f32, Type::f32, Type::bf16},
    {Type::f16, Type::f32, Type::f32},  {Type::f16, Type::f32, Type::f16},  {Type::f16, Type::f32, Type::bf16},
    {Type::bf16, Type::f32, Type::f32}, {Type::bf16, Type::f32, Type::f16}, {Type::bf16, Type::f32, Type::bf16},
    {Type::f32, Type::f64, Type::f32},  {Type::f32, Type::f64, Type::f64},  {Type::f64, Type::f64, Type::f32},
    {Type::f64, Type::f64, Type::f64},  {Type::s8, Type::s32, Type::s32},   {Type::s8, Type::s32, Type::f32},
    {Type::e4m3, Type::f32, Type::f32}, {Type::e4m3, Type::f32, Type::f16}, {Type::e4m3, Type::f32, Type::bf16},
    {Type::e5m2, Type::f32, Type::f32}, {Type::e5m2, Type::f32, Type::f16}, {Type::e5m2, Type::f32, Type::bf16},
};

inline constexpr Cell kGpuCells[] = {
    {Type::f32, Type::f32, Type::f32},  {Type::f32, Type::f32, Type::f16},  {Type::f32, Type::f32, Type::bf16},
    {Type::tf32, Type::f32, Type::f32}, {Type::tf32, Type::f32, Type::f16}, {Type::tf32, Type::f32, Type::bf16},
    {Type::f16, Type::f32, Type::f32},  {Type::f16, Type::f32, Type::f16},  {Type::f16, Type::f32, Type::bf16},
    {Type::bf16, Type::f32, Type::f32}, {Type::bf16, Type::f32, Type::f16}, {Type::bf16, Type::f32, Type::bf16},
    {Type::e4m3, Type::f32, Type::f32}, {Type::e4m3, Type::f32, Type::f16}, {Type::e4m3, Type::f32, Type::bf16},
    {Type::e5m2, Type::f32, Type::f32}, {Type::e5m2, Type::f32, Type::f16}, {Type::e5m2, Type::f32, Type::bf16},
    {Type::f16, Type::f16, Type::f16},  {Type::f16, Type::f16, Type::f32},  {Type::e4m3, Type::f16, Type::f16},
    {Type::e4m3, Type::f16, Type::f32}, {Type::e5m2, Type::f16, Type::f16}, {Type::e5m2, Type::f16, Type::f32},
    {Type::f32, Type::f64, Type::f32},  {Type::f32, Type::f64, Type::f64},  {Type::f64, Type::f64, Type::f32},
    {Type::f64, Type::f64, Type::f64},  {Type::s8, Type::s32, Type::s32},   {Type::s8, Type::s32, Type::f32},
};

inline std::span<const Cell> cells_of(Backend backend) {
  return backend == Backend::cpu ? std::span<const Cell>(kCpuCells) : std::span<const Cell>(kGpuCells);
}

}  // namespace tune
