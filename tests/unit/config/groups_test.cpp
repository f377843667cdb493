// Groups of rows in a gemm: what is read, and what is said of mistakes.
#include <gtest/gtest.h>

#include <string>

#include "support/tuning_folder.h"

namespace tune::groups_test {
namespace {

std::string grouped(const std::string& problem, const std::string& args = "A, B, C, group_offsets, groups") {
  return "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [" + args + "]}\nproblem: {gemm: {" +
         problem + "}}\n";
}

class Groups : public testing::Test {
 protected:
  Plan load(const std::string& problem, const config::LoadRules& options = without_kernel_file()) {
    return load_text(folder_, grouped(problem), options).plan;
  }
  Gemm gemm(const std::string& problem, const config::LoadRules& options = without_kernel_file()) {
    return std::get<Gemm>(load(problem, options).problem);
  }
  std::string complaint(const std::string& problem, const config::LoadRules& options = without_kernel_file()) {
    return folder_.complaint([&] { load(problem, options); });
  }

  TuningFolder folder_;
};

TEST_F(Groups, ListedRowsAddUpToM) {
  const Plan plan = load("n: 16, k: 32, layout: {b: col}, groups: [512, 0, 37]");
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.m, 549);
  EXPECT_EQ(gemm.groups(), 3);
  EXPECT_EQ(gemm.group_offsets, (std::vector<std::int32_t>{0, 512, 512, 549}));
  EXPECT_EQ(gemm.stride_b, 16 * 32);
  EXPECT_EQ(to_text(plan.constants.at("m")), "549");
  EXPECT_EQ(to_text(plan.constants.at("groups")), "3");
  EXPECT_EQ(plan.kernel()->launches[0].args[3].buffer, "group_offsets");
  EXPECT_EQ(this->gemm("m: 549, n: 16, k: 32, groups: [512, 0, 37]").m, 549) << "it may be said";
}

TEST_F(Groups, ANumberOfGroupsSharesTheRows) {
  EXPECT_EQ(gemm("m: 10, n: 16, k: 32, groups: 4").group_offsets, (std::vector<std::int32_t>{0, 3, 6, 8, 10}));
  const Gemm skewed = gemm("m: 1000, n: 16, k: 32, groups: 8, routing: zipf 1.20");
  EXPECT_EQ(skewed.routing, "zipf 1.2");
  EXPECT_EQ(skewed.group_offsets.back(), 1000);
}

TEST_F(Groups, TheRoutingAndTheCommandLineDecideAboutRows) {
  const std::string problem = "m: 1000, n: 16, k: 32, groups: 8, routing: uniform";
  config::LoadRules options = without_kernel_file();
  EXPECT_NE(gemm(problem + " seed 7").group_offsets, gemm(problem).group_offsets);
  EXPECT_EQ(gemm(problem + " seed 7").routing, "uniform seed 7");
  EXPECT_EQ(gemm(problem).group_offsets, gemm(problem).group_offsets);
  options.problem = {"routing=even", "groups=4"};
  options.m = 8;
  EXPECT_EQ(gemm(problem, options).group_offsets, (std::vector<std::int32_t>{0, 2, 4, 6, 8}));
}

TEST_F(Groups, WithoutThemTheirNumberIsZeroAndTheArgumentMayBeLeftOut) {
  const Plan plan =
      load_text(folder_, grouped("m: 8, n: 16, k: 32", "A, B, C, {optional: group_offsets}"), without_kernel_file())
          .plan;
  EXPECT_EQ(to_text(plan.constants.at("groups")), "0");
  EXPECT_EQ(plan.kernel()->launches[0].args.size(), 3U);
}

TEST_F(Groups, RowsThatAreNoneAreRefused) {
  EXPECT_EQ(complaint("n: 16, k: 32, groups: [8, -1]"),
            "gemm.yaml:6: a group has -1 rows; write a number from 0 to 2147483647");
  EXPECT_EQ(complaint("n: 16, k: 32, groups: [0, 0]"),
            "gemm.yaml:6: groups lists 2 groups of 0 rows together; there must be 1 to 65536 groups, and 1 to "
            "2147483647 rows");
  EXPECT_EQ(complaint("n: 16, k: 32, groups: []"),
            "gemm.yaml:6: groups lists 0 groups of 0 rows together; there must be 1 to 65536 groups, and 1 to "
            "2147483647 rows");
  EXPECT_EQ(complaint("n: 16, k: 32, groups: [2147483647, 1]"),
            "gemm.yaml:6: groups lists 2 groups of 2147483648 rows together; there must be 1 to 65536 groups, and 1 "
            "to 2147483647 rows");
  EXPECT_EQ(complaint("m: 8, n: 16, k: 32, groups: 0"),
            "gemm.yaml:6: groups is 0; it must be between 1 and 65536, or a list of their rows");
  EXPECT_EQ(complaint("n: 16, k: 32, groups: 4"), "gemm.yaml:6: gemm needs 'm:'");
}

TEST_F(Groups, AnotherNumberOfRowsThanIsListedIsRefused) {
  const std::string listed = "n: 16, k: 32, groups: [512, 0, 37]";
  EXPECT_EQ(complaint("m: 512, " + listed),
            "gemm.yaml:6: m is 512, and the rows that groups lists are 549 together; leave m out, or give groups a "
            "number, among which m rows are drawn");
  config::LoadRules options = without_kernel_file();
  options.m = 600;
  EXPECT_EQ(complaint(listed, options),
            "-m: m is 600, and the rows that groups lists are 549 together; leave m out, or give groups a number, "
            "among which m rows are drawn");
}

TEST_F(Groups, ARoutingIsARuleForANumberOfGroups) {
  EXPECT_EQ(complaint("m: 8, n: 16, k: 32, groups: 4, routing: random"),
            "gemm.yaml:6: routing must be even, uniform or zipf with an exponent above 0 and at most 10, such as zipf "
            "1.2 or uniform seed 7, not 'random'");
  EXPECT_EQ(
      complaint("m: 8, n: 16, k: 32, routing: even"),
      "gemm.yaml:5: launch.args names group_offsets, and the problem has no groups; give it some, such as groups: "
      "8, or write {optional: group_offsets}\n"
      "gemm.yaml:6: routing draws the rows of groups, and there are none; add groups: NUMBER");
  EXPECT_EQ(complaint("n: 16, k: 32, groups: [8, 8], routing: even"),
            "gemm.yaml:6: routing draws the rows of groups, and groups lists them; remove one of both");
}

std::string masked(const std::string& more) { return "n: 16, k: 32, layout: {b: col}, groups: [5, 0, 3], " + more; }

/// A and C have room for so many rows of each group; m are multiplied.
TEST_F(Groups, MayHaveRoomForMoreRows) {
  const Plan plan =
      load_text(folder_, grouped(masked("max_rows: 6"), "A, B, C, group_rows, groups, max_rows"), without_kernel_file())
          .plan;
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.m, 8);
  EXPECT_EQ(gemm.rows(), 18);
  EXPECT_EQ(gemm.stride_a, 18 * 32);
  EXPECT_EQ(gemm.flops(), 2 * 8 * 16 * 32);
  EXPECT_EQ(gemm.bytes(), 4 * (8 * 32 + 2 * 32 * 16 + 8 * 16));
  EXPECT_FALSE(gemm.any_padding);
  EXPECT_EQ(to_text(plan.constants.at("m")), "8");
  EXPECT_EQ(to_text(plan.constants.at("max_rows")), "6");
  EXPECT_EQ(plan.kernel()->launches[0].args[3].buffer, "group_rows");
  EXPECT_EQ(group_macros(gemm), std::vector<std::string>{"groups_masked"});
  const std::string with_padding = grouped(masked("max_rows: 6, padding: any"), "A, group_rows");
  EXPECT_TRUE(std::get<Gemm>(load_text(folder_, with_padding, without_kernel_file()).plan.problem).any_padding);
}

