// Groups of rows that are multiplied by a matrix each: right kernels are right in every launch, and each mistake is
// found.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "checking/compare_result.h"
#include "checking/inputs.h"
#include "checking/reference.h"
#include "checking/rotated_inputs.h"
#include "cpu/vendor_blas.h"
#include "kernels/groups_faults.h"
#include "support/cpu_fixture.h"

namespace tune::groups_test {
namespace {

using enum GroupsFault;

/// The first and the last group, and two neighbours, have no rows, and one group has one.
const std::vector<int> kRows = {0, 37, 1, 0, 0, 64, 8, 90, 0};

struct Case {
  GroupsFault fault = kNone;
  std::vector<int> rows = kRows;
  std::int64_t n = 40, k = 48;
  Type type = Type::f32;  ///< e4m3: with the scales of DeepSeek-V3
  double beta = 0;
  int max_rows = 0;
  bool any_padding = false;
};

Gemm gemm_of(const Case& each) {
  Gemm gemm;
  gemm.group_offsets = {0};
  for (const int rows : each.rows) gemm.group_offsets.push_back(gemm.group_offsets.back() + rows);
  gemm.m = gemm.group_offsets.back();
  gemm.n = each.n;
  gemm.k = each.k;
  gemm.a = gemm.b = each.type;
  gemm.c = gemm.acc = each.type == Type::e4m3 ? Type::f32 : each.type;
  if (each.type == Type::e4m3) {
    gemm.scale_a = Scale::of_128;
    gemm.scale_b = Scale::of_128x128;
  }
  gemm.max_rows = each.max_rows;
  gemm.any_padding = each.any_padding;
  gemm.layout_b = Layout::col;
  gemm.beta = each.beta;
  return worker::resolved(gemm);
}

std::string name(const Case& each) {
  std::string text = "fault " + std::to_string(static_cast<int>(each.fault)) + ", rows";
  for (const int rows : each.rows) text += " " + std::to_string(rows);
  return text + " of " + std::to_string(each.max_rows) + ", n " + std::to_string(each.n) + ", k " +
         std::to_string(each.k) + " " + std::string(to_text(each.type));
}

class GroupsTest : public MistakesFixture {
 protected:
  /// What becomes of a kernel with this mistake, or of that of the repository.
  std::string outcome(const Case& each, bool of_repository = false) {
    const Gemm gemm = gemm_of(each);
    wire::BuildRequest build_request;
    build_request.source = of_repository ? TUNE_SOURCE_DIR "/demo/gemm_grouped.cpp" : kernel_file("groups.cpp");
    build_request.flags = {"-O1", "-fopenmp"};
    const std::string type = std::string(to_text(each.type));
    build_request.defines = {
        {"type_a_" + type, "1"}, {"type_b_" + type, "1"}, {"type_c_" + std::string(to_text(gemm.c)), "1"}};
    for (const char* scale : {"scale_a", "scale_b"})
      for (const std::string& macro : scale_macros(gemm, scale)) build_request.defines.push_back({macro, "1"});
    for (const std::string& macro : group_macros(gemm)) build_request.defines.push_back({macro, "1"});
    for (const auto& [name, value] :
         {std::pair("MR", "2"), {"NR", "8"}, {"MC", "6"}, {"NC", "24"}, {"KC", "20"}, {"VL", "4"}})
      build_request.defines.push_back({name, value});
    build_request.problem = gemm;
    wire::KernelLaunch launch;
    launch.kernel = "gemm";
    for (const char* buffer : {"A", "B", "C"}) launch.args.push_back(buffer_arg(buffer));
    const auto add_sizes = [&](std::initializer_list<std::int64_t> sizes) {
      for (const std::int64_t size : sizes) launch.args.push_back(scalar_arg(size));
    };
    const bool scaled = each.type == Type::e4m3;
    const std::int64_t ld_a = gemm.scales_of_a().depth_stride, ld_b = gemm.scales_of_b().line_stride;
    const char* const list = gemm.max_rows > 0 ? "group_rows" : "group_offsets";
    if (of_repository) {
      add_sizes({gemm.m, gemm.n, gemm.k, 2, ld_a, ld_b, gemm.groups(), gemm.max_rows});
      if (scaled) launch.args.insert(launch.args.end(), {buffer_arg("scale_a"), buffer_arg("scale_b")});
      launch.args.push_back(buffer_arg(list));
    } else {
      add_sizes({gemm.rows(), gemm.n, gemm.k, static_cast<int>(each.fault)});
      launch.args.push_back(buffer_arg(list));
      add_sizes({gemm.groups(), gemm.max_rows});
      if (scaled)
        launch.args.insert(launch.args.end(),
                           {buffer_arg("scale_a"), scalar_arg(ld_a), buffer_arg("scale_b"), scalar_arg(ld_b)});
    }
    return outcome_of(std::move(build_request), std::move(launch));
  }
};

TEST_F(GroupsTest, RightKernelsAreRight) {
  for (const std::vector<int>& rows : {kRows, {5}, {0, 0, 70}, {70, 0}, {1, 1, 1, 1}, std::vector<int>(300, 1)})
    for (const Type type : {Type::f32, Type::f64})
      for (const auto& [n, k] : {std::pair(40, 48), {1, 7}, {33, 1}}) {
        const Case each{kNone, rows, n, k, type};
        EXPECT_EQ(outcome(each), "right") << name(each);
      }
}

TEST_F(GroupsTest, TheKernelOfTheRepositoryIsRight) {
  for (const std::vector<int>& rows : {kRows, {5}, {0, 0, 70}, {70, 0}, {1, 1, 1, 1}})
    for (const auto& [n, k] : {std::pair(40, 48), {1, 7}, {131, 50}}) {
      const Case each{kNone, rows, n, k};
      EXPECT_EQ(outcome(each, true), "right") << name(each);
    }
}

/// Both forms, of which the second has room for some more rows than the largest group has.
TEST_F(GroupsTest, KernelsWithScalesAndWithRoomForMoreRowsAreRight) {
  for (const bool of_repository : {false, true})
    for (const Type type : {Type::f32, Type::e4m3})
      for (const int max_rows : {0, 90, 100})
        for (const auto& [n, k] : {std::pair(40, 48), {131, 300}}) {
          Case each{kNone, kRows, n, k, type};
          each.max_rows = max_rows;
          EXPECT_EQ(outcome(each, of_repository), "right") << name(each);
        }
}

TEST_F(GroupsTest, WhatIsWrittenBehindTheRowsOfAGroupIsFound) {
  Case each{kWholeTiles, kRows, 40, 48, Type::f32, 0, 100};
  EXPECT_EQ(outcome(each), "padding of C was overwritten at element 5480") << "37 rows of the second group";
  each.any_padding = true;
  EXPECT_EQ(outcome(each), "right");
  each = {kEmptyGroupWritten, kRows, 40, 48, Type::f32, 0, 100};
  EXPECT_EQ(outcome(each), "padding of C was overwritten at element 0");
  each.any_padding = true;
  EXPECT_EQ(outcome(each), "right");
}

TEST_F(GroupsTest, EveryMistakeWithRoomForMoreRowsIsFound) {
  for (const Type type : {Type::f32, Type::e4m3})
    for (const GroupsFault fault :
         {kNextB, kFirstBAlways, kEmptyGroupsNotCounted, kFirstProductAlways, kFirstAAlways}) {
      const Case each{fault, kRows, 40, 48, type, 0, 100};
      EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
    }
  for (const GroupsFault fault : {kLastRowMissing, kLastGroupMissing}) {
    const Case each{fault, kRows, 40, 48, Type::f32, 0, 100};
    EXPECT_EQ(outcome(each), "C was not fully written") << name(each);
  }
  EXPECT_EQ(outcome({kListWritten, kRows, 40, 48, Type::f32, 0, 100}), "input group_rows was overwritten at element 8");
}

TEST_F(GroupsTest, EveryMistakeWithScalesIsFound) {
  for (const int max_rows : {0, 100})
    for (const GroupsFault fault : {kScalesOfRowInGroup, kNextScalesOfB, kNextB, kFirstBAlways}) {
      const Case each{fault, kRows, 40, 300, Type::e4m3, 0, max_rows};
      EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
    }
}

TEST_F(GroupsTest, EveryMistakeIsFound) {
  for (const Type type : {Type::f32, Type::f64})
    for (const GroupsFault fault : {kWholeTiles, kEmptyGroupWritten, kNextB, kFirstBAlways, kOneBInATile, kEvenGroups,
                                    kEmptyGroupsNotCounted, kFirstProductAlways, kFirstAAlways}) {
      const Case each{fault, kRows, 40, 48, type};
      EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
    }
  for (const GroupsFault fault : {kLastRowMissing, kLastGroupMissing})
    EXPECT_EQ(outcome({fault}), "C was not fully written") << name({fault});
  EXPECT_EQ(outcome({kListWritten}), "input group_offsets was overwritten at element 8");
}

/// A sum of 16384 products, of which those with the wrong matrix are few: one row of one group.
TEST_F(GroupsTest, InLongSumsOneRowShows) {
  const Case each{kWholeTiles, {15, 17}, 8, 16384};
  EXPECT_EQ(outcome(each), "wrong result in C");
  EXPECT_EQ(outcome({kNone, each.rows, each.n, each.k}), "right");
}

TEST_F(GroupsTest, RowsAreRotatedWithinTheirGroup) {
  const Gemm gemm = gemm_of({});
  std::vector<float> original(static_cast<std::size_t>(gemm.m * gemm.k)), rotated(original.size());
  for (std::size_t i = 0; i < original.size(); ++i) original[i] = static_cast<float>(i);
  const worker::RotatedView view = worker::rotated_view(gemm, worker::kNumberOfA, {50, 3, 0});
  worker::copy_rotated(sizeof(float), view, original.data(), rotated.data());
  const auto row_at = [&](std::int64_t row) {
    return static_cast<std::int64_t>(rotated[static_cast<std::size_t>(row * gemm.k)]) / gemm.k;
  };
  for (std::int64_t group = 0; group < gemm.groups(); ++group) {
    const std::int64_t first = gemm.group_offsets[static_cast<std::size_t>(group)],
                       end = gemm.group_offsets[static_cast<std::size_t>(group) + 1];
    for (std::int64_t row = first; row < end; ++row) EXPECT_EQ(row_at(row), first + (row - first + 50) % (end - first));
  }
  EXPECT_TRUE(worker::equals_rotated(sizeof(float), view, original.data(), rotated.data()));
}

/// The traffic is that of matrices which some row is multiplied by.
TEST_F(GroupsTest, OnlyMatricesOfGroupsWithRowsAreRead) {
  const Gemm gemm = gemm_of({});
  EXPECT_EQ(gemm.bytes(), 4 * (200 * 48 + 5 * 40 * 48 + 200 * 40));
  EXPECT_EQ(gemm.flops(), 2 * 200 * 40 * 48);
}

/// Beside the reference, OpenBLAS multiplies each group, also with a factor and what C held before.
TEST_F(GroupsTest, TheVendorsLibraryMultipliesEachGroup) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    Gemm gemm = gemm_of({kNone, kRows, 40, 48, Type::f64, 0.5});
    gemm.layout_b = layout;
    gemm.ldb = gemm.stride_b = 0;
    gemm.alpha = 2;
    gemm = worker::resolved(gemm);
    const std::vector<double> values = worker::compute_reference(gemm, 3);
    const worker::GemmReference reference(gemm, values, 3);
    std::vector<std::vector<double>> buffers;
    for (std::size_t i = 0; i < 3; ++i) {
      buffers.emplace_back(static_cast<std::size_t>(worker::buffers_of(gemm)[i].count));
      worker::fill(worker::content_of(gemm, i, 3), buffers[i].data(), static_cast<std::int64_t>(buffers[i].size()));
    }
    worker::VendorGemm(gemm, buffers[0].data(), buffers[1].data(), buffers[2].data()).launch();
    EXPECT_EQ(worker::compare_gemm(gemm, buffers[2].data(), reference, worker::Poison::nan).wrong, 0);
  }
}

}  // namespace
}  // namespace tune::groups_test
