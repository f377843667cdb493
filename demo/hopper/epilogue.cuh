// From sums in registers to C: directly, or by way of shared memory and the TMA; and how blocks that each have a part
// of a tile's k add their parts up. type_c is the element type of C: bf16, f16 or f32. With SWAP the tile is one of C
// transposed: its rows are columns of C.
#pragma once

namespace {

enum { kColumns = IS_SWIGLU ? 2 : 1 };  // of the product for each of C; a constant would stand in the code of all

struct Matrix {
  Result* data;
  int rows, cols, ld;
};

#if HAS_FINISH
/// A number for each column of kBlocks times 16 x 8*kFragments sums of a warp. It is read before the sums are known.
/// Few registers keep it until then: of 64 columns each lane holds two, which it passes to the others.
template <typename T, int kBlocks, int kFragments>
class OfColumns {
 public:
  __device__ __forceinline__ OfColumns(const T* numbers, int, int col, int count) {
    col += threadIdx.x % 32 * 2;
#pragma unroll
    for (int i = 0; i < kWords; ++i, col += 64) {
      first_[i] = numbers[min(col, count - 1)];
      second_[i] = numbers[min(col + 1, count - 1)];
    }
  }
  /// Those of the four sums of a fragment.
  __device__ __forceinline__ void read(int, int fragment, float (&numbers)[4]) const {
    const int lane = fragment % 8 * 4 + threadIdx.x % 4, word = fragment / 8;
    if constexpr (sizeof(T) == 4) {
      numbers[0] = __shfl_sync(~0U, first_[word], lane);
      numbers[1] = __shfl_sync(~0U, second_[word], lane);
    } else {
      const unsigned both = __shfl_sync(~0U, first_[word] | second_[word] << 16, lane);
      numbers[0] = widened(static_cast<Result>(both & 0xffff));
      numbers[1] = widened(static_cast<Result>(both >> 16));
    }
    numbers[2] = numbers[0];
    numbers[3] = numbers[1];
  }

 private:
  static constexpr int kWords = (kFragments + 7) / 8;
  T first_[kWords], second_[kWords];
};

/// The same where it is a number for each row: a lane needs two for each of the kBlocks.
template <typename T, int kBlocks, int kFragments>
class OfRows {
 public:
  __device__ __forceinline__ OfRows(const T* numbers, int row, int, int count) {
    row += threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < kBlocks * 2; ++i) of_row_[i] = widened(numbers[min(row + i / 2 * 64 + i % 2 * 8, count - 1)]);
  }
  __device__ __forceinline__ void read(int block, int, float (&numbers)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) numbers[i] = of_row_[block * 2 + i / 2];
  }

 private:
  float of_row_[kBlocks * 2];
};

/// The same where all have one number.
struct OfAll {
  float number;

  __device__ __forceinline__ OfAll(const float* numbers, int, int, int) : number(*numbers) {}
  __device__ __forceinline__ void read(int, int, float (&numbers)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) numbers[i] = number;
  }
};

struct OfNone {
  __device__ __forceinline__ OfNone(const void*, int, int, int) {}
};

// A number for each row or column of C, which with SWAP is a column or row of the tile.
#if SWAP
#define OF_ROWS_OF_C OfColumns
#define OF_COLUMNS_OF_C OfRows
#else
#define OF_ROWS_OF_C OfRows
#define OF_COLUMNS_OF_C OfColumns
#endif

/// The scales and the bias of a warp's sums.
template <int kBlocks, int kFragments>
class TileNumbers {
 public:
  __device__ __forceinline__ TileNumbers(const Finish& finish, int row, int col)
      : scale_a_(finish.scale_a, row, col, finish.rows),
        scale_b_(finish.scale_b, row, col, finish.cols),
        bias_(finish.bias, row, col, kBiasOfRows ? finish.rows : finish.cols) {}

