// C = A * B in single precision on CPUs: blocked, packed, vectorised, threaded. C is row-major, A and B too unless they
// are transposed, and all are tight.
//
// The loops are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of
// B (KC x NC) is packed once for all threads, a block of A (MC x KC) by the thread that works on it, and a tile of C
// (MR x NR) stays in registers while k runs through the block. Packing makes the inner loop read memory in order and
// spares it all edges: what is missing is zeros.
//
//   MR, NR      tile in registers: MR*NR/VL sums, NR/VL vectors of B and one value of A have to fit
//   MC, NC, KC  largest blocks: MC*KC floats of A want the L2 cache, KC*NC floats of B the L3. They are evened out:
//               1000 rows with MC = 600 are 500 and 500, and there are as many row blocks as keep all threads busy
//   UNROLL      steps of k per round of the inner loop
//   PREFETCH    steps of k between fetching packed B into the L1 cache and using it; 0: left to the hardware
//   LOOP        order of the tiles in a block: `rows` keeps a sliver of A in the L1 cache and passes all of B's by,
//               `cols` (the default) keeps one of B
//   VL          floats in a vector; the default is what the compiler's target has
//   TRANSPOSE_A, TRANSPOSE_B    1: A is k x m, B is n x k; default 0
//   threads     run-time argument: threads that share the product
//   epilogue_relu and its like    see hopper/finish.h. Swiglu's product is kept in memory of its own until all of it
//               is there

#include <omp.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "hopper/finish.h"

#if !defined(MR) || !defined(NR) || !defined(MC) || !defined(NC) || !defined(KC) || !defined(UNROLL) || \
    !defined(PREFETCH)
#error "needs -D of MR NR MC NC KC UNROLL PREFETCH, for example 6 32 128 2048 512 4 0; see the head of the file"
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0
#endif
#ifndef VL
#if defined(__AVX512F__)
#define VL 16
#elif defined(__AVX__)
#define VL 8
#else
#define VL 4
#endif
#endif

namespace {

static_assert(NR % VL == 0, "NR must be a multiple of the vector length VL");

using Index = std::ptrdiff_t;
using Vector [[gnu::vector_size(VL * sizeof(float))]] = float;

constexpr int kVectors = NR / VL;
constexpr int kUnroll = UNROLL;  // macros are not expanded in `#pragma GCC unroll`
constexpr Index kLine = 64 / sizeof(float);

using Sums = Vector[MR][kVectors];

constexpr Index min(Index a, Index b) { return a < b ? a : b; }
constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index round_up(Index a, Index step) { return ceil_div(a, step) * step; }

/// A rectangle of C.
struct Part {
  float* data;
  Index ld, rows, cols;

  Part at(Index i, Index j, Index max_rows, Index max_cols) const {
    return {data + i * ld + j, ld, min(max_rows, rows - i), min(max_cols, cols - j)};
  }
};

/// The size of equal blocks of at most `limit` that cover `extent`: a multiple of `step`, their number one of
/// `workers`.
Index even_block(Index extent, Index limit, Index step, Index workers) {
  const Index blocks = round_up(ceil_div(extent, limit), workers);
  return round_up(ceil_div(extent, blocks), step);
}

/// Memory for packed blocks, kept from launch to launch: page faults would cost more than the packing.
class Scratch {
 public:
  float* at_least(Index floats) {
    if (floats > floats_) {
      std::free(data_);
      floats_ = round_up(floats, kLine);
      data_ = static_cast<float*>(std::aligned_alloc(64, static_cast<std::size_t>(floats_) * sizeof(float)));
    }
    return data_;
  }

 private:
  float* data_ = nullptr;
  Index floats_ = 0;
};

Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

/// Packs what is written with one row of `size` behind the other as a sliver of kc x `width`, with zeros at its edge.
template <Index width>
void pack_rows(const float* from, Index ld, Index kc, Index size, float* sliver) {
  for (Index p = 0; p < kc; ++p, from += ld, sliver += width) {
    if (size == width)
      std::memcpy(sliver, from, width * sizeof(float));
    else
      for (Index i = 0; i < width; ++i) sliver[i] = i < size ? from[i] : 0;
  }
}

/// The same of the transposed: `size` rows of kc.
template <Index width>
void pack_cols(const float* from, Index ld, Index kc, Index size, float* sliver) {
  for (Index i = 0; i < width; ++i)
    for (Index p = 0; p < kc; ++p) sliver[p * width + i] = i < size ? from[i * ld + p] : 0;
}

/// Packs up to MR rows of A, from (row, p) on, as a sliver of kc x MR.
void pack_a(const float* a, Index m, Index k, Index row, Index p, Index kc, Index rows, float* sliver) {
  if (TRANSPOSE_A)
    pack_rows<MR>(a + p * m + row, m, kc, rows, sliver);
  else
    pack_cols<MR>(a + row * k + p, k, kc, rows, sliver);
}

/// Packs up to NR columns of B, from (p, col) on, as a sliver of kc x NR.
void pack_b(const float* b, Index n, Index k, Index p, Index col, Index kc, Index cols, float* sliver) {
  if (TRANSPOSE_B)
    pack_cols<NR>(b + col * k + p, k, kc, cols, sliver);
  else
    pack_rows<NR>(b + p * n + col, n, kc, cols, sliver);
}

/// sums += sliver of A * sliver of B.
[[gnu::always_inline]] inline void multiply(const float* a, const float* b, Index kc, Sums& sums) {
#pragma GCC unroll kUnroll
  for (Index p = 0; p < kc; ++p, a += MR, b += NR) {
    Vector row[kVectors];
#pragma GCC unroll 64
    for (int j = 0; j < kVectors; ++j) {
      row[j] = load(b + j * VL);
      if (PREFETCH > 0) __builtin_prefetch(b + PREFETCH * NR + j * VL);
    }
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 64
      for (int j = 0; j < kVectors; ++j) sums[i][j] += a[i] * row[j];
  }
}

/// Writes a whole tile.
template <bool kAdd>
[[gnu::always_inline]] inline void write(const Sums& sums, Part c) {
#pragma GCC unroll 64
  for (int i = 0; i < MR; ++i)
#pragma GCC unroll 64
    for (int j = 0; j < kVectors; ++j) {
      float* const to = c.data + i * c.ld + j * VL;
      store(to, kAdd ? load(to) + sums[i][j] : sums[i][j]);
    }
}

/// Writes a tile that sticks out of C.
void write_edge(const Sums& sums, Part c, bool add) {
  float tile[MR][NR];
  std::memcpy(tile, sums, sizeof tile);
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.cols; ++j) {
      float& to = c.data[i * c.ld + j];
      to = add ? to + tile[i][j] : tile[i][j];
    }
}

