#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_custom_test {
namespace {

using Words = std::vector<std::string>;

/// A custom problem in C++: copies, scaled by FACTOR; PLAIN and TWICE are references of the same file.
class CustomResume : public testing::Test {
 protected:
  void write(const std::string& reference, const std::string& extra = "") const {
    sandbox_.write("copy.cpp", R"(
extern "C" void absent();
extern "C" void abort();
extern "C" void plain(const float* in, float* out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i]; }
extern "C" void crash(const float*, float*, int) { abort(); }
extern "C" void twice(const float* in, float* out, int n) { for (int i = 0; i < n; ++i) out[i] = 2 * in[i]; }
extern "C" void infinite(const float* in, float* out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] / (i - 7); }
volatile float sink;
extern "C" void beyond(const float* in, float* out, int n) { plain(in, out, n); sink = in[n + 8]; }
extern "C" void copy(const float* in, float* out, int n) {
  if (BREAK) absent();
  for (int i = 0; i < n; i += STEP) for (int j = i; j < i + STEP && j < n; ++j) out[j] = in[j];
}
)");
    sandbox_.write("copy.yaml", R"(name: copy
file: copy.cpp
kernel: copy
problem:
  custom:
    sizes: {n: 1000}
    buffers: [{name: in, type: f32, count: n}, {name: out, type: f32, count: n, role: out}]
    flops: n
    bytes: 8*n
    reference: {kernel: )" + reference +
                                    R"(, args: [in, out, n]}
params: {BREAK: 0, STEP: [1, 8]}
launch: {args: [in, out, n]}
measure: {max_seconds: 0.01}
)" + extra);
  }
  /// In place of a reference kernel.
  void trust_spec() const {
    write("plain");
    std::string file = sandbox_.read("copy.yaml");
    file.replace(file.find("{kernel: plain, args: [in, out, n]}"), 35, "{spec: {BREAK: 0, STEP: 1}}");
    sandbox_.write("copy.yaml", file);
  }
  void change_source(const std::string& from, const std::string& to) const {
    std::string source = sandbox_.read("copy.cpp");
    sandbox_.write("copy.cpp", source.replace(source.find(from), from.size(), to));
  }
  Result tune(Words more = {}) const {
    more.insert(more.begin(), {"copy.yaml", "--output", "best"});
    return sandbox_.tune(more);
  }
  Sandbox sandbox_;
};

TEST_F(CustomResume, AnotherReferenceChecksAgain) {
  write("plain");
  EXPECT_EQ(tune().code, 0);
  write("twice");
  const Result result = tune();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "wrong result in out"));
}

TEST_F(CustomResume, AKernelThatKeepsItsFirstResultCannotWin) {
  write("plain");
  change_source("  for (int i = 0; i < n; i += STEP)", R"(  static float kept[1000];
  static bool is_kept = false;
  if (STEP == 8 && is_kept) {
    for (int i = 0; i < n; ++i) out[i] = kept[i];
    return;
  }
  for (int i = 0; i < n; i += STEP))");
  change_source("out[j] = in[j]", "kept[j] = out[j] = in[j], is_kept = true");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "      1  check, reported: wrong result in")) << "the sweep finds it: " << result.out;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n")) << result.out;
  const Result compared = tune({"--tune", "--compare"});
  EXPECT_EQ(compared.code, 3);
  EXPECT_TRUE(has(compared.out, "compared with the reference: 2 specs: 1 right, 1 wrong\n")) << compared.out;
  EXPECT_TRUE(has(sandbox_.tune({"show", "--failed"}).out, "failed: 1 of 2\n"));
}

/// A spec works in the sweep of the first run, and is wrong in the finals of the second.
class WrongInTheFinals : public CustomResume {
 protected:
  void sweep_and_spoil(const std::string& which) const {
    write("plain");
    const std::string flag = (sandbox_.folder() / "spoilt").string();
    change_source("extern \"C\" void copy", "int absent(const char*, int) asm(\"access\");\nextern \"C\" void copy");
    change_source("if (BREAK) absent();",
                  "if ((" + which + ") && absent(\"" + flag + "\", 0) == 0) { out[0] = -7; return; }");
    EXPECT_EQ(tune({"--kt-cache", "cache.json"}).code, 0);
    sandbox_.write("spoilt", "");
  }
  /// What is shown of spec `i` in the browser, up to its end.
  std::string on_page(const std::string& i) const {
    sandbox_.tune({"report", "best.jsonl", "-o", "page.html"});
    const std::string page = sandbox_.read("page.html");
    const auto at = page.rfind("\"idx\":" + i + ",");
    return page.substr(at, page.find('}', at) - at);
  }
};

TEST_F(WrongInTheFinals, HasFailedWhereverItIsShown) {
  sweep_and_spoil("STEP == 8");
  EXPECT_TRUE(has(on_page("1"), "\"seconds\":"));
  const Result result = tune({"--tune", "--kt-cache", "cache.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "note: spec 1 failed in the finals, although the sweep found it right: out was"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n")) << result.out;
  EXPECT_TRUE(has(on_page("1"), "\"reason\":"));
  const std::string cache = sandbox_.read("cache.json");
  EXPECT_TRUE(has(cache.substr(cache.rfind("\"0,8\": ")), "RuntimeFailedConfig")) << cache;
}