  __device__ __forceinline__ void apply_to(int block, int fragment, float (&d)[4]) const {
    [[maybe_unused]] float numbers[4];
#if HAS_LINE_SCALES
    scale_a_.read(block, fragment, numbers);
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] *= numbers[i];
    scale_b_.read(block, fragment, numbers);
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] *= numbers[i];
#endif
#if HAS_BIAS
    bias_.read(block, fragment, numbers);
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] += numbers[i];
#endif
  }

 private:
#if scale_a_row
  OF_ROWS_OF_C<float, kBlocks, kFragments> scale_a_;
#elif scale_a_tensor
  OfAll scale_a_;
#else
  OfNone scale_a_;
#endif
#if scale_b_col
  OF_COLUMNS_OF_C<float, kBlocks, kFragments> scale_b_;
#elif scale_b_tensor
  OfAll scale_b_;
#else
  OfNone scale_b_;
#endif
#if defined(epilogue_bias_row)
  static constexpr bool kBiasOfRows = false;
  OF_COLUMNS_OF_C<Result, kBlocks, kFragments> bias_;
#elif defined(epilogue_bias_col)
  static constexpr bool kBiasOfRows = true;
  OF_ROWS_OF_C<Result, kBlocks, kFragments> bias_;
#else
  static constexpr bool kBiasOfRows = false;
  OfNone bias_;
#endif
};

/// 16 x 8 sums of a warp, whose first is at (row, col) of the tile's matrix, which is C transposed with SWAP.
__device__ __forceinline__ void finish_fragment(const Finish& finish, int row, int col, float (&d)[4]) {
  row += threadIdx.x % 32 / 4;
  col += threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int r = row + i / 2 * 8, c = col + i % 2;
    d[i] = finish(d[i], SWAP ? c : r, SWAP ? r : c);
  }
}

#if HAS_RESIDUAL
/// Adds the residual to kBlocks times 16 x 8*kFragments sums of a warp, each 64 rows below the one before.
template <int kBlocks, int kFragments>
__device__ __forceinline__ void add_residual(const Finish& finish, int row, int col,
                                             Sums<kFragments> (&sums)[kBlocks]) {
#pragma unroll
  for (int i = 0; i < kBlocks * 2; ++i) {
    const int r = row + i / 2 * 64 + i % 2 * 8;
#pragma unroll
    for (int j = 0; j < kFragments; ++j) {
      const int c = col + j * 8;
      float* const two = &sums[i / 2][j][i % 2 * 2];
      if constexpr (!SWAP && sizeof(Result) == 2) {
        const unsigned pair = finish.residual_pair(r, c);
        two[0] += widened(static_cast<Result>(pair & 0xffff));
        two[1] += widened(static_cast<Result>(pair >> 16));
      } else {
#pragma unroll
        for (int e = 0; e < 2; ++e) two[e] += finish.residual_at(SWAP ? c + e : r, SWAP ? r : c + e);
      }
    }
  }
}
#endif

/// kBlocks times 16 x 8*kFragments sums of a warp, each 64 rows below the one before.
template <int kBlocks, int kFragments>
__device__ __forceinline__ void finish_sums(const Finish& finish, const TileNumbers<kBlocks, kFragments>& numbers,
                                            int row, int col, Sums<kFragments> (&sums)[kBlocks]) {
#pragma unroll
  for (int i = 0; i < kBlocks; ++i)
#pragma unroll
    for (int j = 0; j < kFragments; ++j) {
      numbers.apply_to(i, j, sums[i][j]);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = activated(sums[i][j][e]);
    }
#if HAS_RESIDUAL
  row += threadIdx.x % 32 / 4;
  col += threadIdx.x % 4 * 2;
  add_residual(finish, row, col, sums);
#endif
}

/// The same for swiglu, in the first half of the fragments: the second half is what that is multiplied by.
template <int kBlocks, int kFragments>
__device__ __forceinline__ void finish_halves(const Finish& finish, int row, int col,
                                              Sums<kFragments> (&sums)[kBlocks]) {
  row += threadIdx.x % 32 / 4;
  col += threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i)
