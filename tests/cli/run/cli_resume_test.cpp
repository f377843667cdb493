#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "platform/process/process.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_resume_test {
namespace {

using Words = std::vector<std::string>;

/// What the user is told of specs: without the elapsed time and the notes.
std::string ranking_of(const std::string& out) {
  std::istringstream lines(out);
  std::string ranking;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("Elapsed tuning time: ") && !line.starts_with("note: ")) ranking += line + "\n";
  return ranking;
}

/// The same command again, on the journal best.jsonl.
class Resume : public testing::Test {
 protected:
  void SetUp() override { sandbox_.write_script("{T: [3, 1, 2]}"); }

  Result tune(Words more = {}) {
    more.insert(more.begin(), {"bench.yaml", "--output", "best"});
    return sandbox_.tune(more);
  }
  /// With workers that cannot be started.
  Result tune_without_workers(Words more = {}) {
    const auto bin = sandbox_.copy_binaries();
    for (const char* worker : {"tune-worker-cpu", "tune-worker-program"})
      std::filesystem::permissions(bin / worker, std::filesystem::perms::owner_read);
    more.insert(more.begin(), {"bench.yaml", "--output", "best"});
    return sandbox_.tune_from(bin, more);
  }
  std::string journal() const { return sandbox_.read("best.jsonl"); }
  void set_journal(const std::string& text) { sandbox_.write("best.jsonl", text); }
  std::vector<std::string> journal_lines() const {
    std::istringstream text(journal());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// How often the program was run since the last call.
  int new_runs() {
    const int before = runs_;
    runs_ = sandbox_.script_runs();
    return runs_ - before;
  }

  Sandbox sandbox_;

 private:
  int runs_ = 0;
};

TEST_F(Resume, ATimeThatWasCutOffIsNotTheAnswerForASpecThatIsAskedFor) {
  sandbox_.write_gemm("", R"(
  for (int repeat = 0; repeat < (BM == 8 ? 100 : 1); ++repeat)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        volatile float sum = 0;
        for (int p = 0; p < k; ++p) sum = sum + A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
      }
)");
  const Words words = {"gemm.yaml", "--tune", "--no-finals", "--output", "out"};
  ASSERT_TRUE(has(sandbox_.tune(words).out, "  early\n"));
  const Result again = sandbox_.tune(words);
  EXPECT_TRUE(has(again.out, "  early\n"));
  EXPECT_TRUE(has(again.out, "4 of 4 specs are from the journal"));
  Words one = words;
  one.insert(one.end(), {"--spec", "3"});
  const Result asked = sandbox_.tune(one);
  EXPECT_TRUE(has(asked.out, "params:\n  BM: 8\n")) << asked.out;
  EXPECT_FALSE(has(asked.out, "early"));
}

TEST_F(Resume, ARunWithoutAValidSpecSaysThatTheBestIsOfAnEarlierOne) {
  ASSERT_EQ(tune({"--tune"}).code, 0);
  const std::string best = sandbox_.read("best.yaml");
  sandbox_.write_script("{T: [3, 1, 2], SAYS: dies}");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(
      has(result.out, "note: best.yaml is of an earlier run: this one has no valid spec, and left it as it was\n"));
  EXPECT_EQ(sandbox_.read("best.yaml"), best);
}

