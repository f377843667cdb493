// Programs and kernels that leave their process group, or would end what is not theirs: nothing of them goes on after
// their spec, or after the driver, and they cannot signal what is outside.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "support/cli.h"
#include "wire/messages.h"

namespace tune::cli::cli_containment_test {
namespace {

namespace fs = std::filesystem;

// What the programs and the kernels share. A process that goes on holds a lock on the file `held`, so that others can
// tell; the file `reached` says that it is there.
constexpr const char* kEscapes = R"(
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static int parent_of(int process) {
  char text[4096] = {};
  sprintf(text, "/proc/%d/stat", process);
  FILE* file = fopen(text, "r");
  if (!file || !fgets(text, sizeof text, file)) abort();
  fclose(file);
  return atoi(strrchr(text, ')') + 4);
}
static int driver(void) {
  char name[64], text[64];
  for (int process = getppid(); process > 1; process = parent_of(process)) {
    sprintf(name, "/proc/%d/comm", process);
    FILE* file = fopen(name, "r");
    if (!file || !fgets(text, sizeof text, file)) abort();
    fclose(file);
    if (strcmp(text, "tune\n") == 0) return process;
  }
  abort();
}
static void hold(void) {
  const int file = open("held", O_CREAT | O_RDWR, 0666);
  if (file < 0 || flock(file, LOCK_SH) != 0) abort();
}
static int is_held(void) {
  const int file = open("held", O_CREAT | O_RDWR, 0666);
  const int held = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return held;
}
static void hang(void) {
  hold();
  close(open("reached", O_CREAT | O_WRONLY, 0666));
  for (;;) pause();
}
static void escape(const char* how) {
  if (strcmp(how, "hangs") == 0) hang();
  if (strcmp(how, "in_a_session") == 0) {
    if (fork() == 0) setsid();
    hang();
  }
  if (strcmp(how, "in_the_drivers_group") == 0) {
    prctl(PR_SET_PDEATHSIG, 0);
    if (setpgid(0, getpgid(driver())) != 0 && errno != EPERM) abort();
    hang();
  }
  if (strcmp(how, "leaves_a_daemon") == 0) {
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0) abort();
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      hold();
      if (write(ready[1], "x", 1) != 1) abort();
      for (;;) pause();
    }
    if (read(ready[0], &byte, 1) != 1) abort();
  }
  if (strcmp(how, "leaves_what_forks_on") == 0) {
    hold();
    const time_t start = time(NULL);
    if (fork() == 0)
      for (setsid(); time(NULL) - start < 10;)
        if (fork() != 0) _exit(0);
  }
}
)";

constexpr const char* kProgram = R"(
int main(int count, char** words) {
  const char *how = "", *then = "";
  for (int i = 1; i < count; ++i) {
    if (strncmp(words[i], "--HOW=", 6) == 0) how = words[i] + 6;
    if (strncmp(words[i], "--THEN=", 7) == 0) then = words[i] + 7;
  }
  if (strcmp(then, "look") == 0) {
    printf("{\"time\": 1e-3, \"ok\": %s}\n", is_held() ? "false" : "true");
    return 0;
  }
  escape(how);
  printf("{\"time\": 1e-3, \"ok\": true}\n");
}
)";

constexpr const char* kKernel = R"(
#include <pthread.h>
#include <errno.h>
static void right(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
static volatile int signals_seen = 0;
static void count_signal(int) { signals_seen = signals_seen + 1; }
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int spec) {
  static int launches = 0;
  if (launches++ == 0 || spec % 2 == 1) first(spec);
  right(A, B, C, m, n, k);
}
)";

class Containment : public testing::Test {
 protected:
  void write_program(const std::string& hows, const std::string& run) const {
    sandbox_.write("escape.c", std::string("#define _GNU_SOURCE\n") + kEscapes + kProgram);
    sandbox_.write("escape.yaml", "{name: escape, file: escape.c, params: {$HOW: [" + hows +
                                      "], $THEN: [go, look]},\n" +
                                      "build: {command: [cc, -O1, \"{file}\", -o, \"{binary}\"]}, run: " + run + "}\n");
  }

