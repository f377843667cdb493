// C = A * B on AMD's matrix cores (CDNA: gfx908, gfx90a, gfx942, gfx950), sums in single precision. A is row-major, B
// column-major, so that both are read along k; C is row-major; all are tight. The parameters have the names that
// Triton's compiler for AMD and tune_gemm give them.
//
// A block computes a tile of C, a wave a part of it, in squares of matrix_instr_nonkdim, each of which one instruction
// adds to. Slices of A and B lie in LDS in packs: neighbours along k of one row. Lanes that read at the same time read
// neighbouring packs. It does not matter which k an instruction multiplies as long as its A and B agree, so each group
// of lanes takes whole packs and the parts of a pack go to one instruction after the other.
//
//   BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K   tile of C and width of a slice
//   num_warps              waves of a block, WAVES_M of them one below the other
//   matrix_instr_nonkdim   32 or 16: rows and columns of the instruction
//   kpack                  a pack has 4 * kpack elements (f32: kpack), at most 16 bytes; e4m3 needs 2 or 4. On gfx950,
//                          f16 and bf16 use the instructions of twice the depth from 2 on
//   num_stages             1: a slice is loaded after the one before it was multiplied; 2 (or 0): while it is;
//                          3: the same with two slices in LDS, and one barrier per slice less
//   waves_per_eu           waves of a SIMD that registers must suffice for; 0: the compiler decides
//   type_a_f16, type_a_bf16, type_a_f32 or (gfx94x, gfx950) type_a_e4m3: 1 for the type of A and B
//   type_c_f16, type_c_bf16 or type_c_f32: 1 for the type of C
//
// At run time, `group` (GROUP_SIZE_M) rows of tiles are walked together, column by column, and `splits` (SPLIT_K)
// blocks share the k of a tile. k is a multiple of BLOCK_SIZE_K * splits.
//
// Which lane has which element: "--detail-instruction" of AMD's matrix instruction calculator
// (https://github.com/ROCm/amd_matrix_instruction_calculator).

#if !defined(BLOCK_SIZE_M) || !defined(BLOCK_SIZE_N) || !defined(BLOCK_SIZE_K) || !defined(num_warps) || \
    !defined(WAVES_M) || !defined(matrix_instr_nonkdim) || !defined(kpack)
#error "needs -D of BLOCK_SIZE_M, _N, _K, num_warps, WAVES_M, matrix_instr_nonkdim and kpack; see the head of the file"
#endif
#ifndef num_stages
#define num_stages 2
#endif
#ifndef waves_per_eu
#define waves_per_eu 0
#endif
#if waves_per_eu > 0
#define WAVES_PER_SIMD __attribute__((amdgpu_waves_per_eu(waves_per_eu)))
#else
#define WAVES_PER_SIMD
#endif
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

namespace {

// What a lane gives to one instruction: kTogether neighbours along k. bf16 and e4m3 are handled as their bits.
#if type_a_e4m3
using Element = unsigned char;
using Fragment = long;
constexpr int kTogether = 8;
#elif type_a_f32
using Element = float;
using Fragment = float;
constexpr int kTogether = 1;
#elif defined(__gfx950__) && kpack % 2 == 0
#if type_a_f16
using Element = _Float16;
using Fragment = _Float16 __attribute__((__vector_size__(16)));
#else
using Element = short;
using Fragment = __bf16 __attribute__((__vector_size__(16)));
#endif
constexpr int kTogether = 8;
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

constexpr int kSide = matrix_instr_nonkdim;         // of the square that an instruction computes
constexpr int kWave = 64, kGroups = kWave / kSide;  // of lanes that hold different k of the same rows
constexpr int kSumsPerLane = kSide * kSide / kWave;
constexpr int kThreads = num_warps * kWave, kWavesN = num_warps / WAVES_M;
constexpr int kWaveRows = BLOCK_SIZE_M / WAVES_M, kWaveCols = BLOCK_SIZE_N / kWavesN;
constexpr int kTilesM = kWaveRows / kSide, kTilesN = kWaveCols / kSide;
constexpr int kPack = kpack * (sizeof(Element) == 4 ? 1 : 4);  // elements
constexpr int kPacks = BLOCK_SIZE_K / kPack;                   // along k
constexpr int kParts = kPack / kTogether;
constexpr int kSlices = num_stages == 3 ? 2 : 1;  // in LDS

static_assert(matrix_instr_nonkdim == 32 || matrix_instr_nonkdim == 16,
              "there are instructions of 32 x 32 and of 16 x 16");
static_assert(num_warps % WAVES_M == 0, "every row of waves is whole");
static_assert(BLOCK_SIZE_M % (WAVES_M * kSide) == 0 && BLOCK_SIZE_N % (kWavesN * kSide) == 0, "tiles are whole");
static_assert(kPack * sizeof(Element) <= 16, "a pack is loaded at once");
static_assert(kPack % kTogether == 0, "a pack is enough for an instruction");
static_assert(BLOCK_SIZE_K % (kPack * kGroups) == 0, "every group of lanes has a pack of each round");
static_assert(0 <= num_stages && num_stages <= 3, "there are at most two slices in LDS");

using Sums = float __attribute__((__vector_size__(4 * kSumsPerLane)));

struct alignas(kPack * sizeof(Element)) Pack {
  Fragment part[kParts];
};

__device__ inline Sums multiply_add(Fragment a, Fragment b, Sums c) {
#if type_a_e4m3 && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, c, 0, 0, 0);
#elif type_a_e4m3
  return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0);
#elif type_a_f32 && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
#elif type_a_f32
  return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
#elif defined(__gfx950__) && kpack % 2 == 0 && type_a_f16 && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, 0, 0, 0);
#elif defined(__gfx950__) && kpack % 2 == 0 && type_a_f16
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
#elif defined(__gfx950__) && kpack % 2 == 0 && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, c, 0, 0, 0);
#elif defined(__gfx950__) && kpack % 2 == 0
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
#elif type_a_f16 && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
#elif type_a_f16
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
#elif defined(__gfx908__) && matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x4bf16(a, b, c, 0, 0, 0);
#elif defined(__gfx908__)
  return __builtin_amdgcn_mfma_f32_16x16x8bf16(a, b, c, 0, 0, 0);
#elif matrix_instr_nonkdim == 32
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0);
#else
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
#endif
}

