// Products of fp8 matrices with scales: right kernels are right in every launch, and each mistake is found.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checking/inputs.h"
#include "checking/rotated_inputs.h"
#include "kernels/scales_faults.h"
#include "support/cpu_fixture.h"

namespace tune::scales_test {
namespace {

using enum ScalesFault;

struct Case {
  Scale a, b;
  ScalesFault fault = kNone;
  std::int64_t m = 20, n = 300, k = 400;  ///< the last blocks are no whole ones
  Type type = Type::e4m3, c = Type::bf16;
};

Gemm gemm_of(const Case& each) {
  Gemm gemm;
  gemm.m = each.m;
  gemm.n = each.n;
  gemm.k = each.k;
  gemm.a = gemm.b = each.type;
  gemm.c = each.c;
  gemm.layout_b = Layout::col;
  gemm.scale_a = each.a;
  gemm.scale_b = each.b;
  return worker::resolved(gemm);
}

std::string name(const Case& each) {
  const Gemm gemm = gemm_of(each);
  return std::string(scale_text(gemm, "scale_a")) + " by " + std::string(scale_text(gemm, "scale_b")) + " " +
         std::to_string(each.m) + "x" + std::to_string(each.n) + "x" + std::to_string(each.k) + " " +
         std::string(to_text(each.c)) + " fault " + std::to_string(static_cast<int>(each.fault));
}

class ScalesTest : public MistakesFixture {
 protected:
  /// What becomes of a kernel with this mistake, or of that of the repository.
  std::string outcome(const Case& each, bool of_repository = false) {
    const Gemm gemm = gemm_of(each);
    wire::BuildRequest build_request;
    build_request.source = of_repository ? TUNE_SOURCE_DIR "/demo/gemm_grouped.cpp" : kernel_file("scales.cpp");
    build_request.flags = {"-O1", "-fopenmp"};
    build_request.defines = {{"type_a_" + std::string(to_text(each.type)), "1"},
                             {"type_b_" + std::string(to_text(each.type)), "1"},
                             {"type_c_" + std::string(to_text(each.c)), "1"}};
    for (const auto& [name, value] :
         {std::pair("MR", "2"), {"NR", "8"}, {"MC", "6"}, {"NC", "72"}, {"KC", "52"}, {"VL", "4"}})
      build_request.defines.push_back({name, value});
    build_request.problem = gemm;
    wire::KernelLaunch launch;
    launch.kernel = "gemm";
    for (const char* buffer : {"A", "B", "C"}) launch.args.push_back(buffer_arg(buffer));
    for (const std::int64_t size : {gemm.m, gemm.n, gemm.k}) launch.args.push_back(scalar_arg(size));
    launch.args.push_back(scalar_arg(of_repository ? 2 : static_cast<int>(each.fault)));  // threads, or the mistake
    std::vector<wire::Arg> scales, distances;
    for (const auto& [scale, grid] : {std::pair("scale_a", gemm.scales_of_a()), {"scale_b", gemm.scales_of_b()}}) {
      for (const std::string& macro : scale_macros(gemm, scale)) build_request.defines.push_back({macro, "1"});
      if (grid.extent() == 0) continue;
      scales.push_back(buffer_arg(scale));
      distances.push_back(scalar_arg(std::max(grid.line_stride, grid.depth_stride)));
    }
    if (of_repository) {  // without groups
      distances.insert(distances.end(), {scalar_arg(0), scalar_arg(0)});
      launch.args.insert(launch.args.end(), distances.begin(), distances.end());
      launch.args.insert(launch.args.end(), scales.begin(), scales.end());
    } else {
      for (std::size_t i = 0; i < scales.size(); ++i) launch.args.insert(launch.args.end(), {scales[i], distances[i]});
    }
    return outcome_of(std::move(build_request), std::move(launch));
  }
};

TEST_F(ScalesTest, RightKernelsAreRight) {
  using enum Scale;
  for (const auto& [a, b] : {std::pair(tensor, tensor),
                             {line, line},
                             {of_128, of_128x128},
                             {of_128x128, of_128},
                             {of_128, of_128},
                             {of_128x128, of_128x128},
                             {line, none},
                             {none, of_128x128}}) {
    Case each{a, b};
    EXPECT_EQ(outcome(each), "right") << name(each);
  }
  const Case blocks{of_128, of_128x128};
  for (const auto& [m, n, k] : {std::tuple(16, 256, 512), {1, 128, 128}, {3, 5, 7}, {130, 129, 640}}) {
    Case each = blocks;
    std::tie(each.m, each.n, each.k) = std::tie(m, n, k);
    EXPECT_EQ(outcome(each), "right") << name(each);
    each.type = Type::e5m2;
    each.c = Type::f32;
    EXPECT_EQ(outcome(each), "right") << name(each);
  }
}

TEST_F(ScalesTest, TheKernelOfTheRepositoryIsRight) {
  using enum Scale;
  for (const auto& [a, b] : {std::pair(tensor, line), {line, tensor}, {of_128, of_128x128}, {of_128x128, of_128}})
    for (const Type type : {Type::e4m3, Type::e5m2}) {
      const Case each{a, b, kNone, 17, 300, 403, type, type == Type::e4m3 ? Type::bf16 : Type::f32};
      EXPECT_EQ(outcome(each, true), "right") << name(each);
    }
}

TEST_F(ScalesTest, EveryMistakeIsFound) {
  using enum Scale;
  std::vector<Case> faults;
  for (const ScalesFault fault : {kNoScaleOfA, kNoScaleOfB, kDivided})
    for (const auto& [a, b] : {std::pair(tensor, tensor), {line, line}, {of_128, of_128x128}, {of_128x128, of_128}})
      faults.push_back({a, b, fault});
  for (const ScalesFault fault : {kExchanged, kNextRow, kNextColumn}) faults.push_back({line, line, fault});
  for (const ScalesFault fault : {kNextRow, kNextBlock, kFirstBlockAlways, kOneScaleOfBInATile, kLastBlockOfKUnscaled,
                                  kLastColumnsLikeThoseBefore, kOtherOrderOfA})
    faults.push_back({of_128, of_128x128, fault});
  faults.push_back({of_128, of_128x128, kUnpaddedB, 20, 300, 640});
  for (const ScalesFault fault : {kNextBlock, kFirstBlockAlways, kLastBlockOfKUnscaled})
    faults.push_back({of_128x128, of_128, fault});
  faults.push_back({of_128x128, of_128, kNextColumn});
  faults.push_back({line, line, kRoundedBefore, 64, 300, 128});
  faults.push_back({of_128, of_128x128, kRoundedBefore, 20, 300, 400, Type::e4m3, Type::f32});
  for (const Case& each : faults) EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
}

/// What is kept of the first launch is wrong in later ones, whatever is left over of whole blocks. There are several of
/// them, as one in 32 moves nothing where only 32 blocks can.
TEST_F(ScalesTest, WhatIsKeptIsFound) {
  using enum Scale;
  rules_.max_seconds = 0.3;
  for (const Case& each : {Case{of_128x128, of_128x128, kFirstProductAlways, 200, 200, 400},
                           {of_128x128, of_128x128, kFirstProductAlways, 300, 2112, 40},
                           {of_128, of_128x128, kFirstProductAlways, 1, 33000, 128},
                           {of_128, of_128x128, kFirstBAlways, 64, 700, 900}})
    EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
}

/// DeepSeek's longest sums are of 16384 and 18432 products: one wrong scale of 128 of them shows still.
TEST_F(ScalesTest, InLongSumsOneBlockShows) {
  for (const ScalesFault fault : {kLastBlockOfKUnscaled, kNextRow, kNextBlock}) {
    Case each{Scale::of_128, Scale::of_128x128, fault, 4, 64, 18448};
    EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
    each.fault = kNone;
    EXPECT_EQ(outcome(each), "right") << name(each);
  }
}

/// None is near 1, so that one that is left out shows, and neighbours in memory differ.
TEST_F(ScalesTest, NeighboursDifferAndNoneIsNearOne) {
  const Gemm gemm = gemm_of({Scale::of_128, Scale::of_128x128, kNone, 64, 512, 1024});
  for (const std::size_t buffer : {worker::number_of_scale_a(gemm), worker::number_of_scale_b(gemm)}) {
    const std::int64_t count = worker::buffers_of(gemm)[buffer].count;
    std::vector<double> scales(static_cast<std::size_t>(count));
    worker::generate(worker::content_of(gemm, buffer, 7), 0, count, scales.data());
    for (std::size_t i = 0; i < scales.size(); ++i) {
      EXPECT_GE(scales[i], 0.5);
      EXPECT_LT(scales[i], 2);
      EXPECT_GT(std::max(scales[i], 1 / scales[i]), 1.06);
      const double before = i > 0 ? scales[i - 1] : 0.01;
      EXPECT_GT(std::max(scales[i] / before, before / scales[i]), 1.19);
    }
  }
}

/// What shares a scale stays together; the last block, if it is no whole one, stays where it is.
TEST_F(ScalesTest, RotationsKeepBlocksTogether) {
  const auto largest = [](const Case& each) {
    return worker::draw_rotation(gemm_of(each), [](std::int64_t n) { return n - 1; });
  };
  using enum Scale;
  EXPECT_EQ(largest({of_128, of_128x128, kNone, 20, 512, 384}), (worker::Rotation{19, 384, 256}));
  EXPECT_EQ(largest({of_128, of_128x128, kNone, 20, 300, 400}), (worker::Rotation{19, 128, 256}));
  EXPECT_EQ(largest({of_128, of_128x128, kNone, 20, 200, 200}), (worker::Rotation{19, 127, 127})) << "within the block";
  EXPECT_EQ(largest({of_128x128, of_128, kNone, 256, 300, 384}), (worker::Rotation{128, 299, 256}));
  EXPECT_EQ(largest({line, line, kNone, 20, 300, 400}), (worker::Rotation{19, 299, 399}));
  EXPECT_EQ(largest({tensor, tensor, kNone, 20, 300, 400}), (worker::Rotation{19, 299, 399}));
  EXPECT_EQ(largest({of_128x128, of_128x128, kNone, 20, 100, 128}), (worker::Rotation{19, 99, 127}));
}

TEST_F(ScalesTest, TheyLieAsCublasltHasThem) {
  const Gemm gemm = gemm_of({Scale::of_128, Scale::of_128x128, kNone, 20, 300, 640});
  EXPECT_EQ(gemm.scales_of_a().extent(), 5 * 20);
  EXPECT_EQ(gemm.scales_of_b().extent(), 3 * 8);
  EXPECT_EQ(gemm.bytes(), 20 * 640 + 640 * 300 + 2 * 20 * 300 + 4 * (5 * 20 + 5 * 3));
  EXPECT_EQ(gemm_of({Scale::line, Scale::tensor}).scales_of_a().extent(), 20);
  EXPECT_EQ(gemm_of({Scale::line, Scale::tensor}).scales_of_b().extent(), 1);
}

}  // namespace
}  // namespace tune::scales_test