#pragma unroll
    for (int j = 0; j < kFragments / 2; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sums[i][j][e] =
            finish(sums[i][j][e], row + i * 64 + e / 2 * 8, col + j * 8 + e % 2, sums[i][j + kFragments / 2][e]);
}
#endif

/// That a warpgroup stores from. Tiles with scales that need most registers leave room for more.
enum { kStoreBuffers = HAS_BLOCK_SCALES && BM / CONSUMERS * BN > 96 * 128 ? 4 : 2 };

/// Whether so many elements can be stored at once: all of them exist, and each row starts where the first one does.
__device__ __forceinline__ bool fits(const Matrix& c, int row, int col, int count) {
  return row < c.rows && col + count <= c.cols && c.ld % count == 0;
}

template <typename T>
__device__ __forceinline__ T* at(const Matrix& c, int row, int col) {
  return reinterpret_cast<T*>(c.data + static_cast<long long>(row) * c.ld + col);
}

/// Stores one element if it exists.
__device__ __forceinline__ void store_one(const Matrix& c, int row, int col, Result element) {
  if (row < c.rows && col < c.cols) *at<Result>(c, row, col) = element;
}

__device__ __forceinline__ void store_pair(const Matrix& c, int row, int col, unsigned pair) {
  if (fits(c, row, col, 2)) {
    *at<unsigned>(c, row, col) = pair;
  } else {
    store_one(c, row, col, static_cast<Result>(pair & 0xffff));
    store_one(c, row, col + 1, static_cast<Result>(pair >> 16));
  }
}

__device__ __forceinline__ void store_pair(const Matrix& c, int row, int col, float first, float second) {
  if (fits(c, row, col, 2)) {
    *at<float2>(c, row, col) = {first, second};
  } else {
    store_one(c, row, col, static_cast<Result>(first));
    store_one(c, row, col + 1, static_cast<Result>(second));
  }
}

/// Stores 16 x 8 sums of a warp, whose first is at (row, col) of the tile's matrix.
__device__ __forceinline__ void store_fragment(const Matrix& c, int row, int col, const float (&d)[4]) {
  const int major = threadIdx.x % 32 / 4, minor = threadIdx.x % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half, row += 8) {
    const float first = d[half * 2], second = d[half * 2 + 1];
#if type_c_f32 && SWAP
    store_one(c, col + minor, row + major, first);
    store_one(c, col + minor + 1, row + major, second);
#elif type_c_f32
    store_pair(c, row + major, col + minor, first, second);
#elif SWAP
    store_pair(c, col + major, row + minor, transposed(pack(first, second)));
#else
    store_pair(c, row + major, col + minor, pack(first, second));
#endif
  }
}

/// Stores eight neighbours of 16 bits.
__device__ __forceinline__ void store_eight(const Matrix& c, int row, int col, const unsigned (&v)[4]) {
  if (fits(c, row, col, 8)) {
    *at<uint4>(c, row, col) = {v[0], v[1], v[2], v[3]};
  } else if (row < c.rows && col < c.cols) {
    unsigned rest[] = {v[0], v[1], v[2], v[3]};
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      store_one(c, row, col + i, static_cast<Result>(rest[0]));
#pragma unroll
      for (int w = 0; w < 4; ++w) rest[w] = rest[w] >> 16 | (w < 3 ? rest[w + 1] << 16 : 0);
    }
  }
}

/// Stores four fragments, side by side: lanes exchange elements first, so that each stores 16 bytes and four of them 64
/// in a row.
__device__ __forceinline__ void store_four(const Matrix& c, int row, int col, const float (*d)[4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half, row += 8) {
    unsigned v[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) v[t] = pack(d[t][half * 2], d[t][half * 2 + 1]);
    transpose_among_four(v);
    const int r = row + threadIdx.x % 32 / 4, first = col + threadIdx.x % 4 * 8;
    store_eight(c, r, first, v);
  }
}

