// A result that is looked at again, over the real binary: the best.yaml that is timed anew, what the journal remembers,
// --fresh, and the artifact of the winner.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_repeat_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A program without a build that takes $TIMES times $T milliseconds, and hangs in the run of $T that $HANG names.
constexpr const char* kProgram = R"(#!/bin/sh
T=${1#--T=}
echo >> runs-$T
n=$(wc -l < runs-$T)
if [ "$HANG" = "$T/$n" ]; then touch reached; sleep 60; fi
echo "{\"time\": $((T * ${TIMES:-1}))e-3, \"ok\": true}"
)";

class Repeat : public testing::Test {
 protected:
  void write_program(const std::string& params = "{T: [1, 2, 3]}") const {
    fs::permissions(sandbox_.write("bench.sh", kProgram), fs::perms::owner_all);
    sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: " + params + "\n");
  }

  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }

  long runs_of(const std::string& value) const {
    const std::string text = sandbox_.read("runs-" + value);
    return std::ranges::count(text, '\n');
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = sandbox_.read(file);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
    sandbox_.write(file, text);
  }

  /// Replaces the rest of a line that follows this.
  void set(const std::string& file, const std::string& key, const std::string& value) const {
    replace(file, key + value_of(sandbox_.read(file), key), key + value);
  }

  /// The rest of a line of best.yaml that follows this.
  static std::string value_of(const std::string& yaml, const std::string& key) {
    const auto at = yaml.find(key);
    if (at == std::string::npos) return "";
    const auto begin = at + key.size();
    return yaml.substr(begin, yaml.find('\n', begin) - begin);
  }

  Sandbox sandbox_;
};

TEST_F(Repeat, ABestYamlIsTimedAnewAndComparedWithItsResult) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "best/bench"});
  const long before = runs_of("1");
  const Result same = tune({"best/bench.yaml"});
  EXPECT_TRUE(has(same.out,
                  "note: best/bench.yaml has 1 ms +-0 %; now it took 1 ms +-0 %, 1.000 times as long (1.000..1.000): "
                  "the difference is within the noise of both\n"));
  EXPECT_GE(runs_of("1"), before + 8) << "once, and then in seven rounds";
  const long then = runs_of("1");
  sandbox_.environment["TIMES"] = "3";
  const Result slower = tune({"best/bench.yaml"});
  EXPECT_TRUE(has(slower.out,
                  "note: best/bench.yaml has 1 ms +-0 %; now it took 3 ms +-0 %, 3.000 times as long (3.000..3.000): "
                  "the difference is beyond the noise of both\n"));
  EXPECT_GT(runs_of("1"), then) << "nothing is remembered";
  EXPECT_EQ(slower.out.find("from the journal"), std::string::npos) << slower.out;
  EXPECT_EQ(slower.out.find("other conditions"), std::string::npos) << slower.out;
}

TEST_F(Repeat, TimingTheBestAgainLeavesTheFinalsOfItsJournalAlone) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "best"});
  sandbox_.environment["TIMES"] = "3";
  tune({"best.yaml", "--output", "best"});
  const Result simulated = tune({"bench.yaml", "--tune", "--simulate", "best.jsonl"});
  EXPECT_TRUE(has(simulated.out, "\n        0 bench/T=1  1.000000      7  0.00\n        1 bench/T=2  2.000000 "));
}

TEST_F(Repeat, ADifferenceWithinTheIntervalOfTheFileIsNoise) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "best"});
  replace("best.yaml", "interval_ms: [1, 1]", "interval_ms: [0.9, 2.5]");
  sandbox_.environment["TIMES"] = "2";
  EXPECT_TRUE(
      has(tune({"best.yaml"}).out, "2.000 times as long (0.800..2.222): the difference is within the noise of both\n"));
  replace("best.yaml", "interval_ms: [0.9, 2.5]", "interval_ms: [0.5, 4]");
  EXPECT_TRUE(has(tune({"best.yaml"}).out, "2.000 times as long: whether that is more than noise is not known\n"));
}

