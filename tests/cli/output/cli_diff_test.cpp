// `tune diff OLD NEW` over the real binary.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_diff_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kNoRegression = "PASS: no regression: the best is not slower by more than 3 %";

/// A spec of a journal that is written without a run: the value of T, its median in ms, and half its interval.
struct Timed {
  int t;
  double ms, half = 0.001;
};

std::string line(const wire::Record& record) { return wire::encode(record) + "\n"; }

std::string run_line(const std::string& problem = "", const std::string& device = "A100",
                     const std::string& kernel = "bench", Backend backend = Backend::cuda) {
  wire::RunRecord run;
  run.hello.backend = backend;
  run.name = kernel;
  run.problem = problem;
  run.hello.device.name = device;
  return line(run);
}

Spec spec_of(int t) { return {t - 1, {{"T", std::int64_t{t}, false}}}; }

std::string line_of(const Timed& timed, std::int64_t launches = 20) {
  Measurement measurement;
  measurement.timing = {launches, timed.ms / 1e3, timed.ms / 1e3, timed.ms / 1e3, timed.ms / 1e3, 0, 0, false};
  measurement.timing.ci_low = (timed.ms - timed.half) / 1e3;
  measurement.timing.ci_high = (timed.ms + timed.half) / 1e3;
  measurement.checked = true;
  return line(wire::TrialRecord{std::to_string(timed.t), {spec_of(timed.t), measurement}});
}

std::string failed_line(int t, const std::string& message) {
  return line(wire::TrialRecord{std::to_string(t), {spec_of(t), Failure{Stage::check, Cause::reported, message, {}}}});
}

std::string journal(const std::vector<Timed>& specs) {
  std::string text = run_line();
  for (const Timed& spec : specs) text += line_of(spec);
  return text;
}

/// Finals of ten rounds, in which each spec had these times in turns.
std::string finals_line(const std::vector<Timed>& specs) {
  Finals finals;
  for (const Timed& spec : specs) {
    Finalist finalist{{spec_of(spec.t)}};
    for (int round = 1; round <= 10; ++round)
      finalist.rounds[round].seconds = (spec.ms + (round % 2 == 0 ? spec.half : -spec.half)) / 1e3;
    finals.finalists.push_back(std::move(finalist));
  }
  return line(wire::FinalsRecord{"finals", finals});
}

class Diff : public testing::Test {
 protected:
  /// Writes old.jsonl and new.jsonl and compares them.
  Result diff(const std::string& before, const std::string& now, int code, const Words& more = {}) const {
    sandbox_.write("old.jsonl", before);
    sandbox_.write("new.jsonl", now);
    return diff_files("old.jsonl", "new.jsonl", code, more);
  }

  Result diff_files(const std::string& before, const std::string& now, int code, const Words& more = {}) const {
    Words words = {"diff", before, now};
    words.insert(words.end(), more.begin(), more.end());
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.out << result.err;
    return result;
  }

  /// That nothing is compared, for this reason, and nothing is written.
  void expect_refusal(const std::string& before, const std::string& now, const std::string& why) const {
    EXPECT_TRUE(has(refusal(sandbox_, {"diff", before, now, "--json", "out.json"}), why));
  }

  Sandbox sandbox_;
};

TEST_F(Diff, AChangeWithinNoiseIsNone) {
  const Result result =
      diff(journal({{1, 1.00, 0.01}, {2, 2.00, 0.01}}), journal({{1, 1.01, 0.01}, {2, 2.00, 0.01}}), 0);
  EXPECT_TRUE(has(result.out, "old: old.jsonl: bench on A100\nnew: new.jsonl: bench on A100\n"));
  EXPECT_TRUE(has(result.out, "  1.000     1.010  1.010  0.")) << "old, new, ratio, interval";
  EXPECT_TRUE(has(result.out, "2 specs: 2 within noise\n"));
  EXPECT_TRUE(has(result.out, kNoRegression));
}

