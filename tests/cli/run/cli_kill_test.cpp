// A driver that is killed or interrupted: nothing keeps running, and the same command continues where it stopped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "model/values/random.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_kill_test {
namespace {

namespace fs = std::filesystem;

// Hangs where $HANG says, in the process of BM = 4, or in the first process after those of the sweep; says so by the
// file `reached`. Every process that loads the kernel adds a byte to the file `loads`.
constexpr const char* kKernel = R"(
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void hang_at(const char* stage) {
  const char* hang = getenv("HANG");
  if (hang == nullptr || strcmp(hang, stage) != 0) return;
  close(open("reached", O_CREAT | O_WRONLY, 0666));
  for (;;) pause();
}
static long count_loads() {
  if (BM == 4) hang_at("load");
  const int file = open("loads", O_CREAT | O_APPEND | O_WRONLY, 0666);
  struct stat status;
  if (write(file, ".", 1) != 1 || fstat(file, &status) != 0) abort();
  close(file);
  return status.st_size;
}
static const long loads = count_loads();
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  static int launches = 0;
  if (BM == 4) hang_at(launches++ == 0 ? "check" : "measure");
  if (loads > 4) hang_at("finals");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
)";

constexpr const char* kYaml =
    "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
    "params: {BM: [1, 2, 4, 8]}, launch: {args: [A, B, C, m, n, k]}, measure: {max_seconds: 0.005, cutoff: 0}}\n";

// Hangs in building BM = 4, two processes deep, as a compiler is.
constexpr const char* kCompiler = R"(#!/bin/sh
case "$HANG $*" in "build "*-DBM=4*) touch reached; sleep 1000 ;; esac
exec c++ "$@"
)";

class Kill : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("gemm.cpp", kKernel);
    sandbox_.write("gemm.yaml", kYaml);
    fs::permissions(sandbox_.write("compiler", kCompiler), fs::perms::owner_all);
    sandbox_.environment["CXX"] = (sandbox_.folder() / "compiler").string();
  }

  static std::vector<std::string> command(const std::string& output = "out") {
    return {"--yaml", "gemm.yaml", "--tune", "--quiet", "--output", output};
  }

  // A run that hangs in this stage; empty: it does not.
  std::unique_ptr<Background> start_and_hang(const std::string& stage) {
    sandbox_.environment["HANG"] = stage;
    auto run = std::make_unique<Background>(sandbox_, command());
    EXPECT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run->ended(); }));
    EXPECT_FALSE(run->ended()) << run->wait().err;
    sandbox_.environment.erase("HANG");
    return run;
  }

  testing::AssertionResult nothing_runs() const {
    if (eventually([&] { return sandbox_.processes().empty(); })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << testing::PrintToString(sandbox_.processes());
  }

  // Every spec once: nothing was lost, and nothing was done twice. What two kills hit failed before that.
  void expect_complete(const std::string& output, std::size_t specs) const {
    std::set<std::string> ids;
    auto trials = sandbox_.trials(output + ".jsonl");
    std::erase_if(trials, [](const wire::TrialRecord& record) {
      return outcome_text(record.trial) == "measure, crashed: the run ended while this spec ran";
    });
    for (const wire::TrialRecord& record : trials) {
      EXPECT_EQ(outcome_text(record.trial), "measured");
      ids.insert(record.id);
    }
    EXPECT_EQ(ids.size(), specs);
    EXPECT_EQ(trials.size(), specs);
    EXPECT_TRUE(fs::exists(sandbox_.folder() / (output + ".yaml")));
  }

  Sandbox sandbox_;
};

struct Moment {
  const char* stage;
  std::size_t recorded;  ///< trials that the journal has by then
};

class KillInStage : public Kill, public testing::WithParamInterface<Moment> {};

TEST_P(KillInStage, LeavesNothingRunningAndIsContinued) {
  auto run = start_and_hang(GetParam().stage);
  run->signal(SIGKILL);
  EXPECT_EQ(run->wait().code, 128 + SIGKILL);
  EXPECT_TRUE(nothing_runs());
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), GetParam().recorded);
  const std::set<fs::path> abandoned = abandoned_scratch();

  const Result continued = sandbox_.tune(command());
  EXPECT_EQ(continued.code, 0) << continued.err;
  expect_complete("out", 4);
  for (const fs::path& folder : abandoned) EXPECT_FALSE(fs::exists(folder)) << folder;
}

INSTANTIATE_TEST_SUITE_P(Stages, KillInStage,
                         testing::Values(Moment{"build", 0}, Moment{"load", 2}, Moment{"check", 2},
                                         Moment{"measure", 2}, Moment{"finals", 4}),
                         [](const auto& test) { return std::string(test.param.stage); });