TEST_F(Resume, ASecondRunStartsNoWorkerAndSaysTheSame) {
  const Result first = tune({"--tune"});
  EXPECT_EQ(first.code, 0);
  const std::string best = sandbox_.read("best.yaml");
  const std::string journal_before = journal();
  const Result second = tune_without_workers({"--tune"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(ranking_of(second.out), ranking_of(first.out));
  EXPECT_EQ(sandbox_.read("best.yaml"), best);
  EXPECT_EQ(journal(), journal_before);
}

// What a replay counts as the time of measuring.
TEST_F(Resume, ASearchThatLearnsProposesTheSameAgain) {
  sandbox_.write_script("{$T: {range: [1, 40]}, $U: {range: [1, 10]}}");
  for (const char* strategy : {"auto", "bayes", "genetic:population=4", "annealing"}) {
    std::filesystem::remove(sandbox_.folder() / "best.jsonl");
    const Words words = {"--tune", "--max-evals", "30", "--strategy", strategy};
    const Result first = tune(words);
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_GT(new_runs(), 30);
    EXPECT_EQ(ranking_of(tune(words).out), ranking_of(first.out));
    EXPECT_EQ(new_runs(), 0) << strategy;
  }
}

TEST_F(Resume, AnInterruptedSearchGoesOnAsItWouldHave) {
  sandbox_.write_script("{$T: {range: [1, 40]}, $U: {range: [1, 10]}}");
  const Words words = {"--tune", "--max-evals", "30", "--strategy", "genetic:population=4"};
  const Result first = tune(words);
  const auto lines = journal_lines();
  std::string begun;
  for (int i = 0; i < 16; ++i) begun += lines[static_cast<std::size_t>(i)] + "\n";
  set_journal(begun);
  const Result second = tune(words);
  new_runs();
  EXPECT_EQ(ranking_of(tune(words).out), ranking_of(second.out));
  EXPECT_EQ(new_runs(), 0);
}

TEST_F(Resume, ARecordHoldsTheTimeThatTheSpecHadTheDevice) {
  ASSERT_EQ(tune().code, 0);
  const auto records = sandbox_.trials("best.jsonl");
  ASSERT_EQ(records.size(), 3u);
  for (const auto& record : records) {
    EXPECT_GT(record.trial.measure_seconds, 0) << record.trial.spec.mesh_idx;
    EXPECT_LE(record.trial.measure_seconds, record.trial.seconds);
  }
}

TEST_F(Resume, ASecondRunOfAKernelStartsNoWorker) {
  sandbox_.write_gemm("baseline: [{BM: 4}]\ndefault: {BM: 8}\n");
  const Words command = {"gemm.yaml", "--tune", "--output", "best"};
  const Result first = sandbox_.tune(command);
  const auto bin = sandbox_.copy_binaries();
  std::filesystem::permissions(bin / "tune-worker-cpu", std::filesystem::perms::owner_read);
  std::filesystem::remove_all(sandbox_.folder() / "cache");
  const Result second = sandbox_.tune_from(bin, command);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(ranking_of(second.out), ranking_of(first.out));
}

TEST_F(Resume, WithOtherThreadsOrOnOtherCoresSpecsAreMeasuredAgain) {
  tune();
  EXPECT_EQ(new_runs(), 3);
  sandbox_.environment["OMP_NUM_THREADS"] = "2";
  tune();
  EXPECT_EQ(new_runs(), 3);
  tune();
  EXPECT_EQ(new_runs(), 0);
  sandbox_.environment["OMP_NUM_THREADS"] = "3";
  tune();
  EXPECT_EQ(new_runs(), 3);
  sandbox_.environment.erase("OMP_NUM_THREADS");
  tune();
  EXPECT_EQ(new_runs(), 0);
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core only";
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  tune();
  ::sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(new_runs(), 3);
  tune();
  EXPECT_EQ(new_runs(), 0);
}

TEST_F(Resume, TrialsOfAnotherVersionAreKeptAndMeasuredAgain) {
  tune();
  new_runs();
  std::string old = std::regex_replace(journal(), std::regex("\"protocol\":\\d+"), "\"protocol\":3");
  set_journal(std::regex_replace(old, std::regex("\"id\":\"(\\w+)\""), "\"id\":\"of-protocol-3-$1\""));
  const std::string note = "note: best.jsonl: 3 trials are of another version of tune (protocol 3, not " +
                           std::to_string(wire::kProtocol) + "); they are kept, and measured again\n";
  EXPECT_TRUE(has(tune().out, note));
  EXPECT_EQ(new_runs(), 3);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 6u);
  EXPECT_FALSE(has(tune().out, "another version")) << "it is said once";
  EXPECT_EQ(new_runs(), 0);
}

TEST_F(Resume, WhatIsMissingNeedsAWorker) {
  tune();
  const Result result = tune_without_workers({"--param", "T:[3, 5]"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "tune-worker-program: not executable"));
  EXPECT_TRUE(has(result.out, "1 of 2 tried\n"));
}

TEST_F(Resume, AnAddedValueRunsOnlyItsSpecs) {
  tune();
  EXPECT_EQ(new_runs(), 3);
  EXPECT_TRUE(has(tune({"--param", "T:[5, 3, 1, 2, 4]"}).out, "Number of valid specs: 5\n"));
  EXPECT_EQ(new_runs(), 2);
}

TEST_F(Resume, AFilterRunsNothing) {
  tune();
  const Result result = tune_without_workers({"--filter", "T=2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 1\n"));
}

TEST_F(Resume, AFilteredTuningRunsItsFinalsAlone) {
  tune({"--tune"});
  const auto trials = sandbox_.trials("best.jsonl").size();
  const Result result = tune({"--tune", "--filter", "T=2", "--filter", "T=3"});
  EXPECT_TRUE(has(result.out, "top_spec_idx: 2\n"));
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), trials);
}

