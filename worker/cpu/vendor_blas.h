#pragma once
#include <set>
#include <string>
#include <vector>

#include "checking/layout.h"
#include "cpu/cpu_kernel.h"
#include "model/problem.h"

namespace tune::worker {

/// What an OpenBLAS says of its kernels. A library for x86-64 holds kernels for several CPUs, which it calls cores, and
/// chooses among them by the CPU's model number. It may take a CPU that is newer than itself for an older one.
struct OpenBlas {
  std::string core;              ///< whose kernels it runs
  bool chooses = true;           ///< by the CPU, or as OPENBLAS_CORETYPE says; else it was built for that core alone
  std::set<std::string> better;  ///< of the cores in kBetterCores those that it has kernels for

  static constexpr const char* kBetterCores[] = {"SkylakeX", "Haswell"};
};

/// What a user should do about kernels that leave vector instructions of the CPU unused; nullopt: nothing, or nothing
/// can be done, or the core is one that we do not know. `cpu_features` are named as in /proc/cpuinfo.
std::optional<std::string> openblas_advice(const OpenBlas& library, const std::set<std::string>& cpu_features);

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