// The instructions of gfx94x read e4m3 as FNUZ: the same bits are half the number, and what is -0 elsewhere is NaN.
// (NaN and -NaN of A and B become 240 and -240.)
#if type_a_e4m3 && !defined(__gfx950__)
constexpr float kScale = 4;

__device__ inline Fragment readable(Fragment elements) {
  constexpr unsigned long kSigns = 0x8080808080808080;
  const unsigned long bits = static_cast<unsigned long>(elements), without = bits ^ kSigns;
  const unsigned long others = ((without & ~kSigns) + ~kSigns) | without;  // their highest bits are set
  return static_cast<Fragment>(bits & (others | ~kSigns));
}

__device__ inline Pack readable(Pack pack) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) pack.part[part] = readable(pack.part[part]);
  return pack;
}
#else
constexpr float kScale = 1;

__device__ inline Pack readable(const Pack& pack) { return pack; }
#endif

/// One pack of a matrix whose rows are k long; zeros beyond its rows.
__device__ inline Pack load(const Element* matrix, int row, int rows, int k, int at) {
  if (row >= rows) return Pack{};
  return readable(*reinterpret_cast<const Pack*>(matrix + static_cast<long long>(row) * k + at));
}

/// Where a pack of a slice of kRows rows is in LDS. The packs of one row, which are stored at the same time, are in
/// different banks.
template <int kRows>
__device__ inline int place_in_slice(int pack, int row) {
  return pack * kRows + (row ^ pack % 16);
}

/// What a thread carries of a slice of kRows rows from global memory to LDS.
template <int kRows>
struct Freight {
  static constexpr int kAll = kRows * kPacks, kCount = (kAll + kThreads - 1) / kThreads;
  Pack packs[kCount];

  __device__ inline void fetch(const Element* matrix, int row, int rows, int k, int at) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int v = static_cast<int>(threadIdx.x) + i * kThreads;
      if (kAll % kThreads == 0 || v < kAll) packs[i] = load(matrix, row + v / kPacks, rows, k, at + v % kPacks * kPack);
    }
  }
  __device__ inline void deliver(Pack* slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int v = static_cast<int>(threadIdx.x) + i * kThreads;
      if (kAll % kThreads == 0 || v < kAll) slice[place_in_slice<kRows>(v % kPacks, v / kPacks)] = packs[i];
    }
  }
};

/// Row and column of a tile: `group` rows of tiles are walked together, column by column.
struct Tile {
  int row, col;
};

__device__ inline Tile tile_of(int index, int m, int n, int group) {
  const int rows = (m + BLOCK_SIZE_M - 1) / BLOCK_SIZE_M, cols = (n + BLOCK_SIZE_N - 1) / BLOCK_SIZE_N;
  const int top = index / (group * cols) * group, within = index % (group * cols);
  const int height = rows - top < group ? rows - top : group;
  return {(top + within % height) * BLOCK_SIZE_M, within / height * BLOCK_SIZE_N};
}