TEST_F(Resume, FailuresAreFinalUnlessTheyAreRetried) {
  sandbox_.write_script("{SAYS: [result, dies]}");
  tune();
  EXPECT_EQ(new_runs(), 2);
  const Result second = tune();
  EXPECT_TRUE(has(second.out, "failed: 1\n"));
  EXPECT_TRUE(has(second.out, "note: failures from an earlier run: 1; --retry-failed tries them again\n"));
  EXPECT_EQ(new_runs(), 0);
  EXPECT_FALSE(has(tune({"--retry-failed"}).out, "earlier run"));
  EXPECT_EQ(new_runs(), 1);
}

/// A program that does `what` as long as a file is there.
class Lapse : public Resume {
 protected:
  void write(const std::string& what) const {
    sandbox_.write("bad", "");
    sandbox_.write_script("{T: [1, 2]}");
    std::string script = sandbox_.read("bench.sh");
    sandbox_.write("bench.sh",
                   script.insert(script.find("for word"), "test -e \"$(dirname \"$0\")/bad\" && " + what + "\n"));
  }
  void mend() const { std::filesystem::remove(sandbox_.folder() / "bad"); }
  /// Of all failures in the journal.
  void set_messages(const std::string& message) {
    const std::string text = journal();
    const std::string changed =
        std::regex_replace(text, std::regex("\"message\":\"[^\"]*\""), "\"message\":\"" + message + "\"");
    ASSERT_NE(changed, text);
    set_journal(changed);
  }
};

TEST_F(Lapse, WhatWasKilledFromOutsideIsTriedAgain) {
  write("kill -s KILL $$");
  const Result first = tune();
  EXPECT_EQ(first.code, 1);
  EXPECT_TRUE(has(first.out, "the program was killed by signal 9 (killed)"));
  mend();
  EXPECT_EQ(tune().code, 0);
  EXPECT_EQ(new_runs(), 4);
}

TEST_F(Lapse, WhatIsKilledAgainIsFinal) {
  write("kill -s KILL $$");
  for (const int runs : {2, 2, 0}) {
    EXPECT_EQ(tune().code, 1);
    EXPECT_EQ(new_runs(), runs);
  }
}

// As a shell does for what is not there, and the loader for a library.
TEST_F(Lapse, WhatIsNotFoundInOneSpecIsTheSpecsFailureAndIsTriedAgainOnce) {
  write("case $* in *T=1*) no-such-program; exit 127 ;; esac");
  sandbox_.write("bench.yaml", sandbox_.read("bench.yaml") + "run: sh {file} {args}\n");
  for (const int runs : {2, 1, 0}) {
    const Result result = tune();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(has(result.out, "the program ended with exit code 127"));
    EXPECT_EQ(new_runs(), runs);
  }
}

TEST_F(Lapse, WhatTimedOutIsTriedAgainOnlyWithMoreTime) {
  write("sleep 60");
  EXPECT_TRUE(has(tune({"--param", "T:1", "--timeout-run", "1.2"}).out, "timed out: no answer within 1.2 s"));
  mend();
  EXPECT_EQ(tune({"--param", "T:1", "--timeout-run", "1.2"}).code, 1);
  EXPECT_EQ(new_runs(), 1);
  EXPECT_EQ(tune({"--param", "T:1"}).code, 0);
  EXPECT_EQ(new_runs(), 1);
}

