// What a build tells: the compiler's reason where it failed, the table and the file of --build-only, and what is known
// of devices that are not here.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_build_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Build : public testing::Test {
 protected:
  /// A kernel for an NVIDIA device that takes `shared` bytes by an expression of S.
  void write_cuda(const std::string& shared) const {
    sandbox_.write("k.cu", "extern \"C\" __global__ void k(float* c) { *c = S; }\n");
    sandbox_.write("k.yaml",
                   "{name: k, file: k.cu, kernel: k, backend: cuda, problem: {gemm: {m: 16, n: 16, k: 16}}, params: "
                   "{S: [1, 2]}, launch: {grid: [1], block: [32], shared: " +
                       shared + ", args: [C]}}\n");
  }
  Result refused(const Words& words) const {
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 2) << result.out << result.err;
    return result;
  }
  /// The file that a failure's line `log: FILE` names.
  std::string named_log(const std::string& out) const {
    std::smatch match;
    if (!std::regex_search(out, match, std::regex("         log: (\\S+)\n"))) return "no log is named in " + out;
    return sandbox_.read(match[1].str());
  }

  Sandbox sandbox_;
};

const char* const kUndefined = "int elsewhere(int);\n";

TEST_F(Build, AnUndefinedSymbolIsOneGroupAndEndsTheRun) {
  sandbox_.write_gemm("", "  C[0] = elsewhere(BM);\n");
  sandbox_.write("gemm.cpp", kUndefined + sandbox_.read("gemm.cpp"));
  const Result result =
      sandbox_.tune({"gemm.yaml", "--param", "BM:{range: [1, 30]}", "--jobs", "2", "--output", "out"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "failed: 20\n     20  build, reported: undefined reference to `elsewhere(int)'\n"))
      << result.out;
  EXPECT_TRUE(has(result.out, "note: the first 20 specs all failed alike"));
  EXPECT_TRUE(has(result.out, "         log: out.logs/0.txt\n")) << result.out;
  EXPECT_TRUE(has(named_log(result.out), "collect2: error: ld returned 1 exit status\n"));
}

TEST_F(Build, AProgramsLinkerSaysWhatIsMissing) {
  sandbox_.write("p.cpp", std::string(kUndefined) + "int main() { return elsewhere(T); }\n");
  sandbox_.write("p.yaml", "name: p\nfile: p.cpp\nparams: {T: {range: [1, 30]}}\n");
  const Result result = sandbox_.tune({"p.yaml", "--jobs", "2"});
  EXPECT_TRUE(has(result.out,
                  "     20  build, reported: the build ended with exit code 1: undefined reference to "
                  "`elsewhere(int)'\n"))
      << result.out;
  EXPECT_TRUE(has(named_log(result.out), "collect2: error: ld returned 1 exit status\n"));
}

TEST_F(Build, ErrorsThatDifferInNumbersAloneAreOneGroup) {
  sandbox_.write_gemm("", "  static int a[-BM]; C[0] = a[0];\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--build-only"});
  EXPECT_TRUE(has(result.out, "failed: 4\n      4  build, reported: gemm.cpp:")) << result.out;
}

TEST_F(Build, TheLogIsTheKeptOneWhereThereIsOne) {
  sandbox_.write_gemm("", "#if BM == 2\n#error two\n#endif\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--keep", "kept"});
  EXPECT_TRUE(has(result.out, "         log: kept/1/log.txt\n")) << result.out;
  EXPECT_TRUE(has(result.out, "\nkept: 4 folders such as kept/")) << result.out;
  EXPECT_TRUE(has(named_log(result.out), "#error two"));
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--keep", "kept", "--spec", "1"}).out, "\nkept: kept/1\n"));
  sandbox_.write_gemm();
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--keep", "none", "--spec", "0"}).out,
                  "\nkept: nothing, because no spec failed\n"));
}

TEST_F(Build, ALaterRunThatOnlyKnowsTheFailureNamesTheSameLog) {
  sandbox_.write_gemm("", "#if BM == 2\n#error two\n#endif\n");
  const std::string first = named_log(sandbox_.tune({"gemm.yaml", "--output", "out"}).out);
  EXPECT_EQ(named_log(sandbox_.tune({"gemm.yaml", "--output", "out"}).out), first);
  EXPECT_TRUE(has(first, "#error two"));
}