TEST_F(Diff, ARunIsNotSlowerThanItself) {
  const std::string noisy = journal({{1, 1.00123, 0.10003}, {2, 2.00, 0.01}});
  const Result result = diff(noisy, noisy, 0, {"--json", "diff.json"});
  EXPECT_TRUE(has(result.out, "  1.001     1.001  1.000  1.000..1.000  within noise\n"));
  EXPECT_TRUE(has(result.out, "\nPASS: both are the same run\n"));
  EXPECT_TRUE(has(sandbox_.read("diff.json"), "\"undecided\": false"));
  EXPECT_TRUE(has(diff_files("old.jsonl", "old.jsonl", 0).out, "\nPASS: both are the same run\n"));
  const Result more = diff(noisy, noisy + line_of({3, 3.0}), 0);
  EXPECT_TRUE(has(more.out, "best: T=1     1.001     1.001  1.000  1.000..1.000  within noise\n"))
      << "as a best.yaml and its journal, which are no copies of each other: " << more.out;
  const std::string coarse = journal({{1, 1.00, 0.10}, {2, 2.00, 0.01}});
  EXPECT_TRUE(has(diff(coarse, coarse + line_of({3, 3.0}), 5).out, "  slower or not is open\n"))
      << "a clock of few digits says the same in other runs";
}

TEST_F(Diff, WhetherItIsSlowerIsOpenIfTheThresholdLiesInTheInterval) {
  const std::string before = journal({{1, 1.00, 0.10}, {2, 2.00, 0.01}}),
                    now = journal({{1, 1.10, 0.10}, {2, 2.00, 0.01}});
  const Result result = diff(before, now, 5, {"--json", "diff.json"});
  EXPECT_TRUE(has(result.out, "2 specs: 1 slower or not is open, 1 within noise\n"));
  EXPECT_TRUE(has(result.out, "UNDECIDED: the best may be slower by more than 3 %\nnext: measure old and new again, "));
  EXPECT_TRUE(has(sandbox_.read("diff.json"), "\"undecided\": true"));
  const Result passed = diff(before, now, 0, {"--threshold", "30%"});
  EXPECT_TRUE(has(passed.out, "PASS: no regression: "));
  EXPECT_FALSE(has(passed.out, "next: ")) << passed.out;
  diff(before, now, 125, {"--exit-undecided", "125"});
}

TEST_F(Diff, WhatIsSlowerBeyondNoiseAndTheThresholdIsARegression) {
  const std::string before = journal({{1, 1.00}, {2, 2.00}, {3, 3.00}}),
                    now = journal({{1, 1.25}, {2, 2.00}, {3, 2.70}});
  const Result result = diff(before, now, 3);
  EXPECT_TRUE(has(result.out, " best: T=1     1.000     1.250  1.250  1.248..1.252        slower\n"));
  EXPECT_TRUE(has(result.out, "3 specs: 1 slower, 1 faster, 1 within noise\n"));
  EXPECT_TRUE(has(result.out, "FAIL: the best and 1 spec are slower by more than 3 % beyond doubt, or failing now\n"));
  const Result small = diff(before, now, 0, {"--threshold", "30%"});
  EXPECT_TRUE(has(small.out, "3 specs: 2 below the threshold, 1 within noise\n"));
  EXPECT_TRUE(has(diff(now, before, 0, {"--threshold", "15%"}).out, "1 faster")) << "the other way round";
}

// Two cores may be one physical core in one run, and two in another.
TEST_F(Diff, OfACpuLessThanTwiceTheTimeIsOpen) {
  for (const Backend backend : {Backend::cpu, Backend::program}) {
    const std::string run = run_line("", "EPYC", "bench", backend),
                      before = run + line_of({1, 1.00}) + line_of({2, 2.00});
    const Result open = diff(before, run + line_of({1, 1.70}) + line_of({2, 2.00}), 5);
    EXPECT_TRUE(has(open.out, "  1.700  1.698..1.702  slower or not is open\n")) << open.out;
    EXPECT_TRUE(has(open.out,
                    "runs on a CPU differ by more than the intervals tell, so that less than twice the time is "
                    "open; tune --baseline times the winners of both in turns"))
        << open.out;
    EXPECT_TRUE(has(diff(before, run + line_of({1, 2.10}) + line_of({2, 2.00}), 3).out, "FAIL: "));
    EXPECT_TRUE(has(diff(before, run + line_of({1, 1.001}) + line_of({2, 2.00}), 0).out, kNoRegression));
  }
  // A size, or a time that a program computes, has no noise.
  const std::string exact = run_line("", "EPYC", "bench", Backend::cpu) + line_of({1, 1.0, 0});
  diff(exact, run_line("", "EPYC", "bench", Backend::cpu) + line_of({1, 1.2, 0}), 3);
}

