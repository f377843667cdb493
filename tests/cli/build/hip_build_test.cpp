// HIP on a machine without a GPU: every HIP tuning file of the repository builds, and what does not build says why.
// Skipped where the run-time compiler is absent.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::hip_build_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnknownArch = "gfx1";  ///< is refused before anything is built

class HipBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-hip"))
      GTEST_SKIP() << "tune-worker-hip was not built: no headers of HIP";
    sandbox_.write("probe.hip", "extern \"C\" __global__ void probe(float*) {}\n");
    sandbox_.write("probe.yaml", yaml("probe"));
    const Result probe = build({"probe.yaml"}, kUnknownArch);
    if (probe.err.find("no run-time compiler") != std::string::npos) GTEST_SKIP() << "no hipRTC: " << probe.err;
  }

  static std::string yaml(const std::string& name, const std::string& extra = "") {
    return "{name: " + name + ", file: " + name + ".hip, kernel: " + name +
           ", problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: [1, 2]}, launch: {grid: [1], block: [TILE], args: "
           "[C]}" +
           extra + "}\n";
  }
  Result build(std::vector<std::string> arguments, const std::string& arch = "gfx90a") const {
    arguments.insert(arguments.end(), {"--build-only", "--arch", arch, "--quiet"});
    return sandbox_.tune(arguments);
  }
  /// The output of building `source` as the kernel `k`.
  std::string output(const std::string& source, const std::string& extra = "") const {
    sandbox_.write("k.hip", source);
    sandbox_.write("k.yaml", yaml("k", extra));
    const Result result = build({"k.yaml"});
    return result.out + result.err;
  }
  /// What the worker said of the builds in the store.
  std::vector<std::string> builds() const {
    std::vector<std::string> texts;
    for (const std::string& file : sandbox_.files())
      if (file.ends_with("built.json")) texts.push_back(sandbox_.read(file));
    EXPECT_FALSE(texts.empty());
    return texts;
  }

  Sandbox sandbox_;
};

TEST_F(HipBuild, TheHotspotOfTheRepositoryBuilds) {
  const Result result =
      build({TUNE_SOURCE_DIR "/configs/hotspot.yaml", "--backend", "hip", "--max-evals", "3"}, "gfx90a");
  EXPECT_NE(result.out.find("Number of valid built specs: 3 (out of 3)"), std::string::npos)
      << result.out << result.err;
}

/// The tuning files of HIP kernels of the repository; example.yaml is for the CPU.
std::vector<fs::path> tuning_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::smatch match;
    if (std::regex_search(text, match, std::regex("(?:file: (?=\\S+\\.hip\\b)|hip: )([^\\s,}]+)")) &&
        fs::exists(entry.path().parent_path() / match[1].str()))
      files.push_back(entry.path());
  }
  return files;
}

TEST_F(HipBuild, EveryTuningFileOfTheRepositoryBuilds) {
  const auto files = tuning_files();
  EXPECT_GE(files.size(), 2u);
  for (const fs::path& file : files) {
    // The first specs are those of the smallest tiles; a sample is what a CI machine has time for.
    const Result result = build({file.string(), "--backend", "hip", "--max-evals", "2"});
    EXPECT_EQ(result.code, 0) << file << result.out << result.err;
    EXPECT_NE(result.out.find("Number of valid built specs: 2 (out of 2)"), std::string::npos) << file << result.out;
  }
}

TEST_F(HipBuild, TheMatrixCoresAreUsedInEveryTypeOnBothArchitectures) {
  const std::string file = TUNE_SOURCE_DIR "/configs/gemm_mfma.yaml";
  const std::string text = sandbox_.read(file);
  for (const std::string arch : {"gfx908", "gfx90a"})
    for (const std::string type : {"f16", "bf16", "f32"}) {
      std::string yaml = std::regex_replace(text, std::regex("a: f16, b: f16, c: f16"),
                                            "a: " + type + ", b: " + type + ", c: " + type);
      sandbox_.write("mfma.yaml", std::regex_replace(yaml, std::regex("\\.\\./demo"), TUNE_SOURCE_DIR "/demo"));
      const Result result = build({"mfma.yaml", "--max-evals", "1"}, arch);
      EXPECT_NE(result.out.find("built specs: 1 (out of 1)"), std::string::npos)
          << arch << type << result.out << result.err;
    }
}