  /// What the spec of each number does in its first launch, and in all of them if it is odd, by cases of a switch.
  void write_kernel(const std::string& cases, int specs, const std::string& extra = "") const {
    std::string kernel = kKernel;
    const std::string mark = "extern \"C\"";
    kernel.insert(kernel.find(mark), "static void first(int spec) {\n  switch (spec) {\n" + cases + "  }\n}\n");
    sandbox_.write("gemm.cpp", kEscapes + kernel);
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                   "measure: {max_seconds: 0.01}, params: {$SPEC: {range: [0, " +
                       std::to_string(specs - 1) + "]}}, launch: {args: [A, B, C, m, n, k, SPEC]}" + extra + "}\n");
  }

  std::map<std::int64_t, std::string> outcomes() const {
    std::map<std::int64_t, std::string> all;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      all[record.trial.spec.mesh_idx] = outcome_text(record.trial);
    return all;
  }

  testing::AssertionResult nothing_runs() const {
    if (eventually([&] { return sandbox_.processes().empty(); })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << testing::PrintToString(sandbox_.processes());
  }

  /// A run that has started what hangs.
  std::unique_ptr<Background> start_and_hang(const std::vector<std::string>& arguments) const {
    auto run = std::make_unique<Background>(sandbox_, arguments);
    EXPECT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run->ended(); }));
    EXPECT_FALSE(run->ended()) << run->wait().err;
    return run;
  }

  /// A folder whose `tune` is the real one, started by this script.
  fs::path started_by(const std::string& script) const {
    fs::permissions(sandbox_.write("started/tune", "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
    return sandbox_.folder() / "started";
  }

  Sandbox sandbox_;
};

const std::string kUnderTimeout = "[timeout, 60, \"{binary}\", \"{args}\"]";
const std::string kTune = std::string(TUNE_BIN_DIR) + "/tune";
const std::string kTimedOut = "check, timed out: no answer within 1 s";

TEST_F(Containment, AProgramThatHangsOutsideItsGroupEndsAtItsDeadline) {
  write_program("hangs, in_the_drivers_group", kUnderTimeout);
  const Result result = sandbox_.tune({"escape.yaml", "--timeout-run", "1", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(),
            (std::map<std::int64_t, std::string>{{0, kTimedOut}, {1, "measured"}, {2, kTimedOut}, {3, "measured"}}));
  EXPECT_EQ(sandbox_.processes(), std::vector<std::string>());
}

TEST_F(Containment, WhatAProgramLeavesRunningEndsWithIt) {
  write_program("leaves_a_daemon, leaves_what_forks_on", "[\"{binary}\", \"{args}\"]");
  const Result result = sandbox_.tune({"escape.yaml", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(),
            (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}, {2, "measured"}, {3, "measured"}}));
  EXPECT_EQ(sandbox_.processes(), std::vector<std::string>());
}

TEST_F(Containment, AKernelStartsNoProcessAndEndsWithItsSpec) {
  const std::string refused = "check, reported: the kernel started a process (fork, posix_spawn, system, popen)";
  write_kernel(
      "case 0: escape(\"in_a_session\"); break;\n"
      "case 2: escape(\"in_the_drivers_group\"); break;\n"
      "case 4: if (system(\"true\") == 0) abort(); break;\n"
      "default: if (is_held()) abort();\n",
      6);
  const Result result = sandbox_.tune({"gemm.yaml", "--timeout-run", "1", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto all = outcomes();
  for (const int spec : {0, 4}) EXPECT_TRUE(all.at(spec).starts_with(refused)) << all.at(spec);
  EXPECT_EQ(all.at(2), kTimedOut);
  for (const int spec : {1, 3, 5}) EXPECT_EQ(all.at(spec), "measured");
  EXPECT_EQ(sandbox_.processes(), std::vector<std::string>());
}

class DriverKilled : public Containment, public testing::WithParamInterface<const char*> {};

TEST_P(DriverKilled, TakesItsProgramAlong) {
  write_program(GetParam(), kUnderTimeout);
  start_and_hang({"escape.yaml", "--output", "out"})->signal(SIGKILL);
  EXPECT_TRUE(nothing_runs());
}

INSTANTIATE_TEST_SUITE_P(Escapes, DriverKilled, testing::Values("hangs", "in_a_session", "in_the_drivers_group"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(Containment, AKilledDriverTakesItsKernelAlong) {
  for (const std::string how : {"hangs", "in_the_drivers_group"}) {
    fs::remove(sandbox_.folder() / "reached");
    write_kernel("case 0: escape(\"" + how + "\");\n", 1);
    start_and_hang({"gemm.yaml", "--output", "out"})->signal(SIGKILL);
    EXPECT_TRUE(nothing_runs()) << how;
  }
}

TEST_F(Containment, AWorkerThatWasStoppedEndsWithItsDriverToo) {
  write_kernel(
      "case 0: { FILE* file = fopen(\"worker\", \"w\"); fprintf(file, \"%d\", getppid()); fclose(file); hang(); }\n",
      1);
  const auto run = start_and_hang({"gemm.yaml", "--output", "out"});
  const int worker = std::atoi(sandbox_.read("worker").c_str());
  ASSERT_GT(worker, 1);
  EXPECT_EQ(::kill(worker, SIGSTOP), 0);
  run->signal(SIGKILL);
  EXPECT_TRUE(nothing_runs());
}

// A shell that becomes `tune` leaves it children that are not its own.
TEST_F(Containment, WhatWasThereBeforeTheRunIsLeftAlone) {
  write_program("hangs", kUnderTimeout);
  const fs::path bin = started_by("sleep 1000 & echo $! > sleeper; exec " + kTune + " \"$@\"");
  Background run(sandbox_, {"escape.yaml", "--timeout-run", "1", "--output", "out"}, bin);
  const Result result = run.wait();
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, kTimedOut}, {1, "measured"}})) << result.err;
  EXPECT_EQ(sandbox_.processes(), std::vector<std::string>{"sleep 1000 "});
  const int sleeper = std::atoi(sandbox_.read("sleeper").c_str());
  ASSERT_GT(sleeper, 1);
  EXPECT_EQ(::kill(sleeper, SIGKILL), 0);
}

/// How the system denies signals: by its own means, or without Landlock.
class Signals : public Containment, public testing::WithParamInterface<bool> {
 protected:
  Result tune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--output", "out"});
    if (GetParam()) return sandbox_.tune(arguments);
    return sandbox_.tune_from(started_by("exec " TUNE_WITHOUT_LANDLOCK " " + kTune + " \"$@\""), arguments);
  }
};

