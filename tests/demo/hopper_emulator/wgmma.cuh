// What demo/hopper/wgmma.cuh has, on the emulated machine: products are computed as late as the kernel allows.
#pragma once
#include "ptx.cuh"

#define pack pack_by_instruction
#include "tiles.cuh"
#undef pack

namespace {

inline float to_float(unsigned short bits) { return std::bit_cast<float>(static_cast<unsigned>(bits) << 16); }
inline unsigned short to_bf16(float x) {
  const auto bits = std::bit_cast<unsigned>(x);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline unsigned pack(float low, float high) { return to_bf16(low) | static_cast<unsigned>(to_bf16(high)) << 16; }

/// The address itself: the emulated wgmma reads rows of 128 bytes with their swizzle.
inline unsigned long long describe(unsigned address) { return address >> 4; }

#if type_a_e4m3
using Element = unsigned char;
/// Of a number that is not subnormal, or 0.
inline float to_float(Element bits) {
  const unsigned code = bits & 0x7fU;
  return code == 0 ? 0 : std::bit_cast<float>((bits & 0x80U) << 24 | ((code << 20) + (120U << 23)));
}
#else
using Element = unsigned short;
#endif

inline float element(unsigned start, unsigned row, unsigned k) {
  Element bits;
  const unsigned address = start + row * 128 + k * sizeof bits;
  std::memcpy(&bits, Machine::now().at(tune::hopper::swizzled_address(address), sizeof bits), sizeof bits);
  return to_float(bits);
}

inline void multiply_async(unsigned long long a, unsigned long long b, bool add, Sums<BN / 8>& d) {
  Machine::now().thread().started.push_back(
      [a = static_cast<unsigned>(a << 4), b = static_cast<unsigned>(b << 4), add, &d] {
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        for (unsigned j = 0; j < BN / 8; ++j)
          for (unsigned e = 0; e < 4; ++e) {
            const unsigned row = warp * 16 + lane / 4 + e / 2 * 8, col = j * 8 + lane % 4 * 2 + e % 2;
            float sum = add ? d[j][e] : 0;
            for (unsigned k = 0; k < 32 / sizeof(Element); ++k) sum += element(a, row, k) * element(b, col, k);
            d[j][e] = sum;
          }
      });
}
inline void begin_products() {}
inline void commit_products() {
  tune::hopper::Thread& thread = Machine::now().thread();
  thread.products.push_back(std::exchange(thread.started, {}));
}
template <int kPending>
void await_products() {
  auto& products = Machine::now().thread().products;
  for (; products.size() > kPending; products.pop_front())
    for (const auto& act : products.front()) act();
}
inline void are_written_here(Sums<BN / 8>&) {}
template <int kRegisters>
void take_registers() {}
template <int kRegisters>
void leave_registers() {}

}  // namespace
