#include "cpu/vendor_blas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <limits>
#include <optional>

#include "backend.h"
#include "checking/layout.h"
#include "cpu/cpu_probe.h"

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

// The part of the CBLAS interface that is used; its header need not be installed.
enum Order : int { kRowMajor = 101, kColMajor = 102 };
enum Transpose : int { kNoTrans = 111, kTrans = 112 };
template <typename T>
using CblasGemm = void(Order, Transpose, Transpose, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
                       int ldb, T beta, T* c, int ldc);

Gemm require_blas(const Gemm& gemm) {
  const Gemm g = resolved(gemm);
  const bool same = g.a == g.b && g.b == g.c && g.c == g.acc;
  if (!same || (g.a != Type::f32 && g.a != Type::f64))
    throw SpecFailure(Stage::load, fmt::format("the vendor library has no {} GEMM with {} accumulation and {} result",
                                               to_text(g.a), to_text(g.acc), to_text(g.c)));
  const bool finishes = g.epilogue != Epilogue::none || g.residual;
  if (g.bias != Bias::none || finishes)
    throw SpecFailure(Stage::load, fmt::format("the vendor library has no GEMM with {}",
                                               !finishes ? "a bias" : "an epilogue or a residual"));
  for (const std::int64_t size : {g.m, g.n, g.k, g.lda, g.ldb, g.ldc})
    if (size > std::numeric_limits<int>::max())
      throw SpecFailure(Stage::load, fmt::format("the vendor library has no sizes of {}", size));
  return g;
}

/// The kernels for a core are a variable `gotoblas_HASWELL`.
OpenBlas describe(const SharedObject& library) {
  const auto text = [&](const char* function) -> std::optional<std::string> {
    return library.has(function) ? std::optional(library.symbol<const char*()>(function)()) : std::nullopt;
  };
  OpenBlas blas;
  blas.core = text("openblas_get_corename").value_or("");
  if (const auto config = text("openblas_get_config")) blas.chooses = config->find("DYNAMIC_ARCH") != config->npos;
  for (const std::string core : OpenBlas::kBetterCores) {
    std::string upper = core;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    if (library.has("gotoblas_" + upper)) blas.better.insert(core);
  }
  return blas;
}

Transpose transpose(Layout layout, Layout order) { return layout == order ? kNoTrans : kTrans; }

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

VendorGemm::VendorGemm(const Gemm& gemm, const void* a, const void* b, void* c)
    : gemm_(require_blas(gemm)),
      products_(products_of(gemm_)),
      a_(a),
      b_(b),
      c_(c),
      library_({"libopenblas.so.0", "libopenblas.so"}) {
  if (const auto advice = openblas_advice(describe(library_), cpu_features())) remarks_.push_back(*advice);
}

template <typename T, typename Function>
void VendorGemm::multiply(Function* function) const {
  const Gemm& g = gemm_;
  for (const Product& p : products_)
    function(g.layout_c == Layout::row ? kRowMajor : kColMajor, transpose(g.layout_a, g.layout_c),
             transpose(g.layout_b, g.layout_c), static_cast<int>(p.rows), static_cast<int>(g.n), static_cast<int>(g.k),
             static_cast<T>(g.alpha), static_cast<const T*>(a_) + p.batch * g.stride_a + p.row * g.lda,
             static_cast<int>(g.lda), static_cast<const T*>(b_) + p.b * g.stride_b, static_cast<int>(g.ldb),
             static_cast<T>(g.beta), static_cast<T*>(c_) + p.batch * g.stride_c + p.row * g.ldc,
             static_cast<int>(g.ldc));
}

void VendorGemm::launch() const {
  if (gemm_.acc == Type::f32)
    multiply<float>(library_.symbol<CblasGemm<float>>("cblas_sgemm"));
  else
    multiply<double>(library_.symbol<CblasGemm<double>>("cblas_dgemm"));
}

}  // namespace tune::worker