TEST_P(Signals, OfAKernelReachNoProcessOutside) {
  write_kernel(
      "case 0: if (kill(driver(), SIGKILL) == 0 || errno != EPERM) abort(); break;\n"
      "case 1: if (kill(getppid(), SIGSTOP) == 0 || errno != EPERM) abort(); break;\n"
      "case 2: if (sigqueue(driver(), SIGTERM, {}) == 0 || errno != EPERM) abort(); break;\n"
      "case 3: if (kill(-getpgid(driver()), 0) == 0 || errno != EPERM) abort(); break;\n",
      4);
  EXPECT_EQ(tune({"gemm.yaml"}).code, 0);
  EXPECT_EQ(outcomes(),
            (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}, {2, "measured"}, {3, "measured"}}));
}

TEST_P(Signals, OfAKernelToItselfArrive) {
  write_kernel(
      "case 0: signal(SIGUSR1, count_signal); raise(SIGUSR1); pthread_kill(pthread_self(), SIGUSR1);\n"
      "  kill(getpid(), SIGUSR1); tgkill(getpid(), gettid(), SIGUSR1); if (signals_seen != 4) _exit(9); break;\n"
      "case 1: { signal(SIGUSR1, count_signal); pthread_t other;\n"
      "  pthread_create(&other, nullptr, [](void*) -> void* { while (signals_seen == 0) usleep(1000); return nullptr; "
      "}, nullptr);\n"
      "  while (signals_seen == 0) { pthread_kill(other, SIGUSR1); usleep(1000); }\n"
      "  pthread_join(other, nullptr); break; }\n"
      "case 2: abort();\n"
      "case 3: raise(SIGKILL);\n",
      4);
  EXPECT_EQ(tune({"gemm.yaml"}).code, 0);
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"},
                                                             {1, "measured"},
                                                             {2, "check, crashed: killed by signal 6 (aborted)"},
                                                             {3, "check, crashed: killed by signal 9 (killed)"}}));
}