TEST_F(Build, BuildOnlyListsWhatItBuilt) {
  sandbox_.write_gemm("constraints:\n  - BM != 8  # too large\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--build-only", "--output", "out/built"});
  EXPECT_TRUE(std::regex_match(result.out, std::regex(" mesh_idx +name +code +stack\n"
                                                      "        0 BM=1 +[0-9]+ +[0-9]+\n"
                                                      "        1 BM=2 +[0-9]+ +[0-9]+\n"
                                                      "        2 BM=4 +[0-9]+ +[0-9]+\n"
                                                      "pruned before the build: 1\n      1  too large\n"
                                                      "Number of valid built specs: 3 \\(out of 3\\)\n")))
      << result.out;
  const std::string csv = sandbox_.read("out/built.csv");
  EXPECT_TRUE(has(csv,
                  "mesh_idx,name,status,BM,registers,spills,shared,dynamic,occupancy,code,stack,stage,cause,reason\n"
                  "0,gemm,built,1,,,,,,"))
      << csv;
  EXPECT_TRUE(has(csv, "\n3,gemm,pruned,8,,,,,,,,,,too large\n")) << csv;
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "out/built.jsonl"));
}

TEST_F(Build, BuildOnlyKeepsWhatWasBuilt) {
  sandbox_.write_gemm("", "#if BM == 2\n#error two\n#endif\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--build-only", "--keep", "kept", "--max-evals", "2"});
  EXPECT_TRUE(has(result.out, "kept: 2 folders such as kept/0\n")) << result.out;
  EXPECT_TRUE(has(sandbox_.read("kept/0/kernel.so"), "ELF"));
  EXPECT_EQ(sandbox_.read("kept/0/gemm.cpp"), sandbox_.read("gemm.cpp"));
  EXPECT_TRUE(has(sandbox_.read("kept/1/log.txt"), "#error two"));
}

/// A tuning file for the kernel `copy` in copy.cpp, whose reference is this kernel there.
std::string copy_with_reference(const std::string& kernel) {
  return R"(name: copy
file: copy.cpp
kernel: copy
problem:
  custom:
    buffers: [{name: x, type: f32, count: 1}, {name: y, type: f32, count: 1, role: out}]
    reference: {kernel: )" +
         kernel + R"(, args: [x, y]}
params: {BM: [1, 2]}
launch: {args: [x, y]}
)";
}

TEST_F(Build, AReferenceThatCannotBeBuiltIsAnError) {
  sandbox_.write("copy.cpp", "extern \"C\" void copy(const float* x, float* y) { *y = *x * BM; }\n");
  sandbox_.write("copy.yaml", copy_with_reference("elsewhere"));
  const Result result = refused({"copy.yaml", "--build-only"});
  EXPECT_TRUE(has(result.out, "Number of valid built specs: 2 (out of 2)\n")) << result.out;
  EXPECT_EQ(result.err,
            "warning: copy.yaml: there is no function 'elsewhere' in copy.cpp, which reference names\n"
            "tune: error: reference kernel 'elsewhere' cannot be built: kernel 'elsewhere' is not declared in "
            "copy.cpp\n");
}

TEST_F(Build, AnErrorOfTheSpecAndTheReferenceIsSaidOnce) {
  sandbox_.write("copy.cpp", "extern \"C\" void copy(const float* x, float* y) { *y = *x * BM * VEC; }\n");
  sandbox_.write("copy.yaml", copy_with_reference("copy"));
  const Result result = refused({"copy.yaml", "--build-only"});
  EXPECT_TRUE(
      has(result.out,
          "'VEC' was not declared in this scope; if the tuning file is to define VEC, add it to 'params:', such "
          "as VEC: [1, 2], or to 'build: {defines: [...]}' if it is a size\n"))
      << result.out;
  EXPECT_EQ(result.err, "tune: error: reference kernel 'copy' cannot be built either: it has the error of spec 0\n");
}

