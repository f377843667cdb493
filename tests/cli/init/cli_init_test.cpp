// tune init: the tuning files that it writes run as they are, and what it cannot read it says.
#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "platform/files/file.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_init_test {
namespace {

namespace fs = std::filesystem;

class Init : public testing::Test {
 protected:
  std::string copy(const std::string& file) const {
    const fs::path from = fs::path(TUNE_SOURCE_DIR) / file;
    sandbox_.write(from.filename().string(), platform::read_file(from));
    return from.filename().string();
  }

  /// The error of a source that cannot be used.
  std::string refusal(const std::string& name, const std::string& text, std::vector<std::string> options = {}) const {
    sandbox_.write(name, text);
    options.insert(options.begin(), {"init", name});
    const Result result = sandbox_.tune(options);
    EXPECT_EQ(result.code, 2) << result.out << result.err;
    EXPECT_FALSE(fs::exists((sandbox_.folder() / name).replace_extension(".yaml"))) << "nothing is written";
    return result.err;
  }

  static bool lacks_compiler(const std::string& backend, const Result& result) {
    return !fs::exists(fs::path(TUNE_BIN_DIR) / ("tune-worker-" + backend)) ||
           has(result.out + result.err, "no run-time compiler");
  }

  Sandbox sandbox_;
};

TEST_F(Init, WritesAFileThatTunesAKernelForTheCpu) {
  struct Case {
    const char *kernel, *yaml;
    std::vector<std::string> sizes;
  };
  for (const Case& each : {Case{"blur.cpp", "blur.yaml", {"--problem", "height=256", "--problem", "width=256"}},
                           Case{"dot.c", "dot.yaml", {"--problem", "rows=256", "--problem", "cols=256"}},
                           Case{"gemm_blocked.cpp", "gemm_blocked.yaml", {"-m", "64", "-n", "64", "-k", "64"}}}) {
    const Result written = sandbox_.tune({"init", copy(std::string("tests/kernels/init/") + each.kernel)});
    ASSERT_EQ(written.code, 0) << written.out << written.err;
    EXPECT_TRUE(has(written.out, std::string("next: check the guesses in ") + each.yaml + ", then: tune " + each.yaml +
                                     " --tune\n"));
    sandbox_.write(each.yaml, sandbox_.read(each.yaml) + "\nmeasure: {max_seconds: 0.05}\n");
    std::vector<std::string> words = {each.yaml, "--tune", "--quiet", "--max-evals", "3"};
    words.insert(words.end(), each.sizes.begin(), each.sizes.end());
    const Result tuned = sandbox_.tune(words);
    EXPECT_EQ(tuned.code, 0) << tuned.out << tuned.err;
    EXPECT_EQ(tuned.out.find("failed: "), std::string::npos) << tuned.out;
    EXPECT_EQ(tuned.out.find("wrong"), std::string::npos) << tuned.out;
    EXPECT_NE(tuned.out.find("top_spec_idx: "), std::string::npos) << tuned.out;
  }
}

// Those of demo/ have rules of their own that no source tells: their files are read, and list specs.
TEST_F(Init, WritesAFileThatIsReadForEachKernelOfTheDemo) {
  for (const char* kernel : {"gemm_cpu.cpp", "hotspot.cu", "hotspot.cpp", "copy.cu", "gemm_simt.cu", "gemm_mma.cu",
                             "gemm_wgmma.cu", "hopper/hopper.cu", "gemm_mfma.hip"}) {
    const std::string yaml = std::string(fs::path(kernel).filename()) + ".yaml";
    const std::string source = (fs::path(TUNE_SOURCE_DIR) / "demo" / kernel).string();
    sandbox_.tune({"init", source, "-o", yaml});
    const Result listed = sandbox_.tune({yaml, "--dry-run", "--quiet"});
    EXPECT_EQ(listed.code, 0) << kernel << ": " << listed.out << listed.err;
  }
}

TEST_F(Init, BuildsASpecForAGpuThatNeedNotBeHere) {
  const std::string kernel = copy("tests/kernels/init/softmax.cu");
  const Result result = sandbox_.tune({"init", kernel, "--arch", "sm_90"});
  if (lacks_compiler("cuda", result)) GTEST_SKIP() << "no NVRTC: " << result.err;
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(result.out,
                  "softmax.cu: kernel softmax(x, y, rows, cols)\n"
                  "softmax.cu: parameters by macros: BLOCK\n"
                  "softmax.yaml: 1 parameter, 7 guesses to check\n"
                  "Number of valid specs: 5\n"));
  EXPECT_TRUE(has(result.out, "Number of valid built specs: 1 (out of 1)\n"));
}

