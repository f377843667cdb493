// The GPU backend's own kernels: they make inputs and references and judge results where those lie. Compiled at run
// time for the device at hand, without contraction of multiplications and additions, so that tolerances are the host's.
#include "gpu_elements.h"
#include "gpu_kernels.h"

using namespace tune::gpu;

namespace {

__device__ Bits first_index() { return blockIdx.x * static_cast<Bits>(blockDim.x) + threadIdx.x; }
__device__ Bits step() { return gridDim.x * static_cast<Bits>(blockDim.x); }

struct Place {
  long long batch, row, col;
};

__device__ Place place_of(const View& view, Bits index) {
  const auto i = static_cast<long long>(index), matrix = view.rows * view.cols;
  return {i / matrix, i % matrix / view.cols, i % view.cols};
}

__device__ Bits offset(const View& view, const Place& at) {
  return static_cast<Bits>(at.batch * view.batch_stride + at.row * view.row_stride + at.col * view.col_stride);
}

__device__ void raise(Bits* largest, double value) {
  if (value > 0) atomicMax(largest, __builtin_bit_cast(Bits, value));
}

}  // namespace

extern "C" __global__ void tune_fill(Element type, Source source, Bits key, void* data, Bits count) {
  for (Bits i = first_index(); i < count; i += step()) write(type, data, i, element(type, source, key, i));
}

/// *first = the smallest index whose element is not what tune_fill writes; left alone if there is none.
extern "C" __global__ void tune_first_difference(Element type, Source source, Bits key, const void* data, Bits count,
                                                 Bits* first) {
  for (Bits i = first_index(); i < count; i += step())
    if (read(type, data, i) != element(type, source, key, i)) atomicMin(first, i);
}

namespace {

/// Whether an element of a buffer belongs to none of its matrices, which do not overlap.
__device__ bool is_padding(const View& view, long long index) {
  const long long matrix = view.batch > 1 ? min(index / view.batch_stride, view.batch - 1) : 0;
  const bool by_rows = view.col_stride == 1;
  const long long stride = by_rows ? view.row_stride : view.col_stride, at = index - matrix * view.batch_stride;
  const long long lines = by_rows ? view.rows : view.cols, length = by_rows ? view.cols : view.rows;
  return at / stride >= lines || at % stride >= length;
}

/// An element of memory in which 16 bits are repeated.
__device__ Bits poisoned(Element type, Bits word, Bits index) {
  switch (bytes_of(type)) {
    case 8:
      return word * 0x0001000100010001;
    case 4:
      return word * 0x00010001;
    case 2:
      return word;
    default:
      return index % 2 == 0 ? word & 0xff : word >> 8;
  }
}

}  // namespace

/// *first = the smallest index of a padding element that is not what tune_fill writes, or not poison if there is some;
/// left alone if there is none.
extern "C" __global__ void tune_padding(Element type, Source source, Bits key, Bits poison, const void* data, View view,
                                        Bits count, Bits* first) {
  for (Bits i = first_index(); i < count; i += step()) {
    if (!is_padding(view, static_cast<long long>(i))) continue;
    const Bits before = poison ? poisoned(type, poison, i) : element(type, source, key, i);
    if (read(type, data, i) != before) atomicMin(first, i);
  }
}

/// `reference` is tight and row-major; without norms (null) they count as 0.
extern "C" __global__ void tune_compare(Element type, const void* data, View view, const double* reference,
                                        const double* row_norms, const double* col_norms, Tolerance tolerance,
                                        Verdict* verdict) {
  double largest = 0;
  Bits wrong = 0;
  const Bits count = static_cast<Bits>(view.batch * view.rows * view.cols);
  for (Bits i = first_index(); i < count; i += step()) {
    const Place at = place_of(view, i);
    double norms = 0;
    if (row_norms) norms = row_norms[at.batch * view.rows + at.row] * col_norms[at.batch * view.cols + at.col];
    const double allowed =
        tolerance.of_norms * norms + tolerance.of_reference * fabs(reference[i]) + tolerance.constant;
    const double error = fabs(decode(type, read(type, data, offset(view, at))) - reference[i]);
    // All comparisons with a NaN are false; this one must be false for a right element only.
    if (!(error <= allowed))
      ++wrong;
    else if (error > 0)
      largest = fmax(largest, error / allowed);
  }
  if (wrong > 0) atomicAdd(&verdict->wrong, wrong);
  raise(&verdict->largest_ratio, largest);
}

