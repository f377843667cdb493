#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/plan.h"

/// What `tune package` writes: code in C++ that launches what was tuned, made from tuning files and results.
namespace tune::package {

/// One configuration with the code that was built of it for certain sizes.
struct Variant {
  Plan plan;  ///< read for those sizes
  Spec spec;
  std::string artifact;            ///< hash of the code
  std::filesystem::path built;     ///< the artifact in the build store
  std::vector<std::string> flags;  ///< of a CPU kernel: what it is compiled with, definitions last
  std::string source;              ///< of a CPU kernel: its file in the package
};

/// What the variants of a package number.
struct Numbers {
  std::vector<std::string> sizes;     ///< as size_names
  std::vector<std::string> operands;  ///< as operands_of()
  std::vector<std::string> kernels;   ///< of a GPU
  std::vector<std::string> facts;     ///< properties of the device that are used, without `device.`
};

/// The sizes of the plan's problem. Of a product: m, n, k, batch (or groups, if it has some, and max_rows), and last
/// kDistances distances between rows, columns or matrices, which the caller of a package may leave out.
std::vector<std::string> size_names(const Plan& plan);
inline constexpr std::size_t kDistances = 6;
/// A, B and C, and what the product has of bias, residual, scale_a, scale_b, and group_offsets or group_rows; or the
/// buffers of a custom problem.
std::vector<Buffer> operands_of(const Plan& plan);

/// The function of table.cpp that plans the launches of a variant: tests the constraints for other sizes and devices,
/// refuses sizes for which something else would have to be compiled in or that the kernel is not told, and evaluates
/// what is launched. Adds to `numbers` what it uses. Throws NotPackaged.
std::string plan_function(const Variant& variant, const std::string& name, Numbers& numbers);

/// The values of all sizes for which the plan was read.
std::vector<std::int64_t> sizes_of(const Plan& plan);

}  // namespace tune::package
