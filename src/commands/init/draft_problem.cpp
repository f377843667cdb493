#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "commands/init/draft_writer.h"
#include "model/values/text.h"

namespace tune::commands {
namespace {

const char* role_of(const KernelArgument& buffer, const Indexing& indexing) {
  if (buffer.is_const) return "in";
  return indexing.is_read(buffer.name) ? "inout" : "out";
}

}  // namespace

const char* DraftWriter::layout(std::size_t buffer, char of_columns) const {
  return indexing_.stride_of(buffers_[buffer]->name) == size_named(of_columns) ? "col" : "row";
}

void DraftWriter::write_gemm() {
  std::array<Elements, 3> types;
  for (std::size_t i = 0; i < 3; ++i) types[i] = elements_of_buffer(*buffers_[i]);
  line("problem:");
  guessed(fmt::format("  gemm: {{m: 1024, n: 1024, k: 1024, a: {}, b: {}, c: {}, layout: {{a: {}, b: {}, c: {}}}{}}}",
                      types[0].type, types[1].type, types[2].type, layout(0, 'm'), layout(1, 'k'), layout(2, 'm'),
                      has_argument("beta") ? ", alpha: 1, beta: 1" : ""),
          "the sizes, and C = A B; put what you run");
}

std::int64_t DraftWriter::default_size(const std::string& name) const {
  if (is_small(name)) return 8;
  if (lower_case(name).find("bins") != std::string::npos) return 256;
  const auto large = std::ranges::count_if(sizes_, [](const std::string& each) { return !is_small(each); });
  if (large <= 1) return request_->for_gpu ? 1 << 24 : 1 << 18;
  if (large == 2) return request_->for_gpu ? 4096 : 512;
  return large == 3 && request_->for_gpu ? 256 : 64;
}

std::string DraftWriter::count_of(const KernelArgument& buffer) const {
  std::vector<std::string> factors;
  std::set<std::string> of_it = indexing_.sizes_of(buffer.name);
  for (const std::string& size : sizes_)
    if (of_it.contains(size)) factors.push_back(size);
  if (factors.empty())
    for (const std::string& size : sizes_)
      if (!is_small(size)) factors.push_back(size);
  const int lanes = elements_of_buffer(buffer).lanes;
  if (lanes > 1) factors.insert(factors.begin(), std::to_string(lanes));
  return factors.empty() ? "1048576" : fmt::format("{}", fmt::join(factors, "*"));
}

void DraftWriter::write_problem() {
  if (is_gemm_) return write_gemm();
  line("problem:");
  line("  custom:");
  std::vector<std::string> sizes;
  for (const std::string& size : sizes_) sizes.push_back(fmt::format("{}: {}", size, default_size(size)));
  if (sizes_.empty()) sizes.emplace_back("n: 1048576");
  guessed(fmt::format("    sizes: {{{}}}", fmt::join(sizes, ", ")), "put the sizes that you run");
  line("    buffers:");
  std::vector<std::pair<int, std::string>> bytes;  // of elements that are as many
  static const std::map<std::string, int> kBytes = {{"f64", 8},  {"f32", 4}, {"s32", 4},  {"f16", 2},
                                                    {"bf16", 2}, {"s8", 1},  {"e4m3", 1}, {"e5m2", 1}};
  for (const KernelArgument* buffer : buffers_) {
    const Elements elements = elements_of_buffer(*buffer);
    const std::string count = count_of(*buffer), role = role_of(*buffer, indexing_);
    std::string guess = "the count";
    if (elements.is_guess) guess += fmt::format(", and the type of {}", buffer->type);
    if (role == "inout") guess += ", and that it is also read: else it is out";
    guessed(
        fmt::format("      - {{name: {}, type: {}, count: {}, role: {}}}", buffer->name, elements.type, count, role),
        guess);
    const auto same = std::ranges::find_if(bytes, [&](const auto& each) { return each.second == count; });
    const int moved = kBytes.at(elements.type) * (role == "inout" ? 2 : 1);
    if (same == bytes.end())
      bytes.emplace_back(moved, count);
    else
      same->first += moved;
  }
  line("    # Inputs are uniform from -1 to 1; in a buffer, `scale: 128` finds an exp that overflows. A result");
  line("    # may differ by 2.4e-4 (f32) or 0.02 (f16) of its largest value; `tolerance: 1e-5` allows less.");
  std::vector<std::string> terms;
  for (const auto& [factor, count] : bytes) terms.push_back(fmt::format("{}*{}", factor, count));
  guessed(fmt::format("    bytes: {}", fmt::join(terms, " + ")), "each buffer is read or written once");
  write_reference();
}

bool DraftWriter::uses_parameters(const Kernel& kernel) const {
  return std::ranges::any_of(kernel.body, [&](const Token& token) { return has_macro(token.text); });
}

std::vector<const Kernel*> DraftWriter::simple_kernels() const {
  std::vector<const Kernel*> simple;
  for (const Kernel& each : source_->kernels)
    if (each.name != kernel_->name && each.has_c_linkage && !uses_parameters(each)) simple.push_back(&each);
  return simple;
}

const Kernel* DraftWriter::reference_kernel() const {
  const auto takes = [](const Kernel& kernel, const KernelArgument& argument) {
    return std::ranges::any_of(kernel.arguments, [&](const KernelArgument& each) {
      return each.name == argument.name && each.is_pointer == argument.is_pointer;
    });
  };
  for (const Kernel* each : simple_kernels())
    if (std::ranges::all_of(each->arguments, [&](const auto& argument) { return takes(*kernel_, argument); }) &&
        std::ranges::all_of(kernel_->arguments, [&](const auto& argument) {
          return takes(*each, argument) || is_count_of_threads(argument);
        }))
      return each;
  return nullptr;
}

std::string DraftWriter::wanted_reference() const {
  std::vector<std::string> names;
  for (const KernelArgument& argument : kernel_->arguments)
    if (!is_count_of_threads(argument)) names.push_back(argument.name);
  std::string text = fmt::format("a simple {} function with the arguments {}",
                                 request_->for_gpu ? "__global__" : "extern \"C\"", fmt::join(names, ", "));
  const auto simple = simple_kernels();
  return simple.empty() ? text : text + fmt::format("; {} has others", simple.front()->name);
}

void DraftWriter::write_reference() {
  const Kernel* reference = reference_kernel();
  if (reference == nullptr)
    return guessed("    reference: {spec: " + first_values() + "}",
                   "this spec is right; surer is " + wanted_reference());
  if (!request_->for_gpu)
    return guessed(fmt::format("    reference: {{kernel: {}, args: {}}}", reference->name, arguments(*reference, "1")),
                   "it computes the same");
  const Indexing indexing(*source_, *reference);
  std::vector<std::string> grid, block;
  const int used = dimensions_of(indexing);
  for (int d = 0; d < used; ++d) {
    const Indexing::Dimension& dimension = indexing.dimensions()[static_cast<std::size_t>(d)];
    const std::string threads = used == 1 ? "256" : d == 0 ? "32" : d == 1 ? "8" : "1";
    block.push_back(dimension.has_threads
                        ? (dimension.threads.empty() || !is_number(dimension.threads) ? threads : dimension.threads)
                        : "1");
    grid.push_back(grid_of(dimension, d, block.back()));
  }
  guessed(fmt::format("    reference: {{kernel: {}, grid: [{}], block: [{}], args: {}}}", reference->name, quoted(grid),
                      fmt::join(block, ", "), arguments(*reference)),
          "it computes the same, and its launch");
}

}  // namespace tune::commands
