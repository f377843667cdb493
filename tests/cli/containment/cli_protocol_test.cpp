// Workers that break the protocol, played by fake_worker: each ends in its row and hurts no other spec.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "support/cli.h"

namespace tune::cli::cli_protocol_test {
namespace {

const std::string kBroken = "protocol: the worker broke the protocol: ";
const std::string kUnfinished = "protocol: the process ended with exit code 0 but without a result";
const std::string kLate = "timed out: no answer within 1 s";

// What a spec's worker does, and what has to be recorded.
const std::vector<std::pair<std::string, std::string>> kSpecs = {
    {"right", "measured"},
    {"leaves_a_grandchild", "measured"},
    {"says_its_deadline", "check, reported: 1.000000"},
    {"builds_nothing", "build, protocol: the worker said built, but left no artifact"},
    {"build_says_garbage", "build, " + kBroken + "not a JSON object: garbage"},
    {"build_says_nothing", "build, " + kUnfinished},
    {"builds_twice", "build, " + kBroken + "unexpected 'built' in stage build"},
    {"build_exits_5", "build, crashed: exit code 5"},
    {"hangs_at_start", "start, " + kLate},
    {"leaves_at_start", "start, " + kUnfinished},
    {"speaks_another_protocol", "start, " + kBroken + "it speaks protocol 99, not " + std::to_string(wire::kProtocol) +
                                    ": install tune and its workers from one build"},
    {"loads_too_early", "start, " + kBroken + "unexpected 'loaded' in stage start"},
    {"greets_twice", "load, " + kBroken + "unexpected 'hello' in stage load"},
    {"closes_stdin", "load, " + kUnfinished},
    {"measures_before_go", "load, " + kBroken + "unexpected 'measured' in stage load"},
    {"says_garbage", "check, " + kBroken + "not a JSON object: garbage"},
    {"says_an_unknown_event", "check, " + kBroken + "unknown event 'melted'"},
    {"says_an_endless_line", "check, " + kBroken + "not a JSON object: " + std::string(120, 'x')},
    {"closes_stdout", "check, " + kLate},
    {"measures_after_failing", "check, " + kBroken + "unexpected 'measured' in stage check"},
    {"leaves_without_result", "measure, " + kUnfinished},
    {"checks_twice", "measure, " + kBroken + "unexpected 'checked' in stage measure"},
    {"waits_unasked", "check, " + kBroken + "unexpected 'waits' in stage check"},
    {"measures_twice", "measure, " + kBroken + "unexpected 'measured' in stage measure"},
    {"fails_after_measuring", "measure, " + kBroken + "unexpected 'failed' in stage measure"},
    {"ignores_done", "measure, " + kLate},
    {"exits_3_at_the_end", "measure, crashed: exit code 3"},
    {"crashes_at_the_end", "measure, crashed: killed by signal 9 (killed)"},
};

class Protocol : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("gemm.cpp", "gemm BEHAVIOUR");
    std::string names;
    for (const auto& [behaviour, outcome] : kSpecs) names += behaviour + ", ";
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\n"
                   "params: {BEHAVIOUR: [" +
                       names + "]}, launch: {args: [A, B, C, m, n, k]}, measure: {max_seconds: 0.5}}\n");
    bin_ = sandbox_.copy_binaries_with_fake_worker();
  }

  Result tune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--yaml", "gemm.yaml", "--output", "out", "--timeout-run", "1"});
    return sandbox_.tune_from(bin_, arguments);
  }

  // A run with a probe like that: what it said on stderr. It has to end with exit code 4.
  std::string probe_error(const std::string& probe) {
    sandbox_.environment["FAKE_PROBE"] = probe;
    return environment_error();
  }
  std::string environment_error() const {
    const Result result = tune({"--param", "BEHAVIOUR:right", "--quiet"});
    EXPECT_EQ(result.code, 4) << result.out;
    return result.err;
  }

  Sandbox sandbox_;
  std::filesystem::path bin_;
};

TEST_F(Protocol, EachBreachEndsInItsRowAndHurtsNoOtherSpec) {
  const Result result = tune({});
  EXPECT_EQ(result.code, 0) << result.err;
  std::map<std::int64_t, std::string> outcomes;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
    outcomes[record.trial.spec.mesh_idx] = outcome_text(record.trial);
  ASSERT_EQ(outcomes.size(), kSpecs.size());
  for (std::size_t i = 0; i < kSpecs.size(); ++i)
    EXPECT_EQ(outcomes[static_cast<std::int64_t>(i)], kSpecs[i].second) << kSpecs[i].first;
}

TEST_F(Protocol, NoneValidIsExitCode1) {
  const Result result = tune({"--param", "BEHAVIOUR:[exits_3_at_the_end, says_garbage]", "--tune"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(result.out.find("top_spec_idx"), std::string::npos) << result.out;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "out.yaml"));
}

TEST_F(Protocol, AFailingProbeIsOneError) {
  EXPECT_EQ(probe_error("fails"), "tune: error: tune-worker-cpu: no device\n");
  EXPECT_EQ(probe_error("crashes"), "tune: error: tune-worker-cpu: the probe failed: killed by signal 9 (killed)\n");
  EXPECT_EQ(probe_error("hangs"), "tune: error: tune-worker-cpu: the probe failed: timed out\n");
}

TEST_F(Protocol, AnUnintelligibleProbeIsOneError) {
  const std::string prefix = "tune: error: tune-worker-cpu: the probe's answer is no hello: ";
  EXPECT_EQ(probe_error("says_garbage"), prefix + "not a JSON object: garbage\n");
  EXPECT_EQ(probe_error("says_nothing"), prefix + "not a JSON object: \n");
  EXPECT_EQ(probe_error("speaks_another_protocol"),
            "tune: error: tune-worker-cpu: it speaks protocol 99, tune speaks " + std::to_string(wire::kProtocol) +
                "; install both from one build\n");
}

TEST_F(Protocol, AMissingWorkerIsOneError) {
  std::filesystem::remove(bin_ / "tune-worker-cpu");
  const std::string text = environment_error();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.starts_with("tune: error: tune-worker-cpu: not found in " + bin_.string())) << text;
}

TEST_F(Protocol, AWorkerThatCannotStartIsOneError) {
  sandbox_.write("bin/tune-worker-cpu", "no program");
  const std::string text = environment_error();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.starts_with("tune: error: cannot start " + (bin_ / "tune-worker-cpu").string())) << text;
}

TEST_F(Protocol, AWorkerThatGoesAwayEndsTheRunWithOneError) {
  const std::string text = probe_error("removes_itself");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.starts_with("tune: error: tune-worker-cpu: not found in " + bin_.string())) << text;
}

}  // namespace
}  // namespace tune::cli::cli_protocol_test