/// Stores 16 x 8*kFragments sums of a warp from registers.
template <int kFragments>
__device__ __forceinline__ void store_directly(const Matrix& c, int row, int col, const Sums<kFragments>& sums) {
  constexpr int kStored = kFragments / kColumns;
  constexpr int kFours = sizeof(Result) == 2 && !SWAP ? kStored / 4 * 4 : 0;
#pragma unroll
  for (int j = 0; j < kFours; j += 4) store_four(c, row, col + j * 8, &sums[j]);
#pragma unroll
  for (int j = kFours; j < kStored; ++j) store_fragment(c, row, col + j * 8, sums[j]);
}

/// Copies so many rows from a buffer to C, each of them `pieces` times four elements. Rows of C may start anywhere.
__device__ __forceinline__ void copy_rows(const Matrix& c, int row, int col, int rows, int pieces, unsigned buffer) {
#pragma unroll 2
  for (int i = threadIdx.x % 128; i < rows * pieces; i += 128) {
    const int r = i / pieces, piece = i % pieces;
    const uint2 four = read_two(buffer + swizzled(r * 128 + piece * 8));
    if (fits(c, row + r, col + piece * 4, 4)) {
      *at<uint2>(c, row + r, col + piece * 4) = four;
    } else {
      store_pair(c, row + r, col + piece * 4, four.x);
      store_pair(c, row + r, col + piece * 4 + 2, four.y);
    }
  }
}

/// Stores 64 x 8*kFragments sums of a warpgroup through shared memory: up to 64 columns of C at a time (with SWAP up to
/// 64 rows) are written to one of a few buffers, from which the TMA copies them while the warpgroup goes on. The
/// warpgroup itself copies what the TMA cannot: less than a box, and rows that do not start at multiples of 16 bytes.
/// `turn` counts what has been stored, and `barrier` is the warpgroup's own.
template <bool kCopies, int kFragments>
__device__ __forceinline__ void store_by_tma(const TensorMap& map, const Matrix& c, int row, int col,
                                             const Sums<kFragments>& sums, unsigned buffers, int& turn, int barrier) {
  constexpr int kStored = kFragments / kColumns;
  static_assert(kStored % 2 == 0 && sizeof(Result) == 2, "two fragments at a time, of 16-bit elements");
  constexpr int kBox = SWAP && kStored < 8 ? kStored : 8;  // fragments
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool asks = threadIdx.x % 128 == 0;
  // Where a lane's row of the first two fragments lies.
  const unsigned place = SWAP ? swizzled((lane / 16 * 8 + lane % 8) * 128 + (warp * 2 + lane / 8 % 2) * 16)
                              : swizzled((warp * 16 + lane % 16) * 128 + lane / 16 * 16);
#pragma unroll
  for (int j = 0; j < kStored; j += 8) {
    const int count = j + 8 < kStored ? 8 : kStored - j;
    const unsigned buffer = buffers + turn++ % kStoreBuffers * 64 * 128;
    if (asks) await_stores<kStoreBuffers - 1>();
    meet(barrier, 128);
#pragma unroll
    for (int t = 0; t < count; t += 2) {  // two fragments: four matrices of 8 x 8, whose rows 32 lanes point to
      store_matrices<SWAP != 0>(buffer + (SWAP ? place + t * 1024 : place ^ t * 16),
                                pack(sums[j + t][0], sums[j + t][1]), pack(sums[j + t][2], sums[j + t][3]),
                                pack(sums[j + t + 1][0], sums[j + t + 1][1]),
                                pack(sums[j + t + 1][2], sums[j + t + 1][3]));
    }
    const int c_row = SWAP ? col + j * 8 : row, c_col = SWAP ? row : col + j * 8;
    show_to_tma();
    meet(barrier, 128);
    if (kCopies || count < kBox)
      copy_rows(c, c_row, c_col, SWAP ? count * 8 : 64, SWAP ? 16 : count * 2, buffer);
    else if (asks)
      store(map, c_col, c_row, buffer);
    if (asks) commit_stores();  // also if there is none: the buffers take turns
  }
}

