// HIP kernels built by a clang that HIPCXX names, for architectures that hipRTC 5.2 does not know: the code objects of
// demo/gemm_mfma.hip, as far as they can be checked without a device. Needs nothing of ROCm but the worker; skipped
// where no clang on PATH knows the architecture.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <regex>

#include "support/cli.h"
#include "support/has.h"
#include "wire/binaries/code_object.h"

namespace tune::cli::hip_clang_test {
namespace {

namespace fs = std::filesystem;

// What the kernel uses of HIP.
constexpr const char* kHeader = R"hip(#pragma once
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
struct Index { unsigned x, y; };
__device__ inline Index index_of_thread() { return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y()}; }
__device__ inline Index index_of_block() { return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y()}; }
#define threadIdx (index_of_thread())
#define blockIdx (index_of_block())
__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
)hip";

template <typename Object>
Object object_at(const std::string& file, std::size_t at) {
  Object object{};
  if (at + sizeof(object) <= file.size()) std::memcpy(&object, file.data() + at, sizeof(object));
  return object;
}

/// The parts of a code object (LLVM's "User Guide for AMDGPU Backend").
class CodeObject {
 public:
  explicit CodeObject(std::string file) : file_(std::move(file)), head_(object_at<Elf64_Ehdr>(file_, 0)) {}

  /// EF_AMDGPU_MACH: the architecture.
  unsigned machine() const { return head_.e_flags & 0xff; }

  /// How many instructions of the kernels are matrix instructions with this opcode (VOP3P-MAI).
  int matrix_instructions(unsigned opcode) const {
    const Elf64_Shdr text = section(".text");
    int count = 0;
    for (std::size_t at = 0; at + 4 <= text.sh_size; at += 4)
      count += object_at<std::uint32_t>(file_, text.sh_offset + at) >> 16 == (0xd380U | opcode) ? 1 : 0;
    return count;
  }

  /// Bytes of LDS in the kernel descriptor, which the device reads.
  std::uint32_t lds_of(const std::string& kernel) const {
    const Elf64_Shdr symbols = section(".dynsym"), names = section(".dynstr");
    for (std::size_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = object_at<Elf64_Sym>(file_, symbols.sh_offset + at);
      if (kernel + ".kd" != file_.c_str() + names.sh_offset + symbol.st_name) continue;
      EXPECT_EQ(symbol.st_size, 64U);
      const Elf64_Shdr place = section(symbol.st_shndx);
      return object_at<std::uint32_t>(file_, place.sh_offset + symbol.st_value - place.sh_addr);
    }
    ADD_FAILURE() << "there is no descriptor of " << kernel;
    return 0;
  }

  wire::CodeObjectKernel told_of(const std::string& kernel) const { return wire::read_code_object(file_).at(kernel); }

 private:
  Elf64_Shdr section(std::size_t index) const {
    return object_at<Elf64_Shdr>(file_, head_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  Elf64_Shdr section(const std::string& name) const {
    const std::size_t names = section(head_.e_shstrndx).sh_offset;
    for (std::size_t i = 0; i < head_.e_shnum; ++i)
      if (name == file_.c_str() + names + section(i).sh_name) return section(i);
    ADD_FAILURE() << "there is no " << name;
    return {};
  }

  std::string file_;
  Elf64_Ehdr head_;
};

class HipByClang : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-hip"))
      GTEST_SKIP() << "tune-worker-hip was not built: no headers of HIP";
    sandbox_.write("hip/hip/hip_runtime.h", kHeader);
    sandbox_.write("probe.hip", "extern \"C\" __global__ void probe(float* c) { *c = TILE; }\n");
    sandbox_.write(
        "probe.yaml",
        "{name: probe, file: probe.hip, kernel: probe, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: "
        "1}, launch: {grid: [1], block: [TILE], args: [C]}, build: {include: [hip]}}\n");
  }

  /// Whether a clang was found that knows it, and can link.
  bool choose_compiler_for(const std::string& arch) {
    for (const char* name : {"clang++-22", "clang++-21", "clang++-20", "clang++-19"}) {
      sandbox_.environment["HIPCXX"] = std::string(name) + " -nogpulib -nogpuinc";
      if (build({"probe.yaml"}, arch).out.find("built specs: 1 (out of 1)") != std::string::npos) return true;
    }
    return false;
  }

  Result build(std::vector<std::string> arguments, const std::string& arch) const {
    arguments.insert(arguments.end(), {"--build-only", "--arch", arch, "--quiet"});
    return sandbox_.tune(arguments);
  }

  /// Builds one spec of configs/gemm_mfma.yaml for a type of A and B.
  Result build_mfma(const std::string& arch, const std::string& type, const std::string& spec) const {
    std::string text = sandbox_.read(TUNE_SOURCE_DIR "/configs/gemm_mfma.yaml");
    text = std::regex_replace(text, std::regex("a: f16, b: f16, c: f16"), "a: " + type + ", b: " + type + ", c: f16");
    text = std::regex_replace(text, std::regex("build: \\{"), "build: {include: [hip], ");
    sandbox_.write("mfma.yaml", std::regex_replace(text, std::regex("\\.\\./demo"), TUNE_SOURCE_DIR "/demo"));
    return build({"--yaml", "mfma.yaml", "--store", "mfma", "--config_str", "M4096_N4096_K4096_" + spec}, arch);
  }

  CodeObject code() const {
    for (const std::string& file : sandbox_.files())
      if (file.find("mfma/") != std::string::npos && file.ends_with("kernel.hsaco"))
        return CodeObject(sandbox_.read(file));
    ADD_FAILURE() << "nothing was built";
    return CodeObject("");
  }

