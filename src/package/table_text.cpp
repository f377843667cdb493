#include "package/table_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "package/cpp_text.h"
#include "package/expression_text.h"
#include "package/product.h"

namespace tune::package {
namespace {

/// The property of a device as CUDA's driver numbers it, or HIP's runtime, or as cpu.cpp does.
int fact_number(const std::string& name, Backend backend) {
  static const std::map<std::string, int> kCudaFacts = {{"cooperative_launch", 95},
                                                        {"l2_bytes", 38},
                                                        {"max_blocks_per_multiprocessor", 106},
                                                        {"max_registers_per_block", 12},
                                                        {"max_shared_per_block", 97},
                                                        {"max_shared_per_multiprocessor", 81},
                                                        {"max_threads_per_block", 1},
                                                        {"max_threads_per_multiprocessor", 39},
                                                        {"multiprocessors", 16},
                                                        {"warp_size", 10}};
  static const std::map<std::string, int> kHipFacts = {{"cooperative_launch", 10},
                                                       {"l2_bytes", 19},
                                                       {"max_registers_per_block", 71},
                                                       {"max_shared_per_block", 74},
                                                       {"max_shared_per_multiprocessor", 10002},
                                                       {"max_threads_per_block", 56},
                                                       {"max_threads_per_multiprocessor", 57},
                                                       {"multiprocessors", 63},
                                                       {"warp_size", 87}};
  static const std::map<std::string, int> kCpuFacts = {
      {"cores", 0}, {"l1d_bytes", 1}, {"l2_bytes", 2}, {"l3_bytes", 3}, {"simd_bits", 4}};
  const auto& facts = backend == Backend::cpu ? kCpuFacts : backend == Backend::hip ? kHipFacts : kCudaFacts;
  const auto found = facts.find(name);
  if (found == facts.end()) throw NotPackaged(fmt::format("device.{} is not known to packages", name));
  return found->second;
}

class TableWriter {
 public:
  TableWriter(const Package& package, Numbers& numbers)
      : package_(&package),
        plan_(&package.variants.front().plan),
        gemm_(std::get_if<Gemm>(&plan_->problem)),
        binaries_(binaries_of(package)),
        numbers_(&numbers) {}

  std::string write() {
    std::string functions, text;
    for (std::size_t i = 0; i < package_->variants.size(); ++i)
      functions += plan_function(package_->variants[i], fmt::format("plan_{}", i), *numbers_);
    text +=
        "// What was tuned, and how it is launched.\n#include \"planner.h\"\n\nnamespace tuned::@NAME@ {\ninline "
        "namespace content_@CONTENT@ {\nnamespace {\n\n";
    text += (gemm_ != nullptr ? distances_text() : "") + functions + "}  // namespace\n\n";
    text += "const Entry kEntries[] = {\n";
    for (const Entry& entry : package_->entries)
      text += fmt::format("    {{{{{}}}, {}, {}, {}, {:.6g}, {:.6g}, {:.6g}, {:.6g}}},\n", fmt::join(entry.sizes, ", "),
                          literal(entry.params), literal(package_->variants[entry.variant].artifact), entry.variant,
                          entry.milliseconds, entry.low, entry.high, entry.of_vendor);
    text += "};\nconst std::int64_t kEntrySizes[][kSizes] = {\n";
    for (const Entry& entry : package_->entries) text += fmt::format("    {{{}}},\n", fmt::join(entry.sizes, ", "));
    text += fmt::format("}};\nconst int kEntryCount = {};\nconst Variant kVariants[] = {{\n", package_->entries.size());
    for (std::size_t i = 0; i < package_->variants.size(); ++i)
      text += fmt::format("    {{plan_{}, {}, {}}},\n", i, binary_of(package_->variants[i]), first_entry(i));
    text += "};\nconst Node kTree[] = {\n";
    for (const Node& node : package_->tree) text += tree_node(node);
    if (package_->tree.empty()) text += "    {-1, 0, 0, 0, -1},\n";
    text += fmt::format("}};\nconst int kTreeCount = {};\nconst bool kServesOtherSizes = {};\n", package_->tree.size(),
                        package_->serves_other_sizes);
    text += list_text("const char* const kKernels[]", numbers_->kernels);
    text += list_text("const char* const kOperandNames[]", numbers_->operands);
    text += "const int kFactNumbers[] = {";
    for (const std::string& fact : numbers_->facts) text += fmt::format("{}, ", fact_number(fact, plan_->backend()));
    text += "-1};\n";
    std::vector<std::string> names = {package_->device};
    names.insert(names.end(), package_->aliases.begin(), package_->aliases.end());
    text += list_text("const char* const kDeviceNames[]", names);
    text += fmt::format("const char* const kArchitecture = {};\nconst int kDeviceNameCount = {};\n",
                        literal(package_->arch), names.size());
    text += fmt::format("const bool kZeroesC = {};\n\n", plan_->kernel()->zero_c);
    text += sizes_text();
    return text + "}  // namespace content_@CONTENT@\n}  // namespace tuned::@NAME@\n";
  }

