#include "package/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/values/text.h"
#include "package/cpp_text.h"
#include "package/expression_text.h"
#include "package/package_sources.h"
#include "package/product.h"
#include "package/table_text.h"
#include "platform/files/file.h"
#include "platform/store/store.h"
#include "wire/json.h"

namespace tune::package {
namespace {

using Words = std::map<std::string, std::string>;

/// The text with each @WORD@ filled in.
std::string filled(std::string text, const Words& words) {
  for (const auto& [word, value] : words)
    for (auto at = text.find("@" + word + "@"); at != std::string::npos;
         at = text.find("@" + word + "@", at + value.size()))
      text.replace(at, word.size() + 2, value);
  return text;
}

/// FNV-1a, as gpu.cpp computes it.
std::uint64_t checksum(const std::string& bytes) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return sum;
}

class PackageWriter {
 public:
  explicit PackageWriter(const Package& package)
      : package_(&package),
        plan_(&package.variants.front().plan),
        gemm_(std::get_if<Gemm>(&plan_->problem)),
        cpu_(plan_->backend() == Backend::cpu),
        hip_(plan_->backend() == Backend::hip) {
    numbers_.sizes = size_names(*plan_);
    for (const Buffer& operand : operands_of(*plan_)) numbers_.operands.push_back(operand.name);
    binaries_ = binaries_of(package);
  }

  std::map<std::string, std::string> write() {
    const std::string table = table_text(*package_, numbers_);
    set_words();
    put("src/table.cpp", table);
    put("include/tuned_" + package_->name + ".h", kHeader);
    put("src/number.h", kNumber);
    put("src/planner.h", kPlanner);
    put("src/find.cpp", kFind);
    put("test/selftest.cpp", gemm_ != nullptr ? kSelftest : kCustomSelftest);
    put("test/problem.h", gemm_ != nullptr ? kTestProduct : kTestCustom);
    put("test/bench.cpp", kBench);
    put("test/vendor.h", kTestVendor);
    put("test/device.h", kTestDevice);
    put("README.md", kReadme);
    if (cpu_)
      put_cpu();
    else
      put_gpu();
    const std::string code = cpu_ ? cpu_libraries() : kGpuCmake;
    files_["CMakeLists.txt"] = filled(filled(kCmake, {{"CODE", code}}), words_);
    // The hash of everything above is part of the symbols.
    platform::Hash hash;
    for (const auto* files : {&files_, &bytes_})
      for (const auto& [name, text] : *files) hash.add(name).add(text);
    content_ = hash.hex().substr(0, 16);
    for (auto& [name, text] : files_) text = filled(text, {{"CONTENT", content_}});
    files_.merge(bytes_);
    files_["manifest.json"] = manifest();
    return std::move(files_);
  }

 private:
  void put(const std::string& name, const std::string& text) { files_[name] = filled(text, words_); }

