// Runs that time on the CPU of one machine, and what waits for what.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "exec/device/device_lock.h"
#include "platform/store/store.h"
#include "support/cli.h"

namespace tune::cli::cli_turns_test {
namespace {

class Turns : public testing::Test {
 protected:
  static std::vector<std::string> command(const std::string& yaml, const std::string& output,
                                          std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--yaml", yaml, "--output", output});
    return more;
  }
  /// Whether so many runs in the background have said this.
  bool said(const std::string& text, int runs = 1) const {
    for (const auto& entry : std::filesystem::directory_iterator(sandbox_.folder()))
      runs -= entry.path().extension() == ".err" && platform::read_file(entry.path()).find(text) != std::string::npos;
    return runs <= 0;
  }

  Sandbox sandbox_;
};

TEST_F(Turns, TwoRunsNeverTimeAtTheSameTimeAndTheWaitingOneSaysForWhom) {
  const std::string inside = (sandbox_.folder() / "inside").string(), two = (sandbox_.folder() / "two").string();
  sandbox_.write_gemm("",
                      "extern \"C\" int mkdir(const char*, unsigned); extern \"C\" int rmdir(const char*);\n"
                      "extern \"C\" int usleep(unsigned);\n"
                      "if (mkdir(\"" +
                          inside + "\", 0777) != 0) mkdir(\"" + two +
                          "\", 0777);\n"
                          "for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { float sum = 0;\n"
                          "for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j]; C[i * n + j] = sum; }\n"
                          "usleep(2000); rmdir(\"" +
                          inside + "\");\n");
  const std::string source = sandbox_.read("gemm.cpp");
  const std::size_t body = source.find("{\n") + 2, code = source.find("if (mkdir");
  sandbox_.write("gemm.cpp", source.substr(body, code - body) + source.substr(0, body) + source.substr(code));
  exec::DeviceLock lock(sandbox_.folder(), "cpu", "other.yaml");
  ASSERT_TRUE(lock.begin(exec::DeviceLock::Use::timing));
  Background one(sandbox_, command("gemm.yaml", "one")), other(sandbox_, command("gemm.yaml", "other"));
  EXPECT_TRUE(eventually([&] { return said("waiting for the CPU", 2); })) << "both are ready to be timed";
  lock.end(exec::DeviceLock::Use::timing);
  const Result first = one.wait(), second = other.wait();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_FALSE(std::filesystem::exists(two)) << "a kernel was launched while another was";
  const std::regex waits(
      "waiting for the CPU, used by tune, pid [0-9]+, user [^,]+, (other|gemm)\\.yaml, since [0-9:]{8}; "
      "use --no-turns to start without waiting\n");
  for (const Result& result : {first, second}) EXPECT_TRUE(std::regex_search(result.err, waits)) << result.err;
}

TEST_F(Turns, WhileAnotherTimesARunBuildsAndWaits) {
  exec::DeviceLock lock(sandbox_.folder(), "cpu");
  ASSERT_TRUE(lock.begin(exec::DeviceLock::Use::timing));
  sandbox_.write_gemm();
  Background run(sandbox_, command("gemm.yaml", "out"));
  EXPECT_TRUE(eventually([&] { return said("waiting for the CPU") && sandbox_.artifacts() == 4; }));
  EXPECT_TRUE(sandbox_.trials("out.jsonl").empty());
  EXPECT_FALSE(run.ended());
  lock.end(exec::DeviceLock::Use::timing);
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 4U);
}

TEST_F(Turns, ProgramsWaitAsKernelsDo) {
  exec::DeviceLock lock(sandbox_.folder(), "cpu");
  ASSERT_TRUE(lock.take());
  sandbox_.write_script("{T: [1, 2]}");
  Background run(sandbox_, command("bench.yaml", "out"));
  EXPECT_TRUE(eventually([&] { return said("waiting for the CPU, used by tune, pid " + std::to_string(::getpid())); }));
  EXPECT_EQ(sandbox_.script_runs(), 0);
  lock.release();
  EXPECT_EQ(run.wait().code, 0);
}

/// A run that waits for its turn, and is ended then.
class EndedWhileItWaits : public Turns {
 protected:
  void SetUp() override { sandbox_.write_script("{$T: [1, 2]}", "measure: {cutoff: 0}\n"); }

