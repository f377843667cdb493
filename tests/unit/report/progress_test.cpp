#include "report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace tune::report::progress_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Progress::Time kStart{};

const ProgressStyle kPlain{};

ProgressStyle terminal(int columns) {
  ProgressStyle style;
  style.terminal = true;
  style.columns = [columns] { return columns; };
  return style;
}

Trial measured(std::int64_t mesh_idx, double time, double measure_seconds = 0) {
  Measurement measurement;
  measurement.timing.median = time;
  Trial trial{Spec{mesh_idx, {}}, measurement};
  trial.measure_seconds = measure_seconds;
  return trial;
}

Trial failed(std::int64_t mesh_idx, Stage stage = Stage::build, Cause cause = Cause::reported) {
  return {Spec{mesh_idx, {}}, Failure{stage, cause, "", {}, {}}};
}

TEST(Progress, CountsTheSpecsThatManyDevicesMeasure) {
  std::ostringstream out;
  Progress progress(out, kPlain, 72, kStart);
  progress.set_activity({0, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, kStart);
  progress.tick(kStart + seconds(10));
  EXPECT_EQ(out.str(), "0/72 | measuring 9 specs\n");
}

TEST(Progress, PrintsAPlainLineEveryTenSecondsAtMost) {
  std::ostringstream out;
  Progress progress(out, kPlain, 72, kStart);
  progress.tell(measured(5, 2e-3), true, kStart + milliseconds(500));
  progress.tell(measured(6, 3e-3), false, kStart + seconds(1));
  progress.tick(kStart + milliseconds(9999));
  EXPECT_EQ(out.str(), "");
  progress.tell(measured(7, 1e-3), true, kStart + seconds(10));
  progress.tell(measured(8, 0.9e-3), true, kStart + seconds(11));
  progress.tick(kStart + seconds(19));
  EXPECT_EQ(out.str(), "3/72 | 18.0/min | best 1.000 ms (7), 0:00 ago | measuring 7 | ETA 3:50\n");
  progress.tick(kStart + seconds(20));
  EXPECT_EQ(out.str().substr(out.str().find('\n') + 1),
            "4/72 | 12.0/min | best 0.9000 ms (8), 0:09 ago | measuring 8 | ETA 5:35\n");
}

TEST(Progress, TheEtaCountsDownWhileASpecOrARoundIsAwaited) {
  std::ostringstream out;
  Progress progress(out, kPlain, 8, kStart);
  for (const int spec : {1, 2, 3, 4}) progress.tell(measured(spec, 1e-3), false, kStart + seconds(10 * spec));
  out.str("");
  progress.tick(kStart + seconds(50));
  progress.tick(kStart + seconds(60));
  const Progress::Time begin = kStart + seconds(60);
  progress.set_finals({3, 11, 2, 2, begin, begin + seconds(1000)}, begin + seconds(20));
  progress.tick(begin + seconds(30));
  progress.tick(begin + seconds(200));
  std::vector<std::string> etas;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) etas.push_back(line.substr(line.find("ETA ")));
  EXPECT_EQ(etas, (std::vector<std::string>{"ETA 0:38", "ETA 0:45", "ETA 1:30", "ETA 1:20", "ETA 0:00"}));
}

TEST(Progress, SaysWhichSpecIsTheBest) {
  std::ostringstream out;
  ProgressStyle style;
  style.varying = {"BM", "BN"};
  Progress progress(out, style, 72, kStart);
  Trial best = measured(5, 2e-3);
  best.spec.params = {{"M", std::int64_t{64}}, {"BM", std::int64_t{8}}, {"BN", std::int64_t{4}}};
  progress.tell(best, true, kStart + seconds(1));
  progress.tick(kStart + seconds(10));
  best.spec.mesh_idx = 6;
  progress.tell(best, true, kStart + seconds(11), "12.50 GB/s");
  progress.finish(kStart + seconds(12));
  EXPECT_EQ(out.str(),
            "1/72 | best 2.000 ms (5) BM=8/BN=4, 0:09 ago | measuring 5\n"
            "2/72 | best 12.50 GB/s (6) BM=8/BN=4\n");
}

TEST(Progress, CountsFailuresByKind) {
  std::ostringstream out;
  Progress progress(out, kPlain, 72, kStart);
  progress.tell(failed(0, Stage::check), false, kStart);
  progress.tell(failed(1, Stage::build), false, kStart);
  progress.tell(failed(2, Stage::build), false, kStart);
  progress.tell(failed(3, Stage::measure, Cause::crashed), false, kStart);
  progress.tell(failed(4, Stage::load, Cause::timed_out), false, kStart);
  progress.finish(kStart);
  EXPECT_EQ(out.str(), "5/72 | 5 failed: 2 build, 1 crashed, 1 timed out, 1 wrong result\n");
}

