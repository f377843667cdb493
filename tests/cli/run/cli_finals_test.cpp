// What the finals decide, over the real binary: who takes part, who leaves, what is said of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_finals_test {
namespace {

using Words = std::vector<std::string>;

class FinalsOfTune : public testing::Test {
 protected:
  Result tune(const Words& more = {}) const {
    Words words = {"bench.yaml", "--tune", "--output", "out"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.tune(words);
  }

  /// A program without a build, in which `$T` is the parameter and `$n` how often it ran with this T, now included.
  void write_program(const std::string& params, const std::string& script, const std::string& extra = "") const {
    const std::string head =
        "#!/bin/sh\nT=${1#--T=}\necho >> runs-$T\nn=$(wc -l < runs-$T)\n"
        "say() { echo \"{\\\"time\\\": $1e-3, \\\"ok\\\": true}\"; }\n";
    std::filesystem::permissions(sandbox_.write("bench.sh", head + script + "\n"), std::filesystem::perms::owner_all);
    sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: " + params + "\n" + extra);
  }

  long runs_of(const std::string& value) const {
    const std::string text = sandbox_.read("runs-" + value);
    return std::ranges::count(text, '\n');
  }

  /// The rows of the table as `mesh_idx/met (ms)`.
  static Words rows(const std::string& out) {
    Words rows;
    std::istringstream lines(out.substr(out.find(" mesh_idx")));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && (line.starts_with(" "))) {
      std::istringstream words(line);
      std::string index, name, time;
      words >> index >> name >> time;
      rows.push_back(index + "/" + time);
    }
    return rows;
  }

  static std::string next_of(const std::string& out) {
    const auto at = out.find("  next: ");
    return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
  }

  Sandbox sandbox_;
};

TEST_F(FinalsOfTune, WhoHasLostLeavesAndTheOthersGoOn) {
  write_program("{T: [1, 2, 3]}", "say $T");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(rows(result.out), (Words{"0/1.000000", "1/2.000000", "2/3.000000"}));
  EXPECT_EQ(runs_of("3"), 6) << "the sweep's, and the five rounds that show that it is far behind";
  EXPECT_TRUE(result.out.starts_with("DECIDED: T=1 (spec 0), 1.000 ms +-0 %, the fastest of 3 specs\n")) << result.out;
}

TEST_F(FinalsOfTune, AShownTieGoesToTheDefault) {
  write_program("{T: [1, 2, 3]}", "say 1", "default: {T: 3}\n");
  const Result result = tune();
  EXPECT_TRUE(has(result.out, "top_spec_idx: 2\n"));
  EXPECT_TRUE(has(result.out, "tie: as fast as the winner to 0.3 %, beyond doubt\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "  tie: yes\n"));
}

TEST_F(FinalsOfTune, ASpecThatAlwaysFailsThereKeepsItsTimeOfTheSweep) {
  write_program("{T: [1, 2, 3]}", "[ $T = 1 ] && [ $n -gt 1 ] && exit 3\nsay $T");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(rows(result.out), (Words{"1/2.000000", "0/1.000000", "2/3.000000"}));
  EXPECT_EQ(runs_of("1"), 3) << "in the sweep, in the finals, and once more";
  EXPECT_TRUE(has(result.out, "  failed in the finals\n"));
  EXPECT_TRUE(has(result.out, "note: spec 0 failed in the finals and keeps its time of the sweep: the program ended"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "\n0,bench,ok,1,1,1,"));
  EXPECT_EQ(outcome_text(sandbox_.trials("out.jsonl").at(0).trial), "measured");
  const Result again = tune();
  EXPECT_EQ(rows(again.out), rows(result.out));
  EXPECT_EQ(runs_of("1"), 3) << "what is recorded is not held again";
}

TEST_F(FinalsOfTune, ASpecThatFailsThereOnceIsTriedAgainAndMayWin) {
  write_program("{T: [1, 2]}", "[ $T = 1 ] && [ $n = 5 ] && exit 3\nsay $T");
  const Result result = tune();
  EXPECT_EQ(rows(result.out), (Words{"0/1.000000", "1/2.000000"}));
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << result.out;
}

TEST_F(FinalsOfTune, AProgramThatHangsThereOnceIsTriedAgain) {
  write_program("{T: [1, 2]}", "[ $T = 1 ] && [ $n = 2 ] && sleep 60\nsay $T");
  const Result result = tune({"--timeout-run", "2"});
  EXPECT_EQ(rows(result.out), (Words{"0/1.000000", "1/2.000000"}));
}

TEST_F(FinalsOfTune, IfAllFailThereIsNoBest) {
  write_program("{T: [1, 2]}", "[ $n -gt 1 ] && exit 3\nsay $T");
  const Result result = tune();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.out.starts_with(
      "UNDECIDED: there is no winner: all specs failed in the finals, though the sweep could time them: "));
  EXPECT_EQ(result.out.find("top_spec_idx"), std::string::npos) << result.out;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "out.yaml"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "\n0,bench,ok,1,1,1,")) << "what the sweep measured";
  const long runs = runs_of("1");
  tune();
  EXPECT_GT(runs_of("1"), runs) << "the same command holds them again";
}

