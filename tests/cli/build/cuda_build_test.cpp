// CUDA on a machine without a GPU: every CUDA tuning file of the repository builds, and what does not build says why.
// Skipped where the run-time compiler is absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "platform/files/file.h"
#include "support/cli.h"
#include "support/has.h"
#include "support/terminal.h"

namespace tune::cli::cuda_build_test {
namespace {

namespace fs = std::filesystem;

class CudaBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-cuda"))
      GTEST_SKIP() << "tune-worker-cuda was not built: no CUDA toolkit";
    sandbox_.write("probe.cu", "extern \"C\" __global__ void probe(float*) {}\n");
    sandbox_.write("probe.yaml", yaml("probe"));
    const Result probe = refused();
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
  /// What NVRTC says of an architecture that it does not know; nothing is built then.
  Result refused() const { return sandbox_.tune({"probe.yaml", "--build-only", "--arch", "sm_1"}); }
  /// Major and minor of NVRTC, which says them where it refuses an architecture.
  std::pair<int, int> version() const {
    const Result result = refused();
    std::smatch numbers;
    if (!std::regex_search(result.err, numbers, std::regex("NVRTC ([0-9]+)\\.([0-9]+)"))) return {};
    return {std::stoi(numbers[1]), std::stoi(numbers[2])};
  }
  /// The output of building `source` as the kernel `k`.
  std::string output(const std::string& source, const std::string& extra = "", const std::string& specs = "2") const {
    sandbox_.write("k.cu", source);
    sandbox_.write("k.yaml", yaml("k", extra));
    const Result result = build({"k.yaml", "--max-evals", specs});
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

// The same compiler makes the bytes that were timed, and the tuning file launches them as then.
TEST_F(CudaBuild, ARecordedDatabaseIsPackaged) {
  if (version() != std::pair(13, 0)) GTEST_SKIP() << "it was recorded with NVRTC 13.0";
  const std::string configs = std::string(TUNE_SOURCE_DIR) + "/configs/";
  const auto pack = [&](const std::string& yaml) {
    return sandbox_.tune({"package", configs + "h200/hopper_twelve.db.yaml", "--yaml", yaml, "-o", "twelve"});
  };
  const Result packed = pack(configs + "hopper_bf16.yaml");
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(has(packed.out, "twelve: 12 sizes in 8 binaries for NVIDIA H200\n"));
  std::string yaml = platform::read_file(configs + "hopper_bf16.yaml");
  const std::string shared = "shared: STAGES*(STAGE_BYTES + SCALE_BYTES + 16) + STORE_BYTES";
  for (auto at = yaml.find(shared); at != std::string::npos; at = yaml.find(shared, at + shared.size() + 5))
    yaml.replace(at, shared.size(), shared + " + 16");
  yaml.replace(yaml.find("../demo"), 7, std::string(TUNE_SOURCE_DIR) + "/demo");
  EXPECT_TRUE(has(pack(sandbox_.write("hopper.yaml", yaml).string()).err,
                  "all 12 sizes: the tuning file launches it in another way than when it was timed\n"));
}

// Whoever takes the kernels for Hopper into a repository of his own copies one folder.
TEST_F(CudaBuild, TheKernelsForHopperAreOneFolder) {
  const fs::path source = TUNE_SOURCE_DIR, copy = sandbox_.folder() / "demo/hopper";
  fs::create_directories(copy.parent_path());
  fs::copy(source / "demo/hopper", copy);
  const fs::path yaml = sandbox_.write("configs/hopper.yaml", platform::read_file(source / "configs/hopper_bf16.yaml"));
  for (const char* kernel : {"gemm", "gemv"}) {
    const Result result = build({yaml.string(), "--device-file", "h200", "--max-evals", "1", "-m", "1", "-n", "4096",
                                 "-k", "4096", "--param", std::string("KERNEL:") + kernel});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_TRUE(has(result.out, "Number of valid built specs: 1 (out of 1)\n"));
  }
}

TEST_F(CudaBuild, EveryTuningFileOfTheRepositoryBuilds) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml" || !is_cuda(entry.path())) continue;
    ++files;
    // The first specs are those of the smallest tiles; a sample is what a CI machine has time for.
    const Result result = build({entry.path().string(), "--backend", "cuda", "--max-evals", "3"});
    EXPECT_EQ(result.code, 0) << entry.path() << result.out << result.err;
    // Builds may be pruned for what they turned out to be.
    EXPECT_EQ(result.out.find("failed: "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("(out of 3)\n"), std::string::npos) << result.out;
  }
  EXPECT_GT(files, 0);
}

TEST_F(CudaBuild, TheHopperKernelsAreBuiltOnceForAllSizesAndClusters) {
  const auto builds_of = [&](const std::vector<std::string>& sizes, const std::string& cluster) {
    std::vector<std::string> arguments = {TUNE_SOURCE_DIR "/configs/hopper_bf16.yaml", "--max-evals", "1"};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    for (const char* param :
         {"BM:128", "BN:256", "BK:64", "SWAP:0", "REDUCE:none", "EPILOGUE:tma", "CONSUMERS:2", "CLUSTER_N:1"})
      arguments.insert(arguments.end(), {"--param", param});
    arguments.insert(arguments.end(), {"--param", "CLUSTER_M:" + cluster});
    const Result result = build(arguments);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    const auto is_artifact = [](const auto& entry) { return entry.path().extension() == ".cubin"; };
    return std::ranges::count_if(fs::recursive_directory_iterator(sandbox_.folder()), is_artifact);
  };
  const auto before = builds_of({"-m", "4096", "-n", "4096", "-k", "4096"}, "1");
  EXPECT_GT(before, 0);
  EXPECT_EQ(builds_of({"-m", "2048", "-n", "6144", "-k", "8192"}, "1"), before);
  EXPECT_EQ(builds_of({"-m", "4096", "-n", "4096", "-k", "4096"}, "2"), before);
}

// Whatever rows the groups have.
TEST_F(CudaBuild, TheHopperKernelsForGroupsAreBuiltOnceForAllRows) {
  const auto build_with = [&](const std::string& swap, const std::string& store, const std::string& problem) {
    const Result result =
        build({TUNE_SOURCE_DIR "/configs/hopper_grouped.yaml", "--max-evals", "1", "--param", swap, "--param", store,
               "--param", "BM:128", "--param", "BN:128", "-m", "4096", "--problem", problem});
    EXPECT_TRUE(has(result.out, "built specs: 1 (out of 1)")) << swap << ' ' << store << result.out << result.err;
  };
  const auto builds = [&] {
    const auto is_artifact = [](const auto& entry) { return entry.path().extension() == ".cubin"; };
    return std::ranges::count_if(fs::recursive_directory_iterator(sandbox_.folder()), is_artifact);
  };
  for (const char* problem : {"groups=8", "groups=64"})
    for (const char* swap : {"SWAP:0", "SWAP:1"})
      for (const char* store : {"EPILOGUE:direct", "EPILOGUE:tma"}) build_with(swap, store, problem);
  EXPECT_EQ(builds(), 4);
}

TEST_F(CudaBuild, OfTheSameSourceTheCodeIsTheSameInEveryProcess) {
  if (version() < std::pair(12, 9)) GTEST_SKIP() << "NVRTC can be told so since 12.9";
  // The variable's name has the process in it otherwise.
  sandbox_.write("k.cu", "namespace { __device__ int calls; }\nextern \"C\" __global__ void k(float*) { ++calls; }\n");
  sandbox_.write("k.yaml", yaml("k"));
  const auto code = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder()))
      if (entry.path().extension() == ".cubin") fs::remove(entry.path());
    EXPECT_EQ(build({"k.yaml", "--max-evals", "1"}).code, 0);
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder()))
      if (entry.path().extension() == ".cubin") return platform::read_file(entry.path());
    return std::string();
  };
  const std::string first = code();
  EXPECT_NE(first, "");
  EXPECT_EQ(first, code());
}