// As a tool might that translates messages, or a later version that words them otherwise.
TEST_F(Lapse, AFailureIsTriedAgainByItsFactsWhateverItsMessageSays) {
  write("kill -s KILL $$");
  EXPECT_EQ(tune().code, 1);
  set_messages("it stopped");
  EXPECT_EQ(tune().code, 1);
  EXPECT_EQ(new_runs(), 4);
  EXPECT_EQ(tune().code, 1);
  EXPECT_EQ(new_runs(), 0) << "it was killed twice, though the records say so in different words";
}

TEST_F(Lapse, NoMessageAndNoOutputHasAFailureTriedAgain) {
  write("echo 'error: killed by signal 9 (killed), ended with exit code 127 (it had filled the disk)'; exit 3");
  EXPECT_EQ(tune().code, 1);
  EXPECT_EQ(new_runs(), 2);
  EXPECT_EQ(tune().code, 1);
  set_messages("the program was killed by signal 9 (killed)");
  EXPECT_EQ(tune().code, 1);
  EXPECT_EQ(new_runs(), 0);
}

TEST_F(Lapse, TheLimitOfATimeoutIsAFactToo) {
  write("sleep 60");
  EXPECT_EQ(tune({"--param", "T:1", "--timeout-run", "1.2"}).code, 1);
  mend();
  set_messages("no answer within 0.1 s");
  EXPECT_EQ(tune({"--param", "T:1", "--timeout-run", "1.2"}).code, 1);
  EXPECT_EQ(new_runs(), 1);
  EXPECT_EQ(tune({"--param", "T:1", "--timeout-run", "1.3"}).code, 0);
  EXPECT_EQ(new_runs(), 1);
}

TEST_F(Lapse, AFailureThatAnOlderVersionRecordedWithoutFactsIsFinalUnlessItIsRetried) {
  write("kill -s KILL $$");
  EXPECT_EQ(tune().code, 1);
  set_journal(std::regex_replace(journal(), std::regex(",?\"facts\":\\{[^}]*\\}"), ""));
  mend();
  EXPECT_TRUE(has(tune().out, "note: failures from an earlier run: 2; --retry-failed tries them again\n"));
  EXPECT_EQ(new_runs(), 2);
  EXPECT_EQ(tune({"--retry-failed"}).code, 0);
  EXPECT_EQ(new_runs(), 2);
}

TEST_F(Lapse, WhatCannotBeStartedIsTheMachinesFault) {
  write("true");
  const auto script = sandbox_.folder() / "bench.sh";
  std::filesystem::permissions(script, std::filesystem::perms::owner_read);
  const Result result = tune();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "tune: error: " + script.string() + " is not executable (chmod +x), and '.sh' has no "));
  EXPECT_TRUE(has(result.err, "; the same command continues from here once this is fixed\n"));
  EXPECT_TRUE(sandbox_.trials("best.jsonl").empty());
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(tune().code, 0);
}

TEST_F(Lapse, ACommandThatIsNotThereIsTheMachinesFault) {
  for (const std::string command :
       {"run: [no-such-program, '{args}']", "build: {command: [no-such-program, '{defines}']}"}) {
    sandbox_.write_script("{T: [1, 2]}", command + "\n");
    const Result result = tune();
    EXPECT_EQ(result.code, 4) << command << result.out;
    EXPECT_TRUE(has(result.err, "no-such-program"));
    EXPECT_TRUE(sandbox_.trials("best.jsonl").empty());
  }
}

TEST_F(Resume, ACompilerThatFindsNoRoomIsTheMachinesFault) {
  sandbox_.write("cc.sh",
                 "case $* in *--version*) echo cc 1; exit;; esac\n"
                 "echo 'x.cpp:1: fatal error: error writing to /tmp/x.s: No space left on device' >&2\nexit 1\n");
  sandbox_.write_gemm();
  sandbox_.environment["CXX"] = "sh " + (sandbox_.folder() / "cc.sh").string();
  const Result result = sandbox_.tune({"gemm.yaml", "--output", "best"});
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(
      has(result.err, "tune: error: a build failed because there was no disk space: No space left on device ("));
  EXPECT_TRUE(has(result.err, "); the same command continues from here once there is room\n"));
  EXPECT_TRUE(sandbox_.trials("best.jsonl").empty());
}