  void set_words() {
    std::string sizes, operands;
    for (std::size_t i = 0; i < numbers_.sizes.size(); ++i)
      sizes += fmt::format("  std::int64_t {}{};{}\n", member_of(numbers_.sizes[i]),
                           gemm_ == nullptr || i < 3 || numbers_.sizes[i] == "max_rows" ? ""
                           : i + kDistances < numbers_.sizes.size()                     ? " = 1"
                                                                                        : " = 0",
                           gemm_ != nullptr ? comment_of(description_of_size(*gemm_, numbers_.sizes[i])) : "");
    for (const Buffer& operand : operands_of(*plan_))
      operands += fmt::format("  {}void* {} = nullptr;{}\n", operand.role == Buffer::Role::in ? "const " : "",
                              member_of(operand.name),
                              gemm_ != nullptr ? comment_of(description_of(*gemm_, operand.name)) : "");
    if (sizes.empty()) throw NotPackaged("the problem has no sizes, by which a package could choose");
    sizes.pop_back();
    operands.pop_back();
    words_ = {
        {"NAME", package_->name},
        {"FOLDER", in_comment(package_->folder)},
        {"SUMMARY", in_comment(fmt::format("{} on {}: {}, tuned", package_->kernel, package_->device,
                                           plural(package_->entries.size(), "size")))},
        {"STREAM", cpu_   ? "Not used on the CPU: a launch returns when it is done."
                   : hip_ ? "A hipStream_t."
                          : "A CUstream or cudaStream_t."},
        {"SIZES", sizes},
        {"OPERANDS", operands},
        {"SIZE_LIST", list_of(sizes_of_a_call())},
        {"OPERAND_LIST", list_of(numbers_.operands)},
        {"PYTHON_SECTION", fits_python() ? python_section() : ""},
        {"TEST_SECTION", test_section()},
        {"SIZE_COUNT", std::to_string(numbers_.sizes.size())},
        {"FACT_COUNT", std::to_string(numbers_.facts.size())},
        {"OPERAND_COUNT", std::to_string(numbers_.operands.size())},
        {"ENTRY_COUNT", std::to_string(package_->entries.size())},
        {"VARIANT_COUNT", std::to_string(package_->variants.size())},
        {"BINARY_COUNT", std::to_string(binaries_.size())},
        {"KERNEL_COUNT", std::to_string(cpu_ ? most_launches() : numbers_.kernels.size())},
        {"MOST_LAUNCHES", std::to_string(most_launches())},
        {"MOST_ARGUMENTS", std::to_string(most_arguments())},
        {"BACKEND", cpu_   ? "CPU"
                    : hip_ ? "HIP"
                           : "CUDA"},
        {"LANGUAGES", cpu_ ? "CXX" : "CXX ASM"},
        {"SOURCES",
         cpu_ ? "src/cpu.cpp src/variants.cpp" : "src/gpu.cpp src/driver.cpp src/binaries.cpp src/binaries.S"},
    };
    words_.merge(gemm_ != nullptr ? words_of_gemm() : words_of_custom());
  }

  static std::string comment_of(const std::string& text) { return text.empty() ? "" : "  ///< " + text; }

  /// Those without which there is no product.
  std::vector<std::string> sizes_of_a_call() const {
    std::vector<std::string> names = numbers_.sizes;
    if (gemm_ != nullptr) names.resize(gemm_->groups() > 0 ? names.size() - kDistances : 3);
    return names;
  }

  static std::string list_of(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + member_of(name);
    return list;
  }

  std::string python_section() const {
    const std::string module = "tuned_" + package_->name;
    return fmt::format(
        "## In PyTorch\n\nIn this folder:\n\n"
        "```sh\ncmake -S . -B build && cmake --build build --target {0}_shared\n"
        "PYTHONPATH=build/python python3\n```\n\n"
        "`{0}.matmul(a, b)` is `{1}`. What the package has nothing for is multiplied by PyTorch, and `{0}.why(a, b)` "
        "says why.\n\n",
        module, gemm_->layout_b == Layout::col ? "a @ b.T" : "a @ b");
  }

  std::string test_section() const {
    return "## Is it right, and is it as fast as it was?\n\n"
           "In this folder:\n\n"
           "```sh\ncmake -S . -B build && cmake --build build\nbuild/selftest\nbuild/bench\n```\n\n"
           "`selftest` compares every entry, sizes beside them and other uses with " +
           std::string(gemm_ != nullptr ? "exact sums" : "the reference of the tuning file") +
           ", and ends with 0 if all is right. `bench` times\neach entry again beside its recorded time, and ends with "
           "3 if one is slower" +
           (cpu_ ? ", or with 5 if\nthat may be due to other programs." : ".") +
           (hip_ ? "\n\nPackages for HIP have run on no AMD GPU yet, only on stand-ins for its runtime. Run `selftest` "
                   "before anything else."
                 : "");
  }

