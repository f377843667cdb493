#include "results/verdict/verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/has.h"

namespace tune::verdict_test {
namespace {

class VerdictTest : public testing::Test {
 protected:
  /// Three specs that came through 31 rounds, the first of them at 1 ms +-0.1 %, which loses at most 0.4 %.
  VerdictTest() {
    trials_.resize(3);
    for (std::size_t i = 0; i < 3; ++i) {
      trials_[i].spec = {static_cast<std::int64_t>(10 + i), {{"BM", static_cast<std::int64_t>(64 << i)}}};
      trials_[i].outcome = Measurement{};
    }
    summary_.trials = trials_;
    summary_.varying = {"BM"};
    for (const Trial& trial : trials_) summary_.ranking.rows.push_back({&trial, 0, FinalsResult{}});
    for (Ranked& row : summary_.ranking.rows) {
      row.finals_result->rounds = 31;
      row.finals_result->loss = 0;
    }
    set_width(0.001);
    set_loss(1, 0.004);
    outcome_.finals.state = results::HeldFinals{};
    held().cores = 4;
  }
  Ranked& row(std::size_t i) { return summary_.ranking.rows[i]; }
  results::HeldFinals& held() { return *outcome_.finals.held(); }
  void hold_none(results::NoFinals none = {}) { outcome_.finals.state = none; }
  void set_width(double width) {
    row(0).finals_result->time.seconds = 1e-3;
    row(0).finals_result->time.interval = Interval{1e-3 * (1 - width), 1e-3 * (1 + width)};
  }
  void set_loss(std::size_t i, std::optional<double> loss) {
    row(i).finals_result->loss = loss;
    summary_.ranking.loss = loss;
  }
  void compare(std::optional<double> ratio, std::optional<Interval> interval, Change change) {
    ComparedSpec best;
    best.entrant = {trials_[0].spec, Entrant::Kind::best, "best"};
    best.old_spec = trials_[0].spec;
    best.ratio = ratio;
    best.interval = interval;
    best.change = change;
    best.paired = true;
    outcome_.comparison = RunComparison{{"old.yaml", "", ""}, {}, 0.03, {{"", {}, {best}, {}, 0}}, {}};
  }
  Verdict verdict() const { return results::verdict_of(summary_, outcome_, demands_); }
  std::string line(std::size_t i) const { return verdict().lines.at(i); }

