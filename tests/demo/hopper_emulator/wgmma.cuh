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
inline unsigned long long moved(unsigned long long description, unsigned bytes) { return description + (bytes >> 4); }

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

/// What one instruction reads of a row of A or of B: two pieces of 16 bytes, which the swizzle moves as wholes.
using Slice = std::array<float, 32 / sizeof(Element)>;

inline Slice slice(unsigned start, unsigned row) {
  std::array<Element, Slice().size()> bits;
  for (const unsigned piece : {0U, 16U})
    std::memcpy(reinterpret_cast<unsigned char*>(bits.data()) + piece,
                Machine::now().at(tune::hopper::swizzled_address(start + row * 128 + piece), 16), 16);
  Slice values;
  std::ranges::transform(bits, values.begin(), [](Element x) { return to_float(x); });
  return values;
}

inline void multiply_async(unsigned long long a, unsigned long long b, bool add, Sums<BN / 8>& d) {
  Machine::now().thread().started.push_back(
      [a = static_cast<unsigned>(a << 4), b = static_cast<unsigned>(b << 4), add, &d] {
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, row = warp * 16 + lane / 4;
        const std::array rows = {slice(a, row), slice(a, row + 8)};
        for (unsigned j = 0; j < BN / 8; ++j) {
          const unsigned col = j * 8 + lane % 4 * 2;
          const std::array cols = {slice(b, col), slice(b, col + 1)};
          for (unsigned e = 0; e < 4; ++e) {
            float sum = add ? d[j][e] : 0;
            for (unsigned k = 0; k < Slice().size(); ++k) sum += rows[e / 2][k] * cols[e % 2][k];
            d[j][e] = sum;
          }
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