/// A strided matrix as tight, row-major doubles.
extern "C" __global__ void tune_widen(Element type, const void* data, View view, double* out) {
  const Bits count = static_cast<Bits>(view.batch * view.rows * view.cols);
  for (Bits i = first_index(); i < count; i += step())
    out[i] = decode(type, read(type, data, offset(view, place_of(view, i))));
}

constexpr int kTile = 64, kDepth = 16, kPart = 4;  // of C per block, of k at a time, of C per thread in each direction

/// c[m,n] = a[m,k] * b[k,n], all tight and row-major; 16 x 16 threads. Sums kDepth products, then adds the sums, which
/// keeps the rounding errors of long sums apart from each other.
extern "C" __global__ void __launch_bounds__(256)
    tune_multiply(const double* a, const double* b, double* c, long long m, long long n, long long k) {
  __shared__ double a_tile[kDepth][kTile + 1], b_tile[kDepth][kTile];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  const long long row = blockIdx.y * static_cast<long long>(kTile), col = blockIdx.x * static_cast<long long>(kTile);
  double total[kPart][kPart] = {};
  for (long long p = 0; p < k; p += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
      const bool a_inside = row + a_row < m && p + a_col < k, b_inside = p + b_row < k && col + b_col < n;
      a_tile[a_col][a_row] = a_inside ? a[(row + a_row) * k + p + a_col] : 0;
      b_tile[b_row][b_col] = b_inside ? b[(p + b_row) * n + col + b_col] : 0;
    }
    __syncthreads();
    double sum[kPart][kPart] = {};
#pragma unroll
    for (int q = 0; q < kDepth; ++q)
#pragma unroll
      for (int i = 0; i < kPart; ++i)
#pragma unroll
        for (int j = 0; j < kPart; ++j) sum[i][j] = fma(a_tile[q][y + 16 * i], b_tile[q][x + 16 * j], sum[i][j]);
#pragma unroll
    for (int i = 0; i < kPart; ++i)
#pragma unroll
      for (int j = 0; j < kPart; ++j) total[i][j] += sum[i][j];
    __syncthreads();
  }
  for (int i = 0; i < kPart; ++i)
    for (int j = 0; j < kPart; ++j)
      if (row + y + 16 * i < m && col + x + 16 * j < n) c[(row + y + 16 * i) * n + col + x + 16 * j] = total[i][j];
}

/// c = alpha * c + beta * before; *largest = the bits of max|before|. `before` may be null.
extern "C" __global__ void tune_scale(double* c, const double* before, Bits count, double alpha, double beta,
                                      Bits* largest) {
  for (Bits i = first_index(); i < count; i += step()) {
    const double old = before ? before[i] : 0;
    raise(largest, fabs(old));
    c[i] = alpha * c[i] + beta * old;
  }
}

/// 2-norms of `count` vectors of `length` elements.
extern "C" __global__ void tune_norms(const double* data, Bits count, Bits stride, Bits length, Bits elements_apart,
                                      double* out) {
  for (Bits i = first_index(); i < count; i += step()) {
    double sum = 0;
    for (Bits p = 0; p < length; ++p) {
      const double x = data[i * stride + p * elements_apart];
      sum += x * x;
    }
    out[i] = sqrt(sum);
  }
}

/// Keeps the device busy for so many of its clock's ticks.
extern "C" __global__ void tune_hold(long long ticks) {
  for (const long long end = clock64() + ticks; clock64() < end;) {
  }
}