TEST_F(Kill, AStartingWorkerEndsWithItsDriver) {
  std::vector<std::string> many = command();
  many.insert(many.end(), {"--add-param", "$REPEAT:{range: [1, 10]}"});  // one of so many is seen starting
  Background run(sandbox_, many);
  const auto worker_starts = [&] {
    const auto processes = sandbox_.processes();
    return std::any_of(processes.begin(), processes.end(), [](const std::string& text) {
      return text.find("worker-cpu measure") != std::string::npos ||
             text.find("worker-cpu run-kernel") != std::string::npos;
    });
  };
  EXPECT_TRUE(eventually([&] { return worker_starts() || run.ended(); }));
  EXPECT_FALSE(run.ended());
  run.signal(SIGKILL);
  run.wait();
  EXPECT_TRUE(nothing_runs());
  EXPECT_EQ(sandbox_.tune(many).code, 0);
  expect_complete("out", 40);
}

TEST_F(Kill, AtAnyMomentLosesOnlyWhatWasInFlight) {
  constexpr int kJournals = 2, kKillsPerJournal = 6;  // campaign_kills goes on for longer
  const std::vector<std::string> many = {"--add-param", "$REPEAT:{range: [1, 15]}"};
  const auto tune = [&](const std::string& output) {
    std::vector<std::string> words = command(output);
    words.insert(words.end(), many.begin(), many.end());
    return words;
  };
  EXPECT_EQ(sandbox_.tune({"--yaml", "gemm.yaml", "--build-only"}).code, 0);
  Random random(7);
  for (int journal = 0; journal < kJournals; ++journal) {
    const std::string output = "out" + std::to_string(journal);
    std::size_t recorded = 0;
    // On a busy machine nothing is recorded until some come later.
    for (int kill = 0; kill < kKillsPerJournal || (recorded == 0 && kill < 5 * kKillsPerJournal); ++kill) {
      Background run(sandbox_, tune(output));
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(std::max(300'000, 50'000 * kill))));
      run.signal(SIGKILL);
      run.wait();
      ASSERT_TRUE(nothing_runs());
      const std::size_t now = sandbox_.trials(output + ".jsonl").size();
      EXPECT_GE(now, recorded);
      recorded = now;
    }
    EXPECT_GT(recorded, 0U);
    std::vector<std::string> last = tune(output);
    last.emplace_back("--retry-failed");
    EXPECT_EQ(sandbox_.tune(last).code, 0);
    expect_complete(output, 60);
  }
  const std::set<fs::path> abandoned = abandoned_scratch();
  EXPECT_EQ(sandbox_.tune(command("last")).code, 0);
  for (const fs::path& folder : abandoned) EXPECT_FALSE(fs::exists(folder)) << folder;
}

// Nothing is there to be kept.
TEST_F(Kill, ASpaceThatIsBeingConstructedIsLeftAtOnce) {
  std::string params, sum = "0";
  for (int i = 0; i < 12; ++i) {
    const std::string name = "P" + std::to_string(i);
    params += ", " + name + ": {range: [1, 40]}";
    sum += " + " + name + "*" + name + "*" + std::to_string(7919 + 2 * i);
  }
  sandbox_.write("large.yaml",
                 "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                 "params: {BM: [1]" +
                     params +
                     "}, launch: {args: [A, B, C, m, n, k]},\n"
                     "constraints: [(" +
                     sum + ") % 1000003 == 1]}\n");
  Background run(sandbox_, {"large.yaml", "--dry-run", "--quiet"});
  ASSERT_TRUE(eventually([&] { return run.catches(SIGINT) || run.ended(); }));
  run.signal(SIGINT);
  const Result interrupted = run.wait();
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_EQ(interrupted.err, "tune: interrupted; the same command continues from here\n");
}

struct Interruption {
  const char* stage;
  int signal;
  int code;
};

class Interrupt : public Kill, public testing::WithParamInterface<Interruption> {};

TEST_P(Interrupt, PrintsTheBestSoFarAndIsContinued) {
  auto run = start_and_hang(GetParam().stage);
  // Builds and measurements take turns: before the first spec was measured there is no best.
  const std::size_t recorded = sandbox_.trials("out.jsonl").size();
  run->signal(GetParam().signal);
  const Result interrupted = run->wait();
  EXPECT_EQ(interrupted.code, GetParam().code) << interrupted.err;
  EXPECT_NE(interrupted.err.find("tune: interrupted; the same command continues from here\n"), std::string::npos)
      << interrupted.err;
  EXPECT_EQ(interrupted.out.find("top_spec_idx: ") != std::string::npos, recorded > 0) << interrupted.out;
  EXPECT_EQ(sandbox_.processes(), std::vector<std::string>());
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), recorded);

  EXPECT_EQ(sandbox_.tune(command()).code, 0);
  expect_complete("out", 4);
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt,
                         testing::Values(Interruption{"build", SIGINT, 130}, Interruption{"measure", SIGINT, 130},
                                         Interruption{"check", SIGTERM, 143}, Interruption{"finals", SIGHUP, 129}),
                         [](const auto& test) {
                           return std::string(test.param.stage) + std::to_string(test.param.code);
                         });

class InterruptInFinals : public Kill, public testing::WithParamInterface<Interruption> {};