TEST_F(Repeat, ASmallDifferenceMayBeThatOfTwoProcesses) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "best"});
  set("best.yaml", "  time_ms: ", "1.1");
  replace("best.yaml", "interval_ms: [1, 1]", "interval_ms: [1.09, 1.11]");
  EXPECT_TRUE(has(tune({"best.yaml"}).out,
                  "0.909 times as long (0.901..0.917): the difference is beyond the noise of each, but processes and "
                  "hours may differ by as much\n"));
}

TEST_F(Repeat, TheNoiseOfASingleRunIsNotKnown) {
  write_program();
  tune({"bench.yaml", "--tune", "--no-finals", "--output", "best"});
  EXPECT_TRUE(has(tune({"best.yaml"}).out,
                  "note: best.yaml has 1 ms; now it took 1 ms +-0 %, 1.000 times as long: whether that is more than "
                  "noise is not known, because the spec of the file was timed once\n"));
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--output", "best", "--finalists", "2"}).out, "top_spec_idx"));
  EXPECT_TRUE(has(tune({"best.yaml", "--no-finals"}).out,
                  "whether that is more than noise is not known, because the spec was timed once\n"));
}

TEST_F(Repeat, OtherConditionsThanThoseOfTheResultAreSaid) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(tune({"best.yaml"}).out.find("other conditions"), std::string::npos);
  set("best.yaml", "device:\n  name: ", "Old One");
  set("best.yaml", "\n  compiler: ", "cc 1.0");
  replace("gemm.cpp", "float sum = 0;", "float sum = 0; asm volatile(\"nop\");");
  const Result result = tune({"best.yaml"});
  EXPECT_TRUE(has(result.out,
                  "note: the result in best.yaml was measured under other conditions: device Old One "
                  "instead of "));
  EXPECT_TRUE(has(result.out, "; compiler cc 1.0 instead of "));
  EXPECT_TRUE(has(result.out, "; the code that was built then is not that of now\n"));
}

TEST_F(Repeat, ABestYamlWhoseSpecIsChangedIsATuningFileAsAnyOther) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "best"});
  const Words command = {"best.yaml", "--param", "T:[2,3]"};
  EXPECT_EQ(tune(command).out.find("note: best.yaml has"), std::string::npos);
  const long before = runs_of("2");
  EXPECT_TRUE(has(tune(command).out, "2 of 2 specs are from the journal"));
  EXPECT_EQ(runs_of("2"), before);
}

TEST_F(Repeat, AResultThatCannotBeReadIsRefusedWithItsLine) {
  write_program();
  sandbox_.write("best.yaml",
                 "name: bench\nfile: bench.sh\nparams: {T: 1}\nresult:\n  time_ms: -1\n  interval_ms: 3\n");
  const Result result = tune({"best.yaml"}, 2);
  EXPECT_TRUE(has(result.err, "best.yaml:5: result: time_ms must be above 0; remove result: if it is not to be"));
  sandbox_.write("best.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1}\nresult: {time_ms: 1, interval_ms: 3}\n");
  EXPECT_TRUE(has(tune({"best.yaml"}, 2).err, "best.yaml:4: result: interval_ms must be a list of two times, not '3'"));
  sandbox_.write("best.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1}\nresult: good\n");
  EXPECT_EQ(tune({"best.yaml"}).out.find("has"), std::string::npos) << "a remark of the user's";
}

TEST_F(Repeat, WhatComesFromTheJournalSaysSoWithItsDate) {
  write_program();
  const Words command = {"bench.yaml", "--tune", "--output", "out"};
  const Result first = tune(command);
  EXPECT_EQ(first.out.find("from the journal, measured"), std::string::npos) << first.out;
  const Result again = tune(command);
  EXPECT_TRUE(has(masked(again.out),
                  "note: # of # specs and the finals are from the journal, measured by the run of ### #:# UTC; --fresh "
                  "measures again\n"))
      << masked(again.out);
  const Result more = tune({"bench.yaml", "--tune", "--output", "out", "--param", "T:[1,2,3,4]", "--no-finals"});
  EXPECT_TRUE(has(more.out, "note: 3 of 4 specs are from the journal, measured by the run of 20")) << more.out;
  // Older journals have no dates.
  std::string journal = sandbox_.read("out.jsonl");
  for (auto at = journal.find("\"date\""); at != std::string::npos; at = journal.find("\"date\""))
    journal.erase(at, journal.find(',', at) + 1 - at);
  sandbox_.write("out.jsonl", journal);
  EXPECT_TRUE(
      has(tune(command).out,
          "note: 3 of 3 specs and the finals are from the journal, measured by runs that noted no date; --fresh"));
}