// As GCC does when the system kills its compiler proper, which makes it end with exit code 1.
TEST_F(Resume, ACompilerWhosePartWasKilledIsStartedAgainOnce) {
  sandbox_.write("cc.sh",
                 "case $* in *--version*) echo cc 1; exit;; esac\necho x >> builds\n"
                 "echo 'cc: fatal error: Killed signal terminated program cc1plus' >&2\nexit 1\n");
  sandbox_.write_gemm();
  sandbox_.environment["CXX"] = "sh " + (sandbox_.folder() / "cc.sh").string();
  for (const int builds : {1, 2, 2}) {
    EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--param", "BM:1", "--output", "best"}).code, 1);
    EXPECT_EQ(sandbox_.read("builds"), builds == 1 ? "x\n" : "x\nx\n");
  }
}

/// On a disk of 1 MiB, which takes a user namespace.
class SmallDisk : public Lapse {
 protected:
  std::string on_small_disk(const std::string& script) const {
    platform::Command command;
    command.argv = {"unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m none disk && { " + script + "; }"};
    command.environment = sandbox_.environment;
    command.environment["TUNE"] = TUNE_BIN_DIR "/tune bench.yaml --jobs 1 --output best";
    command.environment["TMPDIR"] = (sandbox_.folder() / "disk").string();
    command.directory = sandbox_.folder();
    std::filesystem::create_directory(sandbox_.folder() / "disk");
    const platform::Finished finished = platform::run(command);
    return finished.output + finished.captured;
  }
  bool can_mount() const { return on_small_disk("echo yes") == "yes\n"; }
};

TEST_F(SmallDisk, ADiskThatASpecFillsItselfIsItsFailure) {
  if (!can_mount()) GTEST_SKIP() << "no user namespaces here";
  write("case $* in *T=1*) dd if=/dev/zero of=\"$TMPDIR/big\" bs=64k count=99 || exit 1 ;; esac");
  const std::string said = on_small_disk("$TUNE; echo code $?");
  EXPECT_TRUE(has(said, " (it had filled the disk)\n"));
  EXPECT_TRUE(has(said, "code 0\n"));
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 2u);
}

TEST_F(SmallDisk, ADiskThatIsFullAllTheSameIsTheMachinesFault) {
  if (!can_mount()) GTEST_SKIP() << "no user namespaces here";
  write("dd if=/dev/zero of=\"$TMPDIR/../../big\" bs=64k count=99 || exit 1");
  const std::string said = on_small_disk("$TUNE; echo code $?");
  EXPECT_TRUE(has(said, " is full (the program ended with exit code 1"));
  EXPECT_TRUE(has(said, "code 4\n"));
  EXPECT_TRUE(sandbox_.trials("best.jsonl").empty());
}

TEST_F(Resume, AChangedSourceRunsAgain) {
  tune();
  sandbox_.write("bench.sh", sandbox_.read("bench.sh") + "# changed\n");
  tune();
  EXPECT_EQ(sandbox_.script_runs(), 6);
}

TEST_F(Resume, AChangeOfWhatAScriptDependsOnRunsAgain) {
  sandbox_.write("mod.sh", "1");
  sandbox_.write_script("{T: [1, 2]}", "build: {depends: [mod.sh]}\n");
  tune();
  tune();
  EXPECT_EQ(sandbox_.script_runs(), 2);
  sandbox_.write("mod.sh", "2");
  tune();
  EXPECT_EQ(sandbox_.script_runs(), 4);
}

/// A right kernel until the header that EXTRA comes from makes it wrong.
class ResumeHeader : public Resume {
 protected:
  void write(const std::string& include, const std::string& build) const {
    sandbox_.write("inc/extra.h", "#define EXTRA 0\n");
    sandbox_.write("gemm.cpp", include + R"(
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = EXTRA;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
})");
    sandbox_.write("gemm.yaml",
                   "name: gemm\nfile: gemm.cpp\nkernel: gemm\nproblem: {gemm: {m: 8, n: 8, k: 8}}\n"
                   "params: {P: 1}\nlaunch: {args: [A, B, C, m, n, k]}\nmeasure: {max_seconds: 0.01}\n" +
                       build);
  }
  void expect_a_change_is_noticed() {
    const Words command = {"gemm.yaml", "--output", "best"};
    const Result first = sandbox_.tune(command);
    EXPECT_EQ(first.code, 0) << first.out << first.err;
    sandbox_.write("inc/extra.h", "#define EXTRA 5\n");
    EXPECT_TRUE(has(sandbox_.tune(command).out, "wrong result in C"));
  }
};