TEST_P(Signals, OfAProgramReachWhatItStartsButNotTheDriver) {
  fs::permissions(sandbox_.write("signals.sh",
                                 "#!/bin/sh\n"
                                 "worker=$PPID\ndriver=$(sed 's/.*) . //; s/ .*//' /proc/$worker/stat)\n"
                                 "kill -s KILL $driver 2> /dev/null && exit 3\n"
                                 "kill -s STOP $worker 2> /dev/null && exit 4\n"
                                 "kill -s 0 -- -$worker 2> /dev/null && [ \"$1\" = --LANDLOCK=0 ] && exit 5\n"
                                 "timeout 0.05 sleep 1000; [ $? = 124 ] || exit 6\n"
                                 "sh -c 'kill -s SEGV $$'; [ $? = 139 ] || exit 7\n"
                                 "echo '{\"time\": 1e-3, \"ok\": true}'\n"),
                  fs::perms::owner_all);
  sandbox_.write("signals.yaml", std::string("{name: signals, file: signals.sh, params: {LANDLOCK: [") +
                                     (GetParam() ? "1" : "0") + "]}}\n");
  const Result result = tune({"signals.yaml"});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
}

TEST_P(Signals, OfAProgramDoNotReachTheDriverThroughItsGroup) {
  sandbox_.write("escape.c", std::string("#define _GNU_SOURCE\n") + kEscapes + R"(
int main(void) {
  const int worker = getppid();
  const char* result = "{\"time\": 1e-3, \"ok\": true}";
  if (setpgid(0, getpgid(driver())) == 0 || errno != EPERM) return 3;
  if (!WITH_LANDLOCK && (kill(0, 0) == 0 || errno != EPERM)) return 4;
  if (!WITH_LANDLOCK && (kill(0, SIGKILL) == 0 || errno != EPERM)) return 5;
  if (getpgrp() != worker) return 5;
  if (setpgid(0, 0) != 0 || getpgrp() != getpid()) return 6;
  return puts(result) < 0;
}
)");
  sandbox_.write(
      "escape.yaml",
      std::string("{name: escape, file: escape.c, params: {$N: [1]},\nbuild: {command: [cc, -DWITH_LANDLOCK=") +
          std::string(GetParam() ? "1" : "0") + ", \"{file}\", -o, \"{binary}\"]}, run: [\"{binary}\", \"{args}\"]}\n");
  EXPECT_EQ(tune({"escape.yaml"}).code, 0);
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}}));
}

TEST_P(Signals, OfAProgramReachAllWhereTheUserSaysSo) {
  fs::permissions(sandbox_.write("signals.sh",
                                 "#!/bin/sh\n"
                                 "kill -s 0 $(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat) || exit 3\n"
                                 "echo '{\"time\": 1e-3, \"ok\": true}'\n"),
                  fs::perms::owner_all);
  sandbox_.write("signals.yaml", "{name: signals, file: signals.sh, params: {N: [1]}}\n");
  EXPECT_EQ(tune({"signals.yaml"}).code, 1);
  sandbox_.environment["TUNE_PROGRAMS_MAY_SIGNAL"] = "1";
  EXPECT_EQ(tune({"signals.yaml", "--retry-failed"}).code, 0);
}