 private:
  std::size_t binary_of(const Variant& variant) const {
    return static_cast<std::size_t>(std::ranges::find(binaries_, variant.artifact, &Variant::artifact) -
                                    binaries_.begin());
  }

  static std::string list_text(const std::string& what, const std::vector<std::string>& items) {
    std::vector<std::string> literals;
    for (const std::string& item : items) literals.push_back(literal(item));
    if (literals.empty()) literals.emplace_back("\"\"");
    return fmt::format("{} = {{{}}};\n", what, fmt::join(literals, ", "));
  }

  std::size_t first_entry(std::size_t variant) const {
    const auto found = std::ranges::find(package_->entries, variant, &Entry::variant);
    return found == package_->entries.end() ? 0 : static_cast<std::size_t>(found - package_->entries.begin());
  }

  std::string tree_node(const Node& node) const {
    if (node.size.empty()) return fmt::format("    {{-1, 0, 0, 0, {}}},\n", node.variant);
    const auto size = std::ranges::find(numbers_->sizes, node.size) - numbers_->sizes.begin();
    return fmt::format("    {{{}, {}, {}, {}, -1}},\n", size, node.most, node.below, node.above);
  }

  std::string size_text(const std::string& name) const {
    return fmt::format("sizes[{}]", std::ranges::find(numbers_->sizes, name) - numbers_->sizes.begin());
  }
  std::string size_text(const Extent& extent) const {
    return text_of(extent, [&](const std::string& name) { return size_text(name); });
  }
  std::size_t first_distance() const { return numbers_->sizes.size() - kDistances; }
  std::vector<MatrixShape> matrices() const {
    return {matrix_of(*gemm_, "A"), matrix_of(*gemm_, "B"), matrix_of(*gemm_, "C")};
  }

  /// The distances that are as close as possible.
  std::string distances_text() const {
    std::string text;
    for (const MatrixShape& each : matrices()) {
      const std::string inner = size_text(each.inner), outer = size_text(each.outer);
      text += fmt::format("[[maybe_unused]] Number tight_{}(const std::int64_t* sizes) {{ return {}; }}\n", each.ld(),
                          inner);
      text += fmt::format(
          "[[maybe_unused]] Number tight_{}(const std::int64_t* sizes) {{\n  return "
          "add(multiply(subtract({}, 1), {}), {});\n}}\n",
          each.stride(), outer, size_text(each.ld()), inner);
    }
    return text + "\n";
  }

  std::string sizes_text() const {
    std::string text = "void complete(const Sizes& sizes, std::int64_t* all) {\n";
    for (std::size_t i = 0; i < numbers_->sizes.size(); ++i) {
      text += fmt::format("  all[{}] = sizes.{};\n", i, member_of(numbers_->sizes[i]));
      if (gemm_ != nullptr && i >= first_distance())
        text += fmt::format(
            "  if (all[{0}] == 0) {{\n    const Number tight = tight_{1}(all);\n    all[{0}] = tight.valid ? "
            "tight.value : -1;\n  }}\n",
            i, numbers_->sizes[i]);
    }
    text += "}\n\nconst void* address_of(const Operands& operands, int number) {\n";
    for (std::size_t i = 0; i + 1 < numbers_->operands.size(); ++i)
      text += fmt::format("  if (number == {}) return operands.{};\n", i, member_of(numbers_->operands[i]));
    text += fmt::format("  return operands.{};\n}}\n\n", member_of(numbers_->operands.back()));
    if (plan_->backend() == Backend::cpu) text += groups_text();
    return text + (gemm_ != nullptr ? matrices_text() : custom_text());
  }

  /// Whether the rows of groups fit their room: a CPU can look.
  std::string groups_text() const {
    if (gemm_ == nullptr || gemm_->max_rows == 0)
      return "bool groups_fit(const Sizes&, const Operands&) { return true; }\n\n";
    return "bool groups_fit(const Sizes& sizes, const Operands& operands) {\n"
           "  const auto* const rows = static_cast<const std::int32_t*>(operands.group_rows);\n"
           "  if (rows == nullptr) return false;\n"
           "  std::int64_t sum = 0;\n"
           "  for (std::int64_t i = 0; i < sizes.groups; ++i) {\n"
           "    if (rows[i] < 0 || rows[i] > sizes.max_rows) return false;\n"
           "    sum += rows[i];\n"
           "  }\n"
           "  return sum <= sizes.m;\n}\n\n";
  }