/// The same for kBlocks times 64 rows, one below the other.
template <bool kCopies, int kBlocks, int kFragments>
__device__ __forceinline__ void store_blocks(const TensorMap& map, const Matrix& c, int row, int col,
                                             const Sums<kFragments> (&sums)[kBlocks], unsigned buffers, int& turn,
                                             int barrier) {
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) store_by_tma<kCopies>(map, c, row + i * 64, col, sums[i], buffers, turn, barrier);
}

// ---- Parts of a sum, which blocks write down in global memory as their registers have them: one fragment of 16 x 8
// after the other, with 16 bytes for each lane. To fetch this code from memory, once per launch, takes longer than to
// run it, so it is short.

constexpr int kFragmentBytes = 32 * 16;

/// The share that a block has of the fragments of a tile: those whose parts of all blocks it adds up, and stores.
struct Share {
  int first, count, parts;

  __device__ Share(int fragments, int part, int of)
      : first(divide(fragments * part, of)), count(divide(fragments * (part + 1), of) - first), parts(of) {}
  __device__ bool has(int fragment) const { return static_cast<unsigned>(fragment - first) < count; }
};

/// Writes down those of a warp's fragments that other blocks add up. The warp has those with the numbers first,
/// first + kApart, ... of a part.
template <int kApart, int kFragments>
__device__ __forceinline__ void write_down(const Sums<kFragments>& sums, int first, const Share& own,
                                           unsigned char* part) {
  float4* const at = reinterpret_cast<float4*>(part + first * kFragmentBytes) + threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < kFragments; ++j)
    write_four(!own.has(first + j * kApart), at + j * kApart * 32, {sums[j][0], sums[j][1], sums[j][2], sums[j][3]});
}

/// Writes the others to shared memory, between the parts of the share that are fetched. Only the same lanes read them.
template <int kApart, int kFragments>
__device__ __forceinline__ void keep(const Sums<kFragments>& sums, int first, const Share& own, unsigned to) {
  to += (first - own.first) * kFragmentBytes + threadIdx.x % 32 * 16;
#pragma unroll
  for (int j = 0; j < kFragments; ++j)
    write_four(own.has(first + j * kApart), to + j * kApart * kFragmentBytes,
               {sums[j][0], sums[j][1], sums[j][2], sums[j][3]});
}

/// Asks for a share of all parts but the block's own, to be one behind the other in shared memory.
__device__ __forceinline__ void fetch(const Share& share, int own, const unsigned char* parts, int part_bytes,
                                      unsigned to, unsigned barrier) {
  const int bytes = share.count * kFragmentBytes;
  show_global_to_tma();
  expect(barrier, (share.parts - 1) * bytes);
  parts += share.first * kFragmentBytes;
#pragma unroll 4
  for (int part = 0; part < share.parts; ++part)
    if (part != own) load_bytes(parts + part * part_bytes, bytes, to + part * bytes, barrier);
}

/// Adds up what a lane has of the share's fragment with this number.
__device__ __forceinline__ void add_up(const Share& share, unsigned fetched, int fragment, float (&sums)[4]) {
  unsigned from = fetched + fragment * kFragmentBytes + threadIdx.x % 32 * 16;
#pragma unroll 4
  for (int part = 0; part < share.parts; ++part, from += share.count * kFragmentBytes) {
    const float4 d = read_four(from);
    sums[0] += d.x;
    sums[1] += d.y;
    sums[2] += d.z;
    sums[3] += d.w;
  }
}

/// How many parts of each tile have been written down, and then how many blocks have seen that, too. Zero between
/// launches.
constexpr int kMostTiles = 4096;
__device__ unsigned written_down[kMostTiles];

/// One thread for each block, after it has met those that wrote: waits until all parts of the tile have been written
/// down. All blocks of the grid must be on the device at the same time.
__device__ __forceinline__ void await_parts(int tile, int parts) {
  count_up(&written_down[tile]);
  while (count_of(&written_down[tile]) < parts) continue;
}

/// The same thread, afterwards: the last one makes the counter zero, and nobody waits for that.
__device__ __forceinline__ void leave_parts(int tile, int parts) { count_around(&written_down[tile], 2 * parts - 1); }

}  // namespace
