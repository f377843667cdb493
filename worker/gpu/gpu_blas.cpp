#include "gpu/gpu_blas.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
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

/// Where the matrices of one call lie; the library's first one is B where C is of rows.
struct Operands {
  void *first, *second, *c;
  void* before;  ///< what is added to the product: C itself, or the residual
  void *scale_a = nullptr, *scale_b = nullptr;
};

/// The call for a problem, or those for groups of as many rows each. What is created here is left to the end of the
/// process, like all that a worker takes.
class BlasCalls {
 public:
  /// `gemm` is resolved and has no groups; those that are given have its rows, and without any it is one call.
  /// `workspace` outlives this.
  BlasCalls(const Gemm& gemm, std::vector<Product> groups, const AddressOf& address, int most,
            const blas::Library& library, const DeviceMemory& workspace)
      : gemm_(gemm), groups_(std::move(groups)), library_(library), workspace_(workspace.address()) {
    describe();
    bind(address);
    find(most);
  }

  int algorithms() const { return static_cast<int>(algorithms_.size()); }
  void choose(int algorithm) { chosen_ = static_cast<std::size_t>(algorithm); }

  void bind(const AddressOf& address) {
    const auto pointer = [&](const char* name) { return reinterpret_cast<void*>(address(name)); };
    calls_.clear();
    for (const Product& group : groups_) calls_.push_back(operands(address, group));
    if (groups_.empty()) calls_.push_back(operands(address, {}));
    if (gemm_.bias != Bias::none) set(blas::kBiasPointer, pointer("bias"));
    set_scales(calls_.front());
  }

  void launch() {
    for (const Operands& of : calls_) {
      if (calls_.size() > 1) set_scales(of);
      check(library_.multiply(library_.handle, product_, &alpha_, of.first, first_, of.second, second_, &beta_,
                              of.before, c_, of.c, c_, &algorithms_[chosen_], reinterpret_cast<void*>(workspace_),
                              kWorkspaceBytes, nullptr));
    }
  }

  std::string library() const {
    return fmt::format("{} {} ({})", blas::kName, library_.version_text(), library_.place);
  }

 private:
  Operands operands(const AddressOf& address, const Product& of) const {
    const Gemm& g = gemm_;
    const auto pointer = [&](const char* name, std::int64_t elements, Type type) {
      return reinterpret_cast<void*>(address(name) + static_cast<gpu::Address>(elements * size_of(type)));
    };
    void *const a = pointer("A", of.row * g.lda, g.a), *const b = pointer("B", of.b * g.stride_b, g.b),
                *const c = pointer("C", of.row * g.ldc, g.c);
    Operands all = {transposed() ? b : a, transposed() ? a : b, c, g.residual ? pointer("residual", 0, g.c) : c};
    const std::int64_t of_row =
        g.scale_a == Scale::line || g.scale_a == Scale::of_128 ? g.scales_of_a().depth_count : 0;
    if (g.scale_a != Scale::none) all.scale_a = pointer("scale_a", of.row * of_row, Type::f32);
    if (g.scale_b != Scale::none) all.scale_b = pointer("scale_b", of.b * g.scales_of_b().matrix_stride(), Type::f32);
    return all;
  }

  void set_scales(const Operands& of) const {
    if (of.scale_a) set(transposed() ? blas::kSecondScalePointer : blas::kFirstScalePointer, of.scale_a);
    if (of.scale_b) set(transposed() ? blas::kFirstScalePointer : blas::kSecondScalePointer, of.scale_b);
  }

  /// Groups begin anywhere, and the library takes for granted what it is not told. Of all groups the same power of two.
  std::uint32_t alignment(std::int64_t stride, Type type, std::int64_t Product::*number) const {
    constexpr std::uint64_t kAssumed = 256;
    std::uint64_t all = kAssumed;
    for (const Product& group : groups_) all |= static_cast<std::uint64_t>(group.*number * stride * size_of(type));
    return std::uint32_t{1} << std::countr_zero(all);
  }

  void require_alignments(blas::Preference preference) const {
    const Gemm& g = gemm_;
    const std::uint32_t a = alignment(g.lda, g.a, &Product::row), b = alignment(g.stride_b, g.b, &Product::b),
                        c = alignment(g.ldc, g.c, &Product::row);
    const std::uint32_t all[] = {transposed() ? b : a, transposed() ? a : b, c, c};
    for (std::size_t i = 0; i < blas::kAlignments.size() && !groups_.empty(); ++i)
      check(library_.set_preference(preference, blas::kAlignments[i], &all[i], sizeof(all[i])));
  }

  void check(blas::Status status) const { library_.check(status); }

