#include "report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace tune::report {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Progress::Time kStart{};

const ProgressStyle kPlain{};
const ProgressStyle kTerminal{false, true, 100};

Trial measured(std::int64_t mesh_idx, double time) {
  Measurement measurement;
  measurement.timing.median = time;
  return {Spec{mesh_idx, {}}, measurement};
}

Trial failed(std::int64_t mesh_idx) { return {Spec{mesh_idx, {}}, Failure{}}; }

TEST(Progress, PrintsAPlainLineForEveryNewBest) {
  std::ostringstream out;
  Progress progress(out, kPlain, 72, kStart);
  progress.tell(measured(5, 2e-3), true, kStart + milliseconds(500));
  progress.tell(measured(6, 3e-3), false, kStart + seconds(1));
  progress.tell(measured(7, 1e-3), true, kStart + seconds(2));
  EXPECT_EQ(out.str(),
            "1/72 | best 2.000000 ms (5)\n"
            "3/72 | 1.5/s | best 1.000000 ms (7) | ETA 0:46\n");
}

TEST(Progress, PrintsAPlainLineNowAndThenWithoutANewBest) {
  std::ostringstream out;
  Progress progress(out, kPlain, 72, kStart);
  progress.tick(kStart + seconds(29));
  EXPECT_EQ(out.str(), "");
  progress.tick(kStart + seconds(30));
  progress.tick(kStart + seconds(59));
  EXPECT_EQ(out.str(), "0/72\n");
  progress.tick(kStart + seconds(60));
  EXPECT_EQ(out.str(), "0/72\n0/72\n");
}

TEST(Progress, SaysWhatRunsAfterTheSweepInsteadOfARate) {
  std::ostringstream out;
  Progress progress(out, kPlain, 3, kStart);
  for (const std::int64_t spec : {0, 1, 2}) progress.tell(measured(spec, 1e-3), spec == 0, kStart + seconds(spec + 1));
  progress.set_activity({1, {}}, kStart + seconds(33));
  progress.set_stage("finals: round 2", kStart + seconds(63));
  progress.finish(kStart + seconds(70));
  EXPECT_EQ(out.str(),
            "1/3 | best 1.000000 ms (0)\n"
            "3/3 | 0.1/s | best 1.000000 ms (0) | building 1\n"
            "3/3 | best 1.000000 ms (0) | finals: round 2\n"
            "3/3 | best 1.000000 ms (0)\n");
}

TEST(Progress, RewritesOneLineOnATerminal) {
  std::ostringstream out;
  Progress progress(out, kTerminal, 72, kStart);
  progress.set_activity({4, {41}}, kStart + milliseconds(100));
  progress.tell(failed(3), false, kStart + milliseconds(200));
  EXPECT_EQ(out.str(),
            "\r0/72 | building 4, measuring 41\x1b[K"
            "\r1/72 | 1 failed | building 4, measuring 41\x1b[K");
}

TEST(Progress, RewritesTheLineTenTimesASecondAtMost) {
  std::ostringstream out;
  Progress progress(out, kTerminal, 1000, kStart);
  for (int i = 1; i <= 1000; ++i) progress.tell(failed(i), false, kStart + milliseconds(i));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 10);
}

TEST(Progress, NeverWrapsTheLine) {
  std::ostringstream out;
  Progress progress(out, {false, true, 12}, 72, kStart);
  progress.set_activity({4, {41}}, kStart + seconds(1));
  EXPECT_EQ(out.str(), "\r0/72 | buil\x1b[K");
}

TEST(Progress, CountsOnlyThisRunsWorkForRateAndEta) {
  std::ostringstream out;
  Progress progress(out, kPlain, 124, kStart);
  Trial recorded = measured(1, 1e-3);
  recorded.recorded = true;
  for (int i = 0; i < 100; ++i) progress.tell(recorded, i == 0, kStart);
  for (int i = 0; i < 4; ++i) progress.tell(failed(i), false, kStart + seconds(2));
  progress.tick(kStart + seconds(40));
  EXPECT_EQ(out.str(), "104/124 | 0.1/s | best 1.000000 ms (1) | 4 failed | ETA 3:20\n");
}

TEST(Progress, GivesNoEtaBeforeThereIsARate) {
  std::ostringstream out;
  Progress progress(out, kTerminal, 72, kStart);
  progress.tell(failed(0), false, kStart + seconds(5));
  progress.tell(failed(1), false, kStart + seconds(10));
  EXPECT_EQ(out.str().find("ETA"), std::string::npos);
}

TEST(Progress, EndsWithTheTimeBudgetIfThatIsSooner) {
  std::ostringstream out;
  Progress progress(out, kPlain, std::nullopt, kStart, kStart + seconds(3700));
  progress.tick(kStart + seconds(30));
  EXPECT_EQ(out.str(), "0 | ETA 1:01:10\n");
}

TEST(Progress, SaysALineAboveTheProgressLine) {
  std::ostringstream out;
  Progress progress(out, kTerminal, 72, kStart);
  progress.say("finals: 5 specs", kStart + milliseconds(1));
  EXPECT_EQ(out.str(), "\rfinals: 5 specs\x1b[K\n\r0/72\x1b[K");
}

TEST(Progress, LeavesTheLastStateAndThenNothing) {
  std::ostringstream out;
  Progress progress(out, kTerminal, 2, kStart);
  progress.tell(measured(7, 1e-3), true, kStart + milliseconds(1));
  progress.set_activity({1, {}}, kStart + milliseconds(2));
  progress.finish(kStart + milliseconds(3));
  progress.tick(kStart + seconds(100));
  progress.say("late", kStart + seconds(100));
  EXPECT_EQ(out.str(), "\r\x1b[K1/2 | best 1.000000 ms (7)\n");
}

TEST(Progress, IsSilentWhenQuiet) {
  for (const bool terminal : {false, true}) {
    std::ostringstream out;
    Progress progress(out, {true, terminal, 80}, 72, kStart);
    progress.tell(measured(7, 1e-3), true, kStart + seconds(1));
    progress.tick(kStart + seconds(100));
    progress.say("text", kStart + seconds(100));
    progress.finish(kStart + seconds(101));
    EXPECT_EQ(out.str(), "");
  }
}

}  // namespace
}  // namespace tune::report