TEST_F(Groups, RoomThatDoesNotSufficeOrHasNoGroupsIsRefused) {
  const auto said = [&](const std::string& problem, const std::string& args) {
    return folder_.complaint([&] { load_text(folder_, grouped(problem, args), without_kernel_file()); });
  };
  const std::string args = "A, {optional: group_rows}, {optional: group_offsets}";
  EXPECT_EQ(
      said(masked("max_rows: 4"), args),
      "gemm.yaml:6: max_rows is 4; it must be between 5, the rows of the largest group, and 715827882, with which "
      "3 groups have 2^31 rows");
  EXPECT_EQ(said("m: 8, n: 16, k: 32, max_rows: 4", args),
            "gemm.yaml:6: max_rows is how many rows each group has room for, and there are no groups; add groups: "
            "NUMBER");
  EXPECT_EQ(said(masked("padding: any"), args),
            "gemm.yaml:6: padding is what lies behind the rows of groups with max_rows; add max_rows");
  EXPECT_EQ(said(masked("max_rows: 6, padding: some"), args),
            "gemm.yaml:6: padding must be one of kept, any, not 'some'");
  EXPECT_EQ(said(masked("max_rows: 6"), "A, group_offsets"),
            "gemm.yaml:5: launch.args names group_offsets, and the problem has max_rows, with which kernels get "
            "group_rows; write that, or write {optional: group_offsets}");
  EXPECT_EQ(said(masked("routing: even"), "A, group_rows").substr(0, 99),
            "gemm.yaml:5: launch.args names group_rows, and the problem has no groups with max_rows; give it som");
  EXPECT_EQ(said(masked("max_rows: 6"), "A"),
            "gemm.yaml:5: the problem has groups with max_rows, and no launch has 'group_rows' among its args: this "
            "kernel knows none");
}