TEST_F(FinalsOfTune, WithoutThemTheSweepDecides) {
  write_program("{T: [2, 1]}", "say $T", "baseline: {T: 2}\n");
  const Result result = tune({"--no-finals"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(rows(result.out), (Words{"1/1.000000", "0/2.000000"}));
  EXPECT_EQ(runs_of("1"), 1);
  EXPECT_EQ(runs_of("2"), 1);
  EXPECT_TRUE(has(result.out, "note: no baseline was timed, because --no-finals leaves the finals out\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "time_ms: 1\n"));
}

TEST_F(FinalsOfTune, ABudgetThatIsTooSmallForARoundLeavesThemOut) {
  write_program("{T: [2, 1]}", "sleep 0.1\nsay $T");
  const Result result = tune({"--finals-budget", "0.05"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(runs_of("1"), 1);
  EXPECT_TRUE(has(result.out, "note: there were no finals: the "));
}

TEST_F(FinalsOfTune, ABudgetThatEndsThemEarlyIsSaid) {
  write_program("{T: [1, 2]}", "[ $n = 2 ] && sleep 3\nsay $T");
  const Result result = tune({"--finals-budget", "2", "--timeout-run", "20"});
  EXPECT_EQ(rows(result.out), (Words{"0/1.000000", "1/2.000000"}));
  EXPECT_EQ(runs_of("1"), 2) << "everybody has the first round";
  EXPECT_EQ(runs_of("2"), 2);
  EXPECT_TRUE(
      result.out.starts_with("UNDECIDED: T=1 (spec 0), 1.000 ms; it takes 9 rounds to tell it from others, and there "
                             "was time for 1\n  1 round of finals\n  "
                             "may be faster: T=2 (spec 1)\n"))
      << result.out;
  EXPECT_TRUE(has(result.out, "the same command with --finals-budget "));
  const Result replayed = tune({"--finals-budget", "2", "--timeout-run", "20"});
  EXPECT_TRUE(has(replayed.out, "UNDECIDED: T=1 (spec 0), 1.000 ms; "));
  EXPECT_EQ(next_of(replayed.out), next_of(result.out)) << "the journal knows how long they took";
  EXPECT_EQ(runs_of("1"), 2) << "the same command starts nothing";
  const Result longer = tune({"--finals-budget", "60", "--timeout-run", "20"});
  EXPECT_TRUE(longer.out.starts_with("DECIDED: ")) << longer.out;
  EXPECT_GT(runs_of("1"), 2);
}

TEST_F(FinalsOfTune, TheTimeBudgetThatEndsThemIsSaidWithOneThatSuffices) {
  write_program("{T: [1, 2]}", "sleep 0.2\nsay $T");
  const std::string next = next_of(tune({"--time-budget", "1"}).out);
  const std::string head = "with --time-budget ",
                    tail = "s holds longer finals: --time-budget 1s leaves these no more ";
  const auto begin = next.find(head), end = next.find(tail);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << next;
  const std::string seconds = next.substr(begin + head.size(), end - begin - head.size());
  const Result longer = tune({"--time-budget", seconds});
  EXPECT_TRUE(longer.out.starts_with("DECIDED: ")) << longer.out;
}

TEST_F(FinalsOfTune, WhoDoesNotFitIntoABudgetIsLeftOut) {
  write_program("{T: [1, 2, 3]}", "[ $T = 3 ] && sleep 4\nsay $T");
  const Result result = tune({"--finals-budget", "3"});
  EXPECT_TRUE(has(result.out, "note: the finals have 2 of 3 contenders: the time left is enough for no more\n"));
  EXPECT_EQ(runs_of("3"), 1);
  EXPECT_EQ(runs_of("2"), 6);
  EXPECT_TRUE(has(tune({"--finals-budget", "3"}).out, "note: the finals have 2 of 3 contenders: "));
  EXPECT_EQ(runs_of("2"), 6) << "the same command starts nothing";
}

TEST_F(FinalsOfTune, WhereTimeIsShortWhoIsMuchSlowerTakesNone) {
  write_program("{T: [1, 3]}", "[ $T = 3 ] && sleep 1\nsay $T");
  const Result result = tune({"--finals-budget", "3"});
  EXPECT_TRUE(result.out.starts_with("DECIDED: T=1 (spec 0), 1.000 ms")) << result.out;
  EXPECT_EQ(runs_of("3"), 1);
  EXPECT_EQ(rows(tune({"--finals-budget", "3"}).out), rows(result.out));
}

// As where another program has taken a core since the sweep.
TEST_F(FinalsOfTune, ThatASpecIsFasterThanAllOfThemHaveBecomeIsSaid) {
  write_program("{T: [1, 2, 3, 4, 5, 6]}", "if [ $T = 6 ]; then say 2; elif [ $n = 1 ]; then say 1; else say 10; fi");
  const std::string note =
      "note: spec 5 was not in the finals, and may be faster than the best: it took 2 ms in the sweep; --fresh "
      "measures "
      "all specs again\n";
  for (const char* time : {"first", "again, from the journal"}) EXPECT_TRUE(has(tune().out, note)) << time;
}

TEST_F(FinalsOfTune, ATimeBudgetHoldsForThemToo) {
  write_program("{T: [1, 2]}", "sleep 1\nsay $T");
  const Result result = tune({"--time-budget", "3"});
  EXPECT_LE(runs_of("1") + runs_of("2"), 6) << result.out;
}

TEST_F(FinalsOfTune, TheSweepBeginsNothingThatWouldEndInTheirShareOfATimeBudget) {
  write_program("{T: [1, 2, 3, 4, 5, 6]}", "sleep 1\nsay $T");
  const Result result = tune({"--time-budget", "4"});
  int tried = 0;
  for (const char* file : {"runs-1", "runs-2", "runs-3", "runs-4", "runs-5", "runs-6"})
    tried += std::filesystem::exists(sandbox_.folder() / file) ? 1 : 0;
  EXPECT_LE(tried, 2) << result.out;
}

TEST_F(FinalsOfTune, WhatTheyCannotTellApartIsNoTieButSaid) {
  write_program("{T: [1, 2]}", "say 1.$((n * (T + 1) * 7919 % 97 + 10))");
  const Result result = tune({"--finals-budget", "30"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out.substr(0, result.out.find('\n')), "; others may be up to ")) << result.out;
  EXPECT_TRUE(has(result.out, "\n  101 rounds of finals\n  may be faster: T="));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "\n  verdict:\n    decision: undecided\n    why: 'others may be up to "));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "  tie: no\n"));
  const Words table = rows(result.out);
  EXPECT_LE(table.at(0).substr(2), table.at(1).substr(2));
}

TEST_F(FinalsOfTune, NoiseIsSaidAndMayBeAnError) {
  write_program("{T: [1, 9]}", "say $T.$((n % 2 * 5))");
  const Result result = tune();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("DECIDED: T=1")) << result.out;
  EXPECT_TRUE(has(result.out, "\n  noise: "));
  std::filesystem::remove(sandbox_.folder() / "out.yaml");
  const Result strict = tune({"--noise", "2%"});
  EXPECT_EQ(strict.code, 5);
  EXPECT_TRUE(strict.out.starts_with("UNDECIDED: T=1")) << strict.out;
  EXPECT_TRUE(has(strict.out, "; its time was to be known to +-2 %\n"));
  EXPECT_EQ(tune({"--noise", "2%", "--exit-undecided", "0"}).code, 0);
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "params:\n  T: 1\n")) << "nothing else is lost";
  EXPECT_EQ(tune({"--noise", "30%"}).code, 0);
}

