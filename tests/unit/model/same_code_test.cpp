#include "model/statistics/same_code.h"

#include <gtest/gtest.h>

namespace tune::same_code_test {
namespace {

Trial built(std::int64_t mesh_idx, std::int64_t x, std::int64_t y, const std::string& code, bool early = false) {
  Measurement measurement;
  measurement.timing.median = 1;
  measurement.timing.stopped_early = early;
  measurement.build.code = code;
  return {Spec{mesh_idx, {{"X", x, false}, {"Y", y, false}}}, measurement};
}

TEST(SameCode, IsStoodForByTheLowestIndex) {
  const std::vector<Trial> trials = {built(7, 1, 1, "a"), built(3, 2, 1, "a"), built(5, 3, 1, "a"),
                                     built(1, 4, 1, "b")};
  EXPECT_EQ(same_code(trials, std::nullopt), (SameCode{{5, 3}, {7, 3}}));
}

TEST(SameCode, IsStoodForByTheDefaultIfItIsAmongThem) {
  const std::vector<Trial> trials = {built(3, 1, 1, "a"), built(7, 2, 1, "a"), built(1, 3, 1, "b")};
  EXPECT_EQ(same_code(trials, Spec{7, {}}), (SameCode{{3, 7}}));
  EXPECT_EQ(same_code(trials, Spec{1, {}}), (SameCode{{7, 3}}));
}

TEST(SameCode, IsStoodForByOneThatWasTimedInFull) {
  const std::vector<Trial> trials = {built(3, 1, 1, "a", true), built(7, 2, 1, "a")};
  EXPECT_EQ(same_code(trials, std::nullopt), (SameCode{{3, 7}}));
}

TEST(SameCode, IsNotThatOfWhatWasNotBuilt) {
  const std::vector<Trial> trials = {built(3, 1, 1, ""), built(7, 2, 1, ""), {Spec{1, {}}, Failure{}}};
  EXPECT_TRUE(same_code(trials, std::nullopt).empty());
}

using Names = std::vector<std::string>;

TEST(IdleParameters, AreThoseThatNeverChangedTheCode) {
  std::vector<Trial> trials = {built(0, 1, 1, "a"), built(1, 1, 2, "a"), built(2, 2, 1, "b"), built(3, 2, 2, "b")};
  EXPECT_EQ(idle_parameters(trials), Names{"Y"});
  trials[3] = built(3, 2, 2, "c");
  EXPECT_EQ(idle_parameters(trials), Names{});
}

TEST(IdleParameters, AreNoneThatDecideWhetherASpecWorks) {
  std::vector<Trial> trials = {built(0, 1, 1, "a"), built(1, 1, 2, "a"), built(2, 1, 3, "")};
  EXPECT_EQ(idle_parameters(trials), Names{"Y"}) << "the code of one is not known";
  trials[2].outcome = Failure{};
  EXPECT_EQ(idle_parameters(trials), Names{}) << "it may well be another";
  for (Trial& trial : trials) trial.outcome = Failure{};
  EXPECT_EQ(idle_parameters(trials), Names{});
}

TEST(IdleParameters, AreNoneOfWhichNothingCanBeSaid) {
  EXPECT_EQ(idle_parameters(std::vector<Trial>{built(0, 1, 1, "a"), built(3, 2, 2, "a")}), Names{});
  EXPECT_EQ(idle_parameters(std::vector<Trial>{built(0, 1, 1, "a")}), Names{});
  EXPECT_EQ(idle_parameters(std::vector<Trial>{built(0, 1, 1, ""), built(1, 1, 2, "")}), Names{});
}

}  // namespace
}  // namespace tune::same_code_test