TEST_F(Diff, WinnersThatChangeWithinNoiseAreNoRegression) {
  const Result result =
      diff(journal({{1, 1.000, 0.01}, {2, 1.001, 0.01}}), journal({{1, 1.002, 0.01}, {2, 1.000, 0.01}}), 0);
  EXPECT_TRUE(has(result.out, "best: T=1 -> T=2     1.000     1.000  1.000")) << result.out;
  EXPECT_TRUE(has(result.out, kNoRegression));
}

TEST_F(Diff, ALostWinnerIsARegressionAlthoughAnotherSpecIsAsFast) {
  const Result result = diff(journal({{1, 1.00}, {2, 1.01}}), journal({{1, 3.50}, {2, 1.00}}), 3);
  EXPECT_TRUE(has(result.out, "best: T=1 -> T=2     1.000     1.000  1.000"));
  EXPECT_TRUE(has(result.out, "FAIL: 1 spec is slower "));
}

TEST_F(Diff, FinalsAreComparedWithFinals) {
  const std::string sweep = journal({{1, 1.0}, {2, 1.1}, {3, 5.0}});
  const Result result = diff(sweep + finals_line({{1, 1.5}, {2, 1.2}}), sweep + finals_line({{1, 1.5}, {2, 1.4}}), 3);
  EXPECT_TRUE(has(result.out, "best: T=2     1.200     1.400  1.167")) << result.out;
  EXPECT_TRUE(has(result.out, "T=3     5.000     5.000  1.000")) << "of the sweep";
  EXPECT_TRUE(
      has(diff(sweep + finals_line({{1, 1.5}, {2, 1.2}}), sweep, 0).out, "best: T=2 -> T=1     1.100     1.000"))
      << "without finals in both, sweeps are compared";
}

TEST_F(Diff, NoiseBetweenProcessesIsAllowedFor) {
  const std::string quiet = journal({{1, 1.0}, {2, 1.1}, {3, 1.2}}) + finals_line({{1, 1.0}, {2, 1.1}, {3, 1.2}});
  const std::string noisy = journal({{1, 1.0}, {2, 1.1}, {3, 1.2}}) + finals_line({{1, 1.08}, {2, 1.1}, {3, 1.06}});
  const std::string another =
      journal({{1, 1.0}, {2, 1.1}, {3, 1.2, 0.0011}}) + finals_line({{1, 1.00001}, {2, 1.1}, {3, 1.2}});
  const std::string none = diff(quiet, another, 0).out;
  EXPECT_TRUE(has(none, "0.999..1.001")) << none;
  const Result result =
      diff(noisy, journal({{1, 1.08}, {2, 1.1}, {3, 1.2}}) + finals_line({{1, 1.16}, {2, 1.1}, {3, 1.0601}}), 5);
  EXPECT_TRUE(has(result.out, "noise between processes: ")) << result.out;
  EXPECT_TRUE(has(result.out, "UNDECIDED: "));
}

TEST_F(Diff, WhatWasTimedOnceHasNoNoiseThatIsKnown) {
  const Result result = diff(run_line() + line_of({1, 1.0, 0}, 1), run_line() + line_of({1, 9.0, 0}, 1), 5);
  EXPECT_TRUE(has(result.out, "1 spec: 1 noise not known\n"));
  EXPECT_TRUE(has(result.out, "; 1 of 1 specs was not judged, because its noise is not known\n"));
  EXPECT_TRUE(has(result.out, "1.000     9.000  9.000"));
  EXPECT_TRUE(has(result.out, "warning: the best took 9.000 times as long, but its noise is not known"));
}

