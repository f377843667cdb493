#include "cpu/openblas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace tune::worker {
namespace {

enum class Vectors { older, avx2, avx512 };

/// nullopt: not known to leave out anything.
std::optional<Vectors> vectors_of_core(std::string core) {
  static const std::set<std::string> kOlder = {"prescott", "banias",       "atom",      "core2",      "penryn",
                                               "athlon",   "dunnington",   "nehalem",   "nano",       "opteron",
                                               "bobcat",   "opteron_sse3", "barcelona", "sandybridge"};
  std::ranges::transform(core, core.begin(), [](unsigned char c) { return std::tolower(c); });
  if (kOlder.contains(core)) return Vectors::older;
  if (core == "haswell" || core == "zen") return Vectors::avx2;
  return core == "skylakex" ? std::optional(Vectors::avx512) : std::nullopt;
}

/// What the kernels for Haswell and SkylakeX need.
Vectors vectors_of_cpu(const std::set<std::string>& features) {
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::ranges::all_of(names, [&](const char* name) { return features.contains(name); });
  };
  if (!has({"avx2", "fma"})) return Vectors::older;
  return has({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}) ? Vectors::avx512 : Vectors::avx2;
}

const char* unused(Vectors used, Vectors usable) {
  if (used == Vectors::avx2) return "AVX-512";
  return usable == Vectors::avx512 ? "AVX2 and AVX-512" : "AVX2";
}

}  // namespace

std::optional<std::string> openblas_advice(const OpenBlas& library, const std::set<std::string>& cpu_features) {
  const auto used = vectors_of_core(library.core);
  const Vectors usable = vectors_of_cpu(cpu_features);
  if (!used || *used >= usable) return std::nullopt;
  if (!library.chooses)
    return fmt::format(
        "this OpenBLAS was built for {} alone and leaves the CPU's {} unused: others can be faster; "
        "install one that is built with DYNAMIC_ARCH",
        library.core, unused(*used, usable));
  for (const char* core : OpenBlas::kBetterCores) {
    const Vectors better = *vectors_of_core(core);
    if (better > usable || better <= *used || !library.better.contains(core)) continue;
    return fmt::format(
        "OpenBLAS ran its kernels for {}, which leave this CPU's {} unused: it can be faster; "
        "set OPENBLAS_CORETYPE={} and repeat the command",
        library.core, unused(*used, better), core);
  }
  return std::nullopt;
}

}  // namespace tune::worker