TEST_F(HipBuild, AResultsFileOfTuneGemmIsBuiltForTheMatrixCores) {
  const std::string file = TUNE_SOURCE_DIR "/configs/gemm_mfma.yaml";
  sandbox_.write("results.yaml",
                 "- {M: 4096, N: 4096, K: 4096, rowMajorA: T, rowMajorB: N, BLOCK_SIZE_M: 128, BLOCK_SIZE_N: 64, "
                 "BLOCK_SIZE_K: 64, GROUP_SIZE_M: 8, SPLIT_K: 1, num_warps: 4, num_stages: 0, waves_per_eu: 0, "
                 "matrix_instr_nonkdim: 16, kpack: 2} # TFLOPS: 500.00 time(us): 274.88\n"
                 "- {M: 16, N: 16, K: 8192, rowMajorA: T, rowMajorB: N, BLOCK_SIZE_M: 16, BLOCK_SIZE_N: 16, "
                 "BLOCK_SIZE_K: 64, GROUP_SIZE_M: 1, SPLIT_K: 8, num_warps: 1, num_stages: 2, waves_per_eu: 0, "
                 "matrix_instr_nonkdim: 16, kpack: 1} # TFLOPS: 1.00 time(us): 4.19\n");
  const Result results = build({"--yaml", file, "--gemm_size_file", "results.yaml"});
  EXPECT_EQ(results.code, 0) << results.out << results.err;
  EXPECT_EQ(builds().size(), 2U) << results.out;
  const Result text =
      build({"--yaml", file, "--config_str", "M4096_N4096_K4096_BM64_BN64_BK64_GM8_SK1_nW4_nS0_EU0_kP2_mfma32"});
  EXPECT_NE(text.out.find("built specs: 1 (out of 1)"), std::string::npos) << text.out << text.err;
}

TEST_F(HipBuild, WavesPerEuLimitTheRegistersOfTheMatrixCoresKernel) {
  const auto registers = [](const std::string& waves) {
    const Sandbox apart;
    const Result result =
        apart.tune({"--yaml", TUNE_SOURCE_DIR "/configs/gemm_mfma.yaml", "--build-only", "--device-file", "mi250x",
                    "--config_str", "M4096_N4096_K4096_BM128_BN128_BK64_GM1_SK1_nW4_nS2_EU" + waves + "_kP2_mfma32"});
    std::smatch match;
    for (const std::string& file : apart.files()) {
      if (!file.ends_with("built.json")) continue;
      const std::string built = apart.read(file);
      EXPECT_TRUE(std::regex_search(built, match, std::regex("\"registers\":([0-9]+)"))) << built;
      return match.empty() ? 0 : std::stoi(match[1]);
    }
    ADD_FAILURE() << result.out << result.err;
    return 0;
  };
  EXPECT_GT(registers("0"), 128);
  EXPECT_LE(registers("4"), 128) << "a SIMD has 512 registers for each lane";
}

TEST_F(HipBuild, TheWorkersOwnKernelsBuildForEveryArchitectureWeName) {
  sandbox_.write(
      "own.yaml",
      "{name: own, backend: hip, file: " TUNE_SOURCE_DIR
      "/worker/checking/gpu_kernels.cu, kernel: tune_find_infinite, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
      "params: {TILE: 1}, launch: {grid: [1], block: [1], args: [A, {i64: m}, C]},\n"
      "build: {flags: [-ffp-contract=off], include: [" TUNE_SOURCE_DIR "/worker]}}\n");
  for (const char* arch : {"gfx906", "gfx908", "gfx90a", "gfx1030"}) {
    const Result result = build({"own.yaml"}, arch);
    EXPECT_EQ(result.code, 0) << arch << result.out << result.err;
  }
}

TEST_F(HipBuild, ParametersReachTheKernelAndItsHeadersAreBuiltIn) {
  EXPECT_NE(output("#ifndef __HIPCC_RTC__\n#include <hip/hip_fp16.h>\n#endif\n"
                   "static_assert(TILE == 1 || TILE == 2);\n"
                   "extern \"C\" __global__ void k(float* c) { *c = __half2float(__float2half(TILE)); }\n")
                .find("built specs: 2 (out of 2)"),
            std::string::npos);
}

TEST_F(HipBuild, TheCodeObjectSaysWhatAKernelNeeds) {
  const std::string kernel =
      "extern \"C\" __global__ void k(float* c) {\n"
      "  __shared__ float s[64];\n"
      "  s[threadIdx.x] = *c; __syncthreads(); *c = s[threadIdx.x ^ TILE]; }\n";
  EXPECT_NE(output(kernel).find("built specs: 2"), std::string::npos);
  for (const std::string& built : builds()) {
    EXPECT_NE(built.find("\"shared\":256.0"), std::string::npos) << built;
    EXPECT_NE(built.find("\"spills\":0.0"), std::string::npos) << built;
    EXPECT_EQ(built.find("\"registers\":0.0"), std::string::npos) << built;
  }
}

