#pragma once
#include <string>
#include <vector>

namespace tune::campaigns {

/// One faulty kernel: what it does, and how its outcome may begin (`outcome_text`), several of them separated by `|`.
/// Besides `measured` there is `pruned`: it is no trial at all. `*` is any failure, `?` anything.
struct Fault {
  const char* name;
  const char* code;
  const char* outcome;
  bool quick = false;  ///< part of the short matrix
  // GPUs: what stands before the kernel, and its launch; expressions of the tuning file.
  const char* before = "";
  const char* shared = "0";
  const char* workspace = "0";
};

/// Kernels that go wrong in one way each. right() computes what is asked for; `launches` counts, from 1.
std::vector<Fault> cpu_faults();
/// Those that only --check strict finds.
std::vector<Fault> cpu_strict_faults();
/// One for every signal.
std::vector<Fault> cpu_signals();
/// right() computes what is asked for; `before` counts the launches, from 0. Texts are those of CUDA.
std::vector<Fault> gpu_faults();

/// Where the code of a fault stands: before the first and behind the last `case`, or `#if`.
extern const char* const kCpuHead;
extern const char* const kGpuHead;

}  // namespace tune::campaigns
