// What is run again because of how it failed. Over the real binary: cli_resume_test.cpp.
#include "tuning/journal_lookup.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tune::journal_lookup_test {
namespace {

const exec::Deadlines kDeadlines{.build = std::chrono::seconds(120), .run = std::chrono::seconds(60)};

bool lapses(const Failure& failure, bool repeated = false) { return tuning::has_lapsed(failure, repeated, kDeadlines); }

Failure failed(const FailureFacts& facts, Stage stage = Stage::measure) {
  return {stage, Cause::reported, "any message", "", facts};
}

TEST(Lapse, WhatTheMachineMayBeToBlameForLapsesOnce) {
  const Failure suspected = failed({.machine_suspected = true});
  EXPECT_TRUE(lapses(suspected));
  EXPECT_FALSE(lapses(suspected, true));
  EXPECT_FALSE(lapses(failed({.exit_code = 3})));
  EXPECT_FALSE(lapses(failed({.signal = SIGSEGV})));
}

TEST(Lapse, ATimeoutLapsesOnceThereIsMoreTimeForItsStage) {
  EXPECT_TRUE(lapses(failed({.limit_seconds = 59.5})));
  EXPECT_FALSE(lapses(failed({.limit_seconds = 60})));
  EXPECT_FALSE(lapses(failed({.limit_seconds = 61})));
  EXPECT_TRUE(lapses(failed({.limit_seconds = 61}, Stage::build)));
  EXPECT_FALSE(lapses(failed({.limit_seconds = 120}, Stage::build)));
  EXPECT_TRUE(lapses(failed({.limit_seconds = 1}), true)) << "however often it had too little";
}

TEST(Lapse, NoMessageMakesAFailureLapse) {
  for (const char* message :
       {"killed by signal 9 (killed)", "c++: fatal error: Killed signal terminated program cc1plus",
        "the program ended with exit code 127", "wrong (it had filled the disk)", "four fifths of what was left"})
    EXPECT_FALSE(lapses({Stage::measure, Cause::crashed, message, ""})) << message;
  EXPECT_FALSE(lapses({Stage::measure, Cause::timed_out, "no answer within 1 s", ""}));
}

TEST(FailureFacts, OfAnEndSuspectTheMachineOfWhatAKernelHardlyDoes) {
  EXPECT_EQ(facts_of_end(0, SIGKILL), (FailureFacts{.signal = SIGKILL, .machine_suspected = true}));
  EXPECT_EQ(facts_of_end(126, 0), (FailureFacts{.exit_code = 126, .machine_suspected = true}));
  EXPECT_EQ(facts_of_end(127, 0), (FailureFacts{.exit_code = 127, .machine_suspected = true}));
  EXPECT_EQ(facts_of_end(0, SIGSEGV), (FailureFacts{.signal = SIGSEGV}));
  EXPECT_EQ(facts_of_end(1, 0), (FailureFacts{.exit_code = 1}));
}

}  // namespace
}  // namespace tune::journal_lookup_test