TEST(Progress, ShowsTheFinalsInsteadOfTheSweep) {
  std::ostringstream out;
  Progress progress(out, kPlain, 3, kStart);
  for (const std::int64_t spec : {0, 1, 2}) progress.tell(measured(spec, 1e-3), spec == 0, kStart + seconds(spec + 1));
  progress.set_activity({1, {}}, kStart + seconds(10));
  const Progress::Time begin = kStart + seconds(10), end = kStart + seconds(40);
  progress.set_finals({0, 101, 2, 5, begin, end}, kStart + seconds(20));
  progress.set_finals({2, 101, 4, 5, begin, end}, kStart + seconds(30));
  progress.set_finals({101, 101, 4, 5, begin, end}, kStart + milliseconds(35000));
  progress.set_best({2, {}}, 0.9e-3);
  progress.finish(kStart + seconds(40));
  EXPECT_EQ(out.str(),
            "3/3 | 18.0/min | best 1.000 ms (0), 0:09 ago | building 1 | ETA 0:00\n"
            "3/3 | best of the sweep 1.000 ms (0) | finals: loaded 2 of 5 | ETA 0:20\n"
            "3/3 | best of the sweep 1.000 ms (0) | finals: round 2, 4 of 5 contenders left | ETA 0:10\n"
            "3/3 | best 0.9000 ms (2)\n");
}

TEST(Progress, FinalsEndWithTheLastRoundIfThatIsSooner) {
  std::ostringstream out;
  Progress progress(out, terminal(80), 3, kStart);
  progress.set_finals({91, 101, 4, 5, kStart, kStart + seconds(100)}, kStart + seconds(9));
  EXPECT_EQ(out.str(), "[###############--]  0/3  ETA 0:01  finals: round 91, 4 of 5 contenders left");
}

TEST(Progress, RewritesItsLinesOnATerminal) {
  std::ostringstream out;
  Progress progress(out, terminal(61), 72, kStart);
  progress.set_activity({4, {41}}, kStart + milliseconds(100));
  progress.tell(failed(3), false, kStart + milliseconds(200));
  progress.tell(measured(4, 1e-3), true, kStart + milliseconds(300));
  progress.tell(measured(5, 1e-3), false, kStart + milliseconds(400));
  const std::string bar = "[-------------]  ", failed_one = "1 failed: 1 build";
  EXPECT_EQ(out.str(), bar + "0/72  building 4, measuring 41" +                                  //
                           "\r\x1b[K" + bar + "1/72  building 4, measuring 41\n" + failed_one +  //
                           "\r\x1b[K\x1b[A\x1b[K" + bar + "2/72  building 4, measuring 4\n" +    //
                           "best 1.000 ms (4), 0:00 ago  " + failed_one +                        //
                           "\r\x1b[K\x1b[A\x1b[K" + bar + "3/72  building 4, measuring 5\n" +    //
                           "best 1.000 ms (4), 0:00 ago  " + failed_one);
}

TEST(Progress, RewritesTheLinesTenTimesASecondAtMost) {
  std::ostringstream out;
  Progress progress(out, terminal(80), 1000, kStart);
  for (int i = 1; i <= 1000; ++i) progress.tell(failed(i), false, kStart + milliseconds(i));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 10 + 9 + 2 * 9) << "bars, and what moves the cursor";
}

TEST(Progress, LeavesOutWhatDoesNotFit) {
  Snapshot snapshot;
  snapshot.done = 24;
  snapshot.total = 72;
  snapshot.share = 1.0 / 3;
  snapshot.rate = 3.14;
  snapshot.seconds_left = 79;
  snapshot.best = "0.9844 ms (39)";
  snapshot.best_settings = "BM=128/BN=64/BK=16";
  snapshot.best_age = 12;
  snapshot.failed = {{"build", 2}, {"wrong result", 1}};
  snapshot.running = "building 4, measuring 41";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(terminal_lines(snapshot, 100, false),
            (Lines{"[#######----------------]  24/72  ETA 1:19  3.1/s  building 4, measuring 41",
                   "best 0.9844 ms (39), 0:12 ago  BM=128/BN=64/BK=16  3 failed: 2 build, 1 wrong result"}));
  EXPECT_EQ(terminal_lines(snapshot, 79, false),
            (Lines{"[#####------------]  24/72  ETA 1:19  3.1/s  building 4, measuring 41",
                   "best 0.9844 ms (39), 0:12 ago  BM=128/BN=...  3 failed: 2 build, 1 wrong result"}));
  EXPECT_EQ(terminal_lines(snapshot, 50, false), (Lines{"24/72  ETA 1:19  3.1/s  building 4, measuring 41",
                                                        "best 0.9844 ms (39), 0:12 ago  BM=128/BN=64/BK=16"}));
  EXPECT_EQ(terminal_lines(snapshot, 19, false), (Lines{"24/72  ETA 1:19", "best 0.9844 ms (..."}));
  EXPECT_EQ(terminal_lines(snapshot, 1, false), (Lines{"2", "b"}));
  EXPECT_EQ(terminal_lines(snapshot, 0, false), (Lines{"", ""}));
  EXPECT_EQ(terminal_lines(snapshot, 50, true).back(),
            "\x1b[1mbest 0.9844 ms (39), 0:12 ago\x1b[0m  BM=128/BN=64/BK=16");
}

