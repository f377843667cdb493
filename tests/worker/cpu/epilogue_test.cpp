// Products with an epilogue: right kernels are right in every launch, and each mistake is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "checking/reference.h"
#include "kernels/epilogue_faults.h"
#include "support/cpu_fixture.h"

namespace tune::epilogue_test {
namespace {

using enum EpilogueFault;

struct Case {
  Epilogue epilogue = Epilogue::none;
  Bias bias = Bias::none;
  bool residual = false;
  EpilogueFault fault = kNone;
};

std::string name(const Case& each) {
  return std::string(to_text(each.epilogue)) + " " + std::to_string(static_cast<int>(each.bias)) +
         (each.residual ? " residual fault " : " fault ") + std::to_string(static_cast<int>(each.fault));
}

/// A small product is square, so that a transposed residual fits.
Gemm gemm_of(const Case& each, std::int64_t k = 96) {
  Gemm gemm;
  gemm.m = gemm.n = 24;
  gemm.k = k;
  gemm.bias = each.bias;
  gemm.epilogue = each.epilogue;
  gemm.residual = each.residual;
  return worker::resolved(gemm);
}

class EpilogueTest : public MistakesFixture {
 protected:
  /// What becomes of a kernel with this mistake.
  std::string outcome(const Case& each, const Gemm& gemm) {
    wire::BuildRequest build_request;
    build_request.source = kernel_file("epilogue.cpp");
    build_request.flags = {"-O1"};
    for (const std::string& macro : epilogue_macros(gemm)) build_request.defines.push_back({macro, "1"});
    build_request.problem = gemm;
    wire::KernelLaunch launch;
    launch.kernel = "gemm";
    for (const char* buffer : {"A", "B", "C"}) launch.args.push_back(buffer_arg(buffer));
    for (const std::int64_t size : {gemm.m, gemm.n, gemm.k}) launch.args.push_back(scalar_arg(size));
    launch.args.push_back(scalar_arg(static_cast<int>(each.fault)));
    if (gemm.bias != Bias::none) launch.args.push_back(buffer_arg("bias"));
    if (gemm.residual) launch.args.push_back(buffer_arg("residual"));
    return outcome_of(std::move(build_request), std::move(launch));
  }
  std::string outcome(const Case& each) { return outcome(each, gemm_of(each)); }
};

TEST_F(EpilogueTest, RightKernelsAreRight) {
  for (const Epilogue epilogue :
       {Epilogue::none, Epilogue::relu, Epilogue::gelu_tanh, Epilogue::gelu_erf, Epilogue::silu, Epilogue::swiglu})
    for (const auto& [bias, residual] : {std::pair(Bias::none, false), {Bias::row, true}, {Bias::col, true}}) {
      const Case each{epilogue, bias, residual};
      EXPECT_EQ(outcome(each), "right") << name(each);
    }
}

TEST_F(EpilogueTest, EveryMistakeIsFound) {
  using enum Epilogue;
  const std::vector<Case> faults = {
      {relu, Bias::none, false, kNoActivation},
      {gelu_tanh, Bias::none, false, kNoActivation},
      {silu, Bias::none, false, kNoActivation},
      {swiglu, Bias::none, false, kNoActivation},
      {gelu_tanh, Bias::none, false, kRelu},
      {gelu_erf, Bias::none, false, kRelu},
      {silu, Bias::none, false, kRelu},
      {relu, Bias::none, false, kGeluErf},
      {gelu_tanh, Bias::none, false, kGeluErf},
      {gelu_erf, Bias::none, false, kGeluTanh},
      {gelu_erf, Bias::none, false, kSilu},
      {silu, Bias::none, false, kGeluTanh},
      {swiglu, Bias::none, false, kGeluTanh},
      {silu, Bias::none, false, kSigmoid},
      {swiglu, Bias::none, false, kSigmoid},
      {swiglu, Bias::none, false, kHalvesExchanged},
      {relu, Bias::none, false, kActivationOfPartialSums},
      {silu, Bias::none, false, kActivationOfPartialSums},
      {relu, Bias::row, false, kNoBias},
      {gelu_tanh, Bias::col, false, kNoBias},
      {swiglu, Bias::row, false, kNoBias},
      {relu, Bias::row, false, kBiasAfterActivation},
      {gelu_erf, Bias::row, false, kBiasAfterActivation},
      {silu, Bias::col, false, kBiasAfterActivation},
      {none, Bias::none, true, kNoResidual},
      {silu, Bias::row, true, kNoResidual},
      {swiglu, Bias::none, true, kNoResidual},
      {relu, Bias::none, true, kResidualBeforeActivation},
      {gelu_tanh, Bias::row, true, kResidualBeforeActivation},
      {none, Bias::none, true, kResidualTransposed},
      {silu, Bias::none, true, kResidualTransposed},
  };
  for (const Case& each : faults) EXPECT_EQ(outcome(each), "wrong result in C") << name(each);
}

/// Without the factor of B, elements of this product would be about 50, where all of these are relu.
TEST_F(EpilogueTest, InLongSumsTheActivationMattersStill) {
  for (const auto& [epilogue, fault] : {std::pair(Epilogue::gelu_tanh, kRelu),
                                        {Epilogue::silu, kRelu},
                                        {Epilogue::silu, kGeluErf},
                                        {Epilogue::relu, kSilu},
                                        {Epilogue::gelu_erf, kGeluTanh}}) {
    Case each{epilogue, Bias::none, false, fault};
    const Gemm gemm = gemm_of(each, 20000);
    EXPECT_EQ(outcome(each, gemm), "wrong result in C") << name(each);
    each.fault = kNone;
    EXPECT_EQ(outcome(each, gemm), "right") << name(each);
  }
}

/// Alpha is often the product of two scales.
TEST_F(EpilogueTest, TheFactorOfBMakesUpForAlpha) {
  const Case each{Epilogue::silu};
  for (const double alpha : {1e-3, 1e3}) {
    Gemm gemm = gemm_of(each);
    gemm.alpha = alpha;
    const std::vector<double> values = worker::compute_reference(gemm, 1);
    const worker::GemmReference reference(gemm, values, 1);
    const auto largest = std::ranges::max(reference.x);
    EXPECT_GT(largest, 2) << alpha;
    EXPECT_LT(largest, 20) << alpha;
  }
}

TEST_F(EpilogueTest, TheVendorRefusesIt) {
  wire::MeasureRequest request;
  request.what = wire::VendorRun{};
  for (const Case& each : {Case{Epilogue::relu}, Case{Epilogue::none, Bias::none, true}}) {
    request.problem = gemm_of(each);
    std::filesystem::remove(folder_ / "reference");
    EXPECT_EQ(refusal(Stage::load, [&] { measure(request); }),
              "the vendor library has no GEMM with an epilogue or a residual");
  }
}

}  // namespace
}  // namespace tune::epilogue_test
