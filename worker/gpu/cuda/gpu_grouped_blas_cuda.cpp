// cublasGemmGroupedBatchedEx of cuBLAS, which is a library of its own beside cuBLASLt.
#include <cublas_v2.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "checking/gpu_elements.h"
#include "checking/layout.h"
#include "gpu/gpu_blas.h"
#include "gpu/gpu_blas_library.h"
#include "gpu/gpu_library.h"

namespace tune::worker {
namespace {

constexpr const char* kCublas[] = {"libcublas.so.13", "libcublas.so.12"};

/// Opened at run time, and open until the process ends.
struct Cublas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasGetVersion_v2) version = nullptr;
  decltype(&cublasGemmGroupedBatchedEx) multiply = nullptr;
  decltype(&cublasGetStatusString) text = nullptr;
  cublasHandle_t handle = nullptr;
  std::string place;

  /// Throws std::runtime_error.
  static Cublas open() {
    const GpuLibrary file(places_of(kCublas));
    Cublas library;
    library.place = file.place();
    file.find(library.create, "cublasCreate_v2");
    file.find(library.version, "cublasGetVersion_v2");
    file.find(library.multiply, "cublasGemmGroupedBatchedEx");
    file.find(library.text, "cublasGetStatusString");
    if (library.create(&library.handle) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("it does not start");
    return library;
  }
};

/// Its groups are products of the same size, so groups of as many rows are one of them. Columns are all it knows: for
/// our rows it gets the transposed product, C' = B' A'.
class GroupedCublas final : public GroupedBlas {
 public:
  GroupedCublas(const Gpu& gpu, const Gemm& gemm, Cublas library)
      : gemm_(gemm), library_(std::move(library)), compute_(*blas::compute_type(gemm)) {
    std::map<int, std::vector<Product>> of_rows;
    for (const Product& product : products_of(gemm)) of_rows[static_cast<int>(product.rows)].push_back(product);
    for (const auto& [rows, products] : of_rows) {
      rows_.push_back(rows);
      sizes_.push_back(static_cast<int>(products.size()));
      products_.insert(products_.end(), products.begin(), products.end());
    }
    pointers_ = DeviceMemory(gpu, 3 * products_.size() * sizeof(gpu::Address), "the addresses of groups");
  }

  void bind(const AddressOf& address) override {
    std::vector<gpu::Address> all;
    const auto add = [&](const char* name, std::int64_t stride, Type type, std::int64_t Product::*number) {
      for (const Product& product : products_)
        all.push_back(address(name) + static_cast<gpu::Address>(product.*number * stride * size_of(type)));
    };
    add("B", gemm_.stride_b, gemm_.b, &Product::b);
    add("A", gemm_.lda, gemm_.a, &Product::row);
    add("C", gemm_.ldc, gemm_.c, &Product::row);
    pointers_.copy_from(std::as_bytes(std::span(all)));
  }

  void launch() override {
    const std::size_t groups = rows_.size();
    const auto of_all = [&](auto value) { return std::vector(groups, value); };
    const auto b_as_is = gemm_.layout_b == Layout::row ? CUBLAS_OP_N : CUBLAS_OP_T;
    const auto transpose_b = of_all(b_as_is), transpose_a = of_all(CUBLAS_OP_N);
    const auto n = of_all(static_cast<int>(gemm_.n)), k = of_all(static_cast<int>(gemm_.k)),
               lda = of_all(static_cast<int>(gemm_.lda)), ldb = of_all(static_cast<int>(gemm_.ldb)),
               ldc = of_all(static_cast<int>(gemm_.ldc));
    const auto* const addresses = pointers_.as<void*>();
    const std::size_t count = products_.size();
    const auto status = library_.multiply(
        library_.handle, transpose_b.data(), transpose_a.data(), n.data(), rows_.data(), k.data(),
        factors(gemm_.alpha).data(), addresses, blas::data_type(gemm_.b), ldb.data(), addresses + count,
        blas::data_type(gemm_.a), lda.data(), factors(gemm_.beta).data(), addresses + 2 * count,
        blas::data_type(gemm_.c), ldc.data(), static_cast<int>(groups), sizes_.data(), compute_);
    if (status != CUBLAS_STATUS_SUCCESS) throw blas::NotSupported(fmt::format("cuBLAS: {}", library_.text(status)));
  }

  std::string library() const override {
    int number = 0;
    library_.version(library_.handle, &number);
    return fmt::format("cublasGemmGroupedBatchedEx of cuBLAS {}.{}.{} ({})", number / 10'000, number / 100 % 100,
                       number % 100, library_.place);
  }

 private:
  /// One for each group, of the accumulator's type.
  std::vector<std::byte> factors(double factor) const {
    const gpu::Bits bits = gpu::encode(static_cast<gpu::Element>(gemm_.acc), factor);
    const auto one = std::as_bytes(std::span(&bits, 1)).first(static_cast<std::size_t>(size_of(gemm_.acc)));
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < rows_.size(); ++i) all.insert(all.end(), one.begin(), one.end());
    return all;
  }

  Gemm gemm_;
  Cublas library_;
  cublasComputeType_t compute_;
  std::vector<int> rows_, sizes_;  ///< of its groups: their rows, and how many products
  std::vector<Product> products_;
  DeviceMemory pointers_;
};

}  // namespace

std::unique_ptr<GroupedBlas> open_grouped_blas(const Gpu& gpu, const Gemm& gemm) try {
  const bool is_short = gemm.a == Type::f16 || gemm.a == Type::bf16,
             is_long = gemm.a == Type::f32 || gemm.a == Type::f64;
  if (gemm.a != gemm.b || (!is_short && !is_long && gemm.a != Type::tf32) || !blas::compute_type(gemm)) return nullptr;
  return std::make_unique<GroupedCublas>(gpu, gemm, Cublas::open());
} catch (const GpuError&) {
  throw;
} catch (const std::runtime_error&) {
  return nullptr;  // there is no cuBLAS, or one without this call
}

}  // namespace tune::worker