  Words words_of_gemm() const {
    std::string types;
    for (const Buffer& operand : operands_of(*plan_)) types += fmt::format("Type::{}, ", to_text(operand.type));
    const auto number_of = [&](const char* name) {
      const auto found = std::ranges::find(numbers_.operands, name);
      return std::to_string(found == numbers_.operands.end() ? -1 : found - numbers_.operands.begin());
    };
    return {{"TYPES", types},
            {"BY_ROWS", fmt::format("{{{}, {}, {}}}", gemm_->layout_a == Layout::row, gemm_->layout_b == Layout::row,
                                    gemm_->layout_c == Layout::row)},
            {"ALPHA", fmt::format("{}", gemm_->alpha)},
            {"BETA", fmt::format("{}", gemm_->beta)},
            {"BIAS", gemm_->bias == Bias::none  ? "0"
                     : gemm_->bias == Bias::row ? "1"
                                                : "2"},
            {"BIAS_OPERAND", number_of("bias")},
            {"RESIDUAL_OPERAND", number_of("residual")},
            {"SCALE_A_OPERAND", number_of("scale_a")},
            {"SCALE_B_OPERAND", number_of("scale_b")},
            {"GROUPS_OPERAND", number_of(gemm_->max_rows > 0 ? "group_rows" : "group_offsets")},
            {"HAS_ROOM", fmt::format("{}", gemm_->max_rows > 0)},
            {"ANY_PADDING", fmt::format("{}", gemm_->any_padding)},
            {"VARIED_SIZES", varied_sizes()},
            {"ACC", std::string(to_text(gemm_->acc))},
            {"INIT", std::string(to_text(gemm_->init))},
            {"FAST_ACCUM", fmt::format("{}", gemm_->fast_accum)},
            {"ENTRY_OFFSETS", entry_offsets()},
            {"EPILOGUE", std::string(to_text(gemm_->epilogue))},
            {"SCALE_A", scale_name(gemm_->scale_a)},
            {"SCALE_B", scale_name(gemm_->scale_b)},
            {"TORCH_TYPES", torch_types()},
            {"B_IS_TRANSPOSED", gemm_->layout_b == Layout::col ? "True" : "False"}};
  }

  /// Those that the test varies beside an entry, as C++.
  std::string varied_sizes() const {
    std::string all = "&package::Sizes::m, &package::Sizes::n, &package::Sizes::k";
    if (gemm_->max_rows > 0) all += ", &package::Sizes::max_rows";
    return all;
  }

  /// Of groups, for the test: those of each entry.
  std::string entry_offsets() const {
    std::string lists;
    for (const Entry& entry : package_->entries)
      if (!entry.group_offsets.empty()) lists += fmt::format("\n    {{{}}},", fmt::join(entry.group_offsets, ", "));
    return lists;
  }

  /// Of the enumeration in files/product.h.in.
  static std::string scale_name(Scale scale) {
    constexpr const char* kNames[] = {"none", "tensor", "line", "of_128", "of_128x128"};
    return kNames[static_cast<int>(scale)];
  }

  Words words_of_custom() const {
    const Custom& custom = std::get<Custom>(plan_->problem);
    std::string buffers, size_texts, cases;
    for (const Buffer& buffer : custom.buffers)
      buffers += fmt::format("    {{{}, Type::{}, Role::{}, Init::{}, {}, {}}},\n", literal(buffer.name),
                             to_text(buffer.type), to_text(buffer.role), to_text(buffer.init), buffer.scale,
                             custom.tolerance > 0 ? custom.tolerance : std::sqrt(unit_roundoff(buffer.type)));
    for (const std::string& name : numbers_.sizes) size_texts += literal(name) + ", ";
    for (const Case& each : package_->cases)
      cases += fmt::format("    {{{{{}}}, {{{}}}}},\n", fmt::join(each.sizes, ", "), fmt::join(each.counts, ", "));
    return {{"BUFFERS", buffers},
            {"SIZE_TEXTS", size_texts},
            {"CASES", cases},
            {"REFERENCES", fmt::format("{}", fmt::join(package_->references, ", "))}};
  }

  /// PyTorch's own matrices are stored by rows, and its matmul has no factors. The module is for CUDA.
  bool fits_python() const {
    return !hip_ && !cpu_ && gemm_ != nullptr && gemm_->layout_a == Layout::row && gemm_->layout_c == Layout::row &&
           gemm_->alpha == 1 && gemm_->beta == 0 && numbers_.operands.size() == 3 && gemm_->epilogue == Epilogue::none;
  }