  void end(const std::vector<std::string>& more, int signal) const {
    exec::DeviceLock lock(sandbox_.folder(), "cpu");
    ASSERT_TRUE(lock.begin(exec::DeviceLock::Use::opening));  // all is loaded then, and nothing is timed
    const std::size_t before = notes_of_ends();
    Background run(sandbox_, command(yaml_, "out", more));
    EXPECT_TRUE(eventually([&] { return run.ended() || notes_of_ends() > before; }) && !run.ended());
    run.signal(signal);
    run.wait();
    ASSERT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
  }
  Result finish(const std::vector<std::string>& more) const {
    Result result = sandbox_.tune(command(yaml_, "out", more));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.find("ended while this spec ran"), std::string::npos) << result.out;
    return result;
  }

  /// Also what begins to wait is noted as ended.
  std::size_t notes_of_ends() const {
    if (!std::filesystem::exists(sandbox_.folder() / "out.jsonl")) return 0;
    const std::string journal = sandbox_.read("out.jsonl"), note = "{\"record\":\"ended\"}\n";
    std::size_t count = 0;
    for (auto at = journal.find(note); at != std::string::npos; at = journal.find(note, at + 1)) ++count;
    return count;
  }

  std::string yaml_ = "bench.yaml";
};

TEST_F(EndedWhileItWaits, AProgramHasNotRun) {
  for (const int signal : {SIGHUP, SIGKILL}) end({"--no-finals", "--tune"}, signal);
  finish({"--no-finals", "--tune"});
}

TEST_F(EndedWhileItWaits, AKernelThatIsLoadedHasNotRun) {
  sandbox_.write_gemm();
  yaml_ = "gemm.yaml";
  for (const int signal : {SIGKILL, SIGHUP}) end({}, signal);
  finish({});
}

TEST_F(EndedWhileItWaits, AFinalistHasNotRun) {
  finish({"--no-finals", "--tune"});
  for (const int signal : {SIGKILL, SIGHUP, SIGKILL, SIGHUP}) end({"--tune"}, signal);
  EXPECT_EQ(finish({"--tune"}).out.find("failed in the finals"), std::string::npos);
  EXPECT_NE(sandbox_.read("out.jsonl").find("\"record\":\"finals\""), std::string::npos);
}

TEST_F(Turns, ALockFolderThatIsNotThereIsNamedWithWhatMendsIt) {
  sandbox_.environment["TUNE_LOCKS"] = "/nowhere";
  sandbox_.write_script("{T: [1]}");
  const Result result = sandbox_.tune(command("bench.yaml", "out"));
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("warning: this run does not take turns with other runs: /nowhere/tune-cpu.lock cannot be "
                            "opened: No such file or directory; create the folder, or correct TUNE_LOCKS"),
            std::string::npos)
      << result.err;
}

TEST_F(Turns, ARunThatIsToldToWaitsForNobody) {
  exec::DeviceLock lock(sandbox_.folder(), "cpu");
  ASSERT_TRUE(lock.begin(exec::DeviceLock::Use::timing) && lock.take());
  sandbox_.write_gemm();
  const Result result = sandbox_.tune(command("gemm.yaml", "out", {"--tune", "--no-turns"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err.find("waiting"), std::string::npos) << result.err;
}

TEST_F(Turns, WhatARunHadIsFreeOnceItIsKilled) {
  sandbox_.write_gemm("", "for (volatile int i = 0;; i = 0) {}");
  sandbox_.write_script("{T: [1]}");
  Background holder(sandbox_, command("gemm.yaml", "out"));
  ASSERT_TRUE(
      eventually([&] { return !exec::DeviceLock(sandbox_.folder(), "cpu").begin(exec::DeviceLock::Use::opening); }));
  Background next(sandbox_, command("bench.yaml", "next"));
  EXPECT_TRUE(eventually([&] { return said("waiting for the CPU"); }));
  holder.signal(SIGKILL);
  EXPECT_EQ(next.wait().code, 0);
}

TEST_F(Turns, ALockThatIsNotToBeTrustedIsSaidAndLeftAlone) {
  const auto mine = sandbox_.write("mine", "of value");
  std::filesystem::create_hard_link(mine, sandbox_.folder() / "tune-cpu.lock");
  sandbox_.write_script("{T: [1]}");
  const Result result = sandbox_.tune(command("bench.yaml", "out"));
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("tune-cpu.lock is not a regular file with a single hard link; remove it"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(sandbox_.read("mine"), "of value");
}

}  // namespace
}  // namespace tune::cli::cli_turns_test