/// Each matrix of B has scales of its own; those of A go with its rows.
TEST_F(Groups, MayHaveScales) {
  const std::string problem =
      "n: 300, k: 400, a: e4m3, layout: {b: col}, groups: [5, 0, 3], scale_a: 1x128, scale_b: 128x128";
  const std::string args = "A, B, C, group_offsets, scale_a, scale_b, ld_scale_a, ld_scale_b";
  const Gemm gemm = std::get<Gemm>(load_text(folder_, grouped(problem, args), without_kernel_file()).plan.problem);
  EXPECT_EQ(gemm.scales_of_a().extent(), 8 * 4);
  EXPECT_EQ(gemm.scales_of_b().matrix_stride(), 3 * 4);
  EXPECT_EQ(gemm.scales_of_b().extent(), 3 * 3 * 4);
  EXPECT_EQ(gemm.bytes(), 8 * 400 + 2 * 400 * 300 + 2 * 8 * 300 + 4 * (8 * 4 + 2 * 3 * 4));
}

TEST_F(Groups, WhatTheyAreNotCombinedWithIsSaid) {
  const std::string some = "m: 8, n: 16, k: 32, groups: 4, ";
  const std::string of_bias = "A, B, C, group_offsets, {optional: bias}, {optional: residual}";
  const auto said = [&](const std::string& more) {
    return folder_.complaint([&] { load_text(folder_, grouped(some + more, of_bias), without_kernel_file()); });
  };
  EXPECT_EQ(said("batch: 2"), "gemm.yaml:6: groups have one A and one C; remove batch or groups");
  EXPECT_EQ(said("bias: row"), "gemm.yaml:6: groups have no bias yet; remove bias or groups");
  EXPECT_EQ(said("epilogue: silu"), "gemm.yaml:6: groups have no epilogue yet; remove epilogue or groups");
  EXPECT_EQ(said("residual: true"), "gemm.yaml:6: groups have no residual yet; remove residual or groups");
  EXPECT_EQ(said("layout: {a: col}"), "gemm.yaml:6: groups are runs of rows of A and C, whose layout must be row");
  EXPECT_EQ(folder_.complaint([&] {
    load_text(folder_, grouped(some + "a: e4m3, scale_a: 128x128", "A, group_offsets, scale_a"), without_kernel_file());
  }),
            "gemm.yaml:6: a group may begin within 128 rows of A, which then have no scale in common; write 1x128");
}

TEST_F(Groups, AKernelThatIsNotToldThemIsRefused) {
  EXPECT_EQ(
      folder_.complaint(
          [&] { load_text(folder_, grouped("m: 8, n: 16, k: 32, groups: 4", "A"), without_kernel_file()); }),
      "gemm.yaml:5: the problem has groups, and no launch has 'group_offsets' among its args: this kernel knows no "
      "groups");
}

}  // namespace
}  // namespace tune::groups_test