TEST_F(Repeat, FreshMeasuresAgainAndKeepsWhatWasRecorded) {
  write_program();
  const Words command = {"bench.yaml", "--tune", "--output", "out"};
  tune(command);
  const std::string before = sandbox_.read("out.jsonl");
  const long runs = runs_of("1");
  sandbox_.environment["TIMES"] = "2";
  Words fresh = command;
  fresh.emplace_back("--fresh");
  const Result anew = tune(fresh);
  EXPECT_TRUE(has(anew.out, " 2.000000 "));
  EXPECT_EQ(anew.out.find("from the journal, measured"), std::string::npos) << anew.out;
  EXPECT_EQ(runs_of("1"), 2 * runs) << "in the sweep and in the finals";
  EXPECT_TRUE(sandbox_.read("out.jsonl").starts_with(before)) << "nothing is lost";
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "time_ms: 2\n"));

  const std::string blocks = anew.out.substr(0, anew.out.find("Elapsed"));
  const Result later = tune(command);
  EXPECT_EQ(later.out.substr(0, later.out.find("Elapsed")), blocks) << "the later times count";
  EXPECT_EQ(runs_of("1"), 2 * runs);
  const Result simulated = tune({"bench.yaml", "--tune", "--simulate", "out.jsonl"});
  EXPECT_EQ(simulated.out.substr(0, simulated.out.find("Elapsed")), blocks);
  tune(fresh);
  EXPECT_EQ(runs_of("1"), 3 * runs) << "each time";
}

TEST_F(Repeat, AFreshRunThatWasInterruptedIsContinuedByTheSameCommand) {
  write_program();
  const Words command = {"bench.yaml", "--tune", "--no-finals", "--output", "out", "--fresh"};
  tune({"bench.yaml", "--tune", "--no-finals", "--output", "out"});
  sandbox_.environment["HANG"] = "2/2";
  Background run(sandbox_, command);
  ASSERT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run.ended(); }));
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
  sandbox_.environment.erase("HANG");
  const std::string out = tune(command).out;
  EXPECT_TRUE(has(out, "note: 1 of 3 specs is from the journal, measured by the run of 20"));
  EXPECT_TRUE(has(out, " UTC, as part of this --fresh run\n"));
  EXPECT_EQ(runs_of("1"), 2);
  EXPECT_EQ(runs_of("2"), 3);
  EXPECT_EQ(runs_of("3"), 2);
  EXPECT_EQ(tune(command).out.find("from the journal, measured"), std::string::npos) << "that one was complete";
  EXPECT_EQ(runs_of("1"), 3);
}

TEST_F(Repeat, AFreshRunOfSeveralShapesIsContinuedAtTheShapeThatWasInterrupted) {
  write_program("{T: [1], M: 1, N: 1, K: 1}");
  sandbox_.write("sizes.yaml", "- {M: 1, N: 1, K: 1}\n- {M: 2, N: 1, K: 1}\n");
  const Words command = {"bench.yaml", "--shapes", "sizes.yaml", "--output", "out", "--fresh"};
  sandbox_.environment["HANG"] = "1/2";
  Background run(sandbox_, command);
  ASSERT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "reached") || run.ended(); }));
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
  sandbox_.environment.erase("HANG");
  tune(command);
  EXPECT_EQ(runs_of("1"), 3) << "the second shape alone";
  tune(command);
  EXPECT_EQ(runs_of("1"), 5) << "both";
}

