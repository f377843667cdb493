// From sums in registers to C: directly, or by way of shared memory and the TMA; and how blocks that each have a part
// of a tile's k add their parts up. type_c is the element type of C: bf16, f16 or f32. With SWAP the tile is one of C
// transposed: its rows are columns of C.
#pragma once

namespace {

struct Matrix {
  Result* data;
  int rows, cols, ld;
};

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

/// Transposes 8 x 8 elements of 16 bits, of which each lane has two neighbours in row lane / 4.
__device__ __forceinline__ unsigned transposed(unsigned pair) {
  unsigned other;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(other) : "r"(pair));
  return other;
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
  } else {
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
  constexpr int kFours = sizeof(Result) == 2 && !SWAP ? kFragments / 4 * 4 : 0;
#pragma unroll
  for (int j = 0; j < kFours; j += 4) store_four(c, row, col + j * 8, &sums[j]);
#pragma unroll
  for (int j = kFours; j < kFragments; ++j) store_fragment(c, row, col + j * 8, sums[j]);
}

/// Stores 64 x 8*kFragments sums of a warpgroup through shared memory: kWidth bytes of each row at a time are written
/// to one of two buffers, from which the TMA copies them while the warpgroup goes on. `turn` counts what has been
/// stored, and `barrier` is the warpgroup's own.
template <int kWidth, int kFragments>
__device__ __forceinline__ void store_by_tma(const TensorMap& c, int row, int col, const Sums<kFragments>& sums,
                                             unsigned buffers, int& turn, int barrier) {
  constexpr int kStep = kWidth / 16;  // fragments in a row of a buffer
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool asks = threadIdx.x % 128 == 0;
#pragma unroll
  for (int j = 0; j < kFragments; j += kStep) {
    const unsigned buffer = buffers + turn++ % 2 * 64 * kWidth;
    if (asks) await_stores<1>();
    meet(barrier, 128);
#pragma unroll
    for (int t = j; t < j + kStep; t += 2) {  // two fragments: four matrices of 8 x 8, whose rows 32 lanes point to
      const unsigned to = buffer + swizzled<kWidth>((warp * 16 + lane % 16) * kWidth + (t - j + lane / 16) * 16);
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                   "r"(pack(sums[t][0], sums[t][1])), "r"(pack(sums[t][2], sums[t][3])),
                   "r"(pack(sums[t + 1][0], sums[t + 1][1])), "r"(pack(sums[t + 1][2], sums[t + 1][3]))
                   : "memory");
    }
    show_to_tma();
    meet(barrier, 128);
    if (asks) store(c, col + j * 8, row, buffer);
  }
}

// ---- Parts of a sum. The blocks that share a tile write their sums down, each for itself, as C has them; then each
// adds up, rounds and stores its share of the tile.

/// Sums of kRows x kCols elements of C in shared memory, one part in each block of the cluster.
template <int kRows, int kCols>
struct SharedParts {
  static constexpr int kAtOnce = 2;         // more reads at a time do not come through sooner
  static constexpr int kPitch = kCols + 8;  // eight rows then begin in different banks
  unsigned memory;
  int part;  // of this block

  __device__ unsigned address(int row, int col) const { return memory + (row * kPitch + col) * 4; }
  __device__ void write(int row, int col, float element) const {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address(row, col)), "f"(element) : "memory");
  }
  __device__ void write(int row, int col, float2 pair) const {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address(row, col)), "f"(pair.x), "f"(pair.y) : "memory");
  }
  /// What is this block's own does not come through the network between the multiprocessors.
  __device__ float4 read(int of_part, int row, int col) const {
    float4 d;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
                 : "r"(of_part == part ? address(row, col) : address_in(of_part, address(row, col))));
    return d;
  }
};

/// The same in global memory, the parts of a tile one behind the other.
template <int kRows, int kCols>
struct GlobalParts {
  static constexpr int kAtOnce = 8;
  float* memory;  // of the tile
  int part;       // of this block

  __device__ float* address(int of_part, int row, int col) const {
    return memory + static_cast<long long>(of_part) * kRows * kCols + row * kCols + col;
  }
  __device__ void write(int row, int col, float element) const { __stcg(address(part, row, col), element); }
  __device__ void write(int row, int col, float2 pair) const {
    __stcg(reinterpret_cast<float2*>(address(part, row, col)), pair);
  }
  __device__ float4 read(int of_part, int row, int col) const {
    return __ldcg(reinterpret_cast<const float4*>(address(of_part, row, col)));
  }
};