TEST_P(InterruptInFinals, WritesTheFilesWithWhatTheSweepFound) {
  auto run = start_and_hang("finals");
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "out.csv"));
  run->signal(GetParam().signal);
  const Result interrupted = run->wait();
  EXPECT_EQ(interrupted.code, GetParam().code) << interrupted.err;
  EXPECT_TRUE(has(interrupted.err, "tune: interrupted; the same command continues from here\n"));
  EXPECT_TRUE(interrupted.out.starts_with("UNDECIDED: ")) << interrupted.out;
  EXPECT_TRUE(has(interrupted.out.substr(0, interrupted.out.find('\n')), "; the finals were interrupted"));
  EXPECT_TRUE(has(interrupted.out, "top_spec_idx: "));
  EXPECT_EQ(interrupted.out.find("ended early"), std::string::npos) << interrupted.out;
  const std::string csv = sandbox_.read("out.csv");
  EXPECT_TRUE(has(csv, ",place,finals (ms),finals\n"));
  for (const char* row : {"\n0,", "\n1,", "\n2,", "\n3,"}) EXPECT_TRUE(has(csv, row));
  EXPECT_TRUE(has(csv, ",interrupted\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "\n  finals: interrupted\n"));
  EXPECT_TRUE(nothing_runs());

  EXPECT_EQ(sandbox_.tune(command()).code, 0);
  expect_complete("out", 4);
  EXPECT_EQ(sandbox_.read("out.yaml").find("interrupted"), std::string::npos);
  EXPECT_EQ(sandbox_.read("out.csv").find("interrupted"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptInFinals,
                         testing::Values(Interruption{"finals", SIGINT, 130}, Interruption{"finals", SIGTERM, 143},
                                         Interruption{"finals", SIGHUP, 129}),
                         [](const auto& test) { return std::to_string(test.param.code); });

/// What compilers and programs leave in TMPDIR when they are killed.
class Temporaries : public Kill {
 protected:
  void SetUp() override {
    Kill::SetUp();
    fs::create_directory(sandbox_.folder() / "tmp");
    sandbox_.environment["TMPDIR"] = (sandbox_.folder() / "tmp").string();
    write_that_hangs("compiler");
    write_that_hangs("program.sh");
    sandbox_.write("program.yaml", "{name: program, file: program.sh, params: {N: [1]}}\n");
  }

  void write_that_hangs(const std::string& name) const {
    fs::permissions(sandbox_.write(name,
                                   "#!/bin/sh\ncase \"$*\" in *--version*) echo 1.0; exit ;; esac\n"
                                   "mktemp > /dev/null; touch reached; sleep 1000\n"),
                    fs::perms::owner_all);
  }

  std::unique_ptr<Background> start(const std::string& yaml) {
    fs::remove(sandbox_.folder() / "reached");
    auto run = std::make_unique<Background>(sandbox_, std::vector<std::string>{yaml, "--output", "out"});
    EXPECT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run->ended(); }));
    EXPECT_FALSE(run->ended()) << run->wait().err;
    return run;
  }

  /// In TMPDIR, and of unfinished builds in the store.
  std::vector<std::string> left() const {
    std::vector<std::string> names = sandbox_.files();
    std::erase_if(names, [](const std::string& name) {
      return !name.starts_with("tmp/") && name.find("/tmp.") == std::string::npos;
    });
    return names;
  }

  const std::vector<std::string> none_;
};

TEST_F(Temporaries, AreGoneOnceTheirProcessWasKilledAtItsDeadline) {
  for (const std::string yaml : {"gemm.yaml", "program.yaml"}) {
    const Result result = sandbox_.tune({yaml, "--timeout-build", "1", "--timeout-run", "1", "--output", "out"});
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_NE(result.out.find("no answer within 1 s"), std::string::npos) << result.out;
    EXPECT_EQ(left(), none_) << yaml;
  }
}

TEST_F(Temporaries, AreGoneOnceTheirRunWasInterrupted) {
  for (const std::string yaml : {"gemm.yaml", "program.yaml"}) {
    auto run = start(yaml);
    EXPECT_NE(left(), none_);
    run->signal(SIGINT);
    EXPECT_EQ(run->wait().code, 130);
    EXPECT_EQ(left(), none_) << yaml;
  }
}

TEST_F(Temporaries, OfARunThatWasKilledAreRemovedByTheNext) {
  for (const std::string yaml : {"gemm.yaml", "program.yaml"}) {
    auto run = start(yaml);
    run->signal(SIGKILL);
    run->wait();
    EXPECT_TRUE(nothing_runs());
  }
  EXPECT_NE(left(), none_);
  sandbox_.write_script("{T: [1]}");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--output", "next"}).code, 0);
  std::vector<std::string> remaining = left();
  std::erase_if(remaining, [](const std::string& name) { return !name.starts_with("tmp/"); });
  EXPECT_EQ(remaining, none_);
}

}  // namespace
}  // namespace tune::cli::cli_kill_test