  std::string torch_types() const {
    static const std::map<Type, std::string> kNames = {
        {Type::f64, "float64"},      {Type::f32, "float32"},   {Type::tf32, "float32"},
        {Type::f16, "float16"},      {Type::bf16, "bfloat16"}, {Type::e4m3, "float8_e4m3fn"},
        {Type::e5m2, "float8_e5m2"}, {Type::s32, "int32"},     {Type::s8, "int8"}};
    return fmt::format("torch.{}, torch.{}, torch.{}", kNames.at(gemm_->a), kNames.at(gemm_->b), kNames.at(gemm_->c));
  }

  std::size_t most_launches() const {
    std::size_t most = 1;
    for (const Variant& variant : package_->variants) most = std::max(most, variant.plan.kernel()->launches.size());
    return most;
  }
  std::size_t most_arguments() const {
    std::size_t most = 1;
    for (const Variant& variant : package_->variants)
      for (const Launch& launch : variant.plan.kernel()->launches) most = std::max(most, launch.args.size());
    return most;
  }

  // --- the code

  void put_gpu() {
    put("src/driver.h", kDriver);
    put("src/gpu.cpp", kGpu);
    put("src/driver.cpp", hip_ ? kHipDriver : kCudaDriver);
    if (fits_python()) put("python/tuned_" + package_->name + ".py", kPython);
    std::string assembly = "/* The code that was timed. */\n  .section .rodata\n",
                table = "#include \"planner.h\"\n\nextern \"C\" {\n", list;
    for (std::size_t i = 0; i < binaries_.size(); ++i) {
      const std::string file =
          fmt::format("bin/{}/{}.{}", identifier_of(package_->arch), binaries_[i].artifact, hip_ ? "hsaco" : "cubin");
      const std::string symbol = fmt::format("tuned_{}_{}_{}", package_->name, "@CONTENT@", i);
      assembly += fmt::format(
          "  .balign 64\n  .globl {0}, {0}_end\n  .hidden {0}, {0}_end\n{0}:\n  .incbin \"{1}\"\n{0}_end:\n", symbol,
          file);
      table += fmt::format("extern const unsigned char {0}[], {0}_end[];\n", symbol);
      bytes_[file] = platform::read_file(binaries_[i].built);
      list += fmt::format("    {{{0}, {0}_end, {1}u}},\n", symbol, checksum(bytes_[file]));
    }
    assembly += "  .section .note.GNU-stack,\"\",%progbits\n";
    table += fmt::format(
        "}}\n\nnamespace tuned::@NAME@ {{\ninline namespace content_@CONTENT@ {{\nconst Binary kBinaries[] = "
        "{{\n{}}};\n}}  // namespace content_@CONTENT@\n}}  // namespace tuned::@NAME@\n",
        list);
    put("src/binaries.S", assembly);
    put("src/binaries.cpp", table);
  }

  void put_cpu() {
    put("src/cpu.cpp", kCpu);
    for (const SourceFile& source : package_->sources) bytes_["kernel/" + source.name] = source.text;
    std::string declarations, list;
    for (std::size_t i = 0; i < binaries_.size(); ++i) {
      std::string shim = platform::read_file(binaries_[i].built.parent_path() / "shim.cpp");
      // Its one quoted include is the source, wherever that lay when it was built.
      const auto at = shim.find("#include \""), end = shim.find("\"\n", at);
      if (at == std::string::npos || end == std::string::npos)
        throw NotPackaged(binaries_[i].built.parent_path().string() + "/shim.cpp does not include the kernel");
      shim.replace(at, end + 1 - at, "#include \"../kernel/" + binaries_[i].source + "\"");
      const std::size_t launches = binaries_[i].plan.kernel()->launches.size();
      list += "    {";
      std::string renamed;
      for (std::size_t j = 0; j < most_launches(); ++j) {
        const std::string symbol = fmt::format("tuned_{}_@CONTENT@_{}_{}", package_->name, i, j);
        if (j < launches) declarations += fmt::format("void {}(void* const*);\n", symbol);
        if (j < launches) renamed += fmt::format("#define tune_launch_{} {}\n", j, symbol);
        list += j < launches ? symbol + ", " : "nullptr, ";
      }
      list += "},\n";
      put(fmt::format("src/variant_{}.cpp", i),
          "// The kernel with the values that it was tuned to.\n" + renamed + shim);
    }
    put("src/variants.cpp",
        fmt::format(
            "extern \"C\" {{\n{}}}\n\nnamespace tuned::@NAME@ {{\ninline namespace content_@CONTENT@ {{\nextern void "
            "(*const kFunctions[][@KERNEL_COUNT@])(void* const*);\nvoid (*const kFunctions[][@KERNEL_COUNT@])(void* "
            "const*) = {{\n{}}};\n}}  // namespace content_@CONTENT@\n}}  // namespace tuned::@NAME@\n",
            declarations, list));
  }

