// The GPU backend's own kernels: they make inputs and references and judge results where those lie. Compiled at run
// time for the device at hand, without contraction of multiplications and additions, so that tolerances are the host's.
#include "checking/gpu_elements.h"
#include "checking/gpu_kernels.h"

#if defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define TUNE_DEVICE_IS_AMD
#endif

using namespace tune::gpu;

namespace {

__device__ Bits first_index() { return blockIdx.x * static_cast<Bits>(blockDim.x) + threadIdx.x; }
__device__ Bits step() { return gridDim.x * static_cast<Bits>(blockDim.x); }

/// Lets a programmatic launch begin, and then does nothing for some microseconds.
__device__ void be_late() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  __nanosleep(20'000);
#endif
}

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

constexpr int kThreads = 256;  // of a block of the kernels that judge

/// All threads' values in one, in the first thread. One atomic operation per block instead of one per thread makes a
/// pass over a large matrix ten times as fast. All threads of a block call it.
template <typename T, typename Join>
__device__ T joined(T value, Join join) {
  __shared__ T values[kThreads];
  values[threadIdx.x] = value;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = join(values[threadIdx.x], values[threadIdx.x + half]);
  }
  return values[0];
}

__device__ Bits sum(Bits x, Bits y) { return x + y; }
__device__ double larger(double x, double y) { return fmax(x, y); }

}  // namespace

namespace {

__device__ long long own_index(unsigned block, unsigned threads, unsigned thread) {
  return block * static_cast<long long>(threads) + thread;
}

/// Calls `read` with the index of each element and that of the one whose place it has taken, and `use` with the first
/// and what was read. Several are read before the first is used, which hides how long memory takes. Blocks share the
/// elements of a line (x), the lines (y) and the matrices (z): divisions would take longer than all the rest.
template <typename Read, typename Use>
__device__ void for_each(const Lines& all, const Read& read, const Use& use) {
  const long long across = gridDim.x * static_cast<long long>(blockDim.x);
  const long long down = gridDim.y * static_cast<long long>(blockDim.y);
  for (long long matrix = blockIdx.z; matrix < all.matrices; matrix += gridDim.z)
    for (long long line = own_index(blockIdx.y, blockDim.y, threadIdx.y); line < all.lines; line += down) {
      const long long to = matrix * all.matrix_stride + line * all.line_stride;
      const long long from =
          matrix * all.matrix_stride + rotated(line, all.skipped, all.moving_lines, all.groups) * all.line_stride;
      const auto at = [&](long long i) { return static_cast<Bits>(to + i * all.element_stride); };
      const auto of = [&](long long i) {
        return static_cast<Bits>(from + rotated(i, all.shift, all.moving) * all.element_stride);
      };
      for (long long i = own_index(blockIdx.x, blockDim.x, threadIdx.x); i < all.length; i += kReadAtOnce * across) {
        decltype(read(Bits{}, Bits{})) values[kReadAtOnce];
#pragma unroll
        for (int turn = 0; turn < kReadAtOnce; ++turn) {
          const long long here = i + turn * across;
          if (here < all.length) values[turn] = read(at(here), of(here));
        }
#pragma unroll
        for (int turn = 0; turn < kReadAtOnce; ++turn) {
          const long long here = i + turn * across;
          if (here < all.length) use(at(here), values[turn]);
        }
      }
    }
}

template <typename Word>
__device__ void copy_rotated(const void* original, void* data, const Lines& lines) {
  for_each(
      lines, [&](Bits, Bits from) { return static_cast<const Word*>(original)[from]; },
      [&](Bits at, Word word) { static_cast<Word*>(data)[at] = word; });
}

template <typename Word>
__device__ void find_difference(const void* original, const void* data, const Lines& lines, Bits* first) {
  for_each(
      lines,
      [&](Bits at, Bits from) {
        return static_cast<const Word*>(data)[at] == static_cast<const Word*>(original)[from];
      },
      [&](Bits at, bool same) {
        if (!same) atomicMin(first, at);
      });
}

}  // namespace

/// A whole buffer.
extern "C" __global__ void tune_fill(Element type, Source source, Bits key, double factor, void* data, Bits count) {
  for (Bits i = first_index(); i < count; i += step()) write(type, data, i, element(type, source, key, i, factor));
}

