// What the journal remembers of runs that did not end well, and what a run makes of damaged records and of artifacts
// that are gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <sstream>

#include "fakes/fake_devices.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_records_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kEnded = "measure, crashed: the run ended while this spec ran";

class Records : public testing::Test {
 protected:
  Result tune(const Words& more = {}) const {
    Words words = {yaml_, "--tune", "--output", "out"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.tune(words);
  }

  Words lines() const {
    std::istringstream text(sandbox_.read("out.jsonl"));
    Words lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  void set_lines(const Words& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    sandbox_.write("out.jsonl", text);
  }
  static void expect_sound(const Result& result) {
    EXPECT_FALSE(std::regex_search(result.out, std::regex("\\b(inf|nan)\\b"))) << result.out;
    EXPECT_EQ(result.err.find("unexpected"), std::string::npos) << result.err;
    EXPECT_EQ((result.out + result.err).find("exception"), std::string::npos) << result.out << result.err;
  }

  Sandbox sandbox_;
  std::string yaml_ = "bench.yaml";
};

TEST_F(Records, AFinalistThatEndsBetweenTwoRoundsHasFailed) {
  sandbox_.write("gemm.cpp", "");
  sandbox_.write("gemm.yaml",
                 "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\n"
                 "params: {BEHAVIOUR: [is_slow_in_finals, leaves_between_rounds]},\n"
                 "launch: {args: [A, B, C, m, n, k]}}\n");
  const fs::path bin = sandbox_.copy_binaries_with_fake_worker();
  const Result result = sandbox_.tune_from(bin, {"gemm.yaml", "--tune", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  EXPECT_TRUE(has(result.out,
                  "note: spec 1 failed in the finals and keeps its time of the sweep: the process ended with exit code "
                  "0 before it was told to\n"));
  expect_sound(result);
}

// It ends after some rounds, more launches than the sweep has, and so does the process in which it is tried again.
TEST_F(Records, AKernelThatEndsItsProcessInTheFinalsHasFailed) {
  yaml_ = "gemm.yaml";
  sandbox_.write("gemm.cpp", R"(
#include <thread>
#include <unistd.h>
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  static int launches = 0;
  if (BM == 1 && ++launches == 15) std::thread([] { usleep(1000); _exit(0); }).detach();
  usleep(BM == 1 ? 2000 : 3000);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
)");
  sandbox_.write("gemm.yaml",
                 "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                 "params: {BM: [1, 2]}, launch: {args: [A, B, C, m, n, k]}, build: {flags: [-pthread]},\n"
                 "measure: {max_seconds: 0.01, cutoff: 0}}\n");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "note: spec 0 failed in the finals and keeps its time of the sweep: the process ended"));
  EXPECT_EQ(result.out.find("top_spec_idx: 0\n"), std::string::npos);
  expect_sound(result);
}

struct Damage {
  const char* name;
  const char* pattern;  ///< of what is replaced, in the record of the finals or of the first trial
  const char* by;
  const char* cause;
};

class DamagedRecord : public Records, public testing::WithParamInterface<Damage> {
 protected:
  /// The line that is damaged.
  std::size_t damage(Words& lines) const {
    const std::regex pattern(GetParam().pattern);
    for (std::size_t i = lines.size(); i-- > 0;) {
      if (!std::regex_search(lines[i], pattern)) continue;
      lines[i] = std::regex_replace(lines[i], pattern, GetParam().by, std::regex_constants::format_first_only);
      return i + 1;
    }
    ADD_FAILURE() << "nothing to damage";
    return 0;
  }
};

TEST_P(DamagedRecord, IsLeftOutAndItsLineIsNamed) {
  sandbox_.write_script("{$T: [1, 2]}", "measure: {cutoff: 0}\n");
  ASSERT_EQ(tune().code, 0);
  Words records = lines();
  std::erase_if(records, [](const std::string& record) { return record.find("\"results\"") != std::string::npos; });
  const std::size_t line = damage(records);
  set_lines(records);
  const std::string note =
      "note: out.jsonl:" + std::to_string(line) + ": this line is not a valid record and is ignored: ";
  for (const Result& result : {sandbox_.tune({"--simulate", "out.jsonl", "--tune"}), tune()}) {
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(has(result.out, note + GetParam().cause));
    EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
    expect_sound(result);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedRecord,
    testing::Values(
        Damage{"ARoundTwice", R"("rounds":\[\[1,)", R"("rounds":[[2,0.001],[1,)", "round 2 is there twice\n"},
        Damage{"AMissingRound", R"(\[2,[^\]]*\],)", "", "a round of spec 0 is missing\n"},
        Damage{"FewerRounds", R"("rounds":\[(\[1,[^\]]*\]).*?\]\])", R"("rounds":[$1])",
               "spec 0 has 1 rounds instead of "},
        Damage{"AnAbsurdRound", R"("rounds":\[\[1,)", R"("rounds":[[1e300,)",
               "a round's number is no whole number from 1 to 101\n"},
        Damage{"ANegativeRound", R"("rounds":\[\[1,)", R"("rounds":[[-1,)",
               "a round's number is no whole number from 1 to 101\n"},
        Damage{"ANegativeTime", R"("rounds":\[\[1,)", R"("rounds":[[1,-)", "round 1 has no time\n"},
        Damage{"NoTime", R"("rounds":\[\[1,[^\]]*)", R"("rounds":[[1,null)", "round 1 has no time\n"},
        Damage{"AnInfiniteTime", R"("rounds":\[\[1,[^\]]*)", R"("rounds":[[1,1e999)", "it is not a JSON object\n"},
        Damage{"RoundsThatAreNone", R"("rounds":\[)", R"("rounds":true,"x":[)", "'rounds' is no list\n"},
        Damage{"FinalistsThatAreNone", R"("finalists":\[)", R"("finalists":7,"x":[)",
               "a value is of the wrong type: type must be array, but is number\n"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Records, ADamagedTrialIsLeftOutAndMeasuredAgain) {
  sandbox_.write_script("{$T: [1, 2]}");
  const std::vector<std::pair<std::string, std::string>> damages = {
      {R"("median":[^,}]*)", R"("median":-1)"},
      {R"("median":[^,}]*)", R"("median":null)"},
      {R"("median":[^,}]*)", R"("median":true)"},
      {R"("count":[^,}]*)", R"("count":1e300)"},
      {R"("mesh_idx":0)", R"("mesh_idx":"0")"},
      {R"("params":\{[^}]*\})", R"("params":7)"},
      {R"("seconds":[^,}]*)", R"("seconds":-3)"},
      {R"("measured":\{)", R"("molten":{)"},
      {R"("build":\{)", R"("build":{"seconds":-1},"was":{)"}};
  ASSERT_EQ(tune({"--no-finals"}).code, 0);
  const Words whole = lines();
  const auto found = std::ranges::find_if(whole, [](const std::string& line) { return has(line, "\"trial\""); });
  for (const auto& [pattern, by] : damages) {
    Words records = whole;
    std::string& record = records[static_cast<std::size_t>(found - whole.begin())];
    record = std::regex_replace(record, std::regex(pattern), by);
    ASSERT_NE(records, whole) << pattern;
    set_lines(records);
    const Result result = tune({"--no-finals"});
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string line = std::to_string(found - whole.begin() + 1);
    EXPECT_TRUE(has(result.out, "note: out.jsonl:" + line + ": this line is not a valid record and is ignored: "));
    EXPECT_EQ(lines().size(), whole.size() + 4) << "a run that starts it, records it and prints results: " << by;
    expect_sound(result);
  }
}

TEST_F(Records, OfManyDamagedLinesTheFirstAreNamed) {
  sandbox_.write_script("{$T: [1]}");
  tune();
  Words records = lines();
  records.insert(records.end(), 100, "garbage");
  set_lines(records);
  const Result result = tune();
  EXPECT_TRUE(has(result.out, "note: out.jsonl: 95 more lines are not valid records and are ignored\n"));
  EXPECT_EQ(std::ranges::count(result.out, '\n'), std::ranges::count(tune().out, '\n'));
}

/// A program whose T = 2 says by the file `reached` that it runs and hangs while there is a file `hang`, and kills
/// itself while there is a file `die`.
class RunsThatEnd : public Records {
 protected:
  void SetUp() override {
    sandbox_.write_script("{$T: [1, 2, 3]}", "measure: {cutoff: 0}\nrun: [./hang.sh, \"{file}\", \"{args}\"]\n");
    fs::permissions(sandbox_.write("hang.sh",
                                   "#!/bin/sh\ncase \"$*\" in *--T=2*) [ -e die ] && kill -KILL $$; "
                                   "[ -e hang ] && touch reached && exec sleep 100 ;; esac\nexec \"$@\"\n"),
                    fs::perms::owner_all);
    hang(true);
  }

  void hang(bool hangs) const {
    if (hangs)
      sandbox_.write("hang", "");
    else
      fs::remove(sandbox_.folder() / "hang");
  }

  /// A run that is sent this signal while T = 2 runs.
  void end_by(int signal) const {
    fs::remove(sandbox_.folder() / "reached");
    Background run(sandbox_, {yaml_, "--tune", "--quiet", "--output", "out"});
    ASSERT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run.ended(); }));
    ASSERT_FALSE(run.ended()) << run.wait().out;
    run.signal(signal);
    if (signal == SIGSTOP) run.signal(SIGKILL);
    run.wait();
    ASSERT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
  }

  /// Of the spec that hangs: what is recorded last.
  std::string outcome() const {
    std::string outcome;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      if (record.trial.spec.mesh_idx == 1) outcome = outcome_text(record.trial);
    return outcome;
  }
};

TEST_F(RunsThatEnd, TwiceWhileASpecRanMakeItFail) {
  for (const auto& [first, second] : {std::pair(SIGKILL, SIGTERM), std::pair(SIGSTOP, SIGHUP)}) {
    fs::remove(sandbox_.folder() / "out.jsonl");
    end_by(first);
    end_by(second);
    const Result result = tune();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(outcome(), kEnded);
    EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 3u);
    EXPECT_TRUE(has(result.out, "the run ended while this spec ran"));
    EXPECT_TRUE(has(result.out, "note: failures from an earlier run: 1; --retry-failed tries them again\n"));
    EXPECT_TRUE(has(sandbox_.read("out.csv"), "1,bench,failed,2,"));
  }
}

TEST_F(RunsThatEnd, OnceOrByCtrlCLeaveItToBeTriedAgain) {
  end_by(SIGKILL);
  for (int i = 0; i < 2; ++i) end_by(SIGINT);
  hang(false);
  EXPECT_EQ(tune().code, 0);
  EXPECT_EQ(outcome(), "measured");
}

// That outcome is a failure that may have been the machine's, so that the spec is tried again.
TEST_F(RunsThatEnd, DoNotCountOnceItsOutcomeIsKnown) {
  end_by(SIGKILL);
  hang(false);
  sandbox_.write("die", "");
  EXPECT_EQ(tune({"--no-finals"}).code, 0);
  EXPECT_TRUE(has(outcome(), "killed by signal 9"));
  fs::remove(sandbox_.folder() / "die");
  hang(true);
  end_by(SIGKILL);
  hang(false);
  EXPECT_EQ(tune({"--no-finals"}).code, 0);
  EXPECT_EQ(outcome(), "measured");
}

TEST_F(RunsThatEnd, AreForgottenWhereFailuresAreTriedAgain) {
  end_by(SIGKILL);
  end_by(SIGKILL);
  hang(false);
  EXPECT_EQ(tune({"--no-finals"}).code, 0);
  EXPECT_EQ(outcome(), kEnded);
  EXPECT_EQ(tune({"--no-finals", "--retry-failed"}).code, 0);
  EXPECT_EQ(outcome(), "measured");
}

// The sweep knows all specs; the first end says nothing of the contenders, the next two name one.
TEST_F(RunsThatEnd, InTheFinalsMakeTheContenderFailWhoseTurnItWas) {
  hang(false);
  EXPECT_EQ(tune({"--no-finals"}).code, 0);
  hang(true);
  for (int i = 0; i < 3; ++i) end_by(SIGKILL);
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out,
                  "note: spec 1 failed in the finals and keeps its time of the sweep: the run ended "
                  "while this spec ran\n"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  hang(false);
  EXPECT_TRUE(has(tune().out, "spec 1 failed in the finals"));
  EXPECT_EQ(tune({"--retry-failed"}).out.find("failed in the finals"), std::string::npos);
}

TEST_F(RunsThatEnd, LeaveRecordsThatOtherReadersPassOver) {
  end_by(SIGKILL);
  end_by(SIGINT);
  hang(false);
  EXPECT_EQ(tune().code, 0);
  const std::string journal = sandbox_.read("out.jsonl");
  EXPECT_TRUE(has(journal, "\"mesh_idx\":1,\"record\":\"started\"}\n"));
  EXPECT_TRUE(has(journal, "{\"record\":\"ended\"}\n"));
  const Result simulated = sandbox_.tune({"--simulate", "out.jsonl", "--tune"});
  EXPECT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(simulated.out.find("left out"), std::string::npos) << simulated.out;
  for (const char* file : {"out2.jsonl", "out2.json", "out2.t4.json", "out2.csv"}) {
    const Result converted = sandbox_.tune({"convert", "out.jsonl", file});
    EXPECT_EQ(converted.code, 0) << converted.err;
    EXPECT_TRUE(has(converted.out, ": 3 specs of bench"));
  }
}

// Whether or not the signal arrives, and whatever stands between: the same command gets to an end.
TEST_F(Records, AProgramThatKillsItsDriverDoesNotBlockTheOthers) {
  sandbox_.write_script("{$T: [1, 2, 3]}", "run: [./hostile.sh, \"{file}\", \"{args}\"]\n");
  fs::permissions(sandbox_.write("hostile.sh",
                                 "#!/bin/sh\ncase \"$*\" in *--T=1*)\n  read -r name rest < /proc/$PPID/stat\n"
                                 "  set -- $rest \"$@\"; kill -KILL $3 ;;\nesac\nexec \"./bench.sh\" --T=3\n"),
                  fs::perms::owner_all);
  int code = -1;
  for (int i = 0; i < 6 && code != 0; ++i) {
    code = tune().code;
    ASSERT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
  }
  EXPECT_EQ(code, 0);
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 3u);
}