TEST_F(CudaBuild, EveryChoiceOfTheHopperKernelsBuilds) {
  std::ifstream file(TUNE_SOURCE_DIR "/configs/hopper_bf16.yaml");
  const std::string yaml{std::istreambuf_iterator<char>(file), {}};
  const auto built = [&](const std::string& problem, const std::vector<std::string>& params) {
    const std::string here = std::regex_replace(yaml, std::regex("\\.\\./demo"), TUNE_SOURCE_DIR "/demo");
    const std::string text = std::regex_replace(here, std::regex("gemm: \\{m: 4096[^}]*\\}\\}"),
                                                "gemm: {" + problem + ", acc: f32, layout: {a: row, b: col, c: row}}");
    EXPECT_NE(text, here);
    sandbox_.write("hopper.yaml", text);
    std::vector<std::string> arguments = {"hopper.yaml", "--max-evals", "1"};
    for (const std::string& param : params) arguments.insert(arguments.end(), {"--param", param});
    const Result result = build(arguments);
    EXPECT_NE(result.out.find("built specs: 1 (out of 1)"), std::string::npos) << problem << result.out << result.err;
  };
  const std::string large = "m: 4096, n: 4096, k: 8192, a: bf16, b: bf16, c: bf16";
  const std::string few_tiles = "m: 256, n: 256, k: 32768, a: f16, b: f16, c: f16";
  built(large, {"SCHEDULE:pingpong", "BM:128", "BN:128", "CLUSTER_M:2", "EPILOGUE:tma"});
  built(large, {"CONSUMERS:3", "BM:192", "BN:176", "CLUSTER_N:2", "EPILOGUE:tma"});
  built(few_tiles, {"REDUCE:workspace", "BM:128", "CLUSTER_M:2", "CLUSTER_N:2", "SWAP:0"});
  built(few_tiles, {"REDUCE:workspace", "BM:64", "SWAP:1"});
  built(large, {"BM:128", "BN:256", "EPILOGUE:tma", "SCHEDULE:coop"});
  built("m: 500, n: 701, k: 1024, a: bf16, b: bf16, c: f32", {"BM:64", "BN:80"});
  built("m: 500, n: 701, k: 1024, a: bf16, b: bf16, c: bf16", {"BM:64", "BN:80", "EPILOGUE:tma", "SWAP:0"});
  for (const char* columns : {"BN:48", "BN:80"})
    built("m: 100, n: 701, k: 1024, a: bf16, b: bf16, c: bf16", {"BM:64", columns, "EPILOGUE:tma", "SWAP:1"});
  built("m: 3, n: 57344, k: 8192, a: f16, b: f16, c: f16", {"KERNEL:gemv"});
  const std::string fp8 = "m: 4096, n: 4096, k: 8192, a: e4m3, b: e4m3, c: bf16";
  built(fp8, {"BM:128", "BN:128", "CONSUMERS:2", "SCHEDULE:coop"});
  built(fp8, {"BM:64", "BN:192", "SCHEDULE:pingpong", "EPILOGUE:tma"});
  built(fp8 + ", fast_accum: true", {"BM:128", "BN:256", "BK:128", "EPILOGUE:tma", "SCHEDULE:coop"});
  const std::string of_lines = ", scale_a: row, scale_b: col";
  built(fp8 + of_lines, {"BM:256", "BN:128", "BK:128", "EPILOGUE:tma"});
  built(fp8 + of_lines + ", bias: row, epilogue: silu",
        {"BM:128", "BN:128", "BK:256", "EPILOGUE:tma", "SCHEDULE:coop"});
  built("m: 100, n: 701, k: 1024, a: e4m3, b: e4m3, c: bf16, scale_a: tensor, scale_b: tensor", {"BM:64", "SWAP:1"});
  built("m: 3, n: 57344, k: 8192, a: e4m3, b: e4m3, c: bf16" + of_lines, {"KERNEL:gemv", "UNROLL:2"});
  built(large + ", residual: true", {"BM:128", "BN:256", "EPILOGUE:tma", "SCHEDULE:coop"});
  built("m: 3, n: 57344, k: 8192, a: e4m3, b: e4m3, c: bf16", {"KERNEL:gemv", "UNROLL:2"});
  built("m: 3, n: 57344, k: 8192, a: e4m3, b: e4m3, c: bf16, fast_accum: true", {"KERNEL:gemv", "UNROLL:2"});
}

