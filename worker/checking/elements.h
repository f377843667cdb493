#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "checking/gpu_elements.h"
#include "model/problem.h"

/// The element types as the host computes with them: conversion from and to double, with one rounding to nearest even.
namespace tune::worker {

/// IEEE's binary16. Its bits are converted here, because without F16C compilers call a slow library function for each.
struct Half {
  std::uint16_t bits = 0;
};

/// A float's upper half.
struct Bf16 {
  std::uint16_t bits = 0;
};

/// The fp8 types; the host converts them as the GPU does, one by one.
struct E4m3 {
  std::uint8_t bits = 0;
};
struct E5m2 {
  std::uint8_t bits = 0;
};

/// A float with the significand of a half, as tensor cores read it.
struct Tf32 {
  float value = 0;
};

inline double to_double(double x) { return x; }
inline double to_double(float x) { return static_cast<double>(x); }
inline double to_double(Half x) {
  // The exponent's bias differs by 112; the multiplication is exact and normalises subnormal numbers.
  const float magnitude = std::bit_cast<float>(std::uint32_t{x.bits & 0x7fffU} << 13) * 0x1p112F;
  const float value = magnitude < 65536.0F ? magnitude : magnitude == 65536.0F ? HUGE_VALF : NAN;
  return static_cast<double>(x.bits & 0x8000U ? -value : value);
}
inline double to_double(Bf16 x) { return static_cast<double>(std::bit_cast<float>(std::uint32_t{x.bits} << 16)); }
inline double to_double(Tf32 x) { return static_cast<double>(x.value); }
inline double to_double(E4m3 x) { return gpu::decode(gpu::Element::e4m3, x.bits); }
inline double to_double(E5m2 x) { return gpu::decode(gpu::Element::e5m2, x.bits); }
inline double to_double(std::int32_t x) { return x; }
inline double to_double(std::int8_t x) { return x; }

/// `x` with the last `dropped` bits of its significand rounded away, to nearest even. Precondition: finite.
inline std::uint32_t round_bits(float x, int dropped) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half = (std::uint32_t{1} << (dropped - 1)) - 1;
  const std::uint32_t odd = (bits >> dropped) & 1;
  return (bits + half + odd) >> dropped << dropped;
}

/// The nearest half; infinite from 65520 on.
inline Half round_to_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float magnitude = std::fabs(x);
  if (magnitude >= 65520.0F) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  // Below the smallest normal half, the addition puts the last bit of the float where that of the half is.
  const std::uint32_t half = magnitude < 0x1p-14F
                                 ? std::bit_cast<std::uint32_t>(magnitude + 0.5F) - std::bit_cast<std::uint32_t>(0.5F)
                                 : (round_bits(magnitude, 13) >> 13) - (112U << 10);
  return {static_cast<std::uint16_t>(sign | half)};
}

/// A double as the nearest element; through float for the short types, on the device too. Integers take the value
/// as it is. Precondition: finite and in range.
template <typename T>
T rounded(double x) {
  if constexpr (std::is_same_v<T, Bf16>)
    return {static_cast<std::uint16_t>(round_bits(static_cast<float>(x), 16) >> 16)};
  else if constexpr (std::is_same_v<T, Tf32>)
    return {std::bit_cast<float>(round_bits(static_cast<float>(x), 13))};
  else if constexpr (std::is_same_v<T, Half>)
    return round_to_half(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, E4m3>)
    return {static_cast<std::uint8_t>(gpu::encode(gpu::Element::e4m3, x))};
  else if constexpr (std::is_same_v<T, E5m2>)
    return {static_cast<std::uint8_t>(gpu::encode(gpu::Element::e5m2, x))};
  else
    return static_cast<T>(x);
}

/// Bits of the significand, the implicit one included; all value bits of an integer.
template <typename T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, Bf16>)
    return 8;
  else if constexpr (std::is_same_v<T, Tf32> || std::is_same_v<T, Half>)
    return 11;
  else if constexpr (std::is_same_v<T, E4m3>)
    return 4;
  else if constexpr (std::is_same_v<T, E5m2>)
    return 3;
  else
    return std::numeric_limits<T>::digits;
}

template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls `f` with the tag of the host's form of `type`.
template <typename F>
decltype(auto) with_type(Type type, F&& f) {
  switch (type) {
    case Type::f64:
      return f(TypeTag<double>{});
    case Type::f32:
      return f(TypeTag<float>{});
    case Type::tf32:
      return f(TypeTag<Tf32>{});
    case Type::f16:
      return f(TypeTag<Half>{});
    case Type::bf16:
      return f(TypeTag<Bf16>{});
    case Type::e4m3:
      return f(TypeTag<E4m3>{});
    case Type::e5m2:
      return f(TypeTag<E5m2>{});
    case Type::s32:
      return f(TypeTag<std::int32_t>{});
    case Type::s8:
      return f(TypeTag<std::int8_t>{});
  }
  throw std::invalid_argument("no such type");
}

}  // namespace tune::worker
