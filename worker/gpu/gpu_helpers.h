#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checking/gpu_kernels.h"
#include "checking/guarded_buffer.h"
#include "checking/inputs.h"
#include "checking/layout.h"
#include "checking/rotated_inputs.h"
#include "gpu/gpu_device.h"

namespace tune::worker {

/// The code of gpu_kernels.cu for one architecture. Throws std::runtime_error if it cannot be compiled.
std::string compile_gpu_helpers(const std::string& arch);

/// Where a reference process leaves that code for the measure processes, which then need no compiler.
std::filesystem::path helpers_beside(const std::filesystem::path& reference);

/// The kernels of gpu_kernels.cu, which make and judge buffers where they lie; lists and groups of what they get are on
/// the device, too. All are launched and not waited for,
/// but for those that return something.
class GpuHelpers {
 public:
  GpuHelpers(const Gpu& gpu, const std::string& code);

  /// A whole buffer with this content.
  void fill(const Content& content, gpu::Address data, std::int64_t count) const;
  /// Matrices, rotated, from a buffer in which they are not; what lies between them is left as it is. If `late`, the
  /// kernel lets a programmatic launch behind it begin, and writes only then.
  void copy_rotated(Type type, gpu::Address original, gpu::Address data, const RotatedView& matrices,
                    bool late = false) const;
  /// The smallest of the indices that these find, whichever `searches` has launched; nullopt: they find nothing.
  std::optional<std::int64_t> smallest(const std::function<void()>& searches) const;
  /// An element of the matrices that is not what copy_rotated puts there.
  void find_difference(Type type, gpu::Address original, gpu::Address data, const RotatedView& matrices) const;
  /// An element between the matrices, rows or columns of `view`, or of a row that is none of `groups`, in a buffer of
  /// `count`, that is no longer what was there: that of the original (0: none), or else poison. Precondition: matrices
  /// do not overlap.
  void find_padding_difference(Type type, gpu::Address original, Poison pattern, gpu::Address data,
                               const MatrixView& view, const gpu::Groups& groups, std::int64_t count) const;
  /// A byte of memory that is no longer poison, but for the `size` bytes of a buffer, which begins at `start`.
  void find_guard_difference(gpu::Address memory, std::size_t bytes, std::size_t start, std::size_t size) const;

  struct Comparison {
    Type type = Type::f32;
    gpu::Address data = 0;
    MatrixView view;
    gpu::Address reference = 0, row_norms = 0, col_norms = 0;  ///< norms: 0 if there are none
    gpu::Change change{};
    gpu::Tolerance tolerance{};
    gpu::Finish finish{};
  };
  /// `largest_ratio` of the elements within tolerance.
  struct Verdict {
    std::int64_t wrong = 0;
    double largest_ratio = 0;
  };
  Verdict compare(const Comparison& comparison) const;

  /// A matrix on the device, and its scales; 0: it has none.
  struct Operand {
    Type type = Type::f32;
    gpu::Address data = 0;
    MatrixView view;
    gpu::Address scales = 0;
    ScaleView scale_view = {};
  };
  /// Strided elements, times their scales, as tight, row-major doubles.
  void widen(const Operand& matrix, gpu::Address out) const;
  /// c = alpha * c + beta * before; returns max|before|. `before` 0: none.
  double scale(gpu::Address c, gpu::Address before, std::int64_t count, double alpha, double beta) const;
  void norms(gpu::Address data, std::int64_t count, std::int64_t stride, std::int64_t length,
             std::int64_t elements_apart, gpu::Address out) const;
  /// Turns signs of A and B, and those of before back. `by_row` and `by_col`: as of gpu::Change, for all matrices.
  void turn_signs(const Operand& a, const Operand& b, const gpu::Turns& old, const gpu::Turns& now, double alpha,
                  gpu::Address by_row, gpu::Address by_col) const;
  /// A value that is not finite.
  void find_infinite(gpu::Address values, std::int64_t count) const;
  /// A number that depends on all of it. Precondition: the numbers of bytes are multiples of 8.
  std::uint64_t digest(const std::vector<const DeviceMemory*>& memory) const;

  /// Keeps the device busy until `go` is set, but for at least `least` and at most `most` seconds.
  void hold(gpu::Address go, double least, double most, gpu::Address watch) const;
  /// Notes the clocks after a launch.
  void look(gpu::Address watch) const;
  /// Reads all of it. Precondition: it is zeros, and `bytes` a multiple of 16.
  void flush(gpu::Address data, std::size_t bytes) const;

 private:
  template <typename... Args>
  void launch(const char* kernel, GpuLaunch::Extents grid, GpuLaunch::Extents block, Args... args) const;
  template <typename... Args>
  void launch_over(const char* kernel, std::int64_t count, Args... args) const;
  template <typename... Args>
  void launch_over(const char* kernel, const gpu::Lines& lines, Args... args) const;

  const Gpu* gpu_;
  GpuModule module_;
  mutable DeviceMemory result_;  ///< what kernels that return something write to
};

}  // namespace tune::worker
