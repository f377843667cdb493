#pragma once
// Elements as the GPU backend's own kernels make and read them: raw bits from and to double, with the roundings of
// elements.h. Host and device compile this text, and a test compares it with elements.h bit for bit. It includes
// nothing but generator.h, so that run-time compilers take it.
#include "checking/generator.h"

namespace tune::gpu {

using generator::Bits;
using generator::Source;

/// Numbered as Type of model/problem.h.
enum class Element : int { f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8 };

/// A floating-point format shorter than float. `has_infinity`: IEEE's; without it only all ones are a NaN.
struct ShortFormat {
  int exponent_bits, fraction_bits;
  bool has_infinity;
  TUNE_HOST_DEVICE constexpr unsigned bias() const { return (1U << (exponent_bits - 1)) - 1; }
  TUNE_HOST_DEVICE constexpr unsigned largest_code() const { return (1U << (exponent_bits + fraction_bits)) - 1; }
};

TUNE_HOST_DEVICE constexpr ShortFormat format_of(Element type) {
  switch (type) {
    case Element::f16:
      return {5, 10, true};
    case Element::bf16:
      return {8, 7, true};
    case Element::e5m2:
      return {5, 2, true};
    default:
      return {4, 3, false};
  }
}

TUNE_HOST_DEVICE constexpr unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
TUNE_HOST_DEVICE constexpr float float_of(unsigned bits) { return __builtin_bit_cast(float, bits); }

/// `bits` of a float's magnitude without its last `dropped` bits, rounded to nearest even.
TUNE_HOST_DEVICE constexpr unsigned round_off(unsigned bits, int dropped) {
  const unsigned half = (1U << (dropped - 1)) - 1, odd = (bits >> dropped) & 1;
  return (bits + half + odd) >> dropped;
}

/// Precondition: finite and in range.
TUNE_HOST_DEVICE constexpr unsigned to_short(float x, ShortFormat format) {
  const int fraction = format.fraction_bits;
  const unsigned sign = bits_of(x) >> 31, magnitude = bits_of(x) & 0x7fffffffU;
  const unsigned smallest_normal = 128 - format.bias();  // its exponent field in a float
  unsigned code = 0;
  if (magnitude < smallest_normal << 23) {
    // The addition puts the last bit of the float where that of the short format is.
    const unsigned unit = (smallest_normal + 23 - static_cast<unsigned>(fraction)) << 23;
    code = bits_of(float_of(magnitude) + float_of(unit)) - unit;
  } else {
    code = round_off(magnitude, 23 - fraction) - ((127 - format.bias()) << fraction);
  }
  return sign << (format.exponent_bits + fraction) | code;
}

TUNE_HOST_DEVICE constexpr float from_short(unsigned code, ShortFormat format) {
  const unsigned magnitude = code & format.largest_code();
  const unsigned infinity = format.largest_code() >> format.fraction_bits << format.fraction_bits;
  const bool negative = code > format.largest_code();
  float value = 0;
  if (format.has_infinity ? magnitude > infinity : magnitude == format.largest_code())
    value = float_of(0x7fc00000U);
  else if (format.has_infinity && magnitude == infinity)
    value = float_of(0x7f800000U);
  else  // the exponents' biases differ; the multiplication is exact and normalises subnormal numbers
    value = float_of(magnitude << (23 - format.fraction_bits)) * float_of((254 - format.bias()) << 23);
  return negative ? -value : value;
}

TUNE_HOST_DEVICE constexpr int bytes_of(Element type) {
  switch (type) {
    case Element::f64:
      return 8;
    case Element::f32:
    case Element::tf32:
    case Element::s32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 2;
    default:
      return 1;
  }
}

TUNE_HOST_DEVICE constexpr Bits encode(Element type, double x) {
  switch (type) {
    case Element::f64:
      return __builtin_bit_cast(Bits, x);
    case Element::f32:
      return bits_of(static_cast<float>(x));
    case Element::tf32:
      return round_off(bits_of(static_cast<float>(x)), 13) << 13;
    case Element::s32:
      return static_cast<unsigned>(static_cast<int>(x));
    case Element::s8:
      return static_cast<unsigned char>(static_cast<signed char>(x));
    default:
      return to_short(static_cast<float>(x), format_of(type));
  }
}

TUNE_HOST_DEVICE constexpr double decode(Element type, Bits bits) {
  switch (type) {
    case Element::f64:
      return __builtin_bit_cast(double, bits);
    case Element::f32:
    case Element::tf32:
      return static_cast<double>(float_of(static_cast<unsigned>(bits)));
    case Element::s32:
      return static_cast<int>(static_cast<unsigned>(bits));
    case Element::s8:
      return static_cast<signed char>(static_cast<unsigned char>(bits));
    default:
      return static_cast<double>(from_short(static_cast<unsigned>(bits), format_of(type)));
  }
}

TUNE_HOST_DEVICE inline Bits read(Element type, const void* data, Bits index) {
  switch (bytes_of(type)) {
    case 8:
      return static_cast<const Bits*>(data)[index];
    case 4:
      return static_cast<const unsigned*>(data)[index];
    case 2:
      return static_cast<const unsigned short*>(data)[index];
    default:
      return static_cast<const unsigned char*>(data)[index];
  }
}

TUNE_HOST_DEVICE inline void write(Element type, void* data, Bits index, Bits bits) {
  switch (bytes_of(type)) {
    case 8:
      static_cast<Bits*>(data)[index] = bits;
      break;
    case 4:
      static_cast<unsigned*>(data)[index] = static_cast<unsigned>(bits);
      break;
    case 2:
      static_cast<unsigned short*>(data)[index] = static_cast<unsigned short>(bits);
      break;
    default:
      static_cast<unsigned char*>(data)[index] = static_cast<unsigned char>(bits);
  }
}

/// How far a type counts without gaps: 2 to this many.
TUNE_HOST_DEVICE constexpr int counting_bits(Element type) {
  switch (type) {
    case Element::f64:
      return 53;
    case Element::f32:
      return 24;
    case Element::tf32:
      return 11;
    case Element::s32:
      return 31;
    case Element::s8:
      return 7;
    default:
      return format_of(type).fraction_bits + 1;
  }
}

TUNE_HOST_DEVICE constexpr double source_at(Source source, Bits key, Bits index) {
  switch (source) {
    case Source::uniform:
      return generator::Uniform::at(key, index);
    case Source::normal:
      return generator::Normal::at(key, index);
    case Source::hpl:
      return generator::Hpl::at(key, index);
    case Source::trig:
      return generator::Trig::at(key, index);
    case Source::iota:
      return generator::Iota::at(key, index);
    case Source::scales:
      return generator::Scales::at(key, index);
    default:
      return 0;
  }
}

/// The raw bits of element `index` of a buffer, as inputs.h says. The key of a list is its address.
TUNE_HOST_DEVICE constexpr Bits element(Element type, Source source, Bits key, Bits index, double factor = 1) {
  if (source == Source::listed || source == Source::differences) {
    const int* const list = __builtin_bit_cast(const int*, key) + index;
    return encode(type, source == Source::listed ? list[0] : list[1] - list[0]);
  }
  if (source == Source::iota)
    return encode(type, source_at(source, key, index & ((Bits{1} << counting_bits(type)) - 1)));
  const double x = factor * source_at(source, key, index);
  if (type != Element::s32 && type != Element::s8) return encode(type, x);
  const int floor = static_cast<int>(x * (source == Source::normal ? 32 : 128) + 1024) - 1024;
  return encode(type, floor < -127 ? -127 : floor > 127 ? 127 : floor);
}

}  // namespace tune::gpu
