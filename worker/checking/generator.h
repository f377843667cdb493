#pragma once
// The numbers that inputs are made of. Host and device get the same bits from this text: it is exact arithmetic
// throughout (integers, and doubles that never round), and it includes nothing, so that run-time compilers take it too.

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define TUNE_HOST_DEVICE __host__ __device__
#else
#define TUNE_HOST_DEVICE
#endif

namespace tune::generator {

using Bits = unsigned long long;

inline constexpr Bits kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
TUNE_HOST_DEVICE constexpr Bits mix(Bits x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// What sets one buffer's numbers apart from another's.
TUNE_HOST_DEVICE constexpr Bits key(Bits seed, Bits buffer) { return mix(seed + mix(kGolden * (buffer + 1))); }
TUNE_HOST_DEVICE constexpr Bits random(Bits key, Bits index) { return mix(key + kGolden * (index + 1)); }

/// What makes the numbers: one of the structs below, or a list of them, or of numbers that are so far apart. The first
/// are numbered as Init of model/problem.h.
enum class Source : int { uniform, normal, hpl, trig, zeros, iota, scales, listed, differences };

/// Evenly distributed in [-1, 1), in steps of 2^-52.
struct Uniform {
  TUNE_HOST_DEVICE static constexpr double at(Bits key, Bits index) {
    return static_cast<double>(static_cast<long long>(random(key, index)) >> 11) * 0x1p-52;
  }
};

/// As HPL fills its matrices: evenly distributed in [-0.5, 0.5).
struct Hpl {
  TUNE_HOST_DEVICE static constexpr double at(Bits key, Bits index) { return Uniform::at(key, index) * 0.5; }
};

/// Mean 0, variance 1, within [-6, 6): the sum of twelve uniform numbers, which needs no library function.
struct Normal {
  TUNE_HOST_DEVICE static constexpr double at(Bits key, Bits index) {
    long long sum = -(6LL << 32);
    for (Bits i = 0; i < 6; ++i) {
      const Bits bits = random(key, 6 * index + i);
      sum += static_cast<long long>(bits >> 32) + static_cast<long long>(bits & 0xffffffff);
    }
    return static_cast<double>(sum) * 0x1p-32;
  }
};

/// sin(index + phase of the buffer) to three decimals, in steps of 2^-30.
struct Trig {
  TUNE_HOST_DEVICE static constexpr double at(Bits key, Bits index) {
    constexpr Bits kRadian = 2935890503282001226;  // 2^64 / (2 pi)
    return sine(static_cast<int>((key + index * kRadian) >> 32));
  }
  /// The sine of pi * half_turns / 2^31, by the odd polynomial of fifth degree that is exact at 0 and pi/2 and flat
  /// there; all factors have 30 fractional bits.
  TUNE_HOST_DEVICE static constexpr double sine(int half_turns) {
    constexpr long long kQuarter = 1LL << 30;
    long long z = half_turns;
    if (z > kQuarter) z = 2 * kQuarter - z;
    if (z < -kQuarter) z = -2 * kQuarter - z;
    const long long square = z * z >> 30;
    const long long inner = 688904866 - (square * 76016977 >> 30);
    return static_cast<double>(z * (1686629713 - (square * inner >> 30)) >> 30) * 0x1p-30;
  }
};

struct Zeros {
  TUNE_HOST_DEVICE static constexpr double at(Bits, Bits) { return 0; }
};

/// Scales, all of f32: 2^e (1 + f) with f evenly distributed in [1/8, 7/8), and e 0 for even and -1 for odd indices. So
/// none is near 1, and neighbours in memory differ by a fifth at least.
struct Scales {
  TUNE_HOST_DEVICE static constexpr double at(Bits key, Bits index) {
    const double fraction = 0.125 + static_cast<double>(random(key, index) >> 44) * 0.75 * 0x1p-20;
    return (1 + fraction) * (index % 2 == 0 ? 1 : 0.5);
  }
};

/// The index; the element type's rounding takes it modulo what the type counts without gaps.
struct Iota {
  TUNE_HOST_DEVICE static constexpr double at(Bits, Bits index) {
    return static_cast<double>(index & ((Bits{1} << 53) - 1));
  }
};

}  // namespace tune::generator