TEST_F(FinalsOfTune, OptionsThatWouldDoNothingAreErrors) {
  write_program("{T: [1, 2]}", "say $T");
  const Result noise = sandbox_.tune({"bench.yaml", "--noise", "2%"});
  EXPECT_EQ(noise.code, 2);
  EXPECT_TRUE(has(noise.err, "--noise says how sure the best is to be; it goes with --tune"));
  const Result budget = tune({"--no-finals", "--finals-budget", "10s"});
  EXPECT_EQ(budget.code, 2);
  EXPECT_TRUE(has(budget.err, "--no-finals leaves nothing for --finals-budget"));
  EXPECT_EQ(tune({"--finals-budget", "soon"}).code, 2);
  EXPECT_EQ(tune({"--noise", "much"}).code, 2);
  EXPECT_EQ(tune({"--state", "hot"}).code, 2);
}

TEST_F(FinalsOfTune, HowSureASingleRunIsIsNotKnown) {
  write_program("{T: [1, 2]}", "say $T");
  EXPECT_EQ(tune({"--noise", "2%"}).code, 0);
  const Result result = tune({"--noise", "2%", "--no-finals"});
  EXPECT_EQ(result.code, 5);
  EXPECT_TRUE(result.out.starts_with("UNDECIDED: T=1 (spec 0), 1.000 ms; no finals were held: --no-finals\n"));
  EXPECT_TRUE(has(result.out, "  next: the same command without --no-finals times the best in turns\n"));
}