  /// A word of what CMake takes apart as a shell would, and no word of a template.
  static std::string shell_word(const std::string& text) {
    if (text.find_first_of(";\n") != std::string::npos || text.find("]==]") != std::string::npos)
      throw NotPackaged(fmt::format("the flag or definition '{}' cannot be given to CMake", text));
    std::string word;
    for (const char c : text) word += std::strchr(" \t\"'\\@", c) != nullptr ? std::string{'\\', c} : std::string(1, c);
    return word;
  }

  std::string cpu_libraries() const {
    std::string text, include;
    for (const std::string& folder : package_->include) include += " [==[kernel/" + folder + "]==]";
    for (std::size_t i = 0; i < binaries_.size(); ++i) {
      std::string flags, libraries;
      for (const std::string& flag : binaries_[i].flags) {
        flags += "\n  " + shell_word(flag);
        if (flag.starts_with("-l") || flag.starts_with('/')) libraries += " [==[" + flag + "]==]";
      }
      text += filled(kCpuCmake, {{"NAME", package_->name},
                                 {"NUMBER", std::to_string(i)},
                                 {"INCLUDE", include},
                                 {"FLAGS", flags},
                                 {"LIBRARIES", libraries}});
    }
    return text;
  }

  // --- manifest.json

  std::string manifest() const {
    nlohmann::ordered_json json = {
        {"tune_package", 1},          {"name", package_->name},       {"content", content_},
        {"kernel", package_->kernel}, {"backend", package_->backend}, {"device", package_->device},
        {"arch", package_->arch},     {"driver", package_->driver},   {"compiler", package_->compiler},
        {"source", package_->source}};
    for (const Entry& entry : package_->entries) {
      nlohmann::ordered_json sizes;
      for (std::size_t i = 0; i < numbers_.sizes.size(); ++i) sizes[numbers_.sizes[i]] = entry.sizes[i];
      json["entries"].push_back({{"sizes", sizes},
                                 {"params", entry.params},
                                 {"artifact", package_->variants[entry.variant].artifact},
                                 {"time_ms", entry.milliseconds},
                                 {"interval_ms", {entry.low, entry.high}}});
    }
    for (const auto& [name, text] : files_) json["files"][name] = platform::Hash().add(text).hex();
    return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }

  const Package* package_;
  const Plan* plan_;
  const Gemm* gemm_;
  bool cpu_, hip_;
  Numbers numbers_;
  std::vector<Variant> binaries_;  ///< the first variant of each
  Words words_;
  std::string content_;
  std::map<std::string, std::string> files_, bytes_;  ///< written by us; taken as they are
};

}  // namespace

std::vector<Variant> binaries_of(const Package& package) {
  std::vector<Variant> binaries;
  for (const Variant& variant : package.variants)
    if (std::ranges::find(binaries, variant.artifact, &Variant::artifact) == binaries.end())
      binaries.push_back(variant);
  return binaries;
}

std::map<std::string, std::string> files_in(const std::string& manifest) {
  const auto json = nlohmann::json::parse(manifest, nullptr, false);
  std::map<std::string, std::string> hashes;
  if (!json.is_object() || !json.contains("tune_package") || !json.contains("files") || !json["files"].is_object())
    return hashes;
  for (const auto& [name, hash] : json["files"].items())
    // A name that leaves the folder is none of ours.
    if (name.find("..") == std::string::npos && !name.starts_with('/') && hash.is_string())
      hashes[name] = hash.get<std::string>();
  return hashes;
}

std::map<std::string, std::string> files_of(const Package& package) { return PackageWriter(package).write(); }

}  // namespace tune::package