  void describe() {
    const Gemm& g = gemm_;
    const auto compute = blas::compute_type(g);
    // hipBLASLt says here already that it has no sums in f16.
    if (!compute || library_.make_product(&product_, *compute, blas::data_type(g.acc)) != blas::kSuccess)
      refuse_problem(g);
    const auto operation = [&](Layout layout) { return layout == g.layout_c ? blas::kAsIs : blas::kTransposed; };
    const blas::Matrix a = columns(g.a, g.layout_a, view_a(g)), b = columns(g.b, g.layout_b, view_b(g));
    c_ = columns(g.c, g.layout_c, view_c(g));
    first_ = transposed() ? b : a;
    second_ = transposed() ? a : b;
    set(blas::kFirstOperation, operation(transposed() ? g.layout_b : g.layout_a));
    set(blas::kSecondOperation, operation(transposed() ? g.layout_a : g.layout_b));
    alpha_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.alpha);
    beta_ = gpu::encode(static_cast<gpu::Element>(g.acc), g.residual ? 1 : g.beta);
    if (g.fast_accum && blas::kHasFastAccumulation) set(blas::kFastAccumulation, std::int8_t{1});
    describe_epilogue();
    describe_scales();
  }

  /// The library's gelu is that of tanh. It adds what was in C before it applies the function, and has no other place
  /// for a residual.
  void describe_epilogue() const {
    const Gemm& g = gemm_;
    const bool is_plain = g.epilogue == Epilogue::none, has_bias = g.bias != Bias::none;
    if (!is_plain && g.epilogue != Epilogue::relu && g.epilogue != Epilogue::gelu_tanh)
      refuse(fmt::format("{} has no epilogue {}", blas::kName, to_text(g.epilogue)));
    if (g.residual && (!is_plain || g.beta != 0))
      refuse(fmt::format("{} adds no residual after {}", blas::kName, is_plain ? "beta C" : "an epilogue"));
    if (has_bias) require_bias_along_columns();
    const std::uint32_t function = is_plain ? 0 : g.epilogue == Epilogue::relu ? blas::kRelu : blas::kGelu;
    if (!is_plain || has_bias) set(blas::kEpilogue, function | (has_bias ? blas::kAddBias : 0));
    if (has_bias) set(blas::kBiasType, static_cast<std::int32_t>(blas::data_type(g.c)));
  }

  /// The library's bias runs along its columns, which are C's rows where C is of rows.
  void require_bias_along_columns() const {
    if ((gemm_.bias == Bias::row) != (gemm_.layout_c == Layout::row))
      refuse(fmt::format("{} has no bias of one {} for a C of {}s", blas::kName,
                         gemm_.bias == Bias::row ? "row" : "column", gemm_.layout_c == Layout::row ? "row" : "column"));
  }

  /// Their order in memory is the library's, which takes each for one scale of a whole matrix unless it is told
  /// otherwise.
  void describe_scales() const {
    const Scale first = transposed() ? gemm_.scale_b : gemm_.scale_a,
                second = transposed() ? gemm_.scale_a : gemm_.scale_b;
    if (blas::kScalesSince.empty() && (first != Scale::none || second != Scale::none))
      refuse(fmt::format("tune knows no call of {} with scales", blas::kName));
    const auto set_mode = [&](blas::ProductAttribute attribute, Scale scale) {
      const auto mode = scale_mode(scale);
      if (mode && library_.set_product(product_, attribute, &*mode, sizeof(*mode)) != blas::kSuccess)
        refuse(fmt::format("{} takes no scales of rows, columns or blocks; the first version that does is {}",
                           library(), blas::kScalesSince));
    };
    set_mode(blas::kFirstScaleMode, first);
    set_mode(blas::kSecondScaleMode, second);
  }

  void find(int most) {
    blas::Preference preference = nullptr;
    check(library_.make_preference(&preference));
    const std::size_t bytes = kWorkspaceBytes;
    check(library_.set_preference(preference, blas::kMaxWorkspace, &bytes, sizeof(bytes)));
    require_alignments(preference);
    std::vector<blas::Found> found(static_cast<std::size_t>(most));
    int count = 0;
    const auto status = library_.find_algorithms(library_.handle, product_, first_, second_, c_, c_, preference, most,
                                                 found.data(), &count);
    found.resize(status == blas::kSuccess ? static_cast<std::size_t>(count) : 0);
    for (const blas::Found& result : found)
      if (result.state == blas::kSuccess) algorithms_.push_back(result.algo);
    if (algorithms_.empty()) refuse_problem(gemm_);
  }

  template <typename T>

  void set(blas::ProductAttribute attribute, T value) const {
    check(library_.set_product(product_, attribute, &value, sizeof(value)));
  }
  template <typename T>

  void set(blas::Matrix layout, blas::MatrixAttribute attribute, T value) const {
    check(library_.set_matrix(layout, attribute, &value, sizeof(value)));
  }

  /// The library knows columns only: a matrix of rows is the transpose of one of columns.
  blas::Matrix columns(Type type, Layout layout, const MatrixView& view) const {
    const bool rows = layout == Layout::row;
    const std::int64_t height = rows ? view.cols : view.rows, width = rows ? view.rows : view.cols;
    blas::Matrix result = nullptr;
    check(library_.make_matrix(&result, blas::data_type(type), static_cast<std::uint64_t>(height),
                               static_cast<std::uint64_t>(width), rows ? view.row_stride : view.col_stride));
    set(result, blas::kBatchCount, static_cast<std::int32_t>(view.batch));
    set(result, blas::kBatchStride, view.batch_stride);
    return result;
  }

  /// For a C of rows the library is given the transposed product, C' = B' A'.
  bool transposed() const { return gemm_.layout_c == Layout::row; }

  Gemm gemm_;
  std::vector<Product> groups_;
  blas::Library library_;
  gpu::Address workspace_;
  blas::Product product_ = nullptr;
  blas::Matrix first_ = nullptr, second_ = nullptr, c_ = nullptr;
  std::vector<Operands> calls_;
  gpu::Bits alpha_ = 0, beta_ = 0;  ///< of the accumulator's type, in the low bytes
  std::vector<blas::Algorithm> algorithms_;
  std::size_t chosen_ = 0;
};

