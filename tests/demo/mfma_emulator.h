#pragma once
// Enough of a CDNA device to run demo/gemm_mfma.hip as host C++: the threads of a block are fibers, which take turns at
// barriers, and an MFMA instruction gathers what the lanes of its wave hold. Where matrix elements are is as AMD's
// matrix instruction calculator (--detail-instruction) says of the instructions without modifiers:
//
//   A[i][k]   lane M * floor(k / T) + i, item k % T                   M: rows of the instruction, 32 or 16
//   B[k][j]   lane M * floor(k / T) + j, item k % T                   T: elements of k that one lane gives
//   D[i][j]   lane M * (floor(i / 4) % (64 / M)) + j, item 4 * floor(i / (256 / M)) + i % 4
#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace tune::emulator {

/// What a test may get wrong on purpose.
enum class Mistake { none, rows_of_d, columns_of_d, items_of_b, lanes_of_a };
inline Mistake mistake = Mistake::none;

using Items = std::array<float, 8>;  ///< what a lane gives to an instruction, at most

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// How the instructions read fp8: e4m3 of gfx950 (OCP), or of gfx942 (FNUZ).
inline bool fp8_is_fnuz = false;

/// Runs the threads of one block to their end. Throws if some wait for others that do not come.
class Block {
 public:
  Block(int threads, const std::function<void()>& kernel);
  void run();

  /// Until `count` threads from `first` on have called this.
  void wait(int first, int count);
  int thread() const { return thread_; }

  /// What the lanes of a wave give to an instruction; two, as some lanes may be one instruction ahead.
  struct Operands {
    std::array<Items, 64> a, b;
  };
  Operands& operands(int wave, int parity) { return operands_.at(static_cast<std::size_t>(2 * wave + parity)); }
  int next_parity() { return fibers_[static_cast<std::size_t>(thread_)]->instructions++ % 2; }

 private:
  struct Fiber {
    ucontext_t context{};
    bool ended = false;
    int instructions = 0;
  };
  struct Barrier {
    int arrived = 0;
    std::int64_t rounds = 0;
  };
  static void enter();
  static char* stack(std::size_t number);

  static constexpr std::size_t kStack = 1 << 18;
  const std::function<void()>& kernel_;
  ucontext_t scheduler_{};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Operands> operands_;
  std::vector<Barrier> barriers_;  ///< of each wave, then the block's
  int thread_ = 0;
  bool progress_ = false;
};

inline Block* block = nullptr;
inline Index thread_index, block_index;

inline Block::Block(int threads, const std::function<void()>& kernel)
    : kernel_(kernel),
      operands_(static_cast<std::size_t>(threads / 64 * 2)),
      barriers_(static_cast<std::size_t>(threads / 64 + 1)) {
  for (int i = 0; i < threads; ++i) {
    fibers_.push_back(std::make_unique<Fiber>());
    Fiber& fiber = *fibers_.back();
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack(static_cast<std::size_t>(i));
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler_;
    ::makecontext(&fiber.context, &Block::enter, 0);
  }
}

/// The same for each block: to get new ones takes longer than all else.
inline char* Block::stack(std::size_t number) {
  static std::vector<std::unique_ptr<char[]>> stacks;
  while (stacks.size() <= number) stacks.push_back(std::make_unique_for_overwrite<char[]>(kStack));
  return stacks[number].get();
}

inline void Block::enter() {
  Block& self = *block;
  self.kernel_();
  self.fibers_[static_cast<std::size_t>(self.thread_)]->ended = self.progress_ = true;
}

inline void Block::run() {
  block = this;
  for (bool alive = true; alive;) {
    alive = progress_ = false;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      if (fibers_[i]->ended) continue;
      alive = true;
      thread_ = static_cast<int>(i);
      thread_index = {static_cast<unsigned>(i), 0, 0};
      ::swapcontext(&scheduler_, &fibers_[i]->context);
    }
    if (alive && !progress_) throw std::logic_error("threads wait for others that do not come");
  }
}

inline void Block::wait(int first, int count) {
  const bool whole = count == static_cast<int>(fibers_.size()) && first == 0;
  Barrier& barrier = whole ? barriers_.back() : barriers_[static_cast<std::size_t>(first / 64)];
  const std::int64_t round = barrier.rounds;
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    ++barrier.rounds;
    progress_ = true;
  }
  const int self = thread_;
  while (barrier.rounds == round) ::swapcontext(&fibers_[static_cast<std::size_t>(self)]->context, &scheduler_);
}

