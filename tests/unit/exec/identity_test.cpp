// Pins what trials and builds are known by: a hash that changes here makes users measure again what their journals
// hold. exec/identity.h says what is to be done where that is meant.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/request/request_factory.h"
#include "support/tuning_folder.h"

namespace tune::identity_test {
namespace {

constexpr const char* kGemm = R"(
name: gemm
file: a.cu
kernel: gemm
problem: {gemm: {m: 256, n: 128, k: 64, batch: 2, a: bf16, c: f32, layout: {b: col}, alpha: 1.5, beta: 0.25}}
params: {BM: [64, 128], PAIR: [[1, 2]], FAST: [true], KIND: [row], $SPLIT_K: [1, 2]}
let: {TILES: m // BM}
build: {flags: [-O3, "-DQUOTED=\"x\\y\""], defines: [type_a, layout_b, m]}
measure: {warmup: 3, min_launches: 5, max_seconds: 0.3}
launch:
  - {grid: [TILES, 1], block: [32], shared: 4*BM, workspace: 16, args: [A, B, C, {i64: m}, {f32: alpha}, workspace]}
  - {kernel: reduce, if: SPLIT_K > 1, grid: [1], block: [32], args: [workspace, C]}
)";

constexpr const char* kHopper = R"(
name: gemm
file: a.cu
kernel: gemm
problem: {gemm: {m: 256, n: 256, k: 64, a: e4m3, fast_accum: true}}
params: {BM: 64, CLUSTER: [[2, 1], [1, 2]]}
launch:
  - grid: [m//BM, 1]
    block: 128
    cluster: CLUSTER
    workspace: {bytes: m*4, zero: true}
    args: [{tma: A, box: [64, BM], swizzle: 128, l2: 256}, B, C, {f64: 0.5}, workspace, alpha, beta]
    c_init: zero
)";

constexpr const char* kBiased = R"(
name: biased
file: a.cpp
kernel: gemm
problem: {gemm: {m: 8, n: 8, k: 8, bias: row, init: hpl}}
params: {T: [1, 2]}
measure: {cold_cache: false}
launch: {args: [A, B, C, m, n, k, bias]}
)";

constexpr const char* kFinished = R"(
name: finished
file: a.cu
kernel: gemm
problem: {gemm: {m: 8, n: 8, k: 8}}
params: {T: [1, 2]}
build: {defines: [epilogue]}
launch: {grid: [1], block: [32], args: [A, B, C, {optional: bias}, {optional: residual}]}
)";

constexpr const char* kCustom = R"(
name: stencil
file: a.cu
kernel: step
problem:
  custom:
    sizes: {w: 8}
    flops: 3e20 * w
    bytes: w / 3
    tolerance: 1e-5
    buffers:
      - {name: in, type: f32, count: w, init: iota}
      - {name: out, type: f32, count: w, role: out}
    reference: {kernel: plain, grid: [w], block: [1], args: [in, out]}
params: {$P: [1, 2]}
launch: {grid: [1], block: [32], args: [in, out, P], workspace: {bytes: 4*w, zero: true}, repeat: {times: P, from: in, to: out, through: workspace}}
)";

