#include "gpu/cuda/ptxas_log.h"

#include <gtest/gtest.h>

namespace tune::ptxas_log_test {
namespace {

constexpr const char* kLog = R"(gemm.cu(3): warning #177-D: variable "x" was declared but never referenced

ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
ptxas info    : Function properties for gemm
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 155 registers, used 1 barriers, 16 bytes cumulative stack size, 8192 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 194.493 ms
ptxas info    : Compiling entry function 'reduce' for 'sm_90a'
ptxas info    : Function properties for reduce
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 33 registers, used 0 barriers
ptxas info    : Function properties for _Z6helperv
    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
)";

TEST(PtxasLog, TellsTheResourcesOfEachKernel) {
  const auto kernels = worker::read_ptxas_log(kLog);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.at("gemm").registers, 155);
  EXPECT_EQ(kernels.at("gemm").spills, 32);
  EXPECT_EQ(kernels.at("gemm").shared, 8192);
  EXPECT_EQ(kernels.at("reduce").registers, 33);
  EXPECT_EQ(kernels.at("reduce").shared, 0);
}

TEST(PtxasLog, DoesNotCountOtherFunctionsForAKernel) { EXPECT_EQ(worker::read_ptxas_log(kLog).at("reduce").spills, 0); }

TEST(PtxasLog, KnowsNoKernelInALogWithoutOne) {
  EXPECT_TRUE(worker::read_ptxas_log("gemm.cu(1): error: expected a \";\"\n").empty());
}

}  // namespace
}  // namespace tune::ptxas_log_test