TEST(Progress, ErasesWhatATerminalThatBecameNarrowerHasBroken) {
  std::ostringstream out;
  int columns = 70;
  ProgressStyle style = terminal(0);
  style.columns = [&columns] { return columns; };
  Progress progress(out, style, 72, kStart);
  progress.set_activity({4, {41}}, kStart + seconds(1));
  columns = 20;
  out.str("");
  progress.tick(kStart + seconds(2));
  EXPECT_EQ(out.str(), "\r\x1b[K\x1b[A\x1b[K\x1b[A\x1b[K0/72  building 4...") << "47 columns are three lines of 20";
}

TEST(Progress, CountsOnlyThisRunsWorkForRateAndEta) {
  std::ostringstream out;
  Progress progress(out, kPlain, 124, kStart);
  Trial recorded = measured(1, 1e-3);
  recorded.recorded = true;
  for (int i = 0; i < 100; ++i) progress.tell(recorded, i == 0, kStart);
  for (int i = 0; i < 4; ++i) progress.tell(failed(i), false, kStart + seconds(2));
  progress.tick(kStart + seconds(40));
  EXPECT_EQ(out.str(), "104/124 | 6.0/min | best 1.000 ms (1) | 4 failed: 4 build | ETA 3:10\n");
}

TEST(Progress, GivesNoEtaBeforeThereIsARate) {
  std::ostringstream out;
  Progress progress(out, terminal(80), 72, kStart);
  progress.tell(failed(0), false, kStart + seconds(5));
  progress.tell(failed(1), false, kStart + seconds(10));
  EXPECT_EQ(out.str().find("ETA"), std::string::npos);
}

/// The ETA after ten of 40 specs in as many seconds, each of which was measured for half a second, or so long.
std::string eta(const RunLimits& limits, double measured_seconds = 0.5) {
  std::ostringstream out;
  Progress progress(out, kPlain, 40, kStart, limits);
  for (int i = 1; i <= 10; ++i) progress.tell(measured(i, 1e-3, measured_seconds), false, kStart + seconds(i));
  const std::string text = out.str();
  return text.substr(text.find("ETA"));
}

TEST(Progress, TheEtaKnowsTheBudgetsAndTheFinals) {
  EXPECT_EQ(eta({}), "ETA 0:30\n");
  const FinalsSettings unbounded, short_ones{.budget = 20};
  EXPECT_EQ(eta({.finals = short_ones}), "ETA 0:50\n");
  EXPECT_EQ(eta({.sweep = kStart + seconds(20), .finals = short_ones}), "ETA 0:30\n");
  EXPECT_EQ(eta({.sweep = kStart + seconds(20), .run = kStart + seconds(35), .finals = short_ones}), "ETA 0:25\n");
  EXPECT_EQ(eta({.finals = unbounded}), "ETA 0:50\n") << "40 specs of half a second";
  EXPECT_EQ(eta({.finals = unbounded}, 0.001), "ETA 0:31\n") << "a second, though the sweep measures for less";
}

TEST(Progress, ATimeBudgetGivesAnEtaAtOnce) {
  std::ostringstream out;
  Progress progress(out, kPlain, std::nullopt, kStart, {.sweep = kStart + seconds(3700)});
  progress.tick(kStart + seconds(30));
  EXPECT_EQ(out.str(), "0 | ETA 1:01:10\n");
}

TEST(Progress, SaysALineAboveItsOwn) {
  std::ostringstream out;
  Progress progress(out, terminal(40), 72, kStart);
  progress.set_activity({}, kStart + seconds(1));
  progress.say("waiting for the CPU", kStart + seconds(1));
  const std::string line = "0/72";
  EXPECT_EQ(out.str(), line + "\r\x1b[Kwaiting for the CPU\n" + line);
}

TEST(Progress, LeavesTheLastStateAndThenNothing) {
  std::ostringstream out;
  Progress progress(out, terminal(80), 2, kStart);
  progress.tell(measured(7, 1e-3), true, kStart + milliseconds(1));
  progress.set_activity({1, {}}, kStart + milliseconds(2));
  progress.finish(kStart + milliseconds(3));
  progress.tick(kStart + seconds(100));
  progress.say("late", kStart + seconds(100));
  EXPECT_EQ(out.str(), "1/2 | best 1.000 ms (7)\n");
}

TEST(Progress, IsSilentWhenQuiet) {
  for (const bool on_terminal : {false, true}) {
    std::ostringstream out;
    ProgressStyle style = terminal(80);
    style.quiet = true;
    style.terminal = on_terminal;
    Progress progress(out, style, 72, kStart);
    progress.tell(measured(7, 1e-3), true, kStart + seconds(1));
    progress.tick(kStart + seconds(100));
    progress.say("text", kStart + seconds(100));
    progress.finish(kStart + seconds(101));
    EXPECT_EQ(out.str(), "");
  }
}

}  // namespace
}  // namespace tune::report::progress_test