constexpr const char* kProgram = R"(
name: bench
file: bench.py
params: {X: [1, 2], NAME: ["a b"]}
run: ["python3", "{file}", "{args}", "\u00e9\t\"\u0001"]
)";

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() {
    for (const char* name : {"CXX", "CC", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "HIPCC_COMPILE_FLAGS_APPEND",
                             "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "NVIDIA_TF32_OVERRIDE"})
      ::unsetenv(name);
    for (const char* file : {"a.cu", "a.cpp", "bench.py"}) folder_.write(file, "// the source\n");
  }

  void read(const std::string& text) { plan_ = load_text(folder_, text).plan; }

  exec::RequestFactory requests() const {
    wire::Hello hello;
    hello.backend = plan_.backend();
    hello.compiler = "compiler 1.2";
    hello.vendor_library = "libvendor.so.3";
    hello.device.name = "card";
    hello.device.driver = "driver 4";
    hello.device.arch = plan_.backend() == Backend::cpu ? "native" : "arch_5";
    return exec::RequestFactory(plan_, hello, 7);
  }
  Spec spec(std::int64_t mesh_idx) const { return std::get<Spec>(plan_.space.at(mesh_idx)); }

  TuningFolder folder_;
  Plan plan_;
};

TEST_F(IdentityTest, OfAGemmIsWhatItWas) {
  read(kGemm);
  plan_.measure.energy = MeasureRules::Energy::always;
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.build_key(spec(0)), "7f1707b0217eb1055febf57096aec41b");
  EXPECT_EQ(requests.trial_id(spec(0)), "02dec3f7798b2c7d450ffd80a0517131");
  EXPECT_EQ(requests.trial_id(spec(1)), "f65f04b3a38059aa6fb7c7285cfe26b9");
  EXPECT_EQ(requests.vendor_id(), "1547157fe4ee90b65586454594aaa88b");
}

TEST_F(IdentityTest, OfAKernelWithTensorMapsIsWhatItWas) {
  read(kHopper);
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.build_key(spec(1)), "bd3367c7c01f56c56a192cac994b5601");
  EXPECT_EQ(requests.trial_id(spec(1)), "c8dd2fe6ea7405dadfb2617412a1b774");
}

TEST_F(IdentityTest, OfAGpuKernelInSustainedIsWhatItWas) {
  read(kHopper);
  plan_.measure.state = PowerState::sustained;
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.build_key(spec(1)), "bd3367c7c01f56c56a192cac994b5601");
  EXPECT_EQ(requests.trial_id(spec(1)), "2eaac4c30d2c26bf79c3102802f55970");
}

TEST_F(IdentityTest, OfARestrictedCpuKernelIsWhatItWas) {
  read(kBiased);
  plan_.measure.strict = true;
  plan_.measure.memory_bytes = 1 << 30;
  plan_.measure.state = PowerState::sustained;
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.build_key(spec(1)), "d23de5082bc518c14013fe4e27ddbfe9");
  EXPECT_EQ(requests.trial_id(spec(1)), "e3b8e9e3ca1cb854e68f624daba5cda3");
}

TEST_F(IdentityTest, OfAPlainProductDoesNotKnowOfEpilogues) {
  const auto without = [](std::string text, const std::string& part) {
    return text.erase(text.find(part), part.size());
  };
  std::string plain = without(kFinished, ", {optional: bias}, {optional: residual}");
  plain = without(plain, "build: {defines: [epilogue]}\n");
  read(plain);
  const std::string build = requests().build_key(spec(1)), trial = requests().trial_id(spec(1));
  read(kFinished);
  EXPECT_EQ(requests().build_key(spec(1)), build);
  EXPECT_EQ(requests().trial_id(spec(1)), trial);
}

TEST_F(IdentityTest, EachEpilogueAndTheResidualHasItsOwn) {
  std::set<std::string> builds, trials;
  const std::vector<std::string> problems = {"",
                                             ", epilogue: relu",
                                             ", epilogue: gelu_tanh",
                                             ", epilogue: gelu_erf",
                                             ", epilogue: silu",
                                             ", epilogue: swiglu",
                                             ", residual: true",
                                             ", epilogue: silu, residual: true",
                                             ", epilogue: silu, bias: row"};
  for (const std::string& more : problems) {
    std::string text = kFinished;
    read(text.insert(text.find("k: 8") + 4, more));
    builds.insert(requests().build_key(spec(0)));
    trials.insert(requests().trial_id(spec(0)));
  }
  EXPECT_EQ(builds.size(), problems.size());
  EXPECT_EQ(trials.size(), problems.size());
}

