#include "compiler_output.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace tune {
namespace {

constexpr base::Exit kFailed = {.code = 1};

TEST(CompilerOutput, TellsOfAPartThatWasKilled) {
  for (const char* output : {"x.cpp: In function 'f':\nc++: fatal error: Killed signal terminated program cc1plus\n",
                             "collect2: fatal error: ld terminated with signal 9 [Killed]\n",
                             "clang: error: unable to execute command: Killed\n"})
    EXPECT_EQ(worker::facts_of_build(kFailed, output), (FailureFacts{.exit_code = 1, .machine_suspected = true}))
        << output;
  for (const char* output : {"", "x.cpp:1:2: error: static assertion failed: Killed signal\n",
                             "c++: fatal error: Segmentation fault signal terminated program cc1plus\n"})
    EXPECT_EQ(worker::facts_of_build(kFailed, output), FailureFacts{.exit_code = 1}) << output;
}

TEST(CompilerOutput, IsNotNeededWhereTheCompilerItselfWasKilled) {
  EXPECT_EQ(worker::facts_of_build({.signal = SIGKILL}, ""),
            (FailureFacts{.signal = SIGKILL, .machine_suspected = true}));
}

TEST(CompilerOutput, TellsWhyItCouldNotBeWritten) {
  EXPECT_EQ(worker::room_error_of_build("x.cpp:1: fatal error: error writing to /tmp/x.s: No space left on device\n"),
            ENOSPC);
  EXPECT_EQ(worker::room_error_of_build("ld: final link failed: Disk quota exceeded\n"), EDQUOT);
  EXPECT_EQ(worker::room_error_of_build("x.cpp:1: error: expected ';'\n"), 0);
}

}  // namespace
}  // namespace tune