TEST_F(ResumeHeader, ThatAFlagFindsIsPartOfTheBuild) {
  write("#include \"extra.h\"\n", "build: {flags: [-I, inc]}\n");
  expect_a_change_is_noticed();
}

TEST_F(ResumeHeader, ThatTheEnvironmentFindsIsPartOfTheBuild) {
  write("#include <extra.h>\n", "");
  sandbox_.environment["CPATH"] = (sandbox_.folder() / "inc").string();
  expect_a_change_is_noticed();
}

TEST_F(ResumeHeader, ThatAMacroNamesIsSaidNotToBe) {
  const std::string note = "note: gemm.cpp:1 includes by a macro: when that header changes, nothing is built anew; ";
  write("#include HEADER\n", "build: {flags: ['-DHEADER=\"inc/extra.h\"']}\n");
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--output", "first"}).out, note + "name it in build.depends\n"));
  write("#include HEADER\n", "build: {flags: ['-DHEADER=\"inc/extra.h\"'], depends: inc/extra.h}\n");
  EXPECT_FALSE(has(sandbox_.tune({"gemm.yaml", "--output", "second"}).out, note));
  expect_a_change_is_noticed();
}

TEST_F(Resume, ChangedMeasuringRulesRunAgain) {
  sandbox_.write_gemm();
  const Words command = {"gemm.yaml", "--param", "BM:[1, 2]", "--output", "best"};
  sandbox_.tune(command);
  const std::string yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", yaml + "metrics: {x: time}\n");
  sandbox_.tune(command);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 2u);
  sandbox_.write("gemm.yaml", yaml.substr(0, yaml.find("measure:")) + "measure: {max_seconds: 0.02, warmup: 1}\n");
  sandbox_.tune(command);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 4u);
  EXPECT_EQ(sandbox_.artifacts(), 2);
}

TEST_F(Resume, AnotherSeedRunsAgain) {
  tune();
  tune({"--seed", "1"});
  EXPECT_EQ(new_runs(), 6);
}

TEST_F(Resume, ATornLastLineIsCutAndItsSpecRunsAgain) {
  tune();
  const std::string whole = without_results(journal());
  const auto last = whole.rfind('\n', whole.size() - 2) + 1;
  set_journal(whole.substr(0, last + 30));
  new_runs();
  const Result result = tune();
  EXPECT_EQ(new_runs(), 1);
  EXPECT_TRUE(has(result.out, "Number of valid specs: 3\n"));
  EXPECT_EQ(result.out.find("valid record"), std::string::npos) << result.out;
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 3u);
  tune();
  EXPECT_EQ(new_runs(), 0);
}

TEST_F(Resume, ATornFirstLineIsCut) {
  tune();
  set_journal(journal().substr(0, 40));
  EXPECT_EQ(tune().code, 0);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 3u);
}

TEST_F(Resume, GarbageInTheMiddleIsSkippedAndSaid) {
  tune();
  std::vector<std::string> lines = journal_lines();
  const auto trial =
      std::ranges::find_if(lines, [](const std::string& line) { return line.find("\"trial\"") != std::string::npos; });
  *trial = "garbage";
  const std::string number = std::to_string(trial - lines.begin() + 1);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  set_journal(text);
  new_runs();
  const Result result = tune();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(new_runs(), 1);
  EXPECT_TRUE(has(result.out, "note: best.jsonl:" + number +
                                  ": this line is not a valid record and is ignored: it is not a JSON object\n"));
  EXPECT_TRUE(journal().starts_with(text));
}

TEST_F(Resume, AFileThatIsNoJournalIsLeftAlone) {
  for (const char* text : {"a,b\n1,2\n", "a,b", "{\"a\": 1}\n", "{\"a\": 1}", "\n\n"}) {
    set_journal(text);
    const Result result = tune();
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_EQ(result.err, "tune: error: best.jsonl:1: this is no journal of tune; choose another --output PREFIX\n");
    EXPECT_EQ(journal(), text);
  }
  EXPECT_EQ(sandbox_.script_runs(), 0);
}