TEST_F(Diff, SpecsThatFailNowAreRegressions) {
  const std::string works = journal({{1, 1.0}, {2, 2.0}}),
                    fails = run_line() + failed_line(1, "wrong result") + line_of({2, 2.0});
  const Result result = diff(works, fails, 3);
  EXPECT_TRUE(has(result.out, "fails now: wrong result\n"));
  EXPECT_TRUE(has(diff(fails, works, 0).out, "1 works now"));
  const std::string nothing = run_line() + failed_line(1, "wrong result") + failed_line(2, "wrong result");
  EXPECT_TRUE(
      has(diff(works, nothing, 3).out, " best: T=1     1.000         -      -         -  fails now: wrong result\n"));
  const Result blank = diff(nothing, works, 2);
  EXPECT_TRUE(
      has(blank.err,
          "old.jsonl: no spec of an unnamed problem has a time to compare with (the first failure: wrong result)"));
}

TEST_F(Diff, SpecsOfOneSideAreNamed) {
  const Result result = diff(journal({{1, 1.0}, {2, 2.0}}), journal({{1, 1.0}, {4, 2.0}}), 0);
  EXPECT_TRUE(has(result.out, "T=2     2.000         -      -             -   only in old\n")) << result.out;
  EXPECT_TRUE(has(result.out, "T=4         -     2.000      -             -   only in new\n")) << result.out;
}

TEST_F(Diff, EveryProblemOfAJournalIsCompared) {
  const auto shapes = [](double first, double second) {
    return run_line("64x64x64") + line_of({1, first}) + run_line("128x64x64") + line_of({1, second});
  };
  const Result result = diff(shapes(1, 2), shapes(1, 3), 3);
  EXPECT_TRUE(has(result.out, "\n64x64x64\n"));
  EXPECT_TRUE(has(result.out, "\n128x64x64\n"));
  EXPECT_TRUE(has(result.out, "2.000     3.000  1.500"));
  EXPECT_TRUE(has(result.out, "FAIL: the best of 1 problem and 1 spec are slower "))
      << "the best and the spec of one problem";
  const Result part = diff(shapes(1, 2), run_line("64x64x64") + line_of({1, 1}), 0);
  EXPECT_TRUE(has(part.out, "warning: only in old.jsonl: 128x64x64\n"));
}

// A tuning file that was edited between two runs may be of another problem.
TEST_F(Diff, WithoutACommonProblemNothingIsDecided) {
  const std::string small = run_line("1x1x1") + line_of({1, 1}),
                    others = run_line("64x64x64") + line_of({1, 1}) + run_line("128x64x64") + line_of({1, 1});
  const Result result = diff(small, others, 5, {"--junit", "out.xml", "--json", "out.json", "--markdown", "out.md"});
  EXPECT_TRUE(has(result.out, "warning: only in old.jsonl: 1x1x1\nwarning: only in new.jsonl: 64x64x64, 128x64x64\n"));
  EXPECT_TRUE(has(result.out, "UNDECIDED: there is nothing to compare, because no problem and spec is in both\n"));
  EXPECT_TRUE(has(sandbox_.read("out.json"), "\"undecided\": true"));
  EXPECT_TRUE(
      has(sandbox_.read("out.xml"),
          "  <testsuite name=\"bench\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
          "    <testcase classname=\"bench\" name=\"comparison\" time=\"0\"><skipped message=\"UNDECIDED: there is "
          "nothing to compare, because no problem and spec is in both\"/></testcase>\n"));
  EXPECT_TRUE(has(sandbox_.read("out.md"), "UNDECIDED: there is nothing to compare"));
  diff(small, others, 0, {"--exit-undecided", "0"});
  const Result rest = diff(small + others, run_line("2x2x2") + line_of({1, 1}) + others, 0);
  sandbox_.write("renamed.jsonl", small + run_line("1x1x1", "A100", "other"));
  for (const char* format : {"kernel-tuner", "csv"}) {
    const Result converted = sandbox_.tune({"convert", "renamed.jsonl", "out", "--to", format});
    EXPECT_EQ(converted.code, 2);
    EXPECT_TRUE(has(converted.err,
                    "renamed.jsonl:3: this last run of the journal is of 'other' for 1x1x1 on A100, and the journal "
                    "holds no trial of that, but trials of 'bench' for 1x1x1 on A100; to read those, give the tuning "
                    "file the name and problem that they have, and run it once more"))
        << converted.err;
  }
  EXPECT_TRUE(has(rest.out, "warning: only in old.jsonl: 1x1x1\nwarning: only in new.jsonl: 2x2x2\n"));
}