TEST_F(FinalsOfTune, SpecsOfTheSameCodeAreOneMeasurement) {
  sandbox_.write_gemm("default: {BM: 4, UNUSED: 2}\n");
  std::string yaml = sandbox_.read("gemm.yaml");
  yaml.replace(yaml.find("BM: [1, 2, 4, 8]"), 16, "BM: [4]\n  UNUSED: [1, 2, 3]\n  $R: [5, 6]");
  yaml.replace(yaml.find("default: {"), 10, "default: {R: 6, ");
  yaml.replace(yaml.find("max_seconds"), 0, "cutoff: 0, ");  // one that is stopped early represents no others
  sandbox_.write("gemm.yaml", yaml);
  const Result result = sandbox_.tune({"gemm.yaml", "--tune", "--output", "out"});
  EXPECT_TRUE(has(result.out, "  same code as 3")) << "the default";
  EXPECT_TRUE(
      has(result.out, "note: UNUSED does not change the code: specs that differ only in it share one measurement\n"));
  EXPECT_TRUE(has(result.out, "  same code as 0")) << "a value at run time may change what the code does";
  EXPECT_EQ(result.out.find("BM does not"), std::string::npos);
  const Result listed = sandbox_.tune({"gemm.yaml", "--output", "out"});
  EXPECT_EQ(listed.out.find("same code"), std::string::npos) << "without --tune each is listed for itself";
}