/// Matrices of a buffer, rotated, from an original in which they are not; `late`: the launch behind this may begin
/// first.
extern "C" __global__ void tune_copy_rotated(Element type, const void* original, void* data, Lines lines, bool late) {
  if (late) be_late();
  switch (bytes_of(type)) {
    case 8:
      return copy_rotated<Bits>(original, data, lines);
    case 4:
      return copy_rotated<unsigned>(original, data, lines);
    case 2:
      return copy_rotated<unsigned short>(original, data, lines);
    default:
      return copy_rotated<unsigned char>(original, data, lines);
  }
}

/// *first = the smallest index whose element is not what tune_copy_rotated writes; left alone if there is none.
extern "C" __global__ void tune_first_difference(Element type, const void* original, const void* data, Lines lines,
                                                 Bits* first) {
  switch (bytes_of(type)) {
    case 8:
      return find_difference<Bits>(original, data, lines, first);
    case 4:
      return find_difference<unsigned>(original, data, lines, first);
    case 2:
      return find_difference<unsigned short>(original, data, lines, first);
    default:
      return find_difference<unsigned char>(original, data, lines, first);
  }
}

namespace {

/// Whether an element of a buffer belongs to none of its matrices, which do not overlap, or to a row that is none of
/// the groups.
__device__ bool is_padding(const View& view, const Groups& groups, long long index) {
  const long long matrix = view.batch > 1 ? min(index / view.batch_stride, view.batch - 1) : 0;
  const bool by_rows = view.col_stride == 1;
  const long long stride = by_rows ? view.row_stride : view.col_stride, at = index - matrix * view.batch_stride;
  const long long lines = by_rows ? view.rows : view.cols, length = by_rows ? view.cols : view.rows;
  return at / stride >= lines || at % stride >= length || !groups.have(at / stride);
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

/// *first = the smallest index of a padding element that is not that of the original, or not poison if there is none
/// (null); left alone if there is none.
extern "C" __global__ void tune_padding(Element type, const void* original, Bits poison, const void* data, View view,
                                        Groups groups, Bits count, Bits* first) {
  for (Bits i = first_index(); i < count; i += step()) {
    if (!is_padding(view, groups, static_cast<long long>(i))) continue;
    const Bits before = original ? read(type, original, i) : poisoned(type, poison, i);
    if (read(type, data, i) != before) atomicMin(first, i);
  }
}

namespace {

/// What all elements of a column have in common that are products with the same matrix of B.
struct Column {
  double turns[kTurns];
  double norm;
  long long from;

  __device__ void read(const Change& change, const double* norms, long long matrix, long long columns, long long col,
                       long long col_there) {
    from = col_there;
    norm = norms ? norms[matrix * columns + col_there] : 0;
    for (int i = 0; i < kTurns; ++i)
      turns[i] = change.by_row ? change.by_col[kTurns * (matrix * columns + col) + i] : 0;
  }
};

}  // namespace

/// `reference` is tight and row-major, of as many columns as the product has; without norms (null) they count as 0.
/// Blocks share the columns (x), the rows (y) and the matrices (z).
extern "C" __global__ void tune_compare(Element type, const void* data, View view, const double* reference,
                                        const double* row_norms, const double* col_norms, Change change,
                                        Tolerance tolerance, Finish finish, Verdict* verdict) {
  const bool swiglu = finish.epilogue == Epilogue::swiglu;
  const long long columns = swiglu ? 2 * view.cols : view.cols;
  double largest = 0;
  Bits wrong = 0;
  for (long long batch = blockIdx.z; batch < view.batch; batch += gridDim.z)
    for (auto col = static_cast<long long>(first_index()); col < view.cols; col += static_cast<long long>(step())) {
      const long long from = rotated(col, change.cols, change.moving_cols);
      Column own = {}, second = {};  // the second is that of swiglu's other half
      long long known_of = -1;       // a matrix of B
      for (long long row = blockIdx.y; row < view.rows; row += gridDim.y) {
        if (!change.groups.have(row)) continue;
        const long long line = batch * view.rows + rotated(row, change.rows, change.moving_rows, change.groups),
                        of_b = change.matrix_of_b(batch, row);
        if (of_b != known_of) {
          own.read(change, col_norms, of_b, columns, col, from);
          if (swiglu) second.read(change, col_norms, of_b, columns, view.cols + col, view.cols + from);
          known_of = of_b;
        }
        const double row_norm = row_norms ? row_norms[line] : 0;
        const double* const by_row = change.by_row ? change.by_row + kTurns * (batch * view.rows + row) : nullptr;
        const auto product = [&](const Column& column) -> Estimate {
          double value = reference[line * columns + column.from];
          if (by_row)
            for (int i = 0; i < kTurns; ++i) value += by_row[i] * column.turns[i];
          return before_epilogue(tolerance, value, row_norm * column.norm);
        };
        const Estimate up = swiglu ? product(second) : Estimate{0, 0};
        double residual = 0;
        if (finish.has_residual) {
          const Bits at = offset(view, {batch, line - batch * view.rows, from});
          residual = decode(type, element(type, finish.source, finish.key, at));
        }
        const Estimate expected =
            rounded(tolerance, after_epilogue(finish.epilogue, tolerance, product(own), up), residual);
        const double error = fabs(decode(type, read(type, data, offset(view, {batch, row, col}))) - expected.value);
        // All comparisons with a NaN are false; this one must be false for a right element only.
        if (!(error <= expected.error))
          ++wrong;
        else if (error > largest * expected.error)  // seldom: a division takes longer than all the rest
          largest = error / expected.error;
      }
    }
  wrong = joined(wrong, sum);
  largest = joined(largest, larger);
  if (threadIdx.x > 0) return;
  if (wrong > 0) atomicAdd(&verdict->wrong, wrong);
  raise(&verdict->largest_ratio, largest);
}

namespace {

/// The same number with the other sign. Precondition: no integer is the smallest of its type.
__device__ Bits negated(Element type, Bits bits) {
  if (type == Element::s8 || type == Element::s32) return static_cast<Bits>(-static_cast<long long>(bits));
  return bits ^ Bits { 1 } << (8 * bytes_of(type) - 1);
}

}  // namespace

/// Gives the elements of A and B at the `old` values of k their signs back, turns those at the `now` values, and notes
/// by what that changes alpha * A * B: see Change.
extern "C" __global__ void tune_turn_signs(Element type_a, void* a, View view_a, Scales scales_a, Element type_b,
                                           void* b, View view_b, Scales scales_b, Turns old, Turns now, double alpha,
                                           double* by_row, double* by_col) {
  const auto turn = [](Element type, void* data, Bits at) {
    write(type, data, at, negated(type, read(type, data, at)));
  };
  const Bits all_rows = static_cast<Bits>(view_a.batch * view_a.rows);
  for (Bits r = first_index(); r < all_rows; r += step()) {
    const long long batch = static_cast<long long>(r) / view_a.rows, row = static_cast<long long>(r) % view_a.rows;
    const auto at = [&](long long k) { return offset(view_a, {batch, row, k}); };
    for (int i = 0; i < kTurns / 2; ++i) {
      if (old.k[i] >= 0) turn(type_a, a, at(old.k[i]));
      if (now.k[i] >= 0) turn(type_a, a, at(now.k[i]));
    }
    for (int i = 0; i < kTurns; ++i)
      by_row[kTurns * r + i] =
          now.k[i] < 0 ? 0
                       : 2 * alpha * decode(type_a, read(type_a, a, at(now.k[i]))) * scales_a.at(batch, row, now.k[i]);
  }
  const Bits all_cols = static_cast<Bits>(view_b.batch * view_b.cols);
  for (Bits c = first_index(); c < all_cols; c += step()) {
    const long long batch = static_cast<long long>(c) / view_b.cols, col = static_cast<long long>(c) % view_b.cols;
    const auto at = [&](long long k) { return offset(view_b, {batch, k, col}); };
    for (int i = kTurns / 2; i < kTurns; ++i) {
      if (old.k[i] >= 0) turn(type_b, b, at(old.k[i]));
      if (now.k[i] >= 0) turn(type_b, b, at(now.k[i]));
    }
    for (int i = 0; i < kTurns; ++i)
      by_col[kTurns * c + i] =
          now.k[i] < 0 ? 0 : decode(type_b, read(type_b, b, at(now.k[i]))) * scales_b.at(batch, now.k[i], col);
  }
}

/// *total += a number that depends on every word and its place, which is counted from `begin`.
extern "C" __global__ void tune_digest(const Bits* words, Bits begin, Bits count, Bits* total) {
  Bits own = 0;
  for (Bits i = first_index(); i < count; i += step())
    own += tune::generator::mix(words[i] + tune::generator::kGolden * (begin + i));
  own = joined(own, sum);
  if (threadIdx.x == 0) atomicAdd(total, own);
}

/// *first = the index of the first value that is not finite; left alone if there is none.
extern "C" __global__ void tune_find_infinite(const double* values, Bits count, Bits* first) {
  for (Bits i = first_index(); i < count; i += step())
    if (!(fabs(values[i]) <= 1.7976931348623157e308)) atomicMin(first, i);
}

/// *first = the offset of the first byte of the memory that is not poison and lies outside [start, start + size), the
/// buffer between two guard bands; left alone if there is none.
extern "C" __global__ void tune_guards(const unsigned char* memory, Bits bytes, Bits start, Bits size, Bits poison,
                                       Bits* first) {
  for (Bits i = first_index(); i < bytes - size; i += step()) {
    const Bits at = i < start ? i : i + size;
    if (memory[at] != poisoned(Element::s8, poison, at)) atomicMin(first, at);
  }
}

/// A strided matrix, times its scales, as tight, row-major doubles.
extern "C" __global__ void tune_widen(Element type, const void* data, View view, Scales scales, double* out) {
  const Bits count = static_cast<Bits>(view.batch * view.rows * view.cols);
  for (Bits i = first_index(); i < count; i += step()) {
    const Place at = place_of(view, i);
    out[i] = decode(type, read(type, data, offset(view, at))) * scales.at(at.batch, at.row, at.col);
  }
}

/// c = alpha * c + beta * before; *largest = the bits of max|before|. `before` may be null.
extern "C" __global__ void tune_scale(double* c, const double* before, Bits count, double alpha, double beta,
                                      Bits* largest) {
  double most = 0;
  for (Bits i = first_index(); i < count; i += step()) {
    const double old = before ? before[i] : 0;
    most = fmax(most, fabs(old));
    c[i] = alpha * c[i] + beta * old;
  }
  most = joined(most, larger);
  if (threadIdx.x == 0) raise(largest, most);
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

namespace {

/// A clock that runs at the same speed whatever the multiprocessors' clock does.
__device__ Bits nanoseconds() {
#if defined(__GFX11__) || defined(__GFX12__)
  constexpr unsigned kGetRealTime = 0x83;  // a message to the device, where there is no instruction for it any more
  return 10 * __builtin_amdgcn_s_sendmsg_rtnl(kGetRealTime);
#elif defined(TUNE_DEVICE_IS_AMD)
  return 10 * __builtin_amdgcn_s_memrealtime();  // both count at 100 MHz
#else
  Bits now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

#ifdef TUNE_DEVICE_IS_AMD
constexpr bool kTellsMultiprocessor = false;
__device__ unsigned multiprocessor() { return 0; }
#else
constexpr bool kTellsMultiprocessor = true;
__device__ unsigned multiprocessor() {
  unsigned number = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
#endif

__device__ Stamp stamp() { return {nanoseconds(), static_cast<Bits>(clock64())}; }

}  // namespace

/// Keeps the device busy, at next to no power, until the host sets *go, but for at least `least` and at most `most`
/// nanoseconds. Launched with one thread.
extern "C" __global__ void tune_hold(const volatile int* go, Bits least, Bits most, Watch* watch) {
  const Stamp held = stamp();
  for (Bits passed = 0; passed < least || (passed < most && *go == 0);) passed = nanoseconds() - held.nanoseconds;
  *watch = {held, stamp(), {}, multiprocessor()};
}

/// What the clocks say after a launch on the multiprocessor that tune_hold ran on: those of another one cannot be
/// compared. As many blocks as it takes to have one there.
extern "C" __global__ void tune_look(Watch* watch) {
  if (kTellsMultiprocessor && multiprocessor() == watch->multiprocessor) watch->after = stamp();
}

/// Reads all of it, so that the cache holds nothing else, and nothing that must be written back.
extern "C" __global__ void tune_flush(const uint4* data, Bits count, unsigned* sink) {
  unsigned sum = 0;
  for (Bits i = first_index(); i < count; i += step()) {
    const uint4 part = data[i];
    sum |= part.x | part.y | part.z | part.w;
  }
  if (sum != 0) *sink = sum;  // it is all zeros, which the compiler does not know
}
