// C = A * B on AMD's matrix cores (CDNA: gfx908, gfx90a, gfx942), sums in single precision. A is row-major, B column-major, so
// that both are read along k; C is row-major; all are tight.
//
// A block computes a tile of C, BM x BN, a wave WM x WN of it, in tiles of MFMA x MFMA, each of which one instruction adds
// to. Slices of A and B, BK wide, lie in LDS in packs: KPACK neighbours along k of one row. Lanes that read at the same
// time read neighbouring packs. It does not matter which k an instruction multiplies as long as its A and B agree, so
// each group of lanes takes whole packs and the parts of a pack go to one instruction after the other.
//
//   BM, BN, BK    tile of C and width of a slice
//   WM, WN        part of the tile that a wave computes: WM*WN/64 sums per lane have to fit the registers
//   MFMA          32 or 16: rows and columns of the instruction
//   KPACK         elements in a pack: at least what a lane gives to one instruction, at most 16 bytes
//   PAD           packs between the packs of neighbouring k: moves them to other banks of the LDS when slices are stored
//   STAGES        slices in LDS: with 2, the next is stored while one is multiplied, and there is one barrier per slice
//   type_a_f16, type_a_bf16 or type_a_f32, and the same of c: 1 for the type of A and B, and of C; k is a multiple of BK
//
// Which lane has which element: "--detail-instruction" of AMD's matrix instruction calculator
// (https://github.com/ROCm/amd_matrix_instruction_calculator).

#if !defined(BM) || !defined(BN) || !defined(BK) || !defined(WM) || !defined(WN) || !defined(MFMA) || !defined(KPACK)
#error "needs -D of BM BN BK WM WN MFMA KPACK, for example 128 128 32 64 64 32 8; see the head of the file"
#endif
#ifndef PAD
#define PAD 0
#endif
#ifndef STAGES
#define STAGES 1
#endif
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

namespace {

// What a lane gives to one instruction: kTogether neighbours along k. bf16 is handled as its bits.
#if type_a_f32
using Element = float;
using Fragment = float;
constexpr int kTogether = 1;
#elif type_a_f16
using Element = _Float16;
using Fragment = _Float16 __attribute__((__vector_size__(8)));
constexpr int kTogether = 4;
#elif defined(__gfx908__)
using Element = short;
using Fragment = short __attribute__((__vector_size__(4)));
constexpr int kTogether = 2;
#else
using Element = short;
using Fragment = short __attribute__((__vector_size__(8)));
constexpr int kTogether = 4;
#endif

#if type_c_f16
using Result = _Float16;
#elif type_c_bf16
using Result = unsigned short;
#else
using Result = float;
#endif

constexpr int kWave = 64, kGroups = kWave / MFMA;  // of lanes that hold different k of the same rows
constexpr int kSumsPerLane = MFMA * MFMA / kWave;
constexpr int kTilesM = WM / MFMA, kTilesN = WN / MFMA, kWavesN = BN / WN;
constexpr int kThreads = BM / WM * kWavesN * kWave;
constexpr int kPacks = BK / KPACK;  // along k
constexpr int kParts = KPACK / kTogether;
constexpr int kPitchA = BM + PAD, kPitchB = BN + PAD;  // packs from one k to the next

static_assert(MFMA == 32 || MFMA == 16, "there are instructions of 32 x 32 and of 16 x 16");
static_assert(BM % WM == 0 && BN % WN == 0 && WM % MFMA == 0 && WN % MFMA == 0, "tiles are made of whole tiles");
static_assert(KPACK % kTogether == 0 && KPACK * sizeof(Element) <= 16, "a pack is for whole instructions, one load");
static_assert(BK % (KPACK * kGroups) == 0, "every group of lanes has a pack of each round");
static_assert(BM * kPacks % kThreads == 0 && BN * kPacks % kThreads == 0, "all threads load alike");

using Sums = float __attribute__((__vector_size__(4 * kSumsPerLane)));

struct alignas(KPACK * sizeof(Element)) Pack {
  Fragment part[kParts];
};

__device__ inline Sums multiply_add(Fragment a, Fragment b, Sums c) {
#if type_a_f32 && MFMA == 32
  return __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
#elif type_a_f32
  return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
#elif type_a_f16 && MFMA == 32
  return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
#elif type_a_f16
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
#elif defined(__gfx908__) && MFMA == 32
  return __builtin_amdgcn_mfma_f32_32x32x4bf16(a, b, c, 0, 0, 0);
#elif defined(__gfx908__)
  return __builtin_amdgcn_mfma_f32_16x16x8bf16(a, b, c, 0, 0, 0);
#elif MFMA == 32
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0);
#else
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
#endif
}