// Several processes have opened the GPU, and only one launches.
TEST_F(Batches, OnAGpuOnlyTheSpecThatWasLaunchedIsCounted) {
  write("right, waits_for_the_end_of_stdin, takes_a_while");
  const std::string started = "\"mesh_idx\":1,\"record\":\"started\"}\n";
  std::size_t after = 0;
  for (int i = 0; i < 2; ++i) {
    Background run(sandbox_, command("out", {"--quiet"}), bin_);
    const auto hangs = [&] {
      if (!fs::exists(sandbox_.folder() / "out.jsonl")) return false;
      const std::size_t found = sandbox_.read("out.jsonl").find(started, after);
      if (found != std::string::npos) after = found + 1;
      return found != std::string::npos;
    };
    ASSERT_TRUE(eventually([&] { return hangs() || run.ended(); }));
    run.signal(SIGKILL);
    run.wait();
    ASSERT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
  }
  EXPECT_EQ(tune({}).code, 0);
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, kEnded}, {2, "measured"}}));
}

/// A kernel that does something to its own file when it is loaded.
class Artifacts : public Records {
 protected:
  void write_kernel(const std::string& action) {
    yaml_ = "gemm.yaml";
    sandbox_.write("gemm.cpp", R"(
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static int loaded = [] {
  Dl_info info;
  if (dladdr((void*)&loaded, &info) != 0) {
    const char* path = info.dli_fname;
    )" + action + R"(
  }
  return 0;
}();
extern "C" int tile() { return BM; }
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
)");
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                   "params: {BM: [1, 2], $R: [1]}, launch: {args: [A, B, C, m, n, k]},\n"
                   "measure: {max_seconds: 0.01, cutoff: 0}}\n");
  }

  void expect_all_measured(std::size_t specs) const {
    const auto trials = sandbox_.trials("out.jsonl");
    EXPECT_EQ(trials.size(), specs);
    for (const wire::TrialRecord& record : trials) EXPECT_EQ(outcome_text(record.trial), "measured");
  }
};

TEST_F(Artifacts, ThatTheKernelRemovesAreBuiltAgain) {
  write_kernel("unlink(path);");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  expect_all_measured(2);
  EXPECT_TRUE(has(sandbox_.read("out.jsonl"), "\"record\":\"finals\"")) << "two contenders have loaded theirs again";
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << result.out;
  EXPECT_EQ(tune({"--param", "$R:[1, 2]"}).code, 0);
  expect_all_measured(4);
}

TEST_F(Artifacts, ThatTheKernelReplacesAreBuiltAgain) {
  write_kernel("unlink(path); fclose(fopen(path, \"w\"));");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  expect_all_measured(2);
  EXPECT_TRUE(has(sandbox_.read("out.jsonl"), "\"record\":\"finals\""));
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace tune::cli::cli_records_test
