#include <cublasLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "backend.h"
#include "gpu_blas.h"
#include "gpu_elements.h"
#include "layout.h"

#define TUNE_CUBLASLT(X)                                  \
  X(create, cublasLtCreate)                               \
  X(status_text, cublasLtGetStatusString)                 \
  X(make_product, cublasLtMatmulDescCreate)               \
  X(set_product, cublasLtMatmulDescSetAttribute)          \
  X(make_layout, cublasLtMatrixLayoutCreate)              \
  X(set_layout, cublasLtMatrixLayoutSetAttribute)         \
  X(make_preference, cublasLtMatmulPreferenceCreate)      \
  X(set_preference, cublasLtMatmulPreferenceSetAttribute) \
  X(find_algorithms, cublasLtMatmulAlgoGetHeuristic)      \
  X(multiply, cublasLtMatmul)

namespace tune {
namespace {

constexpr std::size_t kWorkspace = 32 << 20;  // what the library's documentation recommends for Hopper

[[noreturn]] void refuse(const std::string& text) { throw Refusal(Stage::load, text); }

struct Library {
#define TUNE_MEMBER(member, function) decltype(&function) member = nullptr;
  TUNE_CUBLASLT(TUNE_MEMBER)
#undef TUNE_MEMBER

  static Library open();
};

std::vector<std::string> library_names() {
  std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  for (const auto& toolkit : toolkits()) names.push_back((toolkit / "lib64" / "libcublasLt.so").string());
  return names;
}

Library Library::open() {
  void* handle = nullptr;
  std::string reason;
  for (const std::string& name : library_names()) {
    handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) break;
    if (reason.empty()) reason = ::dlerror();
  }
  if (!handle) refuse(fmt::format("no cuBLASLt: {}", reason));
  Library library;
#define TUNE_FIND(member, function)                                                   \
  library.member = reinterpret_cast<decltype(&function)>(::dlsym(handle, #function)); \
  if (!library.member) refuse("cuBLASLt is too old: it has no " #function);
  TUNE_CUBLASLT(TUNE_FIND)
#undef TUNE_FIND
  return library;
}

cudaDataType_t data_type(Type type) {
  switch (type) {
    case Type::f64:
      return CUDA_R_64F;
    case Type::f32:
    case Type::tf32:
      return CUDA_R_32F;
    case Type::f16:
      return CUDA_R_16F;
    case Type::bf16:
      return CUDA_R_16BF;
    case Type::e4m3:
      return CUDA_R_8F_E4M3;
    case Type::e5m2:
      return CUDA_R_8F_E5M2;
    case Type::s32:
      return CUDA_R_32I;
    case Type::s8:
      return CUDA_R_8I;
  }
  return CUDA_R_32F;
}

/// nullopt: none. f32 must stay f32, so tf32 is computed with only where both matrices are of it.
std::optional<cublasComputeType_t> compute_type(const Gemm& g) {
  switch (g.acc) {
    case Type::f64:
      return CUBLAS_COMPUTE_64F;
    case Type::f32:
      if ((g.a == Type::tf32) != (g.b == Type::tf32)) return std::nullopt;
      return g.a == Type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    case Type::f16:
      return CUBLAS_COMPUTE_16F;
    case Type::s32:
      return CUBLAS_COMPUTE_32I;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void refuse_problem(const Gemm& g) {
  const auto name = [](Layout layout) { return layout == Layout::row ? "row" : "col"; };
  refuse(fmt::format("cuBLASLt has no {} x {} -> {} GEMM with {} accumulation of this size and layout ({} {} {})",
                     to_text(g.a), to_text(g.b), to_text(g.c), to_text(g.acc), name(g.layout_a), name(g.layout_b),
                     name(g.layout_c)));
}

/// A matrix as the library sees it.
struct Operand {
  cublasLtMatrixLayout_t layout = nullptr;
  void* data = nullptr;
};

/// What is created here is left to the end of the process, like all that a worker takes.
class CublasLt final : public GpuBlas {
 public:
  CublasLt(const Gpu& gpu, const Gemm& gemm, const AddressOf& address, int most)
      : gemm_(resolved(gemm)), library_(Library::open()), workspace_(gpu, kWorkspace, "cuBLASLt") {
    check(library_.create(&handle_));
    describe(address);
    find(most);
  }

  int algorithms() const override { return static_cast<int>(algorithms_.size()); }
  void choose(int algorithm) override { chosen_ = static_cast<std::size_t>(algorithm); }
  void launch() override;

 private:
  void check(cublasStatus_t status) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw GpuError(fmt::format("cuBLASLt: {}", library_.status_text(status)));
  }
  void describe(const AddressOf& address);
  void add_bias(void* bias) const;
  void find(int most);
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) const {
    check(library_.set_product(product_, attribute, &value, sizeof(value)));
  }
  template <typename T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, T value) const {
    check(library_.set_layout(layout, attribute, &value, sizeof(value)));
  }
  cublasLtMatrixLayout_t columns(Type type, Layout layout, const MatrixView& view) const;

  Gemm gemm_;
  Library library_;
  DeviceMemory workspace_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  Operand first_, second_, c_;
  gpu::Bits alpha_ = 0, beta_ = 0;  ///< of the accumulator's type, in the low bytes
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::size_t chosen_ = 0;
};

/// The library knows columns only: a matrix of rows is the transpose of one of columns.
cublasLtMatrixLayout_t CublasLt::columns(Type type, Layout layout, const MatrixView& view) const {
  const bool rows = layout == Layout::row;
  const std::int64_t height = rows ? view.cols : view.rows, width = rows ? view.rows : view.cols;
  cublasLtMatrixLayout_t result = nullptr;
  check(library_.make_layout(&result, data_type(type), static_cast<std::uint64_t>(height),
                             static_cast<std::uint64_t>(width), rows ? view.row_stride : view.col_stride));
  set(result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(view.batch));
  set(result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, view.batch_stride);
  return result;
}

/// For a C of rows the library is given the transposed product, C' = B' A'.
void CublasLt::describe(const AddressOf& address) {
  const Gemm& g = gemm_;
  const auto compute = compute_type(g);
  if (!compute) refuse_problem(g);
  check(library_.make_product(&product_, *compute, data_type(g.acc)));
  const auto pointer = [&](const char* name) { return reinterpret_cast<void*>(address(name)); };
  const auto operation = [&](Layout layout) { return layout == g.layout_c ? CUBLAS_OP_N : CUBLAS_OP_T; };
  const Operand a = {columns(g.a, g.layout_a, view_a(g)), pointer("A")};
  const Operand b = {columns(g.b, g.layout_b, view_b(g)), pointer("B")};
  c_ = {columns(g.c, g.layout_c, view_c(g)), pointer("C")};
  const bool transposed = g.layout_c == Layout::row;
  first_ = transposed ? b : a;
  second_ = transposed ? a : b;
  set(CUBLASLT_MATMUL_DESC_TRANSA, operation(transposed ? g.layout_b : g.layout_a));
  set(CUBLASLT_MATMUL_DESC_TRANSB, operation(transposed ? g.layout_a : g.layout_b));
  alpha_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.alpha);
  beta_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.beta);
  if (g.bias != Bias::none) add_bias(pointer("bias"));
}

/// The library's bias runs along its columns, which are C's rows where C is of rows.
void CublasLt::add_bias(void* bias) const {
  if ((gemm_.bias == Bias::row) != (gemm_.layout_c == Layout::row))
    refuse(fmt::format("cuBLASLt has no bias of one {} for a C of {}s", gemm_.bias == Bias::row ? "row" : "column",
                       gemm_.layout_c == Layout::row ? "row" : "column"));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(data_type(gemm_.c)));
}

void CublasLt::find(int most) {
  cublasLtMatmulPreference_t preference = nullptr;
  check(library_.make_preference(&preference));
  const std::size_t bytes = kWorkspace;
  check(library_.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)));
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
  int count = 0;
  const auto status = library_.find_algorithms(handle_, product_, first_.layout, second_.layout, c_.layout, c_.layout,
                                               preference, most, found.data(), &count);
  found.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
  for (const cublasLtMatmulHeuristicResult_t& result : found)
    if (result.state == CUBLAS_STATUS_SUCCESS) algorithms_.push_back(result.algo);
  if (algorithms_.empty()) refuse_problem(gemm_);
}

void CublasLt::launch() {
  check(library_.multiply(handle_, product_, &alpha_, first_.data, first_.layout, second_.data, second_.layout, &beta_,
                          c_.data, c_.layout, c_.data, c_.layout, &algorithms_[chosen_],
                          reinterpret_cast<void*>(workspace_.address()), kWorkspace, nullptr));
}

}  // namespace

std::unique_ptr<GpuBlas> open_gpu_blas(const Gpu& gpu, const Gemm& gemm, const AddressOf& address, int most) {
  return std::make_unique<CublasLt>(gpu, gemm, address, most);
}

}  // namespace tune
