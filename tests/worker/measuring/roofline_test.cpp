#include "measuring/roofline.h"

#include <gtest/gtest.h>

namespace tune::roofline_test {
namespace {

Gemm gemm(std::int64_t size) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = size;
  return gemm;
}

TEST(Roofline, AGemmCannotBeFasterThanThePeak) {
  EXPECT_EQ(worker::faster_than_possible(gemm(1024), 0.0156e-3, 67e12, 0),
            "faster than the device can be: 0.0156 ms would be 138 TFLOP/s, and its peak is below 67 TFLOP/s");
  EXPECT_EQ(worker::faster_than_possible(gemm(1024), 0.04e-3, 67e12, 0), std::nullopt);
}

TEST(Roofline, AGemmCannotBeFasterThanItsBytesAreMoved) {
  Gemm flat = gemm(1024);
  flat.m = 1;
  EXPECT_EQ(worker::faster_than_possible(flat, 1e-6, 67e12, 3.3e12),
            "faster than the device can be: 0.001 ms would be 4.2 TB/s, and its memory's bandwidth is below 3.3 TB/s");
  EXPECT_EQ(worker::faster_than_possible(flat, 2e-6, 67e12, 3.3e12), std::nullopt);
}

TEST(Roofline, WhatIsNotKnownIsNotJudged) {
  EXPECT_EQ(worker::faster_than_possible(gemm(1024), 1e-12, 0, 0), std::nullopt);
  EXPECT_EQ(worker::faster_than_possible(Problem(), 1e-12, 1, 1), std::nullopt);
  EXPECT_EQ(worker::faster_than_possible(Custom(), 1e-12, 1, 1), std::nullopt);
}

TEST(Roofline, ACustomProblemIsJudgedByWhatItDeclares) {
  Custom custom;
  custom.flops = 2e9;
  EXPECT_EQ(worker::faster_than_possible(custom, 1e-3, 1e12, 0),
            "faster than the device can be: 1 ms would be 2 TFLOP/s, and its peak is below 1 TFLOP/s");
  EXPECT_EQ(worker::faster_than_possible(custom, 3e-3, 1e12, 0), std::nullopt);
}

TEST(Roofline, MatricesOfABatchThatOverlapAreMovedOnce) {
  Gemm shared = gemm(64);
  shared.batch = 1000;
  shared.stride_a = shared.stride_b = 1;
  shared.stride_c = 64 * 64;
  const double output = 1000.0 * 64 * 64 * 4;
  EXPECT_EQ(worker::faster_than_possible(shared, 1.1 * output / 1e9, 0, 1e9), std::nullopt);
}

}  // namespace
}  // namespace tune::roofline_test