TEST_F(Repeat, FreshTimesReplaceThoseInACacheOfKernelTuner) {
  write_program("{T: [1]}");
  tune({"bench.yaml", "--kt-cache", "cache.json"});
  sandbox_.environment["TIMES"] = "2";
  tune({"bench.yaml", "--kt-cache", "cache.json", "--fresh"});
  EXPECT_TRUE(has(tune({"bench.yaml", "--simulate", "cache.json"}).out, " 2.000000 "));
}

TEST_F(Repeat, TimesOfChangedCodeReplaceThoseInACacheOfKernelTuner) {
  write_program("{T: [1]}");
  tune({"bench.yaml", "--kt-cache", "cache.json"});
  const std::string before = sandbox_.read("cache.json");
  tune({"bench.yaml", "--kt-cache", "cache.json"});
  EXPECT_EQ(sandbox_.read("cache.json"), before) << "nothing was measured";
  sandbox_.environment["TIMES"] = "2";
  sandbox_.write("bench.sh", std::string(kProgram) + "# changed\n");
  tune({"bench.yaml", "--kt-cache", "cache.json"});
  EXPECT_TRUE(has(tune({"bench.yaml", "--simulate", "cache.json"}).out, " 2.000000 "));
}

TEST_F(Repeat, AFailureThatIsTriedAgainIsOnceInACacheOfKernelTuner) {
  write_program("{T: [1]}");
  sandbox_.write("bench.sh", "#!/bin/sh\nexit 1\n");
  tune({"bench.yaml", "--kt-cache", "cache.json"}, 1);
  const std::string once = sandbox_.read("cache.json");
  tune({"bench.yaml", "--kt-cache", "cache.json", "--retry-failed"}, 1);
  EXPECT_EQ(sandbox_.read("cache.json"), once);
}

// What --run-only does not find in the store says nothing of the code.
TEST_F(Repeat, WhatWasNotTriedReplacesNothingInACacheOfKernelTuner) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--kt-cache", "cache.json"});
  const std::string measured = sandbox_.read("cache.json");
  sandbox_.write("gemm.cpp", sandbox_.read("gemm.cpp") + "// changed\n");
  tune({"gemm.yaml", "--kt-cache", "cache.json", "--run-only"}, 1);
  EXPECT_EQ(sandbox_.read("cache.json"), measured);
}

TEST_F(Repeat, FreshAndArtifactAreRefusedWhereNothingIsMeasured) {
  write_program();
  tune({"bench.yaml", "--tune", "--output", "out"});
  for (const Words& other : {Words{"--simulate", "out.jsonl"}, Words{"--dry-run"}, Words{"--build-only"}}) {
    Words fresh = {"bench.yaml", "--fresh"}, artifact = {"bench.yaml", "--artifact", "shipped"};
    fresh.insert(fresh.end(), other.begin(), other.end());
    artifact.insert(artifact.end(), other.begin(), other.end());
    EXPECT_TRUE(has(tune(fresh, 2).err, "tune: error: --fresh measures again; "));
    EXPECT_TRUE(has(tune(artifact, 2).err, "tune: error: --artifact copies what was built for the best spec; "));
  }
}

TEST_F(Repeat, TheResultTellsWhereTheArtifactLiesAndArtifactCopiesIt) {
  sandbox_.write_gemm();
  const Words command = {"gemm.yaml", "--tune", "--output", "best", "--artifact", "shipped/now"};
  const Result result = tune(command);
  EXPECT_TRUE(has(result.out, "artifact: shipped/now/gemm.so\n"));
  const std::string path = value_of(sandbox_.read("best.yaml"), "\n  store_path: ");
  ASSERT_TRUE(path.ends_with("/kernel.so")) << sandbox_.read("best.yaml");
  const std::string shipped = sandbox_.read("shipped/now/gemm.so");
  EXPECT_EQ(shipped, sandbox_.read("cache/tune/store/" + path));
  EXPECT_TRUE(
      shipped.starts_with("\x7f"
                          "ELF"));

  const std::string best = sandbox_.read("best.yaml");
  fs::remove_all(sandbox_.folder() / "cache/tune/store");
  fs::remove_all(sandbox_.folder() / "shipped");
  EXPECT_TRUE(has(tune(command).out, "artifact: shipped/now/gemm.so\n"));
  EXPECT_EQ(sandbox_.read("shipped/now/gemm.so"), shipped) << "it is built again";
  EXPECT_EQ(sandbox_.read("best.yaml"), best);
  EXPECT_TRUE(has(tune({"best.yaml", "--artifact", "again"}).out, "artifact: again/gemm.so\n"));
  EXPECT_EQ(sandbox_.read("again/gemm.so"), shipped);
}