  std::vector<Trial> trials_;
  report::Summary summary_;
  results::TuningOutcome outcome_;
  results::Demands demands_;
};

TEST_F(VerdictTest, NamesTheWinnerAndWhatItMayLose) {
  EXPECT_EQ(verdict().lines,
            (std::vector<std::string>{
                "DECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %, at most 0.4 % slower than the best of 3 specs",
                "  31 rounds of finals", "  noise: low"}));
  EXPECT_FALSE(verdict().asked);
  set_loss(1, 0);
  EXPECT_EQ(line(0), "DECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %, the fastest of 3 specs");
  summary_.specs = Natural(1152);
  EXPECT_TRUE(cli::has(line(0), "the fastest of the 3 of 1152 specs that were tried"));
  summary_.label = "M64-N64";
  EXPECT_TRUE(line(0).starts_with("DECIDED: M64-N64: BM=64"));
}

TEST_F(VerdictTest, SaysHowTheWinnerComparesWithDefaultAndVendor) {
  summary_.ranking.baselines = {{{trials_[0].spec, Entrant::Kind::baseline, "default"}, FinalsResult{}},
                                {entrant_of("vendor"), FinalsResult{}}};
  summary_.ranking.baselines[0].finals_result->ratio = 1.314;
  summary_.ranking.baselines[1].finals_result->ratio = 0.96;
  EXPECT_EQ(line(1), "  1.31 times as fast as default, 0.96 times as fast as vendor; 31 rounds of finals");
  summary_.ranking.baselines[0].finals_result->ratio = 1.0043;
  EXPECT_TRUE(line(1).starts_with("  1.00 times as fast as default, ")) << line(1);
  outcome_.default_spec = trials_[0].spec;
  EXPECT_EQ(line(1), "  it is the default, 0.96 times as fast as vendor; 31 rounds of finals");
  outcome_.default_spec = summary_.ranking.baselines[0].entrant.spec = trials_[1].spec;
  set_loss(1, 0.05);
  EXPECT_TRUE(line(1).starts_with("  1.00 times as fast as default (not sure), 0.96 times as fast as vendor;"))
      << line(1);
  set_loss(1, 0.004);
  EXPECT_FALSE(cli::has(line(1), "not sure"));
}

TEST_F(VerdictTest, SaysThatNothingIsKnownWhereDisturbancesHideIt) {
  summary_.ranking.baselines = {{entrant_of("vendor"), FinalsResult{{0.6, Interval{0.98e-3, 0.8}}, 1, {}, 594}}};
  EXPECT_EQ(line(1), "  how fast it is beside vendor is not known; 31 rounds of finals");
  summary_.ranking.baselines[0].finals_result->time.interval->low = 1.31e-3;
  EXPECT_EQ(line(1), "  1.31..801 times as fast as vendor; 31 rounds of finals");
  row(0).finals_result->time.interval = Interval{0.8e-3, 300e-3};
  EXPECT_TRUE(line(0).starts_with("DECIDED: BM=64 (spec 10), 1.000 ms (how precisely is not known), at most "))
      << line(0);
  summary_.ranking.baselines[0].finals_result = FinalsResult{{1.5e-3, Interval{1.5e-3, 1.6e-3}}, 1, {}, 1.5};
  EXPECT_EQ(line(1), "  how fast it is beside vendor is not known; 31 rounds of finals");
  EXPECT_EQ(line(2), "  noise: high, and its cause is not known");
  set_loss(1, 0.998);
  EXPECT_EQ(verdict().why, "noise hides whether others are faster");
  EXPECT_EQ(line(2), "  may be faster: BM=128 (spec 11)");
  compare(1.07, Interval{0.001, 1037}, Change::open);
  EXPECT_EQ(line(0), "UNDECIDED: new/old is not known, allowed 1.03: slower or not is open");
  compare(3, Interval{1.5, 6}, Change::slower);
  EXPECT_EQ(line(0), "FAIL: new/old = 3.000 (1.500..6.000), allowed 1.03: slower");
}

TEST_F(VerdictTest, SaysWhatIsOpenAndWhatToDo) {
  set_loss(2, std::nullopt);
  set_loss(1, 0.061);
  held().seconds = 12;
  const Verdict open = verdict();
  EXPECT_EQ(open.decision, Decision::undecided);
  EXPECT_EQ(open.open, (std::vector<std::int64_t>{11, 12}));
  EXPECT_EQ(
      open.lines,
      (std::vector<std::string>{
          "UNDECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %; others may be up to 6.1 % faster", "  31 rounds of finals",
          "  may be faster: BM=128 (spec 11), by at most 6.1 %; BM=256 (spec 12)", "  noise: low",
          "  next: take it and lose at most 6.1 %; the same command with --finals-budget 30s holds longer finals"}));
  row(0).finals_result->rounds = 101;
  EXPECT_EQ(verdict().lines.back(), "  next: take it and lose at most 6.1 %; more rounds do not help");
  set_loss(1, 0.01038);  // beyond an accuracy of 1 %
  EXPECT_TRUE(cli::has(verdict().lines[0], "; others may be up to 1.1 % faster"));
  EXPECT_TRUE(cli::has(verdict().lines[2], "BM=128 (spec 11), by at most 1.1 %"));
  set_loss(1, 0.061);
  demands_.accuracy = 0.01;
  EXPECT_EQ(verdict().lines.back(), "  next: take any of them, or allow more with --accuracy");
  demands_.accuracy.reset();
  row(0).finals_result->rounds = 31;
  summary_.command = {"tune", "--tune", "--", "sort"};
  EXPECT_EQ(
      verdict().lines.back(),
      "  next: take it and lose at most 6.1 %; the same command with --finals-budget 30s before its -- holds longer "
      "finals");
  demands_.finals_budget = 12;
  EXPECT_EQ(
      verdict().lines.back(),
      "  next: take it and lose at most 6.1 %; all 101 rounds would tell no better than 4 % with this noise, which "
      "--accuracy 4% accepts")
      << "6.1 % after 31 rounds";
  demands_.accuracy = 0.04;
  EXPECT_TRUE(verdict().lines.back().ends_with(" holds longer finals")) << "that is what was asked for";
  demands_.accuracy.reset();
  demands_.finals_budget.reset();
  held().seconds = 0;
  EXPECT_TRUE(cli::has(verdict().lines.back(), "--finals-budget 60s")) << "as an older version recorded them";
}

TEST_F(VerdictTest, SaysWhatDecidesAQuestionThatTheLastRoundLeavesOpen) {
  compare(1.02, Interval{0.99, 1.0612}, Change::open);
  row(0).finals_result->rounds = 101;
  EXPECT_EQ(
      verdict().lines.back(),
      "  next: more rounds do not help; the same command with --fresh measures again, and --threshold 7% would have "
      "passed");
  demands_.fresh = true;
  EXPECT_EQ(verdict().lines.back(),
            "  next: more rounds do not help; the same command measures again, and --threshold 7% would have passed");
}

TEST_F(VerdictTest, OneSpecIsNoChoiceWhereTheTimeBudgetEndedTheSweep) {
  summary_.trials = std::span(trials_).first(1);
  summary_.ranking.rows.resize(1);
  hold_none();
  summary_.specs = Natural(30);
  EXPECT_EQ(verdict().decision, Decision::decided) << "no more were asked for";
  demands_.time_budget = 10;
  EXPECT_EQ(verdict().decision, Decision::undecided);
  EXPECT_EQ(verdict().why, "--time-budget 10s was too short for another of 30 specs");
  EXPECT_EQ(verdict().lines.back(),
            "  next: the same command with a longer --time-budget tries others; this spec took 0 s");
  summary_.specs = Natural(1);
  EXPECT_EQ(verdict().decision, Decision::decided) << "there are no others";
}

TEST_F(VerdictTest, SaysHowManyRoundsItTakes) {
  summary_.ranking.loss.reset();
  held().finalists = {Finalist{{trials_[0].spec}}, Finalist{{trials_[1].spec}}};
  row(0).finals_result->rounds = 2;
  EXPECT_EQ(verdict().why, "it takes 9 rounds to tell it from others, and there was time for 2");
  held().seconds = 2.6;
  const std::string longer = "  next: the same command with --finals-budget 20s holds longer finals";
  EXPECT_EQ(verdict().lines.back(), longer);
  held().disturbed = {3, 1};
  EXPECT_EQ(verdict().lines.back(), longer) << "what else is open counts later";
}

TEST_F(VerdictTest, AsksForMoreOfTheTimeBudgetWhereThatEndsTheFinals) {
  const auto next = [&] { return verdict().lines.back(); };
  set_loss(1, 0.061);
  held().seconds = 24;
  held().room = 24;
  demands_.time_budget = 90;
  EXPECT_EQ(
      next(),
      "  next: take it and lose at most 6.1 %; the same command with --time-budget 200s --finals-budget 50s holds "
      "longer finals: --time-budget 90s leaves these no more time");
  held().seconds = 14;
  held().room = 14.5;
  EXPECT_TRUE(cli::has(next(), "with --time-budget 120s holds")) << "a quarter of it are 30 s, without another option";
  summary_.specs = Natural(3);
  EXPECT_TRUE(cli::has(next(), "with --time-budget 110s holds")) << "nothing else is left to try";
  demands_.finals_budget = 10;
  summary_.ranking.loss = 0.015;
  EXPECT_TRUE(cli::has(next(), "with --time-budget 110s --finals-budget 30s holds"));
  held().room = 60;
  EXPECT_TRUE(next().ends_with("; the same command with --finals-budget 30s holds longer finals")) << next();
  hold_none({results::NoFinals::Why::no_time, 12});
  demands_.finals_budget.reset();
  demands_.time_budget = 10;
  EXPECT_TRUE(cli::has(next(), "with --time-budget 30s holds longer finals: --time-budget 10s leaves ")) << next();
}

TEST_F(VerdictTest, SaysWhereTheOldFileHasOtherParametersThanItsBuild) {
  compare(1, Interval{1, 1}, Change::noise);
  ComparedSpec& best = outcome_.comparison->shapes[0].best[0];
  best.same_code = true;
  EXPECT_TRUE(line(0).starts_with("PASS: new and old are the same code")) << line(0);
  EXPECT_FALSE(cli::has(line(0), "though")) << line(0);
  best.old_spec.params = {{"BM", Value(std::int64_t{7})}};
  EXPECT_TRUE(line(0).starts_with("PASS: new and old are the same code, though the old file says BM=7")) << line(0);
}

TEST_F(VerdictTest, SaysWhereTheOldTimeIsTheRecordedOne) {
  compare(1.2, Interval{1.19, 1.21}, Change::slower);
  outcome_.comparison->shapes[0].best[0].paired = false;
  EXPECT_EQ(line(0), "FAIL: new/recorded = 1.200 (1.190..1.210), allowed 1.03: slower");
  outcome_.comparison->shapes[0].best[0].change = Change::open;
  EXPECT_FALSE(cli::has(verdict().lines.back(), "next: ")) << "the comparison says it";
  outcome_.comparison->why_recorded = "it failed in the finals: it crashed";
  EXPECT_TRUE(line(1).ends_with(", by its recorded time, because it failed in the finals: it crashed")) << line(1);
  EXPECT_TRUE(verdict().lines.back().starts_with("  next: the same command with --fresh times both again; "));
  compare(1.01, {}, Change::unknown);
  EXPECT_TRUE(line(0).starts_with("PASS: ")) << line(0);
  outcome_.comparison->why_recorded = "the two had too few rounds of finals in common";
  outcome_.comparison->shapes[0].best[0].paired = false;
  EXPECT_EQ(line(0), "UNDECIDED: new/recorded = 1.010, its noise is not known, allowed 1.03: slower or not is open");
}

TEST_F(VerdictTest, CallsAnObjectiveOtherThanTheTimeBetterAndNotFaster) {
  summary_.ranked_by = "size";
  summary_.figures = {{"size", 70}, {"heat", 1.25}};
  held().finalists.push_back({{trials_[0].spec}});
  for (const int round : {1, 2, 3}) held().finalists.back().rounds[round] = {.seconds = 1e-3, .cost = 70};
  const std::string values = "DECIDED: BM=64 (spec 10), size 70{}, heat 1.250, 1.000 ms, ";
  EXPECT_EQ(line(0), fmt::format(fmt::runtime(values), "") + "at most 0.4 % worse than the best of 3 specs");
  held().finalists.back().rounds[2].cost = 84;
  EXPECT_TRUE(line(0).starts_with(fmt::format(fmt::runtime(values), " +-10 %"))) << line(0);
  set_loss(1, 0);
  EXPECT_TRUE(line(0).ends_with(", the best of 3 specs")) << line(0);
  set_loss(1, 0.03);
  EXPECT_TRUE(line(0).ends_with("; others may be up to 3 % better")) << line(0);
}

TEST_F(VerdictTest, SpeaksOfTheNoiseOfTimesWhereTheyAreOneOfSeveralObjectives) {
  summary_.ranked_by = "size";
  held().finalists.push_back({{trials_[0].spec}});
  for (const int round : {1, 2, 3}) held().finalists.back().rounds[round] = {.seconds = 1e-3, .cost = 70};
  set_width(0.3);
  EXPECT_EQ(verdict().lines[2], "  noise: low") << "the size is sure, whatever becomes of the times";
  summary_.objectives = {"size", "score"};
  EXPECT_EQ(verdict().lines[2], "  noise: low");
  summary_.objectives = {"size", "time"};
  EXPECT_EQ(verdict().lines[2], "  noise: high, and its cause is not known");
}

TEST_F(VerdictTest, SaysWhyThereIsNone) {
  const auto why = [&] { return verdict().decision == Decision::undecided ? verdict().why : "decided"; };
  outcome_.finals.interrupted = true;
  EXPECT_EQ(why(), "the finals were interrupted");
  outcome_.finals.interrupted = false;
  summary_.ranked_by = "size";
  EXPECT_EQ(why(), "these finals compared times, which the objective does not follow from");
  hold_none();
  outcome_.finals.interrupted = true;
  EXPECT_EQ(why(), "the finals were interrupted");
  outcome_.finals.interrupted = false;
  EXPECT_EQ(why(), "no finals were held");
  hold_none({results::NoFinals::Why::not_wanted});
  EXPECT_EQ(why(), "no finals were held: --no-finals");
  summary_.objectives = {"time", "energy"};
  EXPECT_TRUE(cli::has(why(), "of several objectives none decides"));
  summary_.ranking.rows.front().on_front = true;
  EXPECT_TRUE(cli::has(why(), "no other spec is better in any objective")) << "there is nothing to choose";
  outcome_.ended_early = true;
  EXPECT_EQ(why(), "the run ended early");
  summary_.ranking.rows.clear();
  EXPECT_EQ(line(0), "UNDECIDED: no spec has worked yet: the run ended early");
}

TEST_F(VerdictTest, FailsWhereNoSpecWorks) {
  summary_.ranking.rows.clear();
  for (Trial& trial : trials_) trial.outcome = Failure{Stage::check, Cause::reported, "wrong"};
  summary_.trials = trials_;
  EXPECT_EQ(verdict().decision, Decision::fail);
  EXPECT_EQ(line(0), "FAIL: none of 3 specs works");
  trials_[1].outcome = Failure{Stage::build, Cause::crashed, "killed", {}, {.machine_suspected = true}};
  summary_.trials = trials_;
  EXPECT_EQ(line(0), "UNDECIDED: none of 3 specs works, and the machine may be to blame");
  trials_.resize(1);
  summary_.trials = trials_;
  EXPECT_EQ(line(0), "FAIL: the only spec that was tried does not work");
  held().finalists = {{.entrant = {trials_[0].spec}, .failure = Failure{Stage::check, Cause::reported, "wrong"}}};
  EXPECT_EQ(line(0),
            "FAIL: there is no winner: all specs failed in the finals, though the sweep could time them: wrong");
}

TEST_F(VerdictTest, IsUndecidedWhereAllFailInTheFinalsAndTheSweepHasTimes) {
  held().finalists = {{.entrant = {trials_[0].spec}, .failure = Failure{Stage::measure, Cause::crashed, "killed"}}};
  summary_.winner = false;
  EXPECT_EQ(verdict().decision, Decision::undecided);
  EXPECT_TRUE(line(0).starts_with("UNDECIDED: there is no winner: all specs failed in the finals, though the sweep"));
  EXPECT_EQ(line(1), "  next: the same command holds the finals again");
}

TEST_F(VerdictTest, SaysHowTheNextSpecsMeetWhereAllFinalistsAreWrong) {
  const Failure wrong{Stage::check, Cause::reported, "wrong"};
  held().finalists = {{.entrant = {trials_[0].spec}, .failure = wrong}};
  summary_.winner = false;
  EXPECT_EQ(line(1), "  next: the same command with --finalists 2 has the next specs in the finals, too");
  for (Ranked& row : summary_.ranking.rows) row.failed_in_finals = &wrong;
  EXPECT_EQ(line(1), "  next: find out why the results are wrong in the finals; no other spec was timed in full");
  held().finalists.push_back(
      {.entrant = {trials_[1].spec}, .failure = Failure{Stage::measure, Cause::crashed, "killed"}});
  EXPECT_EQ(line(1), "  next: the same command holds the finals again");
}

TEST_F(VerdictTest, NeedsNoFinalsWhereNoOtherSpecComesNear) {
  hold_none();
  EXPECT_EQ(verdict().decision, Decision::undecided);
  outcome_.finals.unrivalled = true;
  EXPECT_EQ(line(0), "DECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %, the fastest of 3 specs");
  outcome_.finals.unrivalled = false;
  for (std::size_t i : {1, 2}) row(i).same_as = &trials_[0];
  EXPECT_EQ(verdict().decision, Decision::decided) << "they have its code";
  summary_.ranking.rows.resize(1);
  summary_.trials = std::span(trials_).first(1);
  EXPECT_EQ(line(0), "DECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %, the only spec that was tried");
  for (std::size_t i : {1, 2}) trials_[i].outcome = Failure{};
  summary_.trials = trials_;
  EXPECT_EQ(line(0), "DECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %, and all others of 3 specs failed");
}

TEST_F(VerdictTest, IsUndecidedWhereTheSweepSawAFasterSpec) {
  held().overlooked = 77;
  EXPECT_EQ(line(0), "UNDECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %; spec 77 was faster in the sweep");
}

TEST_F(VerdictTest, SaysWhatWasDisturbedInTheSweep) {
  held().disturbed = {31, 0};
  EXPECT_EQ(line(2), "  noise: low; 31 specs were disturbed in the sweep and timed again in the finals");
  held().disturbed = {3, 1};
  EXPECT_EQ(
      line(0),
      "UNDECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %; the finals had no room for 1 spec that something disturbed in "
      "the sweep");
  EXPECT_EQ(verdict().lines.back(), "  next: the same command with --fresh, on a quieter machine");
}

TEST_F(VerdictTest, PassesWhereWhatWasAskedIsKnown) {
  demands_.accuracy = 0.005;
  EXPECT_TRUE(line(0).starts_with("PASS: BM=64"));
  EXPECT_TRUE(verdict().asked);
  demands_.accuracy = 0.003;
  EXPECT_TRUE(line(0).starts_with("UNDECIDED: BM=64"));
  demands_.accuracy.reset();
  demands_.noise = 0.002;
  EXPECT_TRUE(line(0).starts_with("PASS: BM=64"));
  demands_.noise = 0.0005;
  EXPECT_TRUE(cli::has(line(0), "UNDECIDED: BM=64 (spec 10), 1.000 ms +-0.1 %; its time was to be known to +-0.05 %"));
}

TEST_F(VerdictTest, FailsOnlyIfTheEarlierResultIsFasterBeyondDoubt) {
  compare(1.31, Interval{1.27, 1.35}, Change::slower);
  EXPECT_EQ(verdict().decision, Decision::fail);
  EXPECT_EQ(line(0), "FAIL: new/old = 1.310 (1.270..1.350), allowed 1.03: slower");
  compare(1.07, Interval{1.00, 1.24}, Change::open);
  EXPECT_EQ(line(0), "UNDECIDED: new/old = 1.070 (1.000..1.240), allowed 1.03: slower or not is open");
  compare(0.998, Interval{0.994, 1.004}, Change::noise);
  EXPECT_EQ(line(0), "PASS: new/old = 0.998 (0.994..1.004), allowed 1.03");
  EXPECT_EQ(line(1), "  old: old.yaml, BM=64") << "its number is that of another grid";
  EXPECT_TRUE(line(2).starts_with("  new: BM=64 (spec 10), 1.000 ms +-0.1 %"));
  outcome_.comparison->shapes[0].best[0].old_spec.params.clear();
  EXPECT_EQ(line(1), "  old: old.yaml, its winner");
  set_loss(1, 0.5);
  EXPECT_EQ(verdict().decision, Decision::pass) << "nobody asked whether another spec is faster";
  demands_.accuracy = 0.01;
  EXPECT_EQ(line(0), "UNDECIDED: new/old = 0.998 (0.994..1.004), allowed 1.03")
      << "what is open stands in the third line";
  EXPECT_TRUE(cli::has(line(2), "; others may be up to 50 % faster"));
}

TEST_F(VerdictTest, NamesTheCauseOfNoiseWhereItIsKnown) {
  set_width(3.3);
  EXPECT_EQ(line(2), "  noise: high, and its cause is not known");
  held().others_running = 0.3;
  EXPECT_EQ(line(2), "  noise: high, and its cause is not known");
  held().others_running = 1 / 3.0;
  EXPECT_EQ(line(2), "  noise: other programs had 0.3 of 4 cores");
  held().others_running = 2.25;
  EXPECT_EQ(line(2), "  noise: other programs had 2.2 of 4 cores");
  held().stolen_cores = 0.019;
  EXPECT_EQ(line(2), "  noise: other programs had 2.2 of 4 cores");
  held().stolen_cores = 0.12;
  EXPECT_EQ(line(2),
            "  noise: other programs had 2.2 of 4 cores, and the host of this virtual machine "
            "took 3 % of its 4 cores");
  held().others_running = 0.3;
  EXPECT_EQ(line(2), "  noise: the host of this virtual machine took 3 % of its 4 cores");
  row(0).finals_result->metrics["throttle"] = 4;
  EXPECT_EQ(line(2), "  noise: the device was at its power cap");
  row(0).finals_result->metrics["throttle"] = 4 + 32;
  EXPECT_EQ(line(2), "  noise: heat slowed the device down");
}

TEST_F(VerdictTest, SaysThatTheRunsOfACommandAreShortIfThatMayHideADifference) {
  Measurement whole;
  whole.metrics = {{kUserTime, 0.5}, {kSystemTime, 0.5}, {kPeakMemory, 2}};
  trials_[0].outcome = whole;
  EXPECT_TRUE(cli::has(line(3), "the best run takes 1 ms, and the start of a process is a large part of that"));
  set_loss(1, 0);
  EXPECT_EQ(verdict().lines.size(), 3U) << "it is the fastest beyond doubt";
}

}  // namespace
}  // namespace tune::verdict_test