  /// That each of the first sizes is at least so large.
  std::string least_sizes(std::size_t count, int least) const {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text += fmt::format("  if (sizes[{0}] < {1}) return {2};\n", i, least,
                          literal(fmt::format("{} is less than {}", numbers_->sizes[i], least)));
    return text;
  }

  /// Buffers of a custom problem are as large as its expressions say, which a package does not know.
  std::string custom_text() const {
    return "const char* fault_of(const std::int64_t* sizes) {\n" + least_sizes(numbers_->sizes.size(), 0) +
           "  return nullptr;\n}\n\n"
           "std::int64_t bytes_of(const std::int64_t*, int) { return 0; }\n\n"
           "Rows rows_of_output(const std::int64_t*) { return {}; }\n\n";
  }

  /// Of an operand; without an end.
  std::string bytes_of_matrix(const MatrixShape& matrix) const {
    const std::string one = fmt::format("add(multiply(subtract({}, 1), {}), {})", size_text(matrix.outer),
                                        size_text(matrix.ld()), size_text(matrix.inner));
    return fmt::format("multiply({}, {})", size_of(matrix.type),
                       matrix.count.empty() ? one
                                            : fmt::format("add(multiply(subtract({}, 1), {}), {})",
                                                          size_text(matrix.count), size_text(matrix.stride()), one));
  }

  std::string matrices_text() const {
    std::string bytes, faults = least_sizes(first_distance(), 1);
    const std::vector<MatrixShape> all = matrices();
    for (std::size_t i = 0; i < numbers_->operands.size(); ++i) {
      const std::string of_vector = bytes_text(*gemm_, numbers_->operands[i]);
      bytes += fmt::format("  if (operand == {}) bytes = {};\n", i,
                           of_vector.empty() ? bytes_of_matrix(all[std::min<std::size_t>(i, 2)]) : of_vector);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool by_rows = std::array{gemm_->layout_a, gemm_->layout_b, gemm_->layout_c}[i] == Layout::row;
      faults += fmt::format(
          "  if (bytes_of(sizes, {0}) < 0) return \"{4} takes more bytes than 64 bits can count\";\n"
          "  if (!is_true(greater_equal({1}, tight_{2}(sizes)))) return \"{2} is less than a {3} of the matrix\";\n",
          i, size_text(all[i].ld()), all[i].ld(), by_rows ? "row" : "column", numbers_->operands[i]);
      if (!all[i].count.empty())
        faults += fmt::format(
            "  if ({0} > 1 && !is_true(greater_equal({1}, tight_{2}(sizes)))) return \"{2} is less than a "
            "matrix\";\n",
            size_text(all[i].count), size_text(all[i].stride()), all[i].stride());
    }
    if (gemm_->max_rows > 0)
      faults +=
          "  if (!is_true(less_equal(sizes[0], multiply(sizes[3], sizes[4])))) return \"m is more than groups * "
          "max_rows\";\n";
    const MatrixShape& c = all[2];
    const std::string runs_of_c =
        c.outer.of_each.empty() ? size_text(c.outer) : size_text(c.outer.of_each) + " * " + size_text(c.outer.size);
    return fmt::format(
        "std::int64_t bytes_of(const std::int64_t* sizes, int operand) {{\n  Number bytes = 0;\n{}"
        "  return bytes.valid ? bytes.value : -1;\n}}\n\n"
        "const char* fault_of(const std::int64_t* sizes) {{\n{}  return nullptr;\n}}\n\n"
        "Rows rows_of_output(const std::int64_t* sizes) {{\n  return {{{}, {}, {} * {}, {} * {}, {} * {}}};\n}}\n\n",
        bytes, faults, c.count.empty() ? "1" : size_text(c.count), runs_of_c, size_text(c.inner), size_of(c.type),
        size_text(c.ld()), size_of(c.type), size_text(c.stride()), size_of(c.type));
  }

  const Package* package_;
  const Plan* plan_;
  const Gemm* gemm_;
  std::vector<Variant> binaries_;
  Numbers* numbers_;
};

}  // namespace

std::string table_text(const Package& package, Numbers& numbers) { return TableWriter(package, numbers).write(); }

}  // namespace tune::package
