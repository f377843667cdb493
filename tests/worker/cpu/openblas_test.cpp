#include <gtest/gtest.h>

#include "cpu/vendor_blas.h"

namespace tune::openblas_test {
namespace {

const std::set<std::string> kSse = {"sse2", "avx"};
const std::set<std::string> kAvx2 = {"sse2", "avx", "avx2", "fma"};
const std::set<std::string> kAvx512 = {"sse2",     "avx",      "avx2",     "fma",     "avx512f",
                                       "avx512cd", "avx512bw", "avx512dq", "avx512vl"};
const std::set<std::string> kAll = {"SkylakeX", "Haswell"};

std::string advice(const worker::OpenBlas& library, const std::set<std::string>& features) {
  return worker::openblas_advice(library, features).value_or("");
}

TEST(OpenBlas, OldKernelsOnANewerCpuAreSaidWithTheRemedy) {
  EXPECT_EQ(advice({"Prescott", true, kAll}, kAvx512),
            "OpenBLAS ran its kernels for Prescott, which leave this CPU's AVX2 and AVX-512 unused: it can be faster; "
            "set OPENBLAS_CORETYPE=SkylakeX and repeat the command");
  EXPECT_EQ(advice({"Sandybridge", true, kAll}, kAvx2),
            "OpenBLAS ran its kernels for Sandybridge, which leave this CPU's AVX2 unused: it can be faster; "
            "set OPENBLAS_CORETYPE=Haswell and repeat the command");
  EXPECT_EQ(advice({"Zen", true, kAll}, kAvx512),
            "OpenBLAS ran its kernels for Zen, which leave this CPU's AVX-512 unused: it can be faster; "
            "set OPENBLAS_CORETYPE=SkylakeX and repeat the command");
}

TEST(OpenBlas, OnlyKernelsThatItHasAreRecommended) {
  EXPECT_EQ(advice({"Nehalem", true, {"Haswell"}}, kAvx512),
            "OpenBLAS ran its kernels for Nehalem, which leave this CPU's AVX2 unused: it can be faster; "
            "set OPENBLAS_CORETYPE=Haswell and repeat the command");
  EXPECT_EQ(advice({"Haswell", true, {"Haswell"}}, kAvx512), "");
  EXPECT_EQ(advice({"Prescott", true, {}}, kAvx512), "");
}

TEST(OpenBlas, ThatCannotChooseIsToBeReplaced) {
  EXPECT_EQ(advice({"HASWELL", false, {}}, kAvx512),
            "this OpenBLAS was built for HASWELL alone and leaves the CPU's AVX-512 unused: others can be faster; "
            "install one that is built with DYNAMIC_ARCH");
}

TEST(OpenBlas, NothingIsSaidOfKernelsThatFitTheCpu) {
  EXPECT_EQ(advice({"Prescott", true, kAll}, kSse), "");
  EXPECT_EQ(advice({"Haswell", true, kAll}, kAvx2), "");
  EXPECT_EQ(advice({"SkylakeX", true, kAll}, kAvx512), "");
  EXPECT_EQ(advice({"SkylakeX", true, kAll}, kAvx2), "");
}

TEST(OpenBlas, WhatIsNotKnownIsNotJudged) {
  EXPECT_EQ(advice({"Cooperlake", true, kAll}, kAvx512), "");
  EXPECT_EQ(advice({"", true, kAll}, kAvx512), "");
  EXPECT_EQ(advice({"Prescott", true, kAll}, {}), "");
}

// Knights Landing has AVX-512, but not what the kernels for SkylakeX need of it.
TEST(OpenBlas, APartOfAvx512IsNotEnough) {
  std::set<std::string> features = kAvx512;
  features.erase("avx512vl");
  EXPECT_EQ(advice({"Haswell", true, kAll}, features), "");
}

}  // namespace
}  // namespace tune::openblas_test