TEST_F(Build, KnownDevicesHaveNames) {
  write_cuda("100000*S");
  for (const auto& [name, limit] :
       {std::pair("a100", "A100-SXM4-80GB allows 166912"), std::pair("RTX4090", "GeForce RTX 4090 allows 101376")}) {
    const Result result = sandbox_.tune({"k.yaml", "--dry-run", "--device-file", name});
    EXPECT_TRUE(has(result.out, "      1  launch.shared of k: NVIDIA " + std::string(limit) + " bytes\n"))
        << result.out << result.err;
  }
  for (const char* name : {"h100", "h200"})
    EXPECT_TRUE(has(sandbox_.tune({"k.yaml", "--dry-run", "-q", "--device-file", name}).out, "valid specs: 2\n"));
}

TEST_F(Build, EveryDeviceOfTheRepositoryTellsItsLimits) {
  int devices = 0;
  for (const auto& entry : fs::directory_iterator(TUNE_SOURCE_DIR "/configs/devices")) {
    ++devices;
    const std::string name = entry.path().stem();
    const bool amd = name.starts_with("mi");
    sandbox_.write("k.txt", "extern \"C\" __global__ void k(float* c) { *c = S; }\n");
    sandbox_.write(
        "k.yaml",
        "{name: k, file: k.txt, kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {S: [1, 2]}, "
        "launch: {grid: [1], block: [device.warp_size], args: [C]}, constraints: [device.max_shared_per_block "
        ">= 65536 and device.max_threads_per_block == 1024 and device.memory_bandwidth > 10**12 and "
        "device.multiprocessors > 100 and device.clock_hz > 10**9 and device.l2_bytes > 10**6]}\n");
    const Result result =
        sandbox_.tune({"k.yaml", "--dry-run", "-q", "--backend", amd ? "hip" : "cuda", "--device-file", name});
    EXPECT_EQ(result.out, "Number of valid specs: 2\n") << name << result.err;
  }
  EXPECT_EQ(devices, 7);
}

TEST_F(Build, AFileInTheFolderWinsOverAName) {
  sandbox_.write_script("{T: [1, 2, 3]}", "constraints: [T <= device.cores]\n");
  sandbox_.write("h100", "name: small\ndriver: '1'\narch: x\nproperties: {cores: 2}\n");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--dry-run", "-q", "--device-file", "h100"}).out,
            "Number of valid specs: 2\n");
}

TEST_F(Build, AnUnknownDeviceListsTheKnownOnes) {
  write_cuda("S");
  const Result result = refused({"k.yaml", "--dry-run", "--device-file", "h10"});
  EXPECT_TRUE(has(result.err, "tune: error: --device-file h10: there is no file h10, and no device of this name in "));
  EXPECT_TRUE(has(result.err, "known are a100, h100, h200, mi250x, mi300x, mi355x, rtx4090\n")) << result.err;
}

TEST_F(Build, AnArchitectureAloneTellsItsLimitsToADryRun) {
  write_cuda("100000*S");
  EXPECT_TRUE(has(sandbox_.tune({"k.yaml", "--dry-run", "--arch", "sm_80"}).out,
                  "pruned before the build: 1\n      1  launch.shared of k: sm_80 allows 166912 bytes\n"));
  EXPECT_TRUE(has(refused({"k.yaml", "--dry-run", "--arch", "gfx90a"}).err,
                  "tune: error: --arch gfx90a is not for the cuda backend\n"));
  EXPECT_TRUE(has(refused({"k.yaml", "--dry-run", "--arch", "sm_1"}).err,
                  "tune: error: --arch sm_1: the limits of this architecture are not known here; give them with "
                  "--device-file\n"));
}

TEST_F(Build, ADryRunNamesSpecsThatCannotBeLaunched) {
  sandbox_.write("k.cpp", "extern \"C\" void k(float* c, int s) { *c = S * s; }\n");
  sandbox_.write("k.yaml",
                 "{name: k, file: k.cpp, kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {S: [1, 2]}, "
                 "launch: {args: [C, 1//(S-1)]}}\n");
  const Result result = sandbox_.tune({"k.yaml", "--dry-run"});
  EXPECT_EQ(result.out,
            "        0 S=1\n        1 S=2\nfailed: 1\n"
            "      1  start, reported: cannot evaluate launch.args: division by zero at S=1\n"
            "         tune --yaml k.yaml --dry-run --spec 0\nNumber of valid specs: 2\n")
      << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_build_test
