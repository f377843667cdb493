#include "flow/certainty.h"

#include <gtest/gtest.h>

#include "has.h"

namespace tune::certainty_test {
namespace {

class CertaintyTest : public testing::Test {
 protected:
  /// A first row that came through 31 rounds at 1 ms, give or take `width`.
  explicit CertaintyTest() {
    trials_[0].outcome = Measurement{};
    trials_[1] = {Spec{12, {}}, Measurement{}};
    trials_[2] = {Spec{31, {}}, Measurement{}};
    for (const Trial& trial : trials_) ranking_.rows.push_back({&trial, 0, Standing{}});
    for (Ranked& row : ranking_.rows) row.standing->rounds = 31;
    set_width(0.001);
  }
  void set_width(double width) {
    ranking_.rows[0].standing->median_seconds = 1e-3;
    ranking_.rows[0].standing->seconds_interval = {1e-3 * (1 - width), 1e-3 * (1 + width)};
  }
  void leave_open(std::size_t row, std::optional<Interval> ratio) {
    ranking_.rows[row].standing->verdict = Verdict::open;
    ranking_.rows[row].standing->ratio_interval = ratio;
  }
  flow::Certainty certainty() const { return {ranking_, &finals_}; }

  Trial trials_[3];
  Ranking ranking_;
  Finals finals_;
};

TEST_F(CertaintyTest, HasNothingToSayOfAClearWinner) {
  EXPECT_TRUE(certainty().warnings().empty());
  EXPECT_NEAR(*certainty().uncertainty(), 0.001, 1e-12);
  EXPECT_EQ(certainty().too_uncertain(0.01), std::nullopt);
}

TEST_F(CertaintyTest, SaysHowFarTheDecisionIsOpen) {
  leave_open(1, Interval{0.992, 1.004});
  leave_open(2, Interval{0.999, 1.006});
  ASSERT_EQ(certainty().warnings().size(), 1U);
  EXPECT_EQ(certainty().warnings()[0],
            "the finals could not tell 12 and 31 from the best in 31 rounds: they may be up to 0.8 % faster or slower, "
            "and the lowest time was taken; a longer --finals-budget or --time-budget allows more");
  EXPECT_NEAR(*certainty().uncertainty(), 0.008, 1e-12);
  EXPECT_TRUE(certainty().too_uncertain(0.005));
}

TEST_F(CertaintyTest, SaysThatTheRunsOfACommandAreShortIfThatMayHideADifference) {
  Measurement whole;
  whole.metrics = {{kUserTime, 0.5}, {kSystemTime, 0.5}, {kPeakMemory, 2}};
  trials_[0].outcome = whole;
  for (std::size_t row : {1, 2}) ranking_.rows[row].standing->verdict = Verdict::lost;
  EXPECT_TRUE(certainty().warnings().empty());
  ranking_.rows[2].standing->verdict = Verdict::equivalent;
  EXPECT_TRUE(cli::has(certainty().warnings().at(0), "the best run takes 1 ms: below 5 ms, the start of a process"));
  ranking_.rows[0].standing->median_seconds = 6e-3;
  EXPECT_TRUE(certainty().warnings().empty());
}

TEST_F(CertaintyTest, IsUnknownAfterTooFewRounds) {
  ranking_.rows[0].standing->rounds = 4;
  leave_open(1, std::nullopt);
  EXPECT_TRUE(cli::has(certainty().warnings().at(0), "could not tell 12 from the best in 4 rounds: that is too few"));
  EXPECT_EQ(certainty().uncertainty(), std::nullopt);
  EXPECT_TRUE(cli::has(*certainty().too_uncertain(0.5), "--noise 50%: the uncertainty of the best is unknown"));
  EXPECT_TRUE(cli::has(*certainty().too_uncertain(0.07), "--noise 7%: ")) << "as it was given";
}

TEST_F(CertaintyTest, NamesTheCauseOfNoiseWhereItIsKnown) {
  set_width(3.3);
  EXPECT_EQ(certainty().warnings().at(0),
            "noise: the time of the best is known to +-330 % only; look for what disturbs the device, or let --noise "
            "2% make this an error");
  finals_.others_running = 6.25;
  finals_.cores = 4;
  EXPECT_TRUE(
      cli::has(certainty().warnings().at(0),
               "+-330 % only, while on average 6.2 threads of other programs ran on the 4 cores; remove the cause"));
  ranking_.rows[0].standing->metrics["throttle"] = 4;
  EXPECT_TRUE(cli::has(certainty().warnings().at(0), "only, while the device was at its power cap; remove the cause"));
  ranking_.rows[0].standing->metrics["throttle"] = 4 + 32;
  EXPECT_TRUE(cli::has(certainty().warnings().at(0), "only, while heat slowed the device down; remove the cause"));
}

TEST_F(CertaintyTest, IsThatOfTheSweepWithoutFinals) {
  for (Ranked& row : ranking_.rows) row.standing.reset();
  EXPECT_EQ(flow::Certainty(ranking_, nullptr).uncertainty(), std::nullopt) << "one launch";
  Measurement measurement;
  measurement.timing = {7, 1e-3, 1e-3, 1e-3, 1e-3, 0.95e-3, 1.05e-3, false};
  trials_[0].outcome = measurement;
  EXPECT_NEAR(*flow::Certainty(ranking_, nullptr).uncertainty(), 0.05, 1e-12);
  EXPECT_EQ(flow::Certainty(ranking_, nullptr).warnings().size(), 1U);
}

}  // namespace
}  // namespace tune::certainty_test
