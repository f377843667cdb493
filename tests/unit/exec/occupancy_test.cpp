#include "exec/request/occupancy.h"

#include <gtest/gtest.h>

#include "exec/request/memory.h"

namespace tune::occupancy_test {
namespace {

Device hopper() {
  Device device;
  device.properties = {{"warp_size", std::int64_t{32}},
                       {"max_threads_per_multiprocessor", std::int64_t{2048}},
                       {"max_blocks_per_multiprocessor", std::int64_t{32}},
                       {"max_registers_per_block", std::int64_t{65536}},
                       {"max_shared_per_multiprocessor", std::int64_t{233472}}};
  return device;
}

double of(std::vector<std::int64_t> block, double registers, double shared, std::int64_t dynamic = 0) {
  wire::KernelLaunch launch;
  launch.block = std::move(block);
  launch.shared = dynamic;
  return exec::occupancy({launch}, {{"registers", registers}, {"shared", shared}}, hopper()).value();
}

TEST(Occupancy, RegistersLimitIt) {
  EXPECT_EQ(of({256}, 32, 0), 1);
  EXPECT_EQ(of({256}, 128, 0), 0.25);
  EXPECT_EQ(of({16, 16}, 155, 0), 0.125);
}

TEST(Occupancy, SharedMemoryLimitsItDeclaredOrNot) {
  EXPECT_EQ(of({256}, 32, 48 * 1024), 0.5);
  EXPECT_EQ(of({256}, 32, 0, 48 * 1024), 0.5);
}

TEST(Occupancy, SmallBlocksAreLimitedByTheirNumber) { EXPECT_EQ(of({32}, 16, 0), 0.5); }

TEST(Occupancy, ABlockThatDoesNotFitIsNone) { EXPECT_EQ(of({1024}, 128, 0), 0); }

TEST(Occupancy, IsUnknownWithoutTheDevicesLimits) {
  EXPECT_FALSE(exec::occupancy({wire::KernelLaunch()}, {{"registers", 32}, {"shared", 0}}, Device()).has_value());
  EXPECT_FALSE(exec::occupancy({wire::KernelLaunch()}, {}, hopper()).has_value());
}

double on(const char* arch, std::int64_t block, double registers, std::int64_t shared = 0) {
  wire::KernelLaunch launch;
  launch.block = {block};
  launch.shared = shared;
  Device device;
  device.arch = arch;
  return exec::occupancy({launch}, {{"registers", registers}, {"shared", 0}}, device).value();
}

// What clang 14 prints for a kernel of so many registers, in waves per SIMD.
TEST(Occupancy, IsWhatLlvmSaysOfAmdsRegisters) {
  EXPECT_EQ(on("gfx906", 256, 24), 1);
  EXPECT_EQ(on("gfx908", 256, 25), 0.9);
  EXPECT_EQ(on("gfx908", 256, 65), 0.3);
  EXPECT_EQ(on("gfx908", 256, 129), 0.1);
  EXPECT_EQ(on("gfx90a", 256, 64), 1);
  EXPECT_EQ(on("gfx90a", 256, 65), 0.875);
  EXPECT_EQ(on("gfx90a", 256, 84), 0.625);
  EXPECT_EQ(on("gfx90a", 256, 256), 0.25);
}

TEST(Occupancy, OfLaterDevicesIsThatOfTheirPredecessor) {
  EXPECT_EQ(on("gfx942", 256, 84), on("gfx90a", 256, 84));
  EXPECT_EQ(on("gfx950", 256, 84), on("gfx90a", 256, 84));
}

TEST(Occupancy, TuringReservesNoSharedMemory) {
  Device device = hopper();
  device.properties["compute_capability"] = std::int64_t{75};
  wire::KernelLaunch launch;
  launch.block = {64};
  EXPECT_EQ(exec::occupancy({launch}, {{"registers", 32}, {"shared", 0}}, device), 1);
  launch.shared = 233472 / 4;
  EXPECT_EQ(exec::occupancy({launch}, {{"registers", 32}, {"shared", 0}}, device), 0.125);
}

TEST(Occupancy, OnAmdsDevicesLdsAndGroupsLimitIt) {
  EXPECT_EQ(on("gfx90a", 256, 32, 16384), 0.5);
  EXPECT_EQ(on("gfx90a", 256, 32, 16385), 0.375);
  EXPECT_EQ(on("gfx950", 256, 32, 40960), 0.5);
  EXPECT_EQ(on("gfx950", 256, 32, 40961), 0.375);
  EXPECT_EQ(on("gfx906", 128, 16), 0.8);
  EXPECT_EQ(on("gfx906", 64, 16), 1);
}

TEST(Occupancy, IsUnknownOnOtherArchitecturesOfAmd) {
  Device device = hopper();
  device.arch = "gfx1030";
  EXPECT_FALSE(exec::occupancy({wire::KernelLaunch()}, {{"registers", 32}, {"shared", 0}}, device).has_value());
}

TEST(Memory, ProcessesFitByTheBuffersOfTheProblem) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 16384;
  Device device;
  const auto fitting = [&](auto workspaces) {
    return exec::processes_that_fit(Backend::cuda, gemm, device, workspaces);
  };
  EXPECT_FALSE(fitting(0).has_value());
  device.properties["memory_bytes"] = std::int64_t{24} << 30;
  EXPECT_EQ(fitting(0), 2);
  EXPECT_LT(fitting(1'000'000'000), 2) << "each has its workspace";
  EXPECT_EQ(fitting(std::vector<std::int64_t>{0, 0, 9'000'000'000}), 2);
  EXPECT_EQ(fitting(std::vector<std::int64_t>{9'000'000'000, 0, 0}), 1);
  device.properties["memory_bytes"] = std::int64_t{1} << 30;
  EXPECT_EQ(fitting(0), 1) << "one is tried anyhow";
  gemm.m = gemm.n = gemm.k = 128;
  device.properties["memory_bytes"] = std::int64_t{24} << 30;
  EXPECT_GT(fitting(0), 24);
}

TEST(Memory, OnTheCpuThereIsNoContextAndAProgramKnowsItself) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 8;
  Device device;
  device.properties["memory_bytes"] = std::int64_t{4} << 30;
  EXPECT_LT(exec::processes_that_fit(Backend::hip, gemm, device), 12);
  EXPECT_GT(exec::processes_that_fit(Backend::cpu, gemm, device), 1000);
  gemm.m = gemm.n = gemm.k = 40000;
  EXPECT_EQ(exec::processes_that_fit(Backend::cpu, gemm, device), 1);
  EXPECT_FALSE(exec::processes_that_fit(Backend::program, gemm, device).has_value());
  EXPECT_FALSE(exec::processes_that_fit(Backend::program, gemm, device, std::vector<std::int64_t>{0, 0}).has_value());
}

}  // namespace
}  // namespace tune::occupancy_test
