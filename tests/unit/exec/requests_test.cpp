#include <gtest/gtest.h>

#include "exec/request/request_factory.h"
#include "exec/request/spec_launches.h"
#include "support/tuning_folder.h"

namespace tune::requests_test {
namespace {

constexpr const char* kSplit = R"(
name: split
file: a.cu
kernel: gemm
problem: {gemm: {m: 256, n: 256, k: 64, a: bf16, layout: {b: col}}}
params: {BM: 64, $SPLIT_K: [1, 2]}
build: {defines: [type_a, layout_b, m]}
launch:
  - {grid: [1], block: [32], workspace: 16, args: [A, B, C, workspace]}
  - {kernel: reduce, if: SPLIT_K > 1, grid: [1], block: [32], args: [workspace, C]}
)";

class RequestsTest : public testing::Test {
 protected:
  exec::RequestFactory requests() { return exec::RequestFactory(plan_, {}, 0); }
  Spec spec(std::int64_t mesh_idx) const { return std::get<Spec>(plan_.space.at(mesh_idx)); }

  TuningFolder folder_;
  const std::filesystem::path source_ = folder_.write("a.cu", "");
  Plan plan_ = load_text(folder_, kSplit, without_kernel_file()).plan;
};

TEST_F(RequestsTest, ALaunchWhoseIfDoesNotHoldIsLeftOut) {
  EXPECT_EQ(requests().kernel_run(spec(0)).launches.size(), 1u);
  ASSERT_EQ(requests().kernel_run(spec(1)).launches.size(), 2u);
  EXPECT_EQ(requests().kernel_run(spec(1)).launches[1].kernel, "reduce");
}

TEST_F(RequestsTest, SpecsThatShareABuildAskForTheSameKernels) {
  EXPECT_EQ(requests().build_key(spec(0)), requests().build_key(spec(1)));
  EXPECT_EQ(requests().build(spec(0)).launches.size(), requests().build(spec(1)).launches.size());
}

TEST_F(RequestsTest, TypesAndLayoutsOfTheProblemCanBeDefined) {
  std::string text;
  for (const Define& define : requests().build(spec(0)).defines) text += define.name + '=' + define.value + ' ';
  EXPECT_EQ(text, "BM=64 type_a=bf16 type_a_bf16=1 layout_b=col layout_b_col=1 m=256 ");
}

TEST_F(RequestsTest, APowerStateTellsTrialsApart) {
  const std::string burst = requests().trial_id(spec(0));
  plan_.measure.state = PowerState::sustained;
  EXPECT_NE(requests().trial_id(spec(0)), burst);
  EXPECT_EQ(requests().measure(spec(0)).measure.state, PowerState::sustained);
}

TEST_F(RequestsTest, TheGaugesAreReadWhereASpecSetsTheClocks) {
  EXPECT_FALSE(requests().measure(spec(0)).gauges);
  EXPECT_FALSE(requests().vendor(false).gauges);
  const std::string text = std::string(kSplit).replace(std::string(kSplit).find("$SPLIT_K: [1, 2]"), 16,
                                                       "$SPLIT_K: [1, 2], $device.sm_clock: [1200, 1500]");
  plan_ = load_text(folder_, text, without_kernel_file()).plan;
  EXPECT_TRUE(requests().measure(spec(0)).gauges);
  EXPECT_TRUE(requests().vendor(false).gauges);
}

TEST_F(RequestsTest, TheSameArtifactLaunchedInTheSameWayIsTheSameCode) {
  EXPECT_EQ(requests().code_of(spec(0), "a"), requests().code_of(spec(0), "a"));
  EXPECT_NE(requests().code_of(spec(0), "a"), requests().code_of(spec(0), "b"));
  EXPECT_NE(requests().code_of(spec(0), "a"), requests().code_of(spec(1), "a")) << "the second launch";
  EXPECT_EQ(requests().code_of(spec(0), ""), "");
  Spec other = spec(0);
  other.params.push_back({"IDLE", std::int64_t{3}, false});
  EXPECT_EQ(requests().code_of(other, "a"), requests().code_of(spec(0), "a")) << "what reaches no launch";
}

TEST_F(RequestsTest, WhatAVendorsLibraryHeedsTellsItsResultsApart) {
  wire::Hello cpu, cuda;
  cuda.backend = Backend::cuda;
  const auto id = [&](const wire::Hello& hello) { return exec::RequestFactory(plan_, hello, 0).vendor_id(); };
  for (const auto& [hello, name] :
       {std::pair{cpu, "OMP_NUM_THREADS"}, {cpu, "OPENBLAS_CORETYPE"}, {cuda, "NVIDIA_TF32_OVERRIDE"}}) {
    ::unsetenv(name);
    const std::string before = id(hello);
    ::setenv(name, "1", 1);
    const std::string with = id(hello), spec_with = exec::RequestFactory(plan_, hello, 0).trial_id(spec(0));
    ::unsetenv(name);
    EXPECT_NE(with, before) << name;
    EXPECT_EQ(id(hello), before) << name;
    EXPECT_EQ(spec_with, exec::RequestFactory(plan_, hello, 0).trial_id(spec(0))) << name;
  }
}

/// Why a spec cannot be launched, before anything is built; P is 0 and 1.
class Sizes : public testing::Test {
 protected:
  /// An argument in `args` takes the place of both buffers.
  std::string refusal(const std::string& launch, const std::string& more = "", const std::string& args = "[in, out]") {
    const std::string custom =
        "problem: {custom: {sizes: {w: 8}, flops: 1, bytes: 1, reference: {kernel: f, grid: [1], block: [1], args: "
        "[in]}, "
        "buffers: [{name: in, type: f32, count: w}, {name: out, type: f32, count: w, role: out}" +
        more + "]}}\n";
    folder_.write("a.cu", "");
    const Plan plan = load_text(folder_, "name: x\nfile: a.cu\nkernel: f\n" + custom +
                                             "params: {$P: [0, 1]}\nlaunch: {args: " + args + ", " + launch + "}\n")
                          .plan;
    try {
      exec::RequestFactory(plan, {}, 0).build(std::get<Spec>(plan.space.at(0)));
    } catch (const exec::Unlaunchable& error) {
      return error.what();
    }
    return "";
  }

