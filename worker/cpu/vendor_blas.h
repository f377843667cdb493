#pragma once
#include <string>
#include <vector>

#include "checking/layout.h"
#include "cpu/cpu_kernel.h"
#include "model/problem.h"

namespace tune::worker {

/// OpenBLAS's own GEMM, opened at run time: f32 and f64, on as many cores as it takes by itself, a batch or groups
/// one after the other.
class VendorGemm {
 public:
  /// `a`, `b` and `c` are the buffers. Throws SpecFailure of the load stage if the library is absent or has no such
  /// GEMM.
  VendorGemm(const Gemm& gemm, const void* a, const void* b, void* c);
  void launch() const;
  /// For wire::Measured.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  template <typename T, typename Function>
  void multiply(Function* function) const;

  Gemm gemm_;
  std::vector<Product> products_;
  const void* a_;
  const void* b_;
  void* c_;
  SharedObject library_;
  std::vector<std::string> remarks_;
};

}  // namespace tune::worker
