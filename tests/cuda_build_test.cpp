// CUDA on a machine without a GPU: every CUDA tuning file of the repository builds, and what does not build says why.
// Skipped where the run-time compiler is absent.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "cli.h"

namespace tune::cli {
namespace {

namespace fs = std::filesystem;

class CudaBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-cuda"))
      GTEST_SKIP() << "tune-worker-cuda was not built: no CUDA toolkit";
    sandbox_.write("probe.cu", "extern \"C\" __global__ void probe(float*) {}\n");
    sandbox_.write("probe.yaml", yaml("probe"));
    const Result probe = build({"probe.yaml"});
    if (probe.err.find("no run-time compiler") != std::string::npos) GTEST_SKIP() << "no NVRTC: " << probe.err;
  }

  static std::string yaml(const std::string& name, const std::string& extra = "") {
    return "{name: " + name + ", file: " + name + ".cu, kernel: " + name +
           ", problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: [1, 2]}, launch: {grid: [1], block: [TILE], args: "
           "[C]}" +
           extra + "}\n";
  }
  Result build(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--build-only", "--arch", "sm_90a", "--quiet"});
    return sandbox_.tune(arguments);
  }
  /// The output of building `source` as the kernel `k`.
  std::string output(const std::string& source, const std::string& extra = "") const {
    sandbox_.write("k.cu", source);
    sandbox_.write("k.yaml", yaml("k", extra));
    const Result result = build({"k.yaml"});
    return result.out + result.err;
  }

  Sandbox sandbox_;
};

/// Whether it tunes a CUDA kernel of the repository; example.yaml is for the CPU.
bool is_cuda(const fs::path& yaml) {
  std::ifstream file(yaml);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch match;
  return std::regex_search(text, match, std::regex("file: (?:\\{cuda: )?(\\S+\\.cu)[,\\s]")) &&
         fs::exists(yaml.parent_path() / match[1].str()) && text.find("kernel:") != std::string::npos;
}

TEST_F(CudaBuild, EveryTuningFileOfTheRepositoryBuilds) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml" || !is_cuda(entry.path())) continue;
    ++files;
    // The first specs are those of the smallest tiles; a sample is what a CI machine has time for.
    const Result result = build({entry.path().string(), "--backend", "cuda", "--max-evals", "6"});
    EXPECT_EQ(result.code, 0) << entry.path() << result.out << result.err;
    // Builds may be pruned for what they turned out to be.
    EXPECT_EQ(result.out.find("failed: "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("(out of 6)\n"), std::string::npos) << result.out;
  }
  EXPECT_GT(files, 0);
}

TEST_F(CudaBuild, TheWorkersOwnKernelsBuild) {
  sandbox_.write("own.yaml",
                 "{name: own, file: " TUNE_SOURCE_DIR
                 "/worker/gpu_kernels.cu, kernel: tune_compare, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                 "params: {TILE: 1}, launch: {grid: [1], block: [1], args: [C]}, build: {flags: [--fmad=false]}}\n");
  const Result result = build({"own.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(CudaBuild, ParametersAndToolkitHeadersReachTheKernel) {
  EXPECT_NE(output("#include <cuda_bf16.h>\n#include <cuda/ptx>\nstatic_assert(TILE == 1 || TILE == 2);\n"
                   "extern \"C\" __global__ void k(float* c) { *c = __bfloat162float(__nv_bfloat16(TILE)); }\n")
                .find("built specs: 2 (out of 2)"),
            std::string::npos);
}

TEST_F(CudaBuild, ACompileErrorIsTheFirstLine) {
  EXPECT_NE(output("extern \"C\" __global__ void k(float* c) { *c = nowhere; }\n")
                .find("k.cu(1): error: identifier \"nowhere\" is undefined"),
            std::string::npos);
}

TEST_F(CudaBuild, AMissingKernelIsNamed) {
  EXPECT_NE(
      output("__global__ void k(float* c) { *c = 0; }\n").find("k.cu has no kernel 'k': define it as extern \"C\""),
      std::string::npos);
}

TEST_F(CudaBuild, AnUnknownArchitectureIsRefusedBeforeAnythingStarts) {
  const Result result = sandbox_.tune({"probe.yaml", "--build-only", "--arch", "sm_1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("cannot build for 'sm_1'; it knows sm_"), std::string::npos) << result.err;
}

TEST_F(CudaBuild, MeasuringWithoutADeviceIsOneClearError) {
  const Result result = sandbox_.tune({"probe.yaml"});
  if (result.err.find("no CUDA device") == std::string::npos) GTEST_SKIP() << "there is a device";
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err.find("tune: error: tune-worker-cuda: no CUDA device: "), 0U) << result.err;
}

}  // namespace
}  // namespace tune::cli