  struct Case {
    const char* type;
    int kpack, rows;  ///< of the instruction
    unsigned opcode;  ///< by the instruction set documents of MI300 and MI350
    int depth;        ///< elements along k that an instruction adds up
  };
  /// A tile of 64 x 64 x 64 of four waves.
  void expect_instructions(const std::string& arch, unsigned machine, const Case& wanted) const {
    SCOPED_TRACE(arch + " " + wanted.type + " " + std::to_string(wanted.rows));
    fs::remove_all(sandbox_.folder() / "mfma");
    const Result result = build_mfma(
        arch, wanted.type,
        "BM64_BN64_BK64_GM1_SK1_nW4_nS2_EU0_kP" + std::to_string(wanted.kpack) + "_mfma" + std::to_string(wanted.rows));
    ASSERT_TRUE(has(result.out, "built specs: 1 (out of 1)")) << result.err;
    const CodeObject object = code();
    EXPECT_EQ(object.machine(), machine);
    EXPECT_EQ(object.matrix_instructions(wanted.opcode), (32 / wanted.rows) * (32 / wanted.rows) * 64 / wanted.depth);
    const int bytes = 128 * 64 * (std::string(wanted.type) == "e4m3" ? 1 : 2);
    EXPECT_EQ(object.lds_of("gemm"), static_cast<unsigned>(bytes));
    const wire::CodeObjectKernel told = object.told_of("gemm");
    EXPECT_EQ(told.shared, bytes);
    EXPECT_EQ(told.spilled_registers, 0);
    EXPECT_EQ(told.max_threads, 256);
    EXPECT_GT(told.vector_registers, 16) << "the sums alone";
    EXPECT_LE(told.vector_registers, 512);
    EXPECT_EQ(told.parameters, (std::vector<std::size_t>{8, 8, 8, 8, 4, 4, 4, 4, 4}));
  }

  Sandbox sandbox_;
};

TEST_F(HipByClang, Gfx942HasItsMatrixInstructions) {
  if (!choose_compiler_for("gfx942")) GTEST_SKIP() << "no clang++-19 or later with lld is on PATH";
  for (const Case& each : {Case{"f16", 2, 32, 0x4c, 8}, Case{"bf16", 2, 16, 0x61, 16}, Case{"e4m3", 2, 32, 0x77, 16},
                           Case{"e4m3", 4, 16, 0x73, 32}})
    expect_instructions("gfx942", 0x4c, each);
  EXPECT_TRUE(has(build_mfma("gfx942", "f16", "BM256_BN256_BK64_GM1_SK1_nW8_nS3_EU0_kP2_mfma32").err,
                  "the slices do not fit the LDS of a compute unit"));
}

TEST_F(HipByClang, Gfx950HasItsMatrixInstructionsAndItsLds) {
  if (!choose_compiler_for("gfx950")) GTEST_SKIP() << "no clang++-20 or later with lld is on PATH";
  for (const Case& each : {Case{"f16", 2, 32, 0x55, 16}, Case{"f16", 2, 16, 0x54, 32}, Case{"bf16", 2, 32, 0x37, 16},
                           Case{"bf16", 2, 16, 0x35, 32}, Case{"f16", 1, 32, 0x4c, 8}, Case{"e4m3", 2, 16, 0x73, 32},
                           Case{"e4m3", 4, 32, 0x77, 16}})
    expect_instructions("gfx950", 0x4f, each);
  fs::remove_all(sandbox_.folder() / "mfma");
  const Result large = build_mfma("gfx950", "f16", "BM256_BN256_BK64_GM1_SK1_nW8_nS3_EU0_kP2_mfma32");
  ASSERT_TRUE(has(large.out, "built specs: 1 (out of 1)")) << large.err;
  EXPECT_EQ(code().lds_of("gemm"), 131072U);
}

TEST_F(HipByClang, ACompilerThatIsNotThereIsNamed) {
  sandbox_.environment["HIPCXX"] = "nowhere/clang++";
  const Result result = build({"probe.yaml"}, "gfx942");
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "HIPCXX: cannot start nowhere/clang++")) << result.err;
}

TEST_F(HipByClang, HipccBuildsLikeAClang) {
  sandbox_.environment["HIPCXX"] = "hipcc -nogpulib -nogpuinc";
  const Result result = build({"probe.yaml"}, "gfx90a");
  if (has(result.err, "HIPCXX: cannot start hipcc")) GTEST_SKIP() << "no hipcc is on PATH";
  EXPECT_TRUE(has(result.out, "built specs: 1 (out of 1)")) << result.err << result.out;
  const std::string refused = build({"probe.yaml"}, "gfx9999").err;
  EXPECT_TRUE(has(refused, "HIP version: ") && has(refused, "clang version ")) << "both make the code: " << refused;
}

TEST_F(HipByClang, ItsErrorsAreThoseOfTheSource) {
  if (!choose_compiler_for("gfx90a")) GTEST_SKIP() << "no clang++-19 or later with lld is on PATH";
  sandbox_.write("probe.hip", "extern \"C\" __global__ void probe(float* c) { *c = nowhere; }\n");
  EXPECT_TRUE(has(build({"probe.yaml"}, "gfx90a").out,
                  "build, reported: probe.hip:1:51: error: use of undeclared identifier 'nowhere'"));
  EXPECT_TRUE(has(build({"probe.yaml"}, "gfx9999").err, " cannot build for 'gfx9999'; it knows gfx"));
}

}  // namespace
}  // namespace tune::cli::hip_clang_test