TEST_F(WrongInTheFinals, LeavesNoSpecThatWorks) {
  sweep_and_spoil("STEP > 0");
  std::filesystem::copy(sandbox_.folder() / "best.jsonl", sandbox_.folder() / "old.jsonl");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(result.out.starts_with("FAIL: there is no winner: all specs failed in the finals, ")) << result.out;
  EXPECT_TRUE(has(sandbox_.tune({"diff", "old.jsonl", "best.jsonl"}).out, "fails now"));
  EXPECT_EQ(on_page("0").find("\"seconds\":"), std::string::npos) << on_page("0");
}

TEST_F(CustomResume, AReferenceThatCannotBeLaunchedIsNamed) {
  write("plain");
  std::string file = sandbox_.read("copy.yaml");
  sandbox_.write("copy.yaml", file.replace(file.find("args: [in, out, n]"), 18, "args: [in, out, n//(n-n)]"));
  const std::string why = "reference kernel 'plain' cannot be launched: cannot evaluate reference.args: division";
  for (const char* preview : {"--dry-run", "--build-only"}) {
    const Result result = tune({preview});
    EXPECT_EQ(result.code, 2) << preview;
    EXPECT_TRUE(has(result.err, "copy.yaml: " + why)) << preview << result.err;
  }
  const Result tuned = tune({"--tune"});
  EXPECT_EQ(tuned.code, 1) << tuned.err;
  EXPECT_TRUE(has(tuned.out, why)) << tuned.out << tuned.err;
  EXPECT_FALSE(has(tuned.out, "launch.")) << tuned.out;
}

TEST_F(CustomResume, AReferenceThatCannotBeBuiltIsOneLine) {
  write("absent");
  const Result result = tune();
  EXPECT_EQ(result.code, 2);
  const auto at = result.err.find("tune: error: ");
  ASSERT_NE(at, std::string::npos) << result.err;
  EXPECT_EQ(result.err.substr(at),
            "tune: error: reference kernel 'absent' cannot be built: args do not fit the parameters of kernel "
            "'absent': the kernel has 0 parameters, args has 3 entries\n");
}

TEST_F(CustomResume, AReferenceThatCrashesIsNamed) {
  write("crash");
  const Result result = tune();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "reference kernel 'crash', built like this spec, failed: killed by signal 6"))
      << result.out;
}

TEST_F(CustomResume, ATrustedSpecThatCrashesIsNamed) {
  trust_spec();
  change_source("if (BREAK) absent", "if (STEP == 1) abort");
  const Result result = tune();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err,
                  "tune: error: reference.spec BREAK=0 STEP=1 failed: killed by signal 6 (aborted); mend it, or choose "
                  "another\n"))
      << result.err;
}

TEST_F(CustomResume, ATrustedSpecThatNoOtherAgreesWithIsDoubted) {
  trust_spec();
  EXPECT_FALSE(has(tune({"--tune"}).out, "reference.spec"));
  change_source("out[j] = in[j]", "out[j] = in[j] + (STEP == 1)");
  EXPECT_TRUE(has(tune({"--tune"}).out, "note: no other spec has the results of reference.spec BREAK=0 STEP=1"));
}

TEST_F(CustomResume, ATrustedSpecThatOneAgreesWithIsNotDoubted) {
  trust_spec();
  change_source("out[j] = in[j]", "out[j] = in[j] + (STEP == 16)");
  const Result result = tune({"--tune", "--param", "STEP:[1,8,16]", "--filter", "STEP=8", "--filter", "STEP=16"});
  EXPECT_TRUE(has(result.out, "1 of 2 measured\n")) << result.out << result.err;
  EXPECT_FALSE(has(result.out, "no other spec has the results"));
}

TEST_F(CustomResume, AReferenceThatReadsBeyondABufferIsFoundByAStrictCheck) {
  write("beyond");
  EXPECT_EQ(tune().code, 0);
  const Result result = tune({"--check", "strict"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out,
                  "reference kernel 'beyond', built like this spec, failed: segmentation fault: the kernel "
                  "read past the end of in, at byte +32"))
      << result.out;
}

TEST_F(CustomResume, AReferenceThatIsInfiniteMakesNoResultRight) {
  write("infinite");
  const Result result = tune();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(
      has(result.out, "failed: it has inf as out[7], and no result can be compared with that; it must write all"))
      << result.out;
}

TEST_F(CustomResume, RulesOverBuildsApplyToWhatIsRecorded) {
  write("plain");
  EXPECT_TRUE(has(tune().out, "Number of valid specs: 2\n"));
  write("plain", "prune_after_build: [code < 1]\n");
  EXPECT_TRUE(has(tune().out, "Number of valid specs: 2\n0 of 2 measured\n"));
  write("plain", "prune_after_build: [code < 1000000]\n");
  EXPECT_TRUE(has(tune().out, "Number of valid specs: 2\n"));
}

TEST_F(CustomResume, ASpecThatCannotBeLoadedDoesNotTakeTheReferenceWithIt) {
  write("plain");
  const Result result = tune({"--param", "BREAK:[1, 0]"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 4\n2 of 4 measured\n"));
  EXPECT_TRUE(has(result.out, "failed: 2\n"));
}

TEST_F(CustomResume, AnObjectiveThatCannotBeMeasuredIsRefusedAtOnce) {
  write("plain", "objective: gflops_per_watt\n");
  sandbox_.environment["TUNE_SYSFS"] = sandbox_.folder().string();
  const Result result = tune();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "tune: error: copy.yaml: objective gflops_per_watt needs the energy of a launch, and "));
  EXPECT_TRUE(has(result.err, "there are no energy counters (RAPL) in "));
}

}  // namespace
}  // namespace tune::cli::cli_custom_test
