#pragma once
#include <optional>
#include <set>
#include <string>

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

}  // namespace tune::worker