TEST_F(CudaBuild, TheWorkersOwnKernelsBuild) {
  sandbox_.write(
      "own.yaml",
      "{name: own, file: " TUNE_SOURCE_DIR
      "/worker/checking/gpu_kernels.cu, kernel: tune_find_infinite, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
      "params: {TILE: 1}, launch: {grid: [1], block: [1], args: [A, {i64: m}, C]},\n"
      "build: {flags: [--fmad=false], include: [" TUNE_SOURCE_DIR "/worker]}}\n");
  const Result result = build({"own.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(CudaBuild, ParametersAndToolkitHeadersReachTheKernel) {
  EXPECT_NE(output("#include <cuda_bf16.h>\n#include <cuda/ptx>\nstatic_assert(TILE == 1 || TILE == 2);\n"
                   "extern \"C\" __global__ void k(float* c) { *c = __bfloat162float(__nv_bfloat16(TILE)); }\n")
                .find("built specs: 2 (out of 2)"),
            std::string::npos);
}

TEST_F(CudaBuild, HeadersBesideTheSourceComeBeforeThoseOfTheCurrentFolder) {
  const std::string source = "#include \"h.cuh\"\nextern \"C\" __global__ void k(float* c) { *c = TILE; }\n";
  sandbox_.write("kernels/k.cu", source);
  sandbox_.write("kernels/h.cuh", "#define RIGHT\n");
  sandbox_.write("h.cuh", "#error \"the header of the current folder\"\n");
  sandbox_.write("kernels/k.yaml",
                 "{name: k, file: k.cu, kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: 1},\n"
                 "launch: {grid: [1], block: [1], args: [C]}}\n");
  const Result result = build({"kernels/k.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  sandbox_.write("kernels/k.cu", source + "one;\ntwo;\n");
  const std::string errors = build({"kernels/k.yaml"}).out;
  EXPECT_TRUE(has(errors, "k.cu(3): error: ")) << errors;
  EXPECT_TRUE(has(errors, "\n         k.cu(4): error: ")) << "without the folder: " << errors;
}

TEST_F(CudaBuild, ACompileErrorIsTheFirstLine) {
  EXPECT_NE(output("extern \"C\" __global__ void k(float* c) { *c = nowhere; }\n")
                .find("k.cu(1): error: identifier \"nowhere\" is undefined"),
            std::string::npos);
}

TEST_F(CudaBuild, NamesAndHeadersOfCComeWithAdvice) {
  const auto build_of = [&](const std::string& value, const std::string& line = "", const std::string& extra = "") {
    return output(line + "\nextern \"C\" __global__ void k(float* c) { *c = " + value + "; }\n", extra, "1");
  };
  for (const auto& [value, include] :
       {std::pair{"INFINITY", "<cuda/std/cmath>"}, std::pair{"NAN", "<cuda/std/cmath>"},
        std::pair{"(uint8_t)1", "<cuda/std/cstdint>"}, std::pair{"INT_MAX", "<cuda/std/climits>"}}) {
    const std::string refused = build_of(value);
    EXPECT_TRUE(has(refused, "\" is undefined; NVRTC has no headers of C and C++: include CUDA's, such as")) << refused;
    EXPECT_TRUE(has(refused, include)) << refused;
    EXPECT_TRUE(has(build_of(value, std::string("#include ") + include), "built specs: 1"));
  }
  EXPECT_TRUE(has(build_of("1", "#include <cstdint>"), "\"cstdint\"; NVRTC has no headers"));
  EXPECT_TRUE(has(build_of("std::max(1, 2)"), "\"max\"; NVRTC has no headers"));
  EXPECT_TRUE(has(build_of("FLT_MAX"), "undefined; NVRTC has no headers of C: include <cuda/std/limits>"));
  EXPECT_TRUE(has(build_of("cuda::std::numeric_limits<float>::max()", "#include <cuda/std/limits>"), "built specs: 1"));
  EXPECT_TRUE(has(build_of("1", "", ", build: {flags: [-DT=1]}"), "; a macro hides a name in NVRTC's own header"));
  EXPECT_FALSE(has(build_of("1", "#include \"mine.cuh\""), "NVRTC has no"));
  EXPECT_TRUE(has(build_of("VEC"), "\"VEC\" is undefined; if the tuning file is to define VEC, add it to 'params:'"));
}

TEST_F(CudaBuild, AMissingKernelIsNamed) {
  EXPECT_NE(
      output("__global__ void k(float* c) { *c = 0; }\n").find("k.cu has no kernel 'k': define it as extern \"C\""),
      std::string::npos);
}

TEST_F(CudaBuild, TooMuchStaticSharedMemoryIsTheReason) {
  const std::string source =
      "extern \"C\" __global__ void k(float* c) {\n  __shared__ float s[TILE * 65536];\n"
      "  s[threadIdx.x] = *c; __syncthreads(); *c = s[threadIdx.x ^ 1]; }\n";
  const std::string out = output(source);
  EXPECT_TRUE(
      has(out,
          "failed: 2\n      2  build, reported: ptxas error: Entry function 'k' uses too much shared data (262144 "
          "bytes, 232448 max)\n         log: "))
      << out;
}

TEST_F(CudaBuild, TheAssemblersErrorsAreReasonsToo) {
  EXPECT_TRUE(has(output("extern __device__ float elsewhere(float);\n"
                         "extern \"C\" __global__ void k(float* c) { *c = elsewhere(TILE); }\n"),
                  "      2  build, reported: ptxas fatal: Unresolved extern function 'elsewhere(float)'\n"));
  EXPECT_TRUE(
      has(output("extern \"C\" __global__ void k(float* c) { asm volatile(\"foo.bar %0;\" :: \"r\"(TILE)); }\n"),
          "error: Unknown modifier '.bar'\n"));
}

/// Kernels with parameters of several sizes, and with limits.
class CudaLaunch : public CudaBuild {
 protected:
  /// The output of building a kernel that declares 4096 bytes of shared memory and takes at most 128 threads.
  std::string launched(const std::string& args, const std::string& block = "32", const std::string& shared = "0",
                       std::vector<std::string> options = {"--arch", "sm_90a"}) {
    sandbox_.write(
        "k.cu",
        "extern \"C\" __global__ void __launch_bounds__(128) k(const float* A, float* C, int m, long long n, "
        "double x) {\n  __shared__ float q[1024]; q[threadIdx.x] = A[m + TILE]; __syncthreads();\n"
        "  C[n] = q[threadIdx.x ^ 1] + x; }\n");
    sandbox_.write("k.yaml",
                   "{name: k, file: k.cu, kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {TILE: [1, 2]}, "
                   "launch: {grid: [1], block: [" +
                       block + "], shared: " + shared + ", args: [" + args + "]}}\n");
    options.insert(options.begin(), {"k.yaml", "--build-only"});
    const Result result = sandbox_.tune(options);
    return result.out + result.err;
  }
};

constexpr const char* kRight = "A, C, m, {i64: n}, {f64: 1}";

TEST_F(CudaLaunch, WhatFitsIsListedWithItsResources) {
  const std::string out = launched(kRight);
  EXPECT_TRUE(std::regex_match(
      out, std::regex(" mesh_idx +name +registers +spills +shared +dynamic +occupancy %\n"
                      "        0 TILE=1 +[0-9]+ +0 +4096 +0 +50\n        1 TILE=2 +[0-9]+ +0 +4096 +0 +50\n"
                      "Number of valid built specs: 2 \\(out of 2\\)\n")))
      << out;
}

TEST_F(CudaLaunch, ArgumentsAreCountedAndMeasured) {
  const std::string misfit = "      2  load, reported: args do not fit the parameters of kernel 'k': ";
  EXPECT_TRUE(has(launched("A, C, m, {i64: n}"), misfit + "the kernel has 5 parameters, args has 4 entries\n"));
  EXPECT_TRUE(has(launched("A, C, m, n, {f64: 1}"),
                  misfit + "parameter 4 of the kernel is 8 bytes, the entry of args is 4 bytes n\n"));
  EXPECT_TRUE(has(launched("A, C, 3000000000, {i64: n}, {f64: 1}"),
                  "      2  start, reported: args: 3000000000 does not fit an int; write {i64: ...}\n"));
}

TEST_F(CudaLaunch, ABlockMustFitTheKernelAndTheDevice) {
  EXPECT_TRUE(has(launched(kRight, "96*TILE"),
                  "      1  load, reported: a block of k has more threads than the kernel was built for\n"
                  "         192 threads; its __launch_bounds__ allow 128\n"));
  // 228 KiB are allowed in all, of which the source declares 4.
  EXPECT_TRUE(has(launched(kRight, "32", "230000"),
                  "      2  load, reported: a block of k needs too much shared memory\n         234096 bytes, of which "
                  "the source declares 4096 and launch.shared asks for 230000; sm_90a allows 232448\n"));
  EXPECT_TRUE(has(launched(kRight, "32", "100000", {"--device-file", "rtx4090"}),
                  "asks for 100000; NVIDIA GeForce RTX 4090 allows 101376\n"));
  EXPECT_TRUE(has(launched(kRight, "32", "100000", {"--device-file", "h100"}), "specs: 2 (out of 2)\n"));
}

TEST_F(CudaLaunch, ADryRunForADeviceBuildsTheFirstSpecToCheckIt) {
  launched(kRight);
  const Result right = sandbox_.tune({"k.yaml", "--dry-run", "--device-file", "a100"});
  EXPECT_TRUE(std::regex_search(right.out, std::regex("        0 TILE=1  [0-9]+ registers, 0 spills, 4096 bytes "
                                                      "shared, occupancy 50 %\n        1 TILE=2\n")))
      << right.out << right.err;
  launched("A, C, m, n, {f64: 1}");
  EXPECT_TRUE(has(sandbox_.tune({"k.yaml", "--dry-run", "--arch", "sm_80"}).out,
                  "failed: 1\n      1  load, reported: args do not fit the parameters of kernel 'k': parameter 4"));
}

TEST_F(CudaLaunch, OnATerminalFiguresTakeTheRoomThatThereIs) {
  launched(kRight);
  const auto shown_on = [&](unsigned short columns, const char* what) {
    InTerminal run(sandbox_, {"k.yaml", what, "--device-file", "a100"}, columns);
    return std::regex_replace(run.text(), std::regex("\r"), "");
  };
  EXPECT_TRUE(
      std::regex_search(shown_on(60, "--dry-run"),
                        std::regex("^ mesh_idx TILE\n        0 1  [0-9]+ registers, 0 spills, 4096 bytes shared\n")));
  EXPECT_TRUE(std::regex_search(shown_on(40, "--dry-run"), std::regex("        0 1  [0-9]+ registers, 0 spills\n")));
  EXPECT_TRUE(std::regex_search(shown_on(60, "--build-only"),
                                std::regex("^ mesh_idx TILE  registers  spills  shared  occupancy %\n")));
}

TEST_F(CudaLaunch, AReferenceKernelIsCheckedLikeTheKernel) {
  sandbox_.write("copy.cu", "extern \"C\" __global__ void copy(const float* x, float* y) { *y = *x * BM; }\n");
  sandbox_.write("copy.yaml", R"(name: copy
file: copy.cu
kernel: copy
problem:
  custom:
    buffers: [{name: x, type: f32, count: 1}, {name: y, type: f32, count: 1, role: out}]
    reference: {kernel: copy, grid: [1], block: [1], args: [x]}
params: {BM: [1, 2]}
launch: {grid: [1], block: [1], args: [x, y]}
)");
  for (const char* command : {"--build-only", "--dry-run"}) {
    const Result result = sandbox_.tune({"copy.yaml", command, "--arch", "sm_90a"});
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_TRUE(result.err.ends_with(
        "tune: error: reference kernel 'copy' cannot be launched: args do not fit the parameters of kernel "
        "'copy': the kernel has 2 parameters, args has 1 entry\n"
        "tune: error: the kernel:   8 bytes,   8 bytes\n"
        "tune: error: args:         8 bytes x  -\n"))
        << result.err;
  }
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
}  // namespace tune::cli::cuda_build_test