/// C is needed only after kc steps: time enough to bring it in.
void prefetch(Part c) {
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.cols; j += kLine) __builtin_prefetch(c.data + i * c.ld + j, 1);
}

#if HAS_EPILOGUE
/// Part of the product as elements of C, row by row so that compilers make vectors of it. With swiglu, the other factor
/// is so many columns further on.
void finish(const Part& product, Index further, Index row, Index col, float* c, const Epilogue& epilogue) {
  for (Index i = 0; i < product.rows; ++i) {
    const float* const x = product.data + i * product.ld;
    float* const to = c + i * epilogue.n;
    for (Index j = 0; j < product.cols; ++j)
      to[j] = epilogue.finished(x[j], x[j + further], row + i, static_cast<int>(col + j));
  }
}
#endif

/// One tile of C = or += sliver of A * sliver of B.
void multiply_tile(const float* a, const float* b, Index kc, Part c, bool add) {
  prefetch(c);
  Sums sums = {};
  multiply(a, b, kc, sums);
  if (c.rows < MR || c.cols < NR)
    write_edge(sums, c, add);
  else if (add)
    write<true>(sums, c);
  else
    write<false>(sums, c);
}

/// C = or += packed block of A * packed block of B.
void multiply_block(const float* a, const float* b, Index kc, Part c, bool add) {
#ifdef LOOP_rows
  for (Index i = 0; i < c.rows; i += MR)
    for (Index j = 0; j < c.cols; j += NR)
#else
  for (Index j = 0; j < c.cols; j += NR)
    for (Index i = 0; i < c.rows; i += MR)
#endif
      multiply_tile(a + i * kc, b + j * kc, kc, c.at(i, j, MR, NR), add);
}

}  // namespace

/// C (m x n) = A (m x k) * B (k x n) and the epilogue, with m, n, k and threads at least 1. Not to be called by two
/// threads at once.
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int threads
#if HAS_BIAS
                     ,
                     const float* bias
#endif
#if HAS_RESIDUAL
                     ,
                     const float* residual
#endif
) {
#if HAS_EPILOGUE
  const Epilogue epilogue = {BIAS_OR_NULL, RESIDUAL_OR_NULL, n};
#endif
#if IS_SWIGLU
  static Scratch scratch_product;
  float* const result = C;
  C = scratch_product.at_least(static_cast<Index>(m) * 2 * n);
  n *= 2;
#endif
  static Scratch scratch_a, scratch_b;
  const Index mc = even_block(m, MC, MR, threads), nc = even_block(n, NC, NR, 1), kc_max = even_block(k, KC, 1, 1);
  const Index size_a = round_up(mc * kc_max, kLine), size_b = nc * kc_max;
  float* const packed_a = scratch_a.at_least(size_a * threads);
  float* const packed_b = scratch_b.at_least(size_b * 2);
  const Part c = {C, n, m, n};

#pragma omp parallel num_threads(threads)
  {
    float* const a = packed_a + omp_get_thread_num() * size_a;
    float* b = packed_b;
    for (Index j = 0; j < n; j += nc)
      for (Index p = 0; p < k; p += kc_max) {
        const Index cols = min(nc, n - j), kc = min(kc_max, k - p);
        // Two blocks take turns, so that the next may be packed while other threads still read this one.
        b = b == packed_b ? packed_b + size_b : packed_b;
#pragma omp for
        for (Index s = 0; s < cols; s += NR) pack_b(B, n, k, p, j + s, kc, min(NR, cols - s), b + s * kc);
#pragma omp for schedule(dynamic) nowait
        for (Index i = 0; i < m; i += mc) {
          const Part block = c.at(i, j, mc, nc);
          for (Index s = 0; s < block.rows; s += MR) pack_a(A, m, k, i + s, p, kc, min(MR, block.rows - s), a + s * kc);
          multiply_block(a, b, kc, block, p > 0);
#if HAS_EPILOGUE && !IS_SWIGLU
          if (p + kc == k) finish(block, 0, i, j, block.data, epilogue);
#endif
        }
      }
#if IS_SWIGLU
#pragma omp barrier
#pragma omp for
    for (Index i = 0; i < m; i += MR)
      finish(c.at(i, 0, MR, epilogue.n), epilogue.n, i, 0, result + i * epilogue.n, epilogue);
#endif
  }
}