/// Writes a warp's 16 x 8*kFragments sums down, whose first is at (row, col) of the tile's matrix.
template <int kFragments, typename Parts>
__device__ __forceinline__ void write_down(const Sums<kFragments>& sums, int row, int col, const Parts& to) {
  row += threadIdx.x % 32 / 4;
  col += threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < kFragments; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float2 pair = {sums[j][half * 2], sums[j][half * 2 + 1]};
#if SWAP
      to.write(col + j * 8, row + half * 8, pair.x);
      to.write(col + j * 8 + 1, row + half * 8, pair.y);
#else
      to.write(row + half * 8, col + j * 8, pair);
#endif
    }
}

__device__ __forceinline__ void add(float4& sum, float4 other) {
  sum.x += other.x;
  sum.y += other.y;
  sum.z += other.z;
  sum.w += other.w;
}

/// What the lane has whose number differs by `distance`.
__device__ __forceinline__ float4 from_lane(float4 mine, int distance) {
  return {__shfl_xor_sync(~0U, mine.x, distance), __shfl_xor_sync(~0U, mine.y, distance),
          __shfl_xor_sync(~0U, mine.z, distance), __shfl_xor_sync(~0U, mine.w, distance)};
}

/// Rounds and stores eight neighbours.
__device__ __forceinline__ void store_eight(const Matrix& c, int row, int col, float4 low, float4 high) {
#if type_c_f32
  store_pair(c, row, col, low.x, low.y);
  store_pair(c, row, col + 2, low.z, low.w);
  store_pair(c, row, col + 4, high.x, high.y);
  store_pair(c, row, col + 6, high.z, high.w);
#else
  store_eight(c, row, col, {pack(low.x, low.y), pack(low.z, low.w), pack(high.x, high.y), pack(high.z, high.w)});
#endif
}

/// Adds up this block's share of a tile, which begins at (row, col) of C, and stores it. If there are more threads than
/// eights, several side by side add up some of the parts each. The code is short on purpose: each line of it comes from
/// memory once per launch.
template <int kRows, int kCols, typename Parts>
__device__ __forceinline__ void add_up(const Parts& from, int part, int parts, int thread, int threads, const Matrix& c,
                                       int row, int col) {
  constexpr int kEights = kRows * kCols / 8, kAcross = kCols / 8, kAtOnce = Parts::kAtOnce;
  int together = 1;
  while (together < 8 && together * 2 * kEights <= threads * parts) together *= 2;
  const int member = thread & (together - 1), last = kEights * (part + 1) / parts;
  // All threads of a warp go around as often, as they exchange sums at the end.
#pragma unroll 1
  for (int first = kEights * part / parts; first < last; first += threads / together) {
    const int eight = first + thread / together, readable = min(eight, last - 1);
    const int r = readable / kAcross, q = readable % kAcross * 8;
    float4 low = {}, high = {};
#pragma unroll 1
    for (int begin = member; begin < parts; begin += kAtOnce * together) {
      float4 lows[kAtOnce], highs[kAtOnce];  // on their way at the same time
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int other = min(begin + i * together, parts - 1);
        lows[i] = from.read(other, r, q);
        highs[i] = from.read(other, r, q + 4);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (begin + i * together >= parts) break;
        add(low, lows[i]);
        add(high, highs[i]);
      }
    }
#pragma unroll 1
    for (int distance = together / 2; distance > 0; distance /= 2) {
      add(low, from_lane(low, distance));
      add(high, from_lane(high, distance));
    }
    if (member == 0 && eight < last) store_eight(c, row + r, col + q, low, high);
  }
}

/// How many parts of each tile have been written down, and how many blocks have read them. Zero between launches.
constexpr int kMostTiles = 4096;
__device__ unsigned written_down[kMostTiles], added_up[kMostTiles];

/// One thread for each block: waits until all parts of the tile have been written down. All blocks of the grid must be
/// on the device at the same time.
__device__ __forceinline__ void await_parts(int tile, int parts) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&written_down[tile]) : "memory");
  unsigned count;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(&written_down[tile]) : "memory");
  } while (count < parts);
}

/// One thread for each block, after it has read the parts: the last one makes both counters ready for the next launch.
__device__ __forceinline__ void leave_parts(int tile, int parts) {
  if (atomicAdd(&added_up[tile], 1) + 1 < parts) return;
  written_down[tile] = 0;
  added_up[tile] = 0;
}

}  // namespace
