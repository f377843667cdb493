#include "checking/rotated_inputs.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <mutex>

#include "checking/parallel.h"

namespace tune::worker {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // elements that are worth a thread

bool matrices_overlap(const MatrixView& view) {
  MatrixView one = view;
  one.batch = 1;
  return view.batch > 1 && view.batch_stride < one.extent();
}

MatrixView bias_view(const Gemm& gemm) {
  const std::int64_t length = gemm.bias_length();
  return gemm.bias == Bias::row ? MatrixView{1, 1, length, 0, length, 1} : MatrixView{1, length, 1, 0, 1, length};
}

/// Calls `part(to, from, count)` for runs of elements that are neighbours in memory before and after the rotation,
/// with their offsets, on all cores.
template <typename Part>
void for_each_run(const RotatedView& rotated, const Part& part) {
  const Lines all = lines_of(rotated);
  parallel_for(all.matrices * all.lines, 1 + kGrain / std::max<std::int64_t>(1, all.length),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t matrix = i / all.lines * all.matrix_stride, line = i % all.lines;
                   const std::int64_t to = matrix + line * all.line_stride;
                   const std::int64_t from = matrix + (line + all.skipped) % all.lines * all.line_stride;
                   part(to, from + all.shift, all.length - all.shift);
                   if (all.shift > 0) part(to + all.length - all.shift, from, all.shift);
                 }
               });
}

}  // namespace

bool can_be_rotated(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  return gemm && !matrices_overlap(view_a(*gemm)) && !matrices_overlap(view_b(*gemm)) &&
         !matrices_overlap(view_c(*gemm));
}

Rotation draw_rotation(const Gemm& gemm, const std::function<std::int64_t(std::int64_t)>& below) {
  const ScaleGrid a = gemm.scales_of_a(), b = gemm.scales_of_b();
  // Where all share one scale, each may go anywhere.
  const auto together = [](std::int64_t size, std::int64_t count) { return count < size ? count : 1; };
  const auto rotation = [&](std::int64_t size, std::int64_t part) {
    return size % part == 0 ? part * below(size / part) : 0;
  };
  return {rotation(gemm.m, together(gemm.m, a.lines)),
          gemm.epilogue == Epilogue::swiglu ? 0 : rotation(gemm.n, together(gemm.n, b.lines)),
          rotation(gemm.k, std::max(together(gemm.k, a.depth), together(gemm.k, b.depth)))};
}

// A single column whose elements are neighbours is one line, too.
Lines lines_of(const RotatedView& rotated) {
  const auto& [view, rows, cols] = rotated;
  if (view.col_stride == 1 && (view.cols > 1 || view.row_stride != 1))
    return {view.batch, view.rows, view.cols, view.batch_stride, view.row_stride, rows, cols};
  return {view.batch, view.cols, view.rows, view.batch_stride, view.col_stride, cols, rows};
}

RotatedView rotated_view(const Gemm& gemm, std::size_t buffer, const Rotation& rotation) {
  const auto& [rows, cols, depth] = rotation;
  switch (buffer) {
    case kNumberOfA:
      return {view_a(gemm), rows, depth};
    case kNumberOfB:
      return {view_b(gemm), depth, cols};
    case kNumberOfC:
      return {view_c(gemm), rows, cols};
    default:
      if (gemm.residual && buffer == number_of_residual(gemm)) return {view_c(gemm), rows, cols};
      if (buffer >= number_of_scale_a(gemm)) {
        const bool of_a = buffer < number_of_scale_b(gemm);
        const ScaleView scales = of_a ? scales_of_a(gemm) : scales_of_b(gemm);
        return {scales.view, (of_a ? rows : depth) / scales.rows, (of_a ? depth : cols) / scales.cols};
      }
      return {bias_view(gemm), gemm.bias == Bias::col ? rows : 0, gemm.bias == Bias::row ? cols : 0};
  }
}

void copy_rotated(std::int64_t element_bytes, const RotatedView& rotated, const void* original, void* data) {
  const auto* const source = static_cast<const std::byte*>(original);
  auto* const bytes = static_cast<std::byte*>(data);
  for_each_run(rotated, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    std::memcpy(bytes + to * element_bytes, source + from * element_bytes,
                static_cast<std::size_t>(count * element_bytes));
  });
}

bool equals_rotated(std::int64_t element_bytes, const RotatedView& rotated, const void* original, const void* data) {
  const auto* const source = static_cast<const std::byte*>(original);
  const auto* const bytes = static_cast<const std::byte*>(data);
  std::atomic<bool> equal = true;
  for_each_run(rotated, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    if (std::memcmp(bytes + to * element_bytes, source + from * element_bytes,
                    static_cast<std::size_t>(count * element_bytes)) != 0)
      equal = false;
  });
  return equal;
}

std::optional<std::int64_t> first_rotated_difference(const Content& content, const RotatedView& rotated,
                                                     const void* data) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const auto* const bytes = static_cast<const std::byte*>(data);
  std::mutex mutex;
  std::int64_t first = kNone;
  for_each_run(rotated, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    const auto found = first_difference_of_part(content, from, count, bytes + to * size_of(content.type));
    if (!found) return;
    const std::lock_guard lock(mutex);
    first = std::min(first, to + *found);
  });
  return first == kNone ? std::nullopt : std::optional(first);
}

}  // namespace tune::worker