TEST_F(Diff, AProblemWithoutTimesDoesNotPreventTheOthersFromBeingCompared) {
  const std::string works = run_line("64x64x64") + line_of({1, 1});
  const std::string before = run_line("1x1x1") + failed_line(1, "wrong result") + works,
                    now = run_line("1x1x1") + line_of({1, 1}) + works;
  EXPECT_TRUE(has(diff(before, now, 0).out,
                  "warning: old.jsonl: no spec of 1x1x1 has a time to compare with (the first failure: wrong "
                  "result)\n"));
}

TEST_F(Diff, ResultsOfAnotherDeviceAreRefusedUnlessAskedFor) {
  const std::string other = run_line("", "H200") + line_of({1, 0.5});
  const Result refused = diff(journal({{1, 1.0}}), other, 2);
  EXPECT_TRUE(has(refused.err, "old.jsonl is of the device A100, and new.jsonl of H200"));
  EXPECT_TRUE(has(refused.err, "--any-device"));
  const Result asked = diff(journal({{1, 1.0}}), other, 0, {"--any-device"});
  EXPECT_TRUE(has(asked.out, "warning: old.jsonl is of the device A100, and new.jsonl of H200"));
  const auto of_two = [](const std::string& device) {
    return run_line("64x64x64") + line_of({1, 1.0}) + run_line("8x8x8", device) + line_of({1, 1.0});
  };
  const Result second = diff(of_two("A100"), of_two("H200"), 0, {"--any-device"});
  EXPECT_TRUE(has(second.out, "warning: old.jsonl is of the device A100, and new.jsonl of H200")) << second.out;
  const Result unpaired = diff(of_two("A100"), run_line("64x64x64") + line_of({1, 1.0}), 0, {"--any-device"});
  EXPECT_FALSE(has(unpaired.out, " of the device ")) << unpaired.out;
}