// Their tiles, their conditions and the arguments of one launch alone are told by the source; the values are guessed.
TEST_F(Init, BuildsASpecOfKernelsWithConditions) {
  int built = 0;
  for (const auto& [kernel, arch, backend] :
       {std::tuple("hopper/hopper.cu", "sm_90a", "cuda"), std::tuple("gemm_simt.hip", "gfx90a", "hip")}) {
    const std::string source = (fs::path(TUNE_SOURCE_DIR) / "demo" / kernel).string();
    const Result result = sandbox_.tune({"init", source, "-o", std::string(arch) + ".yaml", "--arch", arch});
    if (lacks_compiler(backend, result)) continue;
    ++built;
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_TRUE(has(result.out, "Number of valid built specs: 1 (out of 1)\n"));
  }
  if (built == 0) GTEST_SKIP() << "no run-time compiler";
}

TEST_F(Init, NamesTheOtherKernelsThatHaveParameters) {
  sandbox_.write("k.cpp",
                 "extern \"C\" void first(float* x, int n) { for (int i = 0; i < n; i += A) x[i] = 1; }\n"
                 "extern \"C\" void plain(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = 1; }\n"
                 "extern \"C\" void other(float* x, int n) { for (int i = 0; i < n; i += B) x[i] = 1; }\n");
  EXPECT_TRUE(has(sandbox_.tune({"init", "k.cpp"}).out, "\nk.cpp: it also has other; --kernel NAME tunes another\n"));
}

TEST_F(Init, OverwritesNothing) {
  copy("tests/kernels/init/dot.c");
  sandbox_.write("dot.yaml", "mine");
  const Result result = sandbox_.tune({"init", "dot.c"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "tune: error: dot.yaml exists and is not overwritten; name another file with -o, or continue with it: tune "
            "dot.yaml --dry-run\n");
  EXPECT_EQ(sandbox_.read("dot.yaml"), "mine");
}

TEST_F(Init, SaysWhatASourceLacks) {
  EXPECT_EQ(refusal("a.cu", "__global__ void\nk(float* x) {}\n"),
            "tune: error: a.cu:2: write extern \"C\" before 'k', so that it is found by its name\n");
  EXPECT_EQ(refusal("b.cu", "template <int N> __global__ void k(float* x) {}\n")
                .find("tune: error: b.cu:1: 'k' is a template, which has no name to find it by; add an extern \"C\""),
            0u);
  EXPECT_EQ(refusal("c.cu", "void f() {}\n"), "tune: error: c.cu: there is no __global__ function in it\n");
  EXPECT_EQ(refusal("d.cpp", "void k(float* x) {}\n"),
            "tune: error: d.cpp: there is no function that is defined as extern \"C\"; write that before the one to "
            "tune\n");
  EXPECT_EQ(refusal("e.cpp", "extern \"C\" void f(float* x) {}\nextern \"C\" void g(float* x) {}\n", {"--kernel", "h"}),
            "tune: error: e.cpp: there is no kernel 'h'; the file has f, g\n");
  EXPECT_EQ(refusal("f.py", "print(1)\n"), "tune: error: f.py: tune init reads kernels in .cu, .hip and C++ files\n");
  EXPECT_NE(sandbox_.tune({"init", "none.cu"}).err.find("tune: error: none.cu: "), std::string::npos);
}

TEST_F(Init, WritesNoFileWithoutParametersAndSaysWhatCouldBecomeOne) {
  const auto kernel = [](const std::string& step) {
    return "extern \"C\" void k(float* x, int n) {\n  for (int i = 0; i < n; i += " + step + ") x[i] = 1;\n}\n";
  };
  const std::string complaint =
      "tune: error: k.cpp: there is no macro in it that a build could define, so there is nothing to choose from; ";
  EXPECT_EQ(refusal("k.cpp", "#define TILE 16\n" + kernel("TILE")),
            complaint + "candidates, once their definitions are removed or stand behind #ifndef: TILE (line 1)\n");
  EXPECT_EQ(refusal("k.cpp", kernel("16")), complaint + "write a name such as TILE where a number stands today\n");
  sandbox_.write("k.cpp", kernel("TILE"));
  EXPECT_EQ(sandbox_.tune({"init", "k.cpp"}).code, 0) << "what was refused before left no file";
}

}  // namespace
}  // namespace tune::cli::cli_init_test