/// One pack of a matrix whose rows are k long; zeros beyond its rows.
__device__ inline Pack load(const Element* matrix, int row, int rows, int k, int at) {
  if (row >= rows) return Pack{};
  return *reinterpret_cast<const Pack*>(matrix + static_cast<long long>(row) * k + at);
}

/// What a thread carries of a slice of kRows rows from global memory to LDS.
template <int kRows, int kPitch>
struct Freight {
  static constexpr int kCount = kRows * kPacks / kThreads;
  Pack packs[kCount];

  __device__ inline void fetch(const Element* matrix, int row, int rows, int k, int slice) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int v = static_cast<int>(threadIdx.x) + i * kThreads;
      packs[i] = load(matrix, row + v / kPacks, rows, k, slice * BK + v % kPacks * KPACK);
    }
  }
  __device__ inline void deliver(Pack* slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int v = static_cast<int>(threadIdx.x) + i * kThreads;
      slice[v % kPacks * kPitch + v / kPacks] = packs[i];
    }
  }
};

/// Where this lane's wave is in the tile, and this lane in its wave.
struct Place {
  int row, col;     ///< of the wave's part
  int group, lane;  ///< lane within the group
};

__device__ inline Place place_of(int thread) {
  const int wave = thread / kWave;
  return {wave / kWavesN * WM, wave % kWavesN * WN, thread % kWave / MFMA, thread % MFMA};
}

__device__ inline void multiply(const Pack* a, const Pack* b, const Place& at, Sums (&sums)[kTilesM][kTilesN]) {
#pragma unroll
  for (int round = 0; round < kPacks; round += kGroups) {
    Pack left[kTilesM], right[kTilesN];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) left[i] = a[(round + at.group) * kPitchA + at.row + i * MFMA + at.lane];
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) right[j] = b[(round + at.group) * kPitchB + at.col + j * MFMA + at.lane];
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
          sums[i][j] = multiply_add(left[i].part[part], right[j].part[part], sums[i][j]);
  }
}

__device__ inline Result result_of(float sum) {
#if type_c_bf16
  const unsigned bits = __builtin_bit_cast(unsigned, sum);  // to nearest, ties to even; a NaN stays one
  return sum == sum ? static_cast<Result>((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : 0x7fff;
#else
  return static_cast<Result>(sum);
#endif
}

/// A lane has neighbouring rows of one column, four at a time.
__device__ inline void store(const Sums (&sums)[kTilesM][kTilesN], Result* c, int row, int col, int group, int m,
                             int n) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
      for (int s = 0; s < kSumsPerLane; ++s) {
        const int to_row = row + i * MFMA + s / 4 * (4 * kGroups) + 4 * group + s % 4, to_col = col + j * MFMA;
        if (to_row < m && to_col < n) c[static_cast<long long>(to_row) * n + to_col] = result_of(sums[i][j][s]);
      }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const Element* __restrict__ a, const Element* __restrict__ b, Result* __restrict__ c, int m, int n, int k) {
  __shared__ Pack a_slices[STAGES][kPacks * kPitchA], b_slices[STAGES][kPacks * kPitchB];
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  const Place at = place_of(static_cast<int>(threadIdx.x));
  Sums sums[kTilesM][kTilesN] = {};
  Freight<BM, kPitchA> a_freight;
  Freight<BN, kPitchB> b_freight;
  a_freight.fetch(a, row, m, k, 0);
  b_freight.fetch(b, col, n, k, 0);
  a_freight.deliver(a_slices[0]);
  b_freight.deliver(b_slices[0]);
  __syncthreads();
  for (int slice = 0, slices = k / BK; slice < slices; ++slice) {
    const bool more = slice + 1 < slices;
    if (more) {
      a_freight.fetch(a, row, m, k, slice + 1);
      b_freight.fetch(b, col, n, k, slice + 1);
    }
    multiply(a_slices[slice % STAGES], b_slices[slice % STAGES], at, sums);
    if (STAGES == 1) __syncthreads();
    if (more) {
      a_freight.deliver(a_slices[(slice + 1) % STAGES]);
      b_freight.deliver(b_slices[(slice + 1) % STAGES]);
    }
    __syncthreads();
  }
  store(sums, c, row + at.row, col + at.col + at.lane, at.group, m, n);
}
