// What softmax.cu and layernorm.cu share: the threads of a row, and sums over it. Device code for CUDA and HIP.
//
// The threads of a block are COLS x ROWS: COLS of them, a multiple of 32, work on one row.
#pragma once

namespace {

/// VEC neighbours in a row, which are loaded and stored at once.
struct alignas(4 * VEC) Piece {
  float at[VEC];
};

/// Two figures of a part of a row that are found together.
struct Pair {
  float first, second;
};

/// The value of the thread whose number differs in this bit, among 32.
__device__ float across(float value, int bit) {
#if defined(__HIP__)
  return __shfl_xor(value, bit, 32);
#else
  return __shfl_xor_sync(0xffffffffu, value, bit);
#endif
}
__device__ Pair across(Pair pair, int bit) { return {across(pair.first, bit), across(pair.second, bit)}; }

/// Combines the values of all threads of a row, and returns the result to each. All threads of a block must call it.
template <typename T, typename Combine>
__device__ T of_row(T value, Combine combine) {
  constexpr int kParts = COLS / 32;
  for (int bit = 16; bit > 0; bit /= 2) value = combine(value, across(value, bit));
  if (kParts == 1) return value;
  __shared__ T parts[ROWS][kParts];
  __syncthreads();  // the values of an earlier call may still be read
  if (threadIdx.x % 32 == 0) parts[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
  T all = parts[threadIdx.y][0];
  for (int part = 1; part < kParts; ++part) all = combine(all, parts[threadIdx.y][part]);
  return all;
}

/// A row as its threads see it: thread x has the pieces x, x + COLS, x + 2 * COLS and so on.
struct Row {
  const Piece* in;
  Piece* out;
  int pieces;
  Piece held[HELD];  // with READS == 1

  /// Row `row`, or the last one for threads beyond it, which write nothing.
  __device__ Row(const float* x, float* y, int row, int rows, int cols) : pieces(cols / VEC) {
    const long long start = static_cast<long long>(row < rows ? row : rows - 1) * pieces;
    in = reinterpret_cast<const Piece*>(x) + start;
    out = row < rows ? reinterpret_cast<Piece*>(y) + start : nullptr;
    if (READS != 1) return;
#pragma unroll
    for (int i = 0; i < HELD; ++i)
      if (i * COLS + static_cast<int>(threadIdx.x) < pieces) held[i] = in[i * COLS + threadIdx.x];
  }

  /// Calls f(piece, index of the piece) for the pieces of this thread.
  template <typename F>
  __device__ void each_piece(F f) const {
    if (READS == 1) {
#pragma unroll
      for (int i = 0; i < HELD; ++i)
        if (i * COLS + static_cast<int>(threadIdx.x) < pieces) f(held[i], i * COLS + threadIdx.x);
    } else {
      for (int i = threadIdx.x; i < pieces; i += COLS) f(in[i], i);
    }
  }
  /// Calls f(element) for the elements of this thread.
  template <typename F>
  __device__ void each(F f) const {
    each_piece([&](const Piece& piece, int) {
#pragma unroll
      for (const float value : piece.at) f(value);
    });
  }
  /// Writes f(element, its column) for each element of this thread.
  template <typename F>
  __device__ void write(F f) const {
    if (out == nullptr) return;
    each_piece([&](const Piece& piece, int index) {
      Piece result;
#pragma unroll
      for (int i = 0; i < VEC; ++i) result.at[i] = f(piece.at[i], index * VEC + i);
      out[index] = result;
    });
  }
};

}  // namespace