TEST_F(HipBuild, RegistersThatDoNotFitAreSpills) {
  const std::string kernel =
      "extern \"C\" __global__ void __launch_bounds__(1024) k(float* c) {\n"
      "  float x[160 + TILE];\n#pragma unroll\n"
      "  for (int i = 0; i < 160 + TILE; ++i) x[i] = c[i * 1024 + threadIdx.x];\n  __syncthreads();\n#pragma unroll\n"
      "  for (int i = 0; i < 160 + TILE; ++i) c[i * 1024 + threadIdx.x] = x[i] * x[159 + TILE - i];\n}\n";
  sandbox_.write("k.hip", kernel);
  sandbox_.write("k.yaml", yaml("k"));
  EXPECT_TRUE(has(build({"k.yaml", "--max-evals", "1"}).out, "built specs: 1"));
  for (const std::string& built : builds()) EXPECT_EQ(built.find("\"spills\":0.0"), std::string::npos) << built;
}

TEST_F(HipBuild, WhatTheCodeObjectTellsIsListedAndChecked) {
  const auto built = [&](const std::string& args, const std::string& block, const std::string& shared) {
    sandbox_.write(
        "k.hip",
        "extern \"C\" __global__ void __launch_bounds__(128) k(float* c, long n) {\n  __shared__ float s[64];\n"
        "  s[threadIdx.x] = *c; __syncthreads(); c[n] = s[threadIdx.x ^ TILE]; }\n");
    sandbox_.write(
        "k.yaml",
        "{name: k, file: k.hip, kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: 1}, launch: "
        "{grid: [1], block: [" +
            block + "], shared: " + shared + ", args: [" + args + "]}}\n");
    const Result result = sandbox_.tune({"k.yaml", "--build-only", "--device-file", "mi250x"});
    return result.out + result.err;
  };
  EXPECT_TRUE(std::regex_search(built("C, {i64: n}", "64", "512"),
                                std::regex(" registers +spills +shared +dynamic +occupancy %\n        0 TILE=1 +[0-9]+ "
                                           "+0 +256 +512 +100\n")))
      << built("C, {i64: n}", "64", "512");
  EXPECT_NE(
      built("{i64: n}, C", "64", "0").find("parameter 1 of the kernel is a pointer, the entry of args is 8 bytes n"),
      std::string::npos);
  EXPECT_NE(built("C, n", "64", "0").find("parameter 2 of the kernel is 8 bytes, the entry of args is 4 bytes n"),
            std::string::npos);
  EXPECT_NE(built("C, {i64: n}", "256", "0").find("256 threads; its __launch_bounds__ allow 128"), std::string::npos);
  EXPECT_NE(built("C, {i64: n}", "64", "65500").find("65756 bytes, of which the source declares 256"),
            std::string::npos);
}

TEST_F(HipBuild, ACompileErrorIsTheFirstLine) {
  const std::string out = output("extern \"C\" __global__ void k(float* c) { *c = nowhere; }\n");
  EXPECT_NE(out.find("build, reported: k.hip:1:47: error: use of undeclared identifier 'nowhere'"), std::string::npos)
      << out;
}

TEST_F(HipBuild, AMissingKernelIsNamed) {
  EXPECT_NE(
      output("__global__ void k(float* c) { *c = 0; }\n").find("k.hip has no kernel 'k': define it as extern \"C\""),
      std::string::npos);
}

TEST_F(HipBuild, AnArchitectureThatWouldAbortTheCompilerIsRefusedBeforeAnythingStarts) {
  const Result result = build({"probe.yaml"}, "gfx942x");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find(" cannot build for 'gfx942x'; it knows gfx"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" gfx90a "), std::string::npos) << result.err;
}

TEST_F(HipBuild, MeasuringWithoutADeviceIsOneClearError) {
  const Result result = sandbox_.tune({"probe.yaml"});
  if (result.err.find("no HIP device") == std::string::npos) GTEST_SKIP() << "there is a device";
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err.find("tune: error: tune-worker-hip: no HIP device: "), 0U) << result.err;
  EXPECT_EQ(sandbox_.tune({"--probe", "--backend", "hip"}).err, result.err);
}

TEST(HipWorker, ThatWasNotBuiltSaysWhatBuildingItTakes) {
  const Sandbox sandbox;
  const fs::path bin = sandbox.copy_binaries();
  fs::remove(bin / "tune-worker-hip");
  const Result result = sandbox.tune_from(bin, {"--probe", "--backend", "hip"});
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("tune-worker-hip: not found in "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("(Debian: libamdhip64-dev)"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace tune::cli::hip_build_test
