#include "gpu/gpu_blas.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend.h"
#include "checking/gpu_elements.h"
#include "checking/layout.h"
#include "gpu/gpu_blas_library.h"

namespace tune::worker {
namespace {

// What cuBLASLt recommends for Hopper, and hipBLASLt's samples give it.
constexpr std::size_t kWorkspaceBytes = 32 << 20;

[[noreturn]] void refuse(const std::string& text) { throw SpecFailure(Stage::load, text); }

blas::DataType data_type(Type type) {
  switch (type) {
    case Type::f64:
      return blas::kF64;
    case Type::f32:
    case Type::tf32:
      return blas::kF32;
    case Type::f16:
      return blas::kF16;
    case Type::bf16:
      return blas::kBf16;
    case Type::e4m3:
      return blas::kE4m3;
    case Type::e5m2:
      return blas::kE5m2;
    case Type::s32:
      return blas::kS32;
    case Type::s8:
      return blas::kS8;
  }
  return blas::kF32;
}

/// nullopt: none. f32 must stay f32, so tf32 is computed with only where both matrices are of it.
std::optional<blas::ComputeType> compute_type(const Gemm& g) {
  switch (g.acc) {
    case Type::f64:
      return blas::kComputeF64;
    case Type::f32:
      if ((g.a == Type::tf32) != (g.b == Type::tf32)) return std::nullopt;
      return g.a == Type::tf32 ? blas::kComputeTf32 : blas::kComputeF32;
    case Type::f16:
      return blas::kComputeF16;
    case Type::s32:
      return blas::kComputeS32;
    default:
      return std::nullopt;
  }
}

/// nullopt: the one that the library assumes.
std::optional<std::int32_t> scale_mode(Scale scale) {
  switch (scale) {
    case Scale::none:
    case Scale::tensor:
      return std::nullopt;
    case Scale::line:
      return blas::kScaleLine;
    case Scale::of_128:
      return blas::kScaleOf128;
    case Scale::of_128x128:
      return blas::kScaleOf128x128;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_problem(const Gemm& g) {
  const auto name = [](Layout layout) { return layout == Layout::row ? "row" : "col"; };
  const bool has_scales = g.scale_a != Scale::none || g.scale_b != Scale::none;
  refuse(fmt::format(
      "{} has no {} x {} -> {} GEMM with {} accumulation{} of this size and layout ({} {} {})", blas::kName,
      to_text(g.a), to_text(g.b), to_text(g.c), to_text(g.acc),
      has_scales ? fmt::format(" and scales {} {}", scale_text(g, "scale_a"), scale_text(g, "scale_b")) : "",
      name(g.layout_a), name(g.layout_b), name(g.layout_c)));
}

/// A matrix as the library sees it.
struct Operand {
  blas::Matrix layout = nullptr;
  void* data = nullptr;
};

/// What is created here is left to the end of the process, like all that a worker takes.
class VendorBlas final : public GpuBlas {
 public:
  VendorBlas(const Gpu& gpu, const Gemm& gemm, const AddressOf& address, int most, const blas::Library& library)
      : gemm_(resolved(gemm)), library_(library), workspace_(gpu, kWorkspaceBytes, blas::kName) {
    describe();
    bind(address);
    find(most);
  }

  int algorithms() const override { return static_cast<int>(algorithms_.size()); }
  void choose(int algorithm) override { chosen_ = static_cast<std::size_t>(algorithm); }
  void bind(const AddressOf& address) override;
  void launch() override;
  std::string library() const override {
    return fmt::format("{} {} ({})", blas::kName, library_.version_text(), library_.place);
  }

 private:
  void check(blas::Status status) const { library_.check(status); }
  void describe();
  void describe_epilogue() const;
  void require_bias_along_columns() const;
  void describe_scales() const;
  void find(int most);
  template <typename T>
  void set(blas::ProductAttribute attribute, T value) const {
    check(library_.set_product(product_, attribute, &value, sizeof(value)));
  }
  template <typename T>
  void set(blas::Matrix layout, blas::MatrixAttribute attribute, T value) const {
    check(library_.set_matrix(layout, attribute, &value, sizeof(value)));
  }
  blas::Matrix columns(Type type, Layout layout, const MatrixView& view) const;

  /// For a C of rows the library is given the transposed product, C' = B' A'.
  bool transposed() const { return gemm_.layout_c == Layout::row; }

  Gemm gemm_;
  blas::Library library_;
  DeviceMemory workspace_;
  blas::Product product_ = nullptr;
  Operand first_, second_, c_;
  void* before_ = nullptr;          ///< what is added to the product: C itself, or the residual
  gpu::Bits alpha_ = 0, beta_ = 0;  ///< of the accumulator's type, in the low bytes
  std::vector<blas::Algorithm> algorithms_;
  std::size_t chosen_ = 0;
};

/// The library knows columns only: a matrix of rows is the transpose of one of columns.
blas::Matrix VendorBlas::columns(Type type, Layout layout, const MatrixView& view) const {
  const bool rows = layout == Layout::row;
  const std::int64_t height = rows ? view.cols : view.rows, width = rows ? view.rows : view.cols;
  blas::Matrix result = nullptr;
  check(library_.make_matrix(&result, data_type(type), static_cast<std::uint64_t>(height),
                             static_cast<std::uint64_t>(width), rows ? view.row_stride : view.col_stride));
  set(result, blas::kBatchCount, static_cast<std::int32_t>(view.batch));
  set(result, blas::kBatchStride, view.batch_stride);
  return result;
}

void VendorBlas::describe() {
  const Gemm& g = gemm_;
  const auto compute = compute_type(g);
  // hipBLASLt says here already that it has no sums in f16.
  if (!compute || library_.make_product(&product_, *compute, data_type(g.acc)) != blas::kSuccess) refuse_problem(g);
  const auto operation = [&](Layout layout) { return layout == g.layout_c ? blas::kAsIs : blas::kTransposed; };
  const blas::Matrix a = columns(g.a, g.layout_a, view_a(g)), b = columns(g.b, g.layout_b, view_b(g));
  c_.layout = columns(g.c, g.layout_c, view_c(g));
  first_.layout = transposed() ? b : a;
  second_.layout = transposed() ? a : b;
  set(blas::kFirstOperation, operation(transposed() ? g.layout_b : g.layout_a));
  set(blas::kSecondOperation, operation(transposed() ? g.layout_a : g.layout_b));
  alpha_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.alpha);
  beta_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.residual ? 1 : g.beta);
  if (g.fast_accum && blas::kHasFastAccumulation) set(blas::kFastAccumulation, std::int8_t{1});
  describe_epilogue();
  describe_scales();
}

void VendorBlas::bind(const AddressOf& address) {
  const auto pointer = [&](const char* name) { return reinterpret_cast<void*>(address(name)); };
  first_.data = pointer(transposed() ? "B" : "A");
  second_.data = pointer(transposed() ? "A" : "B");
  c_.data = pointer("C");
  before_ = pointer(gemm_.residual ? "residual" : "C");
  if (gemm_.bias != Bias::none) set(blas::kBiasPointer, pointer("bias"));
  if (gemm_.scale_a != Scale::none)
    set(transposed() ? blas::kSecondScalePointer : blas::kFirstScalePointer, pointer("scale_a"));
  if (gemm_.scale_b != Scale::none)
    set(transposed() ? blas::kFirstScalePointer : blas::kSecondScalePointer, pointer("scale_b"));
}

/// The library's gelu is that of tanh. It adds what was in C before it applies the function, and has no other place for
/// a residual.
void VendorBlas::describe_epilogue() const {
  const Gemm& g = gemm_;
  const bool is_plain = g.epilogue == Epilogue::none, has_bias = g.bias != Bias::none;
  if (!is_plain && g.epilogue != Epilogue::relu && g.epilogue != Epilogue::gelu_tanh)
    refuse(fmt::format("{} has no epilogue {}", blas::kName, to_text(g.epilogue)));
  if (g.residual && (!is_plain || g.beta != 0))
    refuse(fmt::format("{} adds no residual after {}", blas::kName, is_plain ? "beta C" : "an epilogue"));
  if (has_bias) require_bias_along_columns();
  const std::uint32_t function = is_plain ? 0 : g.epilogue == Epilogue::relu ? blas::kRelu : blas::kGelu;
  if (!is_plain || has_bias) set(blas::kEpilogue, function | (has_bias ? blas::kAddBias : 0));
  if (has_bias) set(blas::kBiasType, static_cast<std::int32_t>(data_type(g.c)));
}

/// The library's bias runs along its columns, which are C's rows where C is of rows.
void VendorBlas::require_bias_along_columns() const {
  if ((gemm_.bias == Bias::row) != (gemm_.layout_c == Layout::row))
    refuse(fmt::format("{} has no bias of one {} for a C of {}s", blas::kName,
                       gemm_.bias == Bias::row ? "row" : "column", gemm_.layout_c == Layout::row ? "row" : "column"));
}

/// Their order in memory is the library's, which takes each for one scale of a whole matrix unless it is told
/// otherwise.
void VendorBlas::describe_scales() const {
  const Scale first = transposed() ? gemm_.scale_b : gemm_.scale_a,
              second = transposed() ? gemm_.scale_a : gemm_.scale_b;
  if (blas::kScalesSince.empty() && (first != Scale::none || second != Scale::none))
    refuse(fmt::format("tune knows no call of {} with scales", blas::kName));
  const auto set_mode = [&](blas::ProductAttribute attribute, Scale scale) {
    const auto mode = scale_mode(scale);
    if (mode && library_.set_product(product_, attribute, &*mode, sizeof(*mode)) != blas::kSuccess)
      refuse(fmt::format("{} takes no scales of rows, columns or blocks; the first version that does is {}", library(),
                         blas::kScalesSince));
  };
  set_mode(blas::kFirstScaleMode, first);
  set_mode(blas::kSecondScaleMode, second);
}

void VendorBlas::find(int most) {
  blas::Preference preference = nullptr;
  check(library_.make_preference(&preference));
  const std::size_t bytes = kWorkspaceBytes;
  check(library_.set_preference(preference, blas::kMaxWorkspace, &bytes, sizeof(bytes)));
  std::vector<blas::Found> found(static_cast<std::size_t>(most));
  int count = 0;
  const auto status = library_.find_algorithms(library_.handle, product_, first_.layout, second_.layout, c_.layout,
                                               c_.layout, preference, most, found.data(), &count);
  found.resize(status == blas::kSuccess ? static_cast<std::size_t>(count) : 0);
  for (const blas::Found& result : found)
    if (result.state == blas::kSuccess) algorithms_.push_back(result.algo);
  if (algorithms_.empty()) refuse_problem(gemm_);
}

void VendorBlas::launch() {
  check(library_.multiply(library_.handle, product_, &alpha_, first_.data, first_.layout, second_.data, second_.layout,
                          &beta_, before_, c_.layout, c_.data, c_.layout, &algorithms_[chosen_],
                          reinterpret_cast<void*>(workspace_.address()), kWorkspaceBytes, nullptr));
}

}  // namespace

// Of several libraries one may be too old for the device, or too new for the driver. The first one's reason is the one
// to tell.
std::unique_ptr<GpuBlas> open_gpu_blas(const Gpu& gpu, const Gemm& gemm, const AddressOf& address, int most) {
  std::vector<std::string> places = blas::Library::places();
  for (std::exception_ptr reason;;) {
    try {
      return std::make_unique<VendorBlas>(gpu, gemm, address, most, blas::Library::open(places));
    } catch (const std::runtime_error&) {
      if (!reason) reason = std::current_exception();
      if (places.empty()) std::rethrow_exception(reason);
    }
  }
}

}  // namespace tune::worker