/// Where this lane's wave is in the tile, and this lane in its wave.
struct Place {
  int row, col;     ///< of the wave's part
  int group, lane;  ///< lane within the group
};

__device__ inline Place place_of(int thread) {
  const int wave = thread / kWave;
  return {wave / kWavesN * kWaveRows, wave % kWavesN * kWaveCols, thread % kWave / kSide, thread % kSide};
}

__device__ inline void multiply(const Pack* a, const Pack* b, const Place& at, Sums (&sums)[kTilesM][kTilesN]) {
#pragma unroll
  for (int round = 0; round < kPacks; round += kGroups) {
    const int pack = round + at.group;
    Pack left[kTilesM], right[kTilesN];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) left[i] = a[place_in_slice<BLOCK_SIZE_M>(pack, at.row + i * kSide + at.lane)];
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) right[j] = b[place_in_slice<BLOCK_SIZE_N>(pack, at.col + j * kSide + at.lane)];
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

__device__ inline void write(Result* to, float sum) { *to = result_of(sum); }

struct Sum {
  float value;
};
__device__ inline void write(Sum* to, float sum) { to->value = sum; }

/// A lane has neighbouring rows of one column, four at a time.
template <typename Target>
__device__ inline void store(const Sums (&sums)[kTilesM][kTilesN], Target* c, int row, int col, int group, int m,
                             int n) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
      for (int s = 0; s < kSumsPerLane; ++s) {
        const int to_row = row + i * kSide + s / 4 * (4 * kGroups) + 4 * group + s % 4, to_col = col + j * kSide;
        if (to_row < m && to_col < n) write(&c[static_cast<long long>(to_row) * n + to_col], kScale * sums[i][j][s]);
      }
}

}  // namespace

/// With splits > 1 the blocks of grid row i add up the i-th part of k alone, and leave it in `partial`: splits matrices
/// of m x n.
extern "C" __global__ void __launch_bounds__(kThreads) WAVES_PER_SIMD
    gemm(const Element* __restrict__ a, const Element* __restrict__ b, Result* __restrict__ c,
         float* __restrict__ partial, int m, int n, int k, int group, int splits) {
  __shared__ Pack a_slices[kSlices][kPacks * BLOCK_SIZE_M], b_slices[kSlices][kPacks * BLOCK_SIZE_N];
  const Tile tile = tile_of(static_cast<int>(blockIdx.x), m, n, group);
  const Place at = place_of(static_cast<int>(threadIdx.x));
  const int slices = k / BLOCK_SIZE_K / splits, first = static_cast<int>(blockIdx.y) * slices;
  Sums sums[kTilesM][kTilesN] = {};
  Freight<BLOCK_SIZE_M> a_freight;
  Freight<BLOCK_SIZE_N> b_freight;
  const auto fetch = [&](int slice) {
    a_freight.fetch(a, tile.row, m, k, (first + slice) * BLOCK_SIZE_K);
    b_freight.fetch(b, tile.col, n, k, (first + slice) * BLOCK_SIZE_K);
  };
  const auto deliver = [&](int slice) {
    a_freight.deliver(a_slices[slice % kSlices]);
    b_freight.deliver(b_slices[slice % kSlices]);
  };
  fetch(0);
  deliver(0);
  __syncthreads();
  for (int slice = 0; slice < slices; ++slice) {
    const bool more = slice + 1 < slices;
    if (more && num_stages != 1) fetch(slice + 1);
    multiply(a_slices[slice % kSlices], b_slices[slice % kSlices], at, sums);
    if (more && num_stages == 1) fetch(slice + 1);
    if (kSlices == 1) __syncthreads();
    if (more) deliver(slice + 1);
    __syncthreads();
  }
  const int row = tile.row + at.row, col = tile.col + at.col + at.lane;
  if (splits == 1)
    store(sums, c, row, col, at.group, m, n);
  else
    store(sums, reinterpret_cast<Sum*>(partial) + static_cast<long long>(blockIdx.y) * m * n, row, col, at.group, m, n);
}

/// Adds up the parts of a split product: an element per thread.
extern "C" __global__ void reduce(const float* __restrict__ partial, Result* __restrict__ c, int m, int n, int splits) {
  const long long count = static_cast<long long>(m) * n;
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= count) return;
  float sum = 0;
  for (int i = 0; i < splits; ++i) sum += partial[i * count + at];
  c[at] = result_of(sum);
}
