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

gpu::Groups groups_of(const Gemm& gemm) { return {gemm.group_offsets.data(), gemm.groups(), gemm.max_rows}; }

MatrixView bias_view(const Gemm& gemm) {
  const std::int64_t length = gemm.bias_length();
  return gemm.bias == Bias::row ? MatrixView{1, 1, length, 0, length, 1} : MatrixView{1, length, 1, 0, 1, length};
}

/// A line whose elements are no neighbours: calls `part(to, from, 1)` for each.
template <typename Part>
void for_each_element(const gpu::Lines& all, std::int64_t to, std::int64_t from, const Part& part) {
  for (std::int64_t i = 0; i < all.length; ++i)
    part(to + i * all.element_stride, from + gpu::rotated(i, all.shift, all.moving) * all.element_stride, 1);
}

/// Calls `part(to, from, count)` for runs of elements that are neighbours in memory before and after the rotation,
/// with their offsets, on all cores.
template <typename Part>
void for_each_run(const RotatedView& rotated, const Part& part) {
  const gpu::Lines all = lines_of(rotated);
  parallel_for(all.matrices * all.lines, 1 + kGrain / std::max<std::int64_t>(1, all.length),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t matrix = i / all.lines * all.matrix_stride, line = i % all.lines;
                   const std::int64_t to = matrix + line * all.line_stride;
                   const std::int64_t there = gpu::rotated(line, all.skipped, all.moving_lines, all.groups);
                   const std::int64_t from = matrix + there * all.line_stride, staying = all.length - all.moving;
                   if (all.element_stride != 1 && all.length > 1) {
                     for_each_element(all, to, from, part);
                     continue;
                   }
                   if (all.shift == 0) {
                     part(to, from, all.length);
                     continue;
                   }
                   part(to, from + all.shift, all.moving - all.shift);
                   part(to + all.moving - all.shift, from, all.shift);
                   if (staying > 0) part(to + all.moving, from + all.moving, staying);
                 }
               });
}

/// How many neighbours share a scale: 1 where all of them do, so that each may go anywhere.
struct Together {
  std::int64_t rows, cols, depth;
};

Together together_of(const Gemm& gemm) {
  const ScaleGrid a = gemm.scales_of_a(), b = gemm.scales_of_b();
  const auto together = [](std::int64_t size, std::int64_t count) { return count < size ? count : 1; };
  return {together(gemm.rows(), a.lines), together(gemm.n, b.lines),
          std::max(together(gemm.k, a.depth), together(gemm.k, b.depth))};
}

}  // namespace

bool can_be_rotated(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  return gemm && !matrices_overlap(view_a(*gemm)) && !matrices_overlap(view_b(*gemm)) &&
         !matrices_overlap(view_c(*gemm));
}

Moving moving_in_rotations(const Gemm& gemm) {
  const auto moving = [](std::int64_t size, std::int64_t together) { return size - size % together; };
  const Together together = together_of(gemm);
  return {moving(gemm.rows(), together.rows), moving(gemm.n, together.cols), moving(gemm.k, together.depth)};
}

gpu::Change change_of(const Gemm& gemm, const Rotation& rotation) {
  const Moving moving = moving_in_rotations(gemm);
  return {rotation.rows, rotation.cols, moving.rows, moving.cols, nullptr, nullptr, groups_of(gemm)};
}

gpu::Groups groups_of_kept_padding(const Gemm& gemm) {
  return gemm.max_rows > 0 && !gemm.any_padding ? groups_of(gemm) : gpu::Groups{};
}

// Of those that share the only scale of all that move, each may go anywhere.
Rotation draw_rotation(const Gemm& gemm, const std::function<std::int64_t(std::int64_t)>& below) {
  const Together together = together_of(gemm);
  const Moving moving = moving_in_rotations(gemm);
  const auto rotation = [&](std::int64_t size, std::int64_t part) {
    return size > part ? part * below(size / part) : below(size);
  };
  return {rotation(moving.rows, together.rows),
          gemm.epilogue == Epilogue::swiglu ? 0 : rotation(moving.cols, together.cols),
          rotation(moving.depth, together.depth)};
}

// A single column whose elements are neighbours is one line, too.
gpu::Lines lines_of(const RotatedView& rotated) {
  const auto& [view, rows, cols, moving_rows, moving_cols, groups] = rotated;
  if (groups.count > 0 || (view.col_stride == 1 && (view.cols > 1 || view.row_stride != 1)))
    return {view.batch, view.rows, view.cols,   view.batch_stride, view.row_stride, view.col_stride,
            rows,       cols,      moving_rows, moving_cols,       groups};
  return {view.batch,  view.cols,   view.rows, view.batch_stride, view.col_stride, view.row_stride, cols, rows,
          moving_cols, moving_rows, {}};
}

RotatedView rotated_view(const Gemm& gemm, std::size_t buffer, const Rotation& rotation) {
  const auto& [rows, cols, depth] = rotation;
  const Moving moving = moving_in_rotations(gemm);
  const gpu::Groups groups = groups_of(gemm);
  const RotatedView c = {view_c(gemm), rows, cols, moving.rows, moving.cols, groups};
  if (is_list_of_groups(gemm, buffer)) return whole(gemm.groups() + (gemm.max_rows > 0 ? 0 : 1));
  switch (buffer) {
    case kNumberOfA:
      return {view_a(gemm), rows, depth, moving.rows, moving.depth, groups};
    case kNumberOfB:
      return {view_b(gemm), depth, cols, moving.depth, moving.cols};
    case kNumberOfC:
      return c;
    default:
      if (gemm.residual && buffer == number_of_residual(gemm)) return c;
      if (buffer >= number_of_scale_a(gemm)) {
        const RotatedView of = rotated_view(gemm, buffer < number_of_scale_b(gemm) ? kNumberOfA : kNumberOfB, rotation);
        const ScaleView scales = buffer < number_of_scale_b(gemm) ? scales_of_a(gemm) : scales_of_b(gemm);
        return {scales.view,
                of.rows / scales.rows,
                of.cols / scales.cols,
                of.moving_rows / scales.rows,
                of.moving_cols / scales.cols,
                scales.rows == 1 ? of.groups : gpu::Groups{}};
      }
      return {bias_view(gemm), gemm.bias == Bias::col ? rows : 0, gemm.bias == Bias::row ? cols : 0, moving.rows,
              moving.cols};
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
