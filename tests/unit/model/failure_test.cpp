#include <gtest/gtest.h>

#include "model/trial.h"

namespace tune::failure_test {
namespace {

std::string kind(Stage stage, const std::string& message) { return Failure{stage, Cause::reported, message}.kind; }

TEST(Failure, OfABuildIsOfAKindWhateverTheNumbersOfItsErrorAre) {
  EXPECT_EQ(kind(Stage::build, "a.cpp:7: error: size 128 of f1<128> is above 0x40\nmore"),
            "a.cpp:7: error: size # of f1<#> is above #");
  EXPECT_EQ(kind(Stage::build, "no answer within 10 s"), "no answer within # s");
}

TEST(Failure, OfARunIsOfTheKindThatItsHeadlineSays) {
  EXPECT_EQ(kind(Stage::check, "error: 7 elements are wrong\nmore"), "error: 7 elements are wrong");
  EXPECT_EQ(Failure().kind, "");
}

TEST(Failure, WithALongerHeadlineIsOfAnotherKind) {
  Failure failure{Stage::build, Cause::reported, "a.cpp:7: error: 9\nmore"};
  failure.add_to_headline(" (again)");
  EXPECT_EQ(failure.message, "a.cpp:7: error: 9 (again)\nmore");
  EXPECT_EQ(failure.kind, "a.cpp:7: error: # (again)");
  EXPECT_EQ(failure.kind, kind(Stage::build, failure.message));
}

TEST(Failure, AResultIsWrongOnlyIfItWasCompared) {
  const Failure wrong(Stage::check, Cause::reported, "wrong result in C");
  EXPECT_TRUE(wrong.is_wrong_result());
  EXPECT_TRUE((Trial{{}, wrong}.is_wrong()));
  EXPECT_FALSE(Failure(Stage::check, Cause::crashed, "killed by signal 11").is_wrong_result());
  EXPECT_FALSE(Failure(Stage::check, Cause::timed_out, "no answer within 60 s").is_wrong_result());
  EXPECT_FALSE(
      Failure(Stage::check, Cause::reported, "out of memory", {}, {.machine_suspected = true}).is_wrong_result());
  EXPECT_FALSE(Failure(Stage::load, Cause::reported, "there is no buffer D").is_wrong_result());
}

}  // namespace
}  // namespace tune::failure_test