TEST_F(Repeat, AnArtifactThatCannotBeBuiltAgainIsAClearError) {
  sandbox_.write_gemm();
  const std::string compiler =
      "#!/bin/sh\ncase \"$BROKEN $*\" in yes*-DBM*) echo no room >&2; exit 1 ;; esac\n"
      "exec c++ \"$@\"\n";
  fs::permissions(sandbox_.write("compiler", compiler), fs::perms::owner_all);
  sandbox_.environment["CXX"] = (sandbox_.folder() / "compiler").string();
  tune({"gemm.yaml", "--tune", "--output", "best"});
  const std::string best = sandbox_.read("best.yaml");
  fs::remove_all(sandbox_.folder() / "cache/tune/store");
  sandbox_.environment["BROKEN"] = "yes";
  const Result result = tune({"gemm.yaml", "--tune", "--output", "best", "--artifact", "shipped"}, 4);
  EXPECT_TRUE(has(result.err,
                  "tune: error: --artifact: the build store has the best spec's artifact no longer, and it "
                  "cannot be built again: "));
  EXPECT_TRUE(has(result.out, "top_spec_idx: "));
  EXPECT_EQ(sandbox_.read("best.yaml"), best) << "nothing else is lost";
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "shipped/gemm.so"));
}

TEST_F(Repeat, TheArtifactOfAProgramCanBeStarted) {
  sandbox_.write("bench.cpp",
                 "#include <cstdio>\nint main() { std::puts(\"{\\\"time\\\": 1e-3, \\\"ok\\\": true}\"); }\n");
  sandbox_.write("bench.yaml", "{name: my bench, file: bench.cpp, params: {T: [1, 2]}}\n");
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--output", "best", "--artifact", "."}).out, "artifact: ./my bench\n"));
  EXPECT_EQ(::access((sandbox_.folder() / "my bench").c_str(), X_OK), 0);
}

TEST_F(Repeat, AnArtifactIsOfOneSpecAndOfSomethingThatIsBuilt) {
  sandbox_.write_gemm();
  EXPECT_TRUE(has(tune({"gemm.yaml", "--artifact", "shipped"}, 2).err,
                  "--artifact copies what was built for one spec; add --tune to find the best, or choose one with "
                  "--spec N"));
  EXPECT_TRUE(has(tune({"gemm.yaml", "--artifact", "shipped", "--spec", "2"}).out, "artifact: shipped/gemm.so\n"));
  write_program();
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--artifact", "shipped"}, 2).err,
                  "--artifact: nothing is built for bench.sh, which runs as it is; leave the option out"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "runs-1")) << "nothing was started";
  EXPECT_TRUE(has(tune({"gemm.yaml", "--tune", "--artifact", "gemm.cpp"}, 2).err,
                  "--artifact gemm.cpp is no folder; choose another"));
  fs::create_directories(sandbox_.folder() / "other/gemm.so");
  EXPECT_TRUE(has(tune({"gemm.yaml", "--tune", "--artifact", "other"}, 2).err,
                  "the output other/gemm.so is a folder; choose another --artifact DIR"));
}

TEST_F(Repeat, EachShapeHasAnArtifactOfItsOwn) {
  sandbox_.write_gemm();
  sandbox_.write("sizes.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32, N: 16, K: 16}\n");
  tune({"gemm.yaml", "--shapes", "sizes.yaml", "--tune", "--output", "best", "--artifact", "shipped"});
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "shipped/gemm-M16-N16-K16.so"));
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "shipped/gemm-M32-N16-K16.so"));
}

}  // namespace
}  // namespace tune::cli::cli_repeat_test