inline float value_of(float item) { return item; }
inline float value_of(_Float16 item) { return static_cast<float>(item); }
inline float value_of(short bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(bits)) << 16);
}

/// Stands for __bf16, which the compiler of the test does not know as a vector's element.
using Bf16 = unsigned short;
inline float value_of(Bf16 bits) { return value_of(static_cast<short>(bits)); }

/// e4m3 by the formats' definitions: OCP "8-bit Floating Point Specification" (bias 7; S.1111.111 is NaN), and FNUZ of
/// AMD's "MI300 Instruction Set Architecture" (bias 8; 0x80 is NaN).
inline float value_of_e4m3(unsigned bits, bool fnuz) {
  const unsigned exponent = bits >> 3 & 15, mantissa = bits & 7;
  if (fnuz ? bits == 0x80 : (bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  const int bias = fnuz ? 8 : 7;
  const float size = exponent == 0
                         ? std::ldexp(static_cast<float>(mantissa), 1 - bias - 3)
                         : std::ldexp(static_cast<float>(8 + mantissa), static_cast<int>(exponent) - bias - 3);
  return bits & 0x80 ? -size : size;
}

inline Items items_of(float scalar) { return {scalar}; }
inline Items items_of(long eight) {
  Items items{};
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = value_of_e4m3(static_cast<unsigned>(static_cast<unsigned long>(eight) >> 8 * i & 255), fp8_is_fnuz);
  return items;
}
template <typename Vector>
Items items_of(const Vector& vector) {
  Items items{};
  for (std::size_t i = 0; i < sizeof(vector) / sizeof(vector[0]); ++i) items[i] = value_of(vector[i]);
  return items;
}

/// kRows x kRows x kDepth; a lane gives kTogether elements.
template <int kRows, int kDepth, int kTogether, typename Fragment, typename Sums>
Sums mfma(const Fragment& a, const Fragment& b, Sums sums) {
  const int wave = block->thread() / 64, lane = block->thread() % 64;
  Block::Operands& given = block->operands(wave, block->next_parity());
  given.a[static_cast<std::size_t>(lane)] = items_of(a);
  given.b[static_cast<std::size_t>(lane)] = items_of(b);
  block->wait(64 * wave, 64);
  constexpr int kGroups = 64 / kRows;
  const auto element = [](const auto& lanes, int row, int k, bool other_lane, bool other_item) {
    const int group = other_lane ? kGroups - 1 - k / kTogether : k / kTogether;
    const int item = other_item ? kTogether - 1 - k % kTogether : k % kTogether;
    return lanes[static_cast<std::size_t>(kRows * group + row)][static_cast<std::size_t>(item)];
  };
  for (int s = 0; s < kRows * kRows / 64; ++s) {
    int i = s / 4 * (4 * kGroups) + lane / kRows * 4 + s % 4, j = lane % kRows;
    if (mistake == Mistake::rows_of_d) i = s * kGroups + lane / kRows;
    if (mistake == Mistake::columns_of_d) std::swap(i, j);
    for (int k = 0; k < kDepth; ++k)
      sums[s] += element(given.a, i, k, mistake == Mistake::lanes_of_a, false) *
                 element(given.b, j, k, false, mistake == Mistake::items_of_b);
  }
  return sums;
}

}  // namespace tune::emulator

#define TUNE_MFMA(name, rows, depth, together)                                    \
  template <typename Fragment, typename Sums>                                     \
  Sums name(const Fragment& a, const Fragment& b, const Sums& c, int, int, int) { \
    return tune::emulator::mfma<rows, depth, together>(a, b, c);                  \
  }
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x2f32, 32, 2, 1)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x4f32, 16, 4, 1)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x8f16, 32, 8, 4)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x16f16, 16, 16, 4)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x8bf16_1k, 32, 8, 4)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k, 16, 16, 4)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x16_f16, 32, 16, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x32_f16, 16, 32, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x16_bf16, 32, 16, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x32_bf16, 16, 32, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8, 32, 16, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8, 16, 32, 8)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_32x32x4bf16, 32, 4, 2)
TUNE_MFMA(__builtin_amdgcn_mfma_f32_16x16x8bf16, 16, 8, 2)
#undef TUNE_MFMA

// What the kernel's text means on the host.
#define __HIPCC_RTC__
#define __bf16 tune::emulator::Bf16
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
#define __syncthreads() tune::emulator::block->wait(0, kThreads)
#define threadIdx tune::emulator::thread_index
#define blockIdx tune::emulator::block_index