TEST_F(IdentityTest, EachKindOfScaleHasItsOwn) {
  const std::string scaled = R"(
name: gemm
file: a.cu
kernel: gemm
problem: {gemm: {m: 256, n: 256, k: 256, a: e4m3}}
params: {P: [1, 2]}
build: {defines: [scale_a, scale_b]}
launch: {grid: [1], block: [32], args: [A, B, C, {optional: scale_a}, {optional: scale_b}]}
)";
  std::set<std::string> builds, trials;
  const std::vector<std::string> problems = {"",
                                             ", scale_a: tensor",
                                             ", scale_a: row",
                                             ", scale_a: 1x128",
                                             ", scale_a: 128x128",
                                             ", scale_b: tensor",
                                             ", scale_b: col",
                                             ", scale_b: 1x128",
                                             ", scale_a: 1x128, scale_b: 128x128"};
  for (const std::string& more : problems) {
    std::string text = scaled;
    read(text.insert(text.find("e4m3") + 4, more));
    builds.insert(requests().build_key(spec(0)));
    trials.insert(requests().trial_id(spec(0)));
  }
  EXPECT_EQ(builds.size(), problems.size());
  EXPECT_EQ(trials.size(), problems.size());
}

TEST_F(IdentityTest, OtherRowsOfGroupsAreOtherTrialsOfTheSameBuild) {
  const std::string grouped = R"(
name: gemm
file: a.cu
kernel: gemm
problem: {gemm: {n: 256, k: 256}}
params: {P: [1, 2]}
build: {defines: [groups]}
launch: {grid: [1], block: [32], args: [A, B, C, {optional: group_offsets}]}
)";
  std::set<std::string> builds, trials;
  const std::vector<std::string> problems = {", groups: [128, 128]", ", groups: [128, 0, 128]", ", groups: [100, 156]",
                                             ", m: 256, groups: 2, routing: uniform", ", m: 256"};
  for (const std::string& more : problems) {
    std::string text = grouped;
    read(text.insert(text.find("k: 256") + 6, more));
    builds.insert(requests().build_key(spec(0)));
    trials.insert(requests().trial_id(spec(0)));
  }
  EXPECT_EQ(builds.size(), 2u) << "of groups, and of none";
  EXPECT_EQ(trials.size(), problems.size());
}

TEST_F(IdentityTest, OfACustomProblemIsWhatItWas) {
  read(kCustom);
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.build_key(spec(0)), "41aa2707214d604ec45b7920e97f9ce1");
  EXPECT_EQ(requests.reference_build_key(spec(0)), "7e47872a186e0ac5d94a882094973b54");
  EXPECT_EQ(requests.trial_id(spec(1)), "08fff2418b2a3d1e57c7f1d824643c4d");
}

TEST_F(IdentityTest, DependsOnNamesOfInitsAndRolesThatMayNotChange) {
  const std::vector<std::pair<std::string, std::string>> pinned = {
      {"init: uniform", "df58326393e5768e33ce4c3b9cefdfec"},
      {"init: normal", "1c9892b08dd3c0a069cbb22a86233723"},
      {"init: hpl", "c7bbafdd829e91a50a04b2b9ee0f46d0"},
      {"init: trig", "cb8fa55458b196f4c081d2164df064db"},
      {"init: uniform, scale: 1", "df58326393e5768e33ce4c3b9cefdfec"},
      {"init: uniform, scale: 8", "8bd80dff9026a05a61c6da3d2e3728c8"},
      {"init: zeros", "1300e0bee98bf950c7c9fe7556d2f85d"},
      {"role: inout", "c8b28daaf14fb4e1f873a0e23faf8850"}};
  for (const auto& [key, trial] : pinned) {
    std::string text = kCustom;
    read(text.replace(text.find("init: iota"), 10, key));
    EXPECT_EQ(requests().trial_id(spec(1)), trial) << key;
  }
}

TEST_F(IdentityTest, OfAProgramIsWhatItWas) {
  read(kProgram);
  const exec::RequestFactory requests = this->requests();
  EXPECT_EQ(requests.trial_id(spec(1)), "7a0bfb1b68c49f32c349aa3e1079c0d2");
}

}  // namespace
}  // namespace tune::identity_test