/// The scales of A's 1x128, in the order in which a call for each group reads them: those of its rows for one block of
/// k after the other.
class ScalesOfGroups {
 public:
  ScalesOfGroups(const Gpu& gpu, const Gemm& gemm) : grid_(gemm.scales_of_a()), groups_(products_of(gemm)) {
    if (gemm.groups() == 0 || gemm.scale_a != Scale::of_128) return;
    const std::size_t bytes = static_cast<std::size_t>(grid_.extent()) * sizeof(float);
    given_ = DeviceMemory(gpu, bytes, "the scales of groups");
    ordered_ = DeviceMemory(gpu, bytes, "the scales of groups");
  }

  /// Orders those at this address, of which none may be written as long as calls read them.
  void order(const AddressOf& address) {
    if (given_.bytes() == 0) return;
    given_.copy_from_device(address("scale_a"));
    std::vector<float> given(static_cast<std::size_t>(grid_.extent())), ordered(given.size());
    given_.copy_to(std::as_writable_bytes(std::span(given)));
    for (const Product& group : groups_)
      for (std::int64_t p = 0; p < grid_.depth_count; ++p)
        std::copy_n(given.begin() + p * grid_.depth_stride + group.row, group.rows,
                    ordered.begin() + group.row * grid_.depth_count + p * group.rows);
    ordered_.copy_from(std::as_bytes(std::span(ordered)));
  }

  /// The addresses of a call's buffers: those of these scales, where they had to be ordered.
  AddressOf instead_of(const AddressOf& address) const {
    return [this, address](const std::string& name) {
      return name == "scale_a" && ordered_.bytes() > 0 ? ordered_.address() : address(name);
    };
  }

 private:
  ScaleGrid grid_;
  std::vector<Product> groups_;
  DeviceMemory given_, ordered_;
};

/// What is timed: one call, or for groups of rows one for each, or one for all of them. Scales are ordered before the
/// clock runs.
class VendorBlas final : public GpuBlas {
 public:
  VendorBlas(const Gpu& gpu, const Gemm& given, const AddressOf& address, int most, const blas::Library& library)
      : workspace_(gpu, kWorkspaceBytes, blas::kName), scales_(gpu, resolved(given)) {
    const Gemm gemm = resolved(given);
    std::map<std::int64_t, std::vector<Product>> groups;  // by their rows
    if (gemm.groups() == 0) groups[gemm.m];
    if (gemm.groups() > 0)
      for (const Product& group : products_of(gemm)) groups[group.rows].push_back(group);
    for (auto& [rows, of_rows] : groups) {
      Gemm one = gemm;
      one.m = rows;
      one.group_offsets.clear();
      one.max_rows = 0;
      groups_ += of_rows.size();
      calls_.push_back(
          std::make_unique<BlasCalls>(one, std::move(of_rows), scales_.instead_of(address), most, library, workspace_));
    }
    if (gemm.groups() > 0 && most > 1) one_call_ = open_grouped_blas(gpu, gemm);
    if (one_call_) one_call_->bind(address);
  }

  int algorithms() const override { return algorithms_of_calls() + (one_call_ ? 1 : 0); }

  void choose(int algorithm) override {
    in_one_call_ = algorithm == algorithms_of_calls();
    for (const auto& each : calls_) each->choose(std::min(algorithm, each->algorithms() - 1));
  }

  void bind(const AddressOf& address) override {
    scales_.order(address);
    for (const auto& each : calls_) each->bind(scales_.instead_of(address));
    if (one_call_) one_call_->bind(address);
  }

  void launch() override {
    if (in_one_call_) return one_call_->launch();
    for (const auto& each : calls_) each->launch();
  }

  std::string library() const override {
    if (in_one_call_) return one_call_->library();
    const std::string library = calls_.front()->library();
    return groups_ == 0 ? library : fmt::format("{}, a call for each of {} groups", library, groups_);
  }

 private:
  int algorithms_of_calls() const {
    const auto count = [](const auto& each) { return each->algorithms(); };
    return count(*std::ranges::max_element(calls_, {}, count));
  }

  DeviceMemory workspace_;
  ScalesOfGroups scales_;
  std::vector<std::unique_ptr<BlasCalls>> calls_;  ///< one for all groups of as many rows
  std::size_t groups_ = 0;                         ///< that have rows; 0: the problem has none
  std::unique_ptr<GroupedBlas> one_call_;          ///< null: the library has none for this
  bool in_one_call_ = false;
};

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
