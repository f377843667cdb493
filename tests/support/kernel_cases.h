#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

/// What a kernel does as the spec of this number, and what has to be recorded (the beginning of it).
struct Case {
  std::string code;
  std::string outcome;
};

/// The beginning of a CPU kernel, up to `switch (spec) {`: right() computes what is asked for, and `first` is true in
/// the first launch of a process. Before it stands `static int launches = 0;`.
inline const std::string kCpuKernel = R"(
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int spec) {
  launches = launches + 1;
  [[maybe_unused]] const bool first = launches == 1;
  [[maybe_unused]] auto right = [&] {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
      }
  };
  switch (spec) {
)";

/// Tunes over kernels that each do something else, in the real worker.
class KernelCases : public testing::Test {
 protected:
  /// `head` is C++ up to `switch (spec) {`; `keys` are further keys of the tuning file.
  void write(const std::string& head, const std::vector<Case>& cases, const std::string& keys) const {
    std::string source = head;
    for (std::size_t i = 0; i < cases.size(); ++i)
      source += "  case " + std::to_string(i) + ":\n    " + cases[i].code + "\n    break;\n";
    sandbox_.write("gemm.cpp", source + "  }\n}\n");
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                   "params: {$SPEC: {range: [0, " +
                       std::to_string(cases.size() - 1) + "]}}, launch: {args: [A, B, C, m, n, k, SPEC]},\n" + keys +
                       "}\n");
  }

  Result tune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--yaml", "gemm.yaml", "--output", "out"});
    return sandbox_.tune(arguments);
  }

  void expect_outcomes(const std::vector<Case>& cases, const std::string& journal = "out.jsonl") const {
    std::map<std::int64_t, std::string> outcomes;
    for (const wire::TrialRecord& record : sandbox_.trials(journal))
      outcomes[record.trial.spec.mesh_idx] = outcome_text(record.trial);
    ASSERT_EQ(outcomes.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::string& outcome = outcomes[static_cast<std::int64_t>(i)];
      EXPECT_TRUE(outcome.starts_with(cases[i].outcome))
          << cases[i].code << "\nin " << journal << " should be: " << cases[i].outcome << "\nbut was: " << outcome;
    }
  }

  Sandbox sandbox_;
};

}  // namespace tune::cli