TEST_F(FinalsOfTune, TableFilesProgressAndReplayAgreeOnTheBest) {
  // The sweep's best is the second best of the finals.
  write_program("{T: [1, 2, 3]}", "[ $T = 1 ] && [ $n -gt 1 ] && T=5\nsay $T", "default: {T: 3}\nbaseline: {T: 2}\n");
  const Result result = tune();
  EXPECT_TRUE(has(result.out, "top_spec_idx: 1\n"));
  EXPECT_TRUE(has(result.err, "3/3 | best 2.000 ms (1) T=2\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "params:\n  T: 2\n"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), ",stage,cause,reason,place,finals (ms)\n"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "\n1,bench,ok,2,2,2,2,2,,,1,yes,0,,,,1,2\n"));
  const std::string blocks = result.out.substr(0, result.out.find("Elapsed"));
  const Result replayed = sandbox_.tune({"bench.yaml", "--tune", "--simulate", "out.jsonl"});
  EXPECT_EQ(replayed.out.substr(0, replayed.out.find("Elapsed")), blocks);
  const Result of_the_recording = sandbox_.tune({"--tune", "--simulate", "out.jsonl"});
  EXPECT_TRUE(has(of_the_recording.out, "params:\n  T: 2\n"));
  ASSERT_EQ(sandbox_.tune({"convert", "out.jsonl", "converted.jsonl"}).code, 0);
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--tune", "--simulate", "converted.jsonl"}).out, "top_spec_idx: 1\n"));
  const Result narrowed = sandbox_.tune({"bench.yaml", "--tune", "--simulate", "out.jsonl", "--filter", "T=1"});
  EXPECT_TRUE(has(
      narrowed.out,
      "note: the recorded finals are ignored: one of their contenders is not among the specs of this simulation\n"));
}

TEST_F(FinalsOfTune, ThoseThatWereInterruptedDecideByTheRoundsUntilThenAndAreHeldAgain) {
  // The sweep's best is the second best of the finals, whose seventh round never ends.
  write_program("{T: [1, 2]}",
                "[ $T = 2 ] && [ $n = 8 ] && touch reached && sleep 60\n[ $T = 1 ] && [ $n -gt 1 ] && "
                "T=2.1\nsay $T");
  Background run(sandbox_, {"bench.yaml", "--tune", "--output", "out", "--t4", "t4.json"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(sandbox_.folder() / "reached") || run.ended(); }));
  run.signal(SIGINT);
  const Result interrupted = run.wait();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_EQ(rows(interrupted.out).front(), "1/2.000000") << interrupted.out;
  EXPECT_TRUE(interrupted.out.starts_with("UNDECIDED: T=2 (spec 1), 2.000 ms +-0 %; the finals were interrupted\n"))
      << interrupted.out;
  EXPECT_TRUE(has(interrupted.out, "\n  6 rounds of finals\n"));
  EXPECT_TRUE(has(interrupted.out, "\n  next: the same command holds the finals anew, and repeats nothing else\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "params:\n  T: 2\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "\n  finals: interrupted\n"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "\n1,bench,ok,2,2,2,2,2,,,1,yes,0,,,,1,2,interrupted\n"));
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "t4.json"));
  EXPECT_EQ(sandbox_.read("out.jsonl").find("\"record\":\"finals\""), std::string::npos);
  EXPECT_EQ(sandbox_.tune({"--simulate", "out.csv", "--tune"}).code, 0) << "the CSV file can be read";

  const long before = runs_of("1");
  const Result continued = tune();
  EXPECT_EQ(continued.code, 0) << continued.err;
  EXPECT_TRUE(has(continued.out, "top_spec_idx: 1\n"));
  EXPECT_EQ(continued.out.find("interrupted"), std::string::npos) << continued.out;
  EXPECT_GE(runs_of("1"), before + 5) << "from the first round on";
  EXPECT_EQ(sandbox_.read("out.yaml").find("interrupted"), std::string::npos);
}

TEST_F(FinalsOfTune, ThoseOfAnOlderJournalAreHeldAgain) {
  write_program("{T: [1, 2]}", "say $T");
  tune();
  const long before = runs_of("1");
  std::string journal = sandbox_.read("out.jsonl");
  const auto at = journal.find("\"rounds\":[[");
  ASSERT_NE(at, std::string::npos);
  for (auto from = at; (from = journal.find("\"rounds\":[[", from)) != std::string::npos;) {
    const auto end = journal.find("]]", from);
    journal.replace(from, end + 2 - from, "\"rounds\":[0.001,0.001]");
  }
  sandbox_.write("out.jsonl", journal);
  const Result result = tune();
  EXPECT_EQ(rows(result.out), (Words{"0/1.000000", "1/2.000000"}));
  EXPECT_GT(runs_of("1"), before);
}

}  // namespace
}  // namespace tune::cli::cli_finals_test