TEST_F(Resume, AnEmptyFileBecomesAJournal) {
  set_journal("");
  EXPECT_EQ(tune().code, 0);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 3u);
}

TEST_F(Resume, ASecondRunAtTheSameTimeSaysWhoHoldsTheJournal) {
  sandbox_.write("wait.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/started\"\nsleep 60\n");
  std::filesystem::permissions(sandbox_.folder() / "wait.sh", std::filesystem::perms::owner_all);
  sandbox_.write("wait.yaml", "name: wait\nfile: wait.sh\nparams: {T: 1}\n");
  Background first(sandbox_, {"wait.yaml", "--output", "best"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(sandbox_.folder() / "started"); }));
  const std::string before = journal();
  const Result second = tune();
  EXPECT_EQ(second.code, 4);
  EXPECT_EQ(second.out, "");
  const std::string process = before.substr(before.find("\"process\":") + 10);
  EXPECT_TRUE(has(second.err, "tune: error: the journal best.jsonl is in use by process " +
                                  process.substr(0, process.find(',')) + " on "));
  EXPECT_TRUE(has(second.err, "; wait for it, or choose another --output PREFIX\n"));
  EXPECT_EQ(journal(), before);
}

TEST_F(Resume, AFullDiskStopsTheRunAtItsStart) {
  std::filesystem::create_symlink("/dev/full", sandbox_.folder() / "best.jsonl");
  const Result result = tune();
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err,
            "tune: error: cannot write to the journal best.jsonl: No space left on device; the same command continues "
            "from here once there is room\n");
  EXPECT_EQ(sandbox_.script_runs(), 0);
}

/// As a disk that fills up during the run.
TEST_F(Resume, WhatWasFoundBeforeTheDiskWasFullIsPrintedAndKept) {
  sandbox_.write_script("{T: {range: [1, 20]}}");
  tune();
  const auto blocks = std::to_string(without_results(journal()).size() / 512 - 2);
  std::filesystem::remove(sandbox_.folder() / "best.jsonl");
  sandbox_.write("limited.sh", "ulimit -f " + blocks + "\nexec \"$@\" > out.txt 2> err.txt\n");
  const std::string run_limited = "cd '" + sandbox_.folder().string() +
                                  "' && XDG_CACHE_HOME=\"$PWD/cache\" sh limited.sh '" TUNE_BIN_DIR
                                  "/tune' bench.yaml --output best";
  EXPECT_EQ(WEXITSTATUS(std::system(run_limited.c_str())), 4);
  EXPECT_TRUE(has(sandbox_.read("err.txt"), "tune: error: cannot write to the journal best.jsonl: "));
  EXPECT_TRUE(has(sandbox_.read("out.txt"), "bench/T=10"));
  EXPECT_TRUE(has(sandbox_.read("out.txt"),
                  "note: this run ended early; the same command continues it\n"
                  "note: best.csv is of an earlier run: this one ended early, and left it as it was\n"));
  new_runs();
  EXPECT_TRUE(has(tune().out, "Number of valid specs: 20\n"));
  EXPECT_LT(new_runs(), 10);
  EXPECT_EQ(sandbox_.trials("best.jsonl").size(), 20u);
}

TEST_F(Resume, RecordedFinalsHoldForTheSameSpecsInAnotherGrid) {
  sandbox_.write_script("{T: [1, 2]}");
  EXPECT_TRUE(has(tune({"--tune", "--finalists", "2"}).out, "top_spec_idx: 0\n"));
  sandbox_.write_script("{T: [9, 1, 2]}");
  const Result wider = tune({"--tune", "--finalists", "2"});
  EXPECT_TRUE(has(wider.out, "top_spec_idx: 1\n"));
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "  T: 1\n"));
}

TEST_F(Resume, AskingForOneSpecRunsWhatFailedAgain) {
  sandbox_.write_script("{SAYS: dies, T: [1, 2]}");
  tune();
  new_runs();
  tune({"--spec", "1"});
  EXPECT_EQ(new_runs(), 1);
}

}  // namespace
}  // namespace tune::cli::cli_resume_test
