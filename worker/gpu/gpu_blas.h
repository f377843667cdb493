#pragma once
#include <memory>
#include <string>

#include "gpu/gpu_argument.h"
#include "model/problem.h"

namespace tune::worker {

/// The vendor's own GEMM for one problem. Its library has several algorithms, in the order of its own guess: the first
/// is what a plain call gets.
class GpuBlas {
 public:
  virtual ~GpuBlas() = default;
  virtual int algorithms() const = 0;  ///< at least 1
  /// Precondition: 0 <= algorithm < algorithms(). The first is chosen until then.
  virtual void choose(int algorithm) = 0;
  /// From now on, launches with these addresses of the buffers.
  virtual void bind(const AddressOf& address) = 0;
  /// Launches and does not wait. Throws GpuError.
  virtual void launch() = 0;
  /// `cuBLASLt 13.1.0 (/usr/local/cuda/lib64/libcublasLt.so.13)`
  virtual std::string library() const = 0;
};

/// The vendor's one call for all groups of rows.
class GroupedBlas {
 public:
  virtual ~GroupedBlas() = default;
  virtual void bind(const AddressOf& address) = 0;
  /// Throws blas::NotSupported, GpuError.
  virtual void launch() = 0;
  virtual std::string library() const = 0;
};
/// Null: there is none for this problem, which is resolved and has groups, or no library that has it. Throws GpuError.
std::unique_ptr<GroupedBlas> open_grouped_blas(const Gpu& gpu, const Gemm& gemm);

/// Opens the library (cuBLASLt, hipBLASLt) and asks it for at most `most` algorithms. `gpu` outlives the result. Throws
/// SpecFailure of the load stage if there is no library that can be used or it has no such GEMM, GpuError.
std::unique_ptr<GpuBlas> open_gpu_blas(const Gpu& gpu, const Gemm& gemm, const AddressOf& address, int most);

}  // namespace tune::worker
