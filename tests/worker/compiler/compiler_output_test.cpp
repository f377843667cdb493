#include "compiler/compiler_output.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <utility>

namespace tune::compiler_output_test {
namespace {

constexpr platform::Exit kFailed = {.code = 1};

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

/// What is shown of the first error.
std::string with_escapes(const char* output) {
  return worker::shown_error(worker::first_error(output).line, {"/home/me/src", {"/tmp/x"}});
}

TEST(CompilerOutput, TheFirstErrorIsFoundWhoeverSaysIt) {
  for (const auto& [output, line] : std::initializer_list<std::pair<const char*, const char*>>{
           {"In file included from shim.cpp:4:\n/home/me/src/a.cpp:3:5: error: 'x' was not declared\n",
            "a.cpp:3:5: error: 'x' was not declared"},
           {"a.cpp:1:2: warning: an error: is near\na.cpp:3:5: fatal error: b.h: No such file or directory\n",
            "a.cpp:3:5: fatal error: b.h: No such file or directory"},
           {"/usr/bin/ld: /tmp/x/ccA.o: in function `f':\na.cpp:(.text+0x5): undefined reference to `g(int)'\n"
            "collect2: error: ld returned 1 exit status\n",
            "undefined reference to `g(int)'"},
           {"/usr/bin/ld: /tmp/x/ccA.o: relocation R_X86_64_32 can not be used when making a shared object\n",
            "/usr/bin/ld: relocation R_X86_64_32 can not be used when making a shared object"},
           {"/usr/bin/ld: cannot find -lfoo: No such file or directory\n",
            "cannot find -lfoo: No such file or directory"},
           {"ld.lld: error: undefined symbol: g(int)\n", "ld.lld: error: undefined symbol: g(int)"},
           {"/tmp/x/ccA.s: Assembler messages:\n/tmp/x/ccA.s:21: Error: no such instruction: `foo'\n",
            "Error: no such instruction: `foo'"},
           {"k.cu(1): error: identifier \"x\" is undefined\n", "k.cu(1): error: identifier \"x\" is undefined"},
           {"ptxas info    : 0 bytes gmem\nptxas error   : Entry function 'k' uses too much shared data (0x40000 "
            "bytes, "
            "0x38c00 max)\n",
            "ptxas error: Entry function 'k' uses too much shared data (262144 bytes, 232448 max)"},
           {"ptxas fatal   : Unresolved extern function '_Z1gi'\n", "ptxas fatal: Unresolved extern function 'g(int)'"},
           {"error[E0425]: cannot find value `x`\n", "error[E0425]: cannot find value `x`"},
           {"Traceback (most recent call last):\n  File \"a.py\", line 1\nNameError: name 'x' is not defined\n",
            "NameError: name 'x' is not defined"},
           {"std::system_error::what\nall went well\n", ""}})
    EXPECT_EQ(with_escapes(output), line) << output;
}

TEST(CompilerOutput, SourcesMayLieInATemporaryFolder) {
  EXPECT_EQ(worker::shown_error("/tmp/src/a.cpp:3:5: error: no", {"/tmp/src", {"/tmp"}}), "a.cpp:3:5: error: no");
  EXPECT_EQ(worker::shown_error("/tmp/x/ccA.s:21: Error: no", {"/tmp", {"/tmp/x"}}), "Error: no");
}

TEST(CompilerOutput, WhatFollowsTheErrorIsItsDetail) {
  EXPECT_EQ(
      worker::message_of_build("ptxas info    : Used 10 registers\nk.cu(1): error: no\n  x = y;\n\n"
                               "ptxas info    : Compile time = 2 ms\ncollect2: error: ld returned 1 exit status\n",
                               {}, "exit code 1"),
      "k.cu(1): error: no\n  x = y;");
  EXPECT_EQ(worker::message_of_build("nothing to say\n", {}, "exit code 1"), "exit code 1\nnothing to say");
}

TEST(CompilerOutput, ANameInCapitalsMayBeAParameterThatIsMissing) {
  for (const char* error :
       {"k.cu(1): error: identifier \"VEC\" is undefined", "a.c:3:31: error: 'VEC' was not declared in this scope",
        "a.c:3:31: error: 'VEC' undeclared (first use in this function)",
        "a.c:3:31: error: ‘VEC’ was not declared in this scope", "a.c:3:31: error: use of undeclared identifier 'VEC'"})
    EXPECT_EQ(worker::message_of_build(error, {}, ""),
              std::string(error) +
                  "; if the tuning file is to define VEC, add it to 'params:', such as VEC: [1, 2], or "
                  "to 'build: {defines: [...]}' if it is a size");
  for (const char* error : {"error: identifier \"Vec\" is undefined", "error: identifier \"INT_MAX\" is undefined",
                            "error: 'M_PI' was not declared in this scope", "error: use of undeclared identifier 'NAN'",
                            "error: use of undeclared identifier 'x', 'VEC'", "error: 'VEC' is not a type"})
    EXPECT_EQ(worker::message_of_build(error, {}, ""), error);
}

TEST(CompilerOutput, AMacroInAPragmaIsNotAParameterThatIsMissing) {
  const std::string error = "k.cpp:2:20: error: 'UNROLL' was not declared in this scope";
  const std::string source = "\n    2 | #pragma GCC unroll UNROLL";
  EXPECT_EQ(worker::message_of_build(error + source, {}, ""),
            error +
                "; this compiler expands no macro in this line; '#define DO(x) _Pragma(#x)', '#define UNROLL_BY(n) "
                "DO(GCC unroll n)' and then 'UNROLL_BY(UNROLL)' help" +
                source);
  // NVRTC, and GCC in those of OpenMP, expand them.
  for (const char* other : {"\n  #pragma unroll UNROLL", "\n    2 | #pragma omp parallel num_threads(UNROLL)"})
    EXPECT_NE(worker::message_of_build(error + other, {}, "").find("is to define UNROLL"), std::string::npos) << other;
}

}  // namespace
}  // namespace tune::compiler_output_test
