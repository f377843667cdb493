#include "cpu/vendor_blas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "backend.h"
#include "checking/layout.h"
#include "cpu/cpu_probe.h"
#include "cpu/openblas.h"

namespace tune::worker {
namespace {

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