TEST_F(Diff, ABestYamlAJournalAndACsvFileCanBeCompared) {
  sandbox_.write_script("{T: [1, 2]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "best"}).code, 0);
  for (const char* file : {"best.yaml", "best.jsonl", "best.csv", "best"}) {
    const Result result = diff_files("best.yaml", file, 0);
    EXPECT_TRUE(has(result.out, "best: T=1     1.000     1.000  1.000")) << result.out;
  }
  fs::remove(sandbox_.folder() / "bench.sh");
  EXPECT_TRUE(has(diff_files("best.yaml", "best.jsonl", 0).out, "within noise")) << "the source need not be there";
  fs::remove(sandbox_.folder() / "best.jsonl");
  EXPECT_TRUE(has(diff_files("best", "best.yaml", 2).err, "did you mean 'best.yaml'?"));
}

TEST_F(Diff, KernelsWithoutACommonSpecAreNotCompared) {
  const std::string other = run_line("", "A100", "other") +
                            line(wire::TrialRecord{"x", {Spec{0, {{"U", std::int64_t{1}, false}}}, Failure{}}}) +
                            line(wire::TrialRecord{"y", {Spec{1, {{"U", std::int64_t{2}, false}}}, Failure{}}});
  const Result result = diff(journal({{1, 1.0}, {2, 2.0}}), other, 5);
  EXPECT_TRUE(has(result.out, "warning: old.jsonl is of bench, and new.jsonl of other: no spec is in both\n"));
  EXPECT_TRUE(has(result.out, "UNDECIDED: there is nothing to compare"));
}

TEST_F(Diff, TheTableHasTwentyRowsUnlessMoreOrLessAreAskedFor) {
  std::vector<Timed> specs;
  for (int t = 1; t <= 30; ++t) specs.push_back({t, double(t)});
  EXPECT_TRUE(has(diff(journal(specs), journal(specs), 0).out, "(10 more: the same command with --top all)\n"));
  EXPECT_FALSE(has(diff(journal(specs), journal(specs), 0, {"--top", "all"}).out, " more: "));
  const Result cut = diff(journal(specs), journal(specs), 0, {"--top", "4", "--markdown", "diff.md"});
  EXPECT_TRUE(has(cut.out, "(26 more: the same command with --top all)\n"));
  EXPECT_TRUE(has(sandbox_.read("diff.md"), "(26 rows are not shown)"));
}

TEST_F(Diff, ValuesThatAreEqualInPythonAreKeptApart) {
  const auto text = [](double ms) {
    std::string lines = run_line();
    const Value values[] = {std::int64_t{1}, Bool{true}, std::string("1")};
    for (int i = 0; i < 3; ++i) {
      Measurement measurement;
      const double seconds = (i + 1) * ms / 1e3;
      measurement.timing = {9, seconds, seconds, seconds, seconds, seconds, seconds, false};
      lines += line(wire::TrialRecord{std::to_string(i), {Spec{i, {{"T", values[i], false}}}, measurement}});
    }
    return lines;
  };
  EXPECT_TRUE(has(diff(text(1), text(1), 0).out, "3 specs: 3 within noise\n"));
}

TEST_F(Diff, FilesForACiServiceAreWritten) {
  diff(journal({{1, 1.0}, {2, 2.0}, {3, 3.0}}), journal({{1, 1.5}, {2, 2.0}, {4, 3.0}}), 3,
       {"--markdown", "out/diff.md", "--junit", "out/diff.xml", "--json", "out/diff.json"});
  const std::string markdown = sandbox_.read("out/diff.md"), junit = sandbox_.read("out/diff.xml");
  EXPECT_TRUE(
      has(markdown, "### FAIL: the best and 1 spec are slower by more than 3 % beyond doubt, or failing now\n"));
  EXPECT_TRUE(
      has(markdown, "| spec | old (ms) | new (ms) | ratio | interval | verdict |\n|:--|--:|--:|--:|--:|:--|\n"));
  EXPECT_TRUE(has(markdown, "| T=1 | 1.000 | 1.500 | 1.500 | 1.498..1.502 | slower |\n"));
  EXPECT_TRUE(has(junit, "<testsuite name=\"bench\" tests=\"5\" failures=\"2\" errors=\"0\" skipped=\"2\">\n"));
  EXPECT_TRUE(
      has(junit,
          "<testcase classname=\"bench\" name=\"T=1\" time=\"0.0015\"><failure type=\"slower\" message=\"slower; "
          "old 1.000 ms, new 1.500 ms, ratio 1.500 (1.498..1.502)\"/></testcase>\n"));
  EXPECT_TRUE(has(junit, "<skipped message=\"only in old;"));
  const std::string json = sandbox_.read("out/diff.json");
  EXPECT_TRUE(has(json, "\"regressions\": 2"));
  EXPECT_TRUE(has(json, "\"verdict\": \"slower\""));
  EXPECT_TRUE(has(json, "\"new_ms\": 1.5"));
}

TEST_F(Diff, NamesOfAResultActInNoFile) {
  const std::string hostile = "<img src=x onerror=alert(1)>|`*_&\"'\x1b[31m\n]]>";
  const auto text = [&](double ms) {
    Measurement measurement;
    measurement.timing = {9, ms, ms, ms, ms, ms, ms, false};
    return run_line(hostile, "A100", hostile) +
           line(wire::TrialRecord{"x", {Spec{0, {{"T", hostile, false}}}, measurement}}) +
           line(wire::TrialRecord{"y", {Spec{1, {{"T", std::int64_t{2}, false}}}, measurement}});
  };
  const Result result = diff(text(0.001), text(0.002), 3, {"--markdown", "diff.md", "--junit", "diff.xml"});
  for (const std::string& written : {sandbox_.read("diff.md"), sandbox_.read("diff.xml")}) {
    EXPECT_FALSE(has(written, "<img")) << written;
    EXPECT_FALSE(has(written, "\x1b")) << written;
    EXPECT_FALSE(has(written, "]]>")) << written;
  }
  EXPECT_FALSE(has(sandbox_.read("diff.md"), "`")) << sandbox_.read("diff.md");
  EXPECT_FALSE(has(result.out, "\x1b")) << result.out;
}

TEST_F(Diff, WrongInputIsNamed) {
  sandbox_.write("good.jsonl", journal({{1, 1.0}}));
  sandbox_.write("empty.jsonl", "");
  sandbox_.write("nothing.jsonl", run_line());
  sandbox_.write("foreign.json", "{\"a\": 1}\n");
  sandbox_.write("foreign.yaml", "- 1\n");
  sandbox_.write("torn.yaml", "name: gemm\nparams: {T: [1\n");
  sandbox_.write("grid.yaml", "name: bench\nfile: bench.sh\nparams: {T: [1, 2]}\nresult: {time_ms: 1}\n");
  sandbox_.write("untimed.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1}\n");
  expect_refusal("absent.jsonl", "good.jsonl", "absent.jsonl");
  expect_refusal("good.jsonl", "empty.jsonl", "empty.jsonl: the recording is empty");
  expect_refusal("good.jsonl", "nothing.jsonl", "nothing.jsonl: the recording holds no trial");
  expect_refusal("foreign.json", "good.jsonl", "foreign.json:1: this is no recorded run");
  expect_refusal("foreign.yaml", "good.jsonl", "foreign.yaml: this is no result of tune");
  expect_refusal("torn.yaml", "good.jsonl", "torn.yaml:");
  expect_refusal("grid.yaml", "good.jsonl", "grid.yaml:1: this file has a grid, and no result of one spec");
  expect_refusal("untimed.yaml", "good.jsonl", "untimed.yaml:1: there is no result: with a time_ms: in it");
  EXPECT_EQ(sandbox_.tune({"diff", "good.jsonl"}).code, 2);
  EXPECT_TRUE(has(diff_files("good.jsonl", "good.jsonl", 2, {"--json", "good.jsonl"}).err,
                  "good.jsonl: the output is also an input"));
  EXPECT_TRUE(has(diff_files("good", "good", 2, {"--json", "good.jsonl"}).err, "the output is also an input"));
  EXPECT_TRUE(has(diff_files("good.jsonl", "good.jsonl", 2, {"--json", "out", "--junit", "./out"}).err,
                  "--junit and --json both write out; give each a file of its own"));
  EXPECT_TRUE(has(diff_files("good.jsonl", "good.jsonl", 2, {"--threshold", "fast"}).err, "'fast' is no share"));
  EXPECT_TRUE(has(diff_files("good.jsonl", "good.jsonl", 4, {"--json", "good.jsonl/x"}).err, "good.jsonl/x"));
}

TEST_F(Diff, DamagedAndNewerJournalsAreMarked) {
  const std::string good = journal({{1, 1.0}});
  const Result damaged = diff(good, good + "garbage\n" + good.substr(0, good.size() - 9), 0);
  EXPECT_TRUE(has(damaged.err, "note: new.jsonl:3: this line is not a valid record and is ignored"));
  std::string newer = good;
  newer.replace(newer.find("\"protocol\":4,\"record\""), 12, "\"protocol\":9");
  const Result version = diff(good, newer, 0);
  EXPECT_TRUE(has(version.out, "warning: new.jsonl is of a newer version of tune")) << newer;
  EXPECT_TRUE(has(version.out, "warning: the results are of versions of tune that measure in different ways"));
}

}  // namespace
}  // namespace tune::cli::cli_diff_test