INSTANTIATE_TEST_SUITE_P(Means, Signals, testing::Bool(),
                         [](const auto& test) { return test.param ? "OfTheSystem" : "WithoutLandlock"; });

TEST_F(Containment, AProcessThatCannotBeMadeIsRefusedWithItsLimit) {
  sandbox_.write_gemm();
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // what was inherited would count
  int refused = 0;
  for (int limit = 12; limit <= 26; ++limit) {
    const fs::path bin = started_by("ulimit -n " + std::to_string(limit) + "; exec " + kTune + " \"$@\"");
    const Result result = sandbox_.tune_from(bin, {"gemm.yaml", "--build-only", "--max-evals", "1"});
    if (result.code == 0) continue;
    EXPECT_EQ(result.code, 4) << limit << ": " << result.err;
    EXPECT_NE(
        result.err.find("too many open files: the limit (RLIMIT_NOFILE) is " + std::to_string(limit) + "; raise it"),
        std::string::npos)
        << result.err;
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Containment, AMemoryLimitIsNamedWhereAProgramFailsUnderIt) {
  fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\necho MemoryError >&2\nexit 1\n"), fs::perms::owner_all);
  sandbox_.write("bench.yaml", "{name: bench, file: bench.sh, params: {$N: [1]}}\n");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--memory", "100M", "--output", "out"}).code, 1);
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{
                            {0,
                             "measure, reported: the program ended with exit code 1: MemoryError; its memory is "
                             "limited to 100 MiB by --memory"}}));
}

TEST(Worker, ThatCannotTellItsDriverAnythingEndsWithItsGroup) {
  int in[2], out[2];
  ASSERT_EQ(::pipe(in) | ::pipe(out), 0);
  ::close(out[0]);
  const std::string worker = std::string(TUNE_BIN_DIR) + "/tune-worker-program";
  const pid_t process = ::fork();
  if (process == 0) {
    ::setpgid(0, 0);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execl(worker.c_str(), worker.c_str(), "measure", nullptr);
    ::_exit(1);
  }
  const std::string request = wire::encode(wire::Request(wire::MeasureRequest{})) + "\n";
  EXPECT_EQ(::write(in[1], request.data(), request.size()), static_cast<ssize_t>(request.size()));
  int status = 0;
  EXPECT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  for (const int end : {in[0], in[1], out[1]}) ::close(end);
}

class Early : public Containment, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    sandbox_.write_gemm();
    fs::permissions(sandbox_.write("compiler", "#!/bin/sh\ntouch reached; sleep 1000\n"), fs::perms::owner_all);
    sandbox_.environment["CXX"] = (sandbox_.folder() / "compiler").string();
  }
};

// While the worker is asked for its compiler, which is among the first things that a run does.
TEST_P(Early, ASignalEndsTheRunAsALaterOneDoes) {
  auto run = start_and_hang({"gemm.yaml", "--output", "out"});
  run->signal(GetParam());
  const Result result = run->wait();
  EXPECT_EQ(result.code, 128 + GetParam());
  EXPECT_EQ(result.err, "tune: interrupted; the same command continues from here\n");
  EXPECT_TRUE(nothing_runs());
}

INSTANTIATE_TEST_SUITE_P(Signals, Early, testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& test) { return "Signal" + std::to_string(test.param); });

TEST_F(Early, AKilledDriverTakesItsProbeAlong) {
  start_and_hang({"gemm.yaml", "--output", "out"})->signal(SIGKILL);
  EXPECT_TRUE(nothing_runs());
}

}  // namespace
}  // namespace tune::cli::cli_containment_test