  TuningFolder folder_;
};

TEST_F(Sizes, OfALaunchArePositive) {
  EXPECT_EQ(refusal("grid: [1], block: [32]"), "");
  EXPECT_EQ(refusal("grid: [1, P], block: [32]"), "launch.grid is [1, 0]; it must be at least 1");
  EXPECT_EQ(refusal("grid: [1], block: [32*P]"), "launch.block is 0; it must be at least 1");
  EXPECT_EQ(refusal("grid: [1], block: [32], shared: P-5"), "launch.shared is -5; it must be at least 0");
  EXPECT_EQ(refusal("grid: [1], block: [32], workspace: P-8"), "launch.workspace is -8; it must be at least 0");
  EXPECT_EQ(refusal("grid: [1], block: [32]", "", "[in, out, 3000000000]"),
            "args: 3000000000 does not fit an int; write {i64: ...}");
  EXPECT_EQ(refusal("grid: [1], block: [32]", "", "[in, out, {i64: 3000000000}]"), "");
  EXPECT_EQ(refusal("if: P > 0, grid: [P], block: [32]"), "") << "what is not launched may have none";
}

TEST_F(Sizes, OfATensorMapAreThoseThatExist) {
  const auto of = [this](const std::string& bytes) {
    return refusal("grid: [1], block: [1]", "", "[{tma: in, box: [8], " + bytes + "}, out]");
  };
  EXPECT_EQ(of("swizzle: P*32, l2: 128 if P == 0 else 1"), "");
  EXPECT_EQ(of("swizzle: 16 if P == 0 else 32"),
            "swizzle of the tensor map of in is 16; it must be one of 0, 32, 64, 128");
  EXPECT_EQ(of("l2: P + 512"), "l2 of the tensor map of in is 512; it must be one of 0, 64, 128, 256");
  EXPECT_EQ(of("l2: 1//P"), "cannot evaluate l2 of the tensor map of in: division by zero at P=0");
}

TEST_F(Sizes, OfAChainAreTheSame) {
  const std::string chain = "grid: [1], block: [1], repeat: {times: 2, from: in, to: out, through: ";
  EXPECT_EQ(refusal(chain + "workspace}, workspace: 4*w"), "");
  EXPECT_EQ(refusal(chain + "workspace}, workspace: 4"),
            "launch.repeat goes from in to out through workspace, which must be of the same size, but workspace has 4 "
            "bytes and out 32");
  EXPECT_EQ(
      refusal(chain + "t}", ", {name: t, type: f64, count: w, role: out}"),
      "launch.repeat goes from in to out through t, which must be of the same size, but t has 64 bytes and out 32");
}

}  // namespace
}  // namespace tune::requests_test
