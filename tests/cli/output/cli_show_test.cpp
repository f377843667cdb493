// What runs have left: earlier runs are shown again, and the build store is looked after.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "platform/files/file.h"
#include "platform/store/store_care.h"
#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_show_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Show : public testing::Test {
 protected:
  Result tune(const Words& words) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  std::string out(const Words& words) const { return tune(words).out; }
  void expect_refusal(const Words& words, const std::string& text) const {
    EXPECT_TRUE(has(refusal(sandbox_, words), text));
  }
  static std::string line_with(const std::string& text, const std::string& part) {
    const std::size_t at = text.find(part);
    if (at == std::string::npos) return "no line with " + part;
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  }

  Sandbox sandbox_;
};

const char* const kParams = "{T: [4, 1, 2], SAYS: [fine, dies], FLAG: [true, false]}";

TEST_F(Show, ARunIsShownAsItWasPrinted) {
  sandbox_.write_script(kParams,
                        "constraints: [\"not (T == 4 and FLAG)\"]\ndefault: {T: 2, SAYS: fine, FLAG: false}\n"
                        "metrics: {\"1/s\": {expr: 1/time, maximize: true}}\n");
  const std::string printed = out({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(printed, "x default"));
  EXPECT_TRUE(has(printed, "FLAG=false"));
  EXPECT_TRUE(has(printed, "tune --yaml bench.yaml --spec "));
  const auto before = sandbox_.files();
  fs::remove(sandbox_.folder() / "bench.yaml");
  for (const char* run : {"best", "best.jsonl", "best.yaml"}) EXPECT_EQ(out({"show", run}), printed) << run;
  EXPECT_EQ(sandbox_.files().size() + 1, before.size()) << "nothing is written";
}

TEST_F(Show, ARunOfAnotherObjectiveOrWithoutTuningIsShownAsItWasPrinted) {
  sandbox_.write_script(kParams, "metrics: {slow: {expr: time*1000, maximize: true}}\nobjective: slow\n");
  const std::string tuned = out({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(out({"show", "best"}), tuned);
  EXPECT_TRUE(has(tuned, "params:\n  T: 4\n"));
  EXPECT_TRUE(has(out({"--simulate", "best.jsonl", "--tune"}), "params:\n  T: 4\n"));
  const std::string listed = out({"bench.yaml", "--output", "all"});
  EXPECT_EQ(out({"show", "all"}), listed);
}

TEST_F(Show, ACommandIsShownWithItsLine) {
  const std::string printed =
      out({"--tune", "--param", "T:[0,0.01]", "--no-finals", "--output", "best", "--", "sleep", "{T}"});
  EXPECT_TRUE(has(printed, "command: sleep 0"));
  EXPECT_EQ(out({"show", "best"}), printed);
}

TEST_F(Show, AKernelIsShownWithItsArithmetic) {
  sandbox_.write_gemm();
  const std::string printed = out({"gemm.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(printed, "Arithmetic (GFLOPS/s)"));
  EXPECT_EQ(out({"show", "best"}), printed);
}

TEST_F(Show, EveryRunOfAJournalCanBeShown) {
  sandbox_.write_script("{T: [1, 2]}");
  const std::string first = out({"bench.yaml", "--tune", "--output", "best"});
  const std::string second = out({"bench.yaml", "--param", "T:[3]", "--output", "best"});
  const std::string third = out({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(third, "from the journal"));
  const Result last = tune({"show", "best"});
  EXPECT_EQ(last.out, third);
  EXPECT_TRUE(has(last.err, "note: this is run 3 of 3 in best.jsonl, of 20"));
  EXPECT_EQ(out({"show", "best", "--run", "1"}), first);
  EXPECT_TRUE(has(sandbox_.tune({"show", "best", "--run", "1"}).err, "note: this is run 1 of 3 in best.jsonl, of 20"));
  EXPECT_EQ(out({"show", "best", "--run", "2"}), second);
  expect_refusal({"show", "best", "--run", "4"}, "tune: error: there is no run 4: the journal holds 3\n");
  expect_refusal({"show", "best.csv", "--run", "1"}, "tune: error: best.csv is no journal, and holds one run");
}

TEST_F(Show, ARunOfAListOfShapesIsShownWithItsShape) {
  sandbox_.write_gemm();
  sandbox_.write("shapes.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32, N: 16, K: 16}\n");
  out({"gemm.yaml", "--shapes", "shapes.yaml", "--tune", "--no-finals", "--output", "best"});
  EXPECT_TRUE(has(tune({"show", "best.jsonl", "--run", "1"}).err,
                  "note: this is run 1 of 2 in best.jsonl, for M=16 N=16 K=16, of 20"));
  EXPECT_TRUE(has(tune({"show", "best.jsonl"}).err, "run 2 of 2 in best.jsonl, for M=32 N=16 K=16, of 20"));
  for (const char* run : {"best-M16-N16-K16", "best-M16-N16-K16.yaml"})
    EXPECT_TRUE(has(tune({"show", run}).err, "this is run 1 of 2 in best.jsonl")) << run;
  expect_refusal(
      {"show", "best-M8-N8-K8"},
      "tune: error: best.jsonl holds no run for M8-N8-K8; this shows one of its 2: tune show best.jsonl --run N\n");
}

TEST_F(Show, ASimulationHasTheWinnerAndTheIndicesOfTheLastTuning) {
  sandbox_.write_script("{T: [3, 2], A: [1, 2]}");
  out({"bench.yaml", "--output", "best"});
  const std::string tuned = out({"bench.yaml", "--param", "T:[5,4]", "--tune", "--output", "best"});
  out({"bench.yaml", "--param", "T:[1]", "--spec", "0", "--output", "best"});
  const std::string simulated = out({"--simulate", "best.jsonl", "--tune"});
  const std::string table = tuned.substr(tuned.find(" mesh_idx"), tuned.find("Elapsed") - tuned.find(" mesh_idx"));
  EXPECT_TRUE(has(simulated, table));
  EXPECT_TRUE(has(simulated, "4 of the 4 specs"));
}

TEST_F(Show, PartsOfARunAreSimulatedTogether) {
  sandbox_.write_script("{T: [1, 2]}");
  out({"bench.yaml", "--partition", "0:2", "--tune", "--no-finals", "--output", "all"});
  out({"bench.yaml", "--partition", "1:2", "--tune", "--no-finals", "--output", "all"});
  EXPECT_TRUE(has(out({"--simulate", "all.jsonl", "--tune"}), "2 of the 2 specs"));
}

TEST_F(Show, TheTableCanBeSortedAndHasTheColumnsThatAreNamed) {
  sandbox_.write_script("{T: [4, 1, 2], A: [x, y]}");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string listed = out({"show", "best", "--columns", "A,T,met", "--sort", "T:desc", "--top", "3"});
  EXPECT_EQ(listed,
            " A  T  met (ms)\n x  4     4.000\n y  4     4.000\n x  2     2.000\n(3 more: the same command with --top "
            "all)\n");
  const std::string sorted = out({"show", "best", "--sort", "mesh_idx"});
  EXPECT_TRUE(has(sorted, "\n        0 bench/T=4/A=x "));
  EXPECT_LT(sorted.find("T=4/A=y"), sorted.find("T=1/A=x"));
  expect_refusal({"show", "best", "--sort", "mett"}, "tune: error: --sort: there is no column 'mett', did you mean");
  expect_refusal({"show", "best", "--columns", "T,regs"},
                 "tune: error: --columns: there is no column 'regs'; there are mesh_idx, name, met, iters");
  EXPECT_EQ(count(out({"show", "best", "--top", "1"}), "bench/T"), 1U);
}

TEST_F(Show, FailedSpecsAreListedOneByOne) {
  sandbox_.write_script("{T: [1], SAYS: [fine, dies, zero]}");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string failed = out({"show", "best", "--failed"});
  EXPECT_TRUE(has(failed, "failed: 2 of 3\n      1  SAYS=dies  measure, reported: "));
  EXPECT_TRUE(has(failed, "\n      2  SAYS=zero  measure, "));
  EXPECT_TRUE(has(out({"show", "best", "--failed", "--top", "1"}), "(1 more: the same command with --top all)\n"));
}

TEST_F(Show, ARunWhereEverythingFailedIsShown) {
  sandbox_.write_script("{T: [1, 2], SAYS: [dies]}");
  const Result run = sandbox_.tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(out({"show", "best"}), run.out);
  EXPECT_TRUE(has(out({"show", "best", "--failed"}), "failed: 2 of 2\n"));
  EXPECT_EQ(out({"show", "best", "--sort", "met"}), "no spec has a result\n");
  for (const char* section : {"--effects", "--chart", "--changes"}) {
    const Result result = sandbox_.tune({"show", "best", section});
    EXPECT_EQ(result.code, 1) << section;
    EXPECT_TRUE(has(result.err, "no spec of this run has a result that could be compared"));
  }
}

TEST_F(Show, FinalsThatNoSpecCameThroughAreShownWithoutAWinner) {
  sandbox_.write("once.sh", "mkdir $1 && echo '{\"time\": 1}'\n");
  const Words command = {"--tune", "--param", "T:[1,2]", "--output", "best", "--", "sh", "once.sh", "{T}"};
  const Result run = sandbox_.tune(command);
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_TRUE(has(run.out, "there is no winner: all specs failed in the finals")) << run.out;
  EXPECT_EQ(out({"show", "best"}), run.out);
  const Result simulated = sandbox_.tune({"--simulate", "best.jsonl", "--tune"});
  EXPECT_EQ(simulated.code, 1) << simulated.err;
  EXPECT_TRUE(has(simulated.out, "there is no winner: all specs failed in the finals")) << simulated.out;
}

TEST_F(Show, EffectsTellWhatEachParameterExplains) {
  sandbox_.write_script("{T: [1, 2, 4, 8], A: [x, y], SAYS: [fine, dies]}");
  out({"bench.yaml", "--output", "all"});
  const std::string effects = out({"show", "all", "--effects"});
  EXPECT_TRUE(has(effects, "How much of the variance of met (ms) a parameter explains alone, over 8 specs:\n"));
  EXPECT_TRUE(has(line_with(effects, "  T "), "100 %  (by chance 43 %)  ########################################"));
  EXPECT_TRUE(has(line_with(effects, "  A "), "  0 %  (by chance 14 %)"));
  EXPECT_LT(effects.find("  T "), effects.find("  A "));
  EXPECT_TRUE(has(effects,
                  "  T  specs  failed  best met (ms)  median  top 5 %\n"
                  "  1      2       2          1.000   1.000    100 %\n"
                  "  2      2       2          2.000   2.000      0 %\n"));
  EXPECT_TRUE(has(effects,
                  "\n  SAYS  specs  failed  best met (ms)  median  top 5 %\n"
                  "  fine      8       0          1.000   3.000    100 %\n"
                  "  dies      0       8              -       -      0 %\n"));
}

TEST_F(Show, TheChartHasABarForEachSpec) {
  sandbox_.write_script("{T: [1, 2, 4]}");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string chart = out({"show", "best", "--chart"});
  const auto bar = [&](const std::string& name) { return count(line_with(chart, name), "#"); };
  EXPECT_EQ(bar("T=4"), 40U) << chart;
  EXPECT_EQ(bar("T=2"), 20U) << chart;
  EXPECT_TRUE(has(out({"show", "best", "--chart", "--top", "2"}), "(1 more: the same command with --top all)\n"));
}

TEST_F(Show, ChangesTellWhoWouldHaveWonOtherwise) {
  sandbox_.write_script("{T: [4, 1, 2], A: [x, y]}", "default: {T: 2}\n");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string changes = out({"show", "best", "--changes"});
  EXPECT_TRUE(has(changes, "What would change the winner, 2 (T=1/A=x):\n"));
  EXPECT_TRUE(has(changes, "  Without the finals, it would have won, too.\n"));
  EXPECT_TRUE(has(changes, "  It is tied with 3: they are as fast.\n"));
  EXPECT_TRUE(has(changes,
                  "  without  mesh_idx  met (ms)  times as bad  the best would be\n"
                  "      T=1         4     2.000         2.000            T=2/A=x\n"
                  "      A=x         3     1.000         1.000            T=1/A=y\n"));
}

TEST_F(Show, ACsvFileHasThePlacesAndTheTimesOfTheFinals) {
  sandbox_.write("run.csv",
                 "mesh_idx,name,status,T,met (ms),min (ms),mean (ms),p95 (ms),ci_low (ms),ci_high (ms),iters,checked,"
                 "max_error,stage,cause,reason,place,finals (ms)\n"
                 "3,bench,ok,1,5,5,5,5,5,5,7,yes,0,,,,2,5.5\n"
                 "8,bench,ok,2,6,6,6,6,6,6,7,yes,0,,,,1,5.25\n"
                 "9,bench,ok,4,7,7,7,7,7,7,7,yes,0,,,,3,\n");
  const std::string shown = out({"show", "run.csv"});
  EXPECT_TRUE(has(shown,
                  "        8 bench/T=2  5.250000      -     -\n        3 bench/T=1  5.500000      -     -\n"
                  "        9 bench/T=4  7.000000      7  0.00\n"));
  EXPECT_TRUE(has(shown, "finals: 2 rows were timed in turns"));
  EXPECT_TRUE(has(shown, "top_spec_idx: 8\n"));
}

TEST_F(Show, ARunOfAnOlderVersionIsPutTogetherFromItsTrials) {
  const fs::path recorded = fs::path(TUNE_SOURCE_DIR) / "configs/recorded/gemm_mma_h200.jsonl";
  const Result result = tune({"show", recorded.string(), "--top", "3"});
  EXPECT_TRUE(has(result.out, "Tuning [gemm_mma] from ["));
  EXPECT_TRUE(has(result.out, "top_spec_idx: "));
  EXPECT_TRUE(has(result.err, "does not have what the run printed, because it goes on, was killed, or is of an older"));
  EXPECT_TRUE(has(out({"show", recorded.string(), "--effects"}), "How much of the variance of met (ms)"));
}

TEST_F(Show, WhatAKilledRunHasMeasuredIsShown) {
  sandbox_.write_script("{T: [1, 2, 4]}");
  out({"bench.yaml", "--tune", "--output", "best"});
  std::string journal = sandbox_.read("best.jsonl");
  sandbox_.write("torn.jsonl", journal.substr(0, journal.find("\"record\":\"results\"")));
  const Result result = tune({"show", "torn"});
  EXPECT_TRUE(has(result.out, "Number of valid specs: 3\n"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  EXPECT_TRUE(has(result.err, "note: torn.jsonl does not have what the run printed"));
}

TEST_F(Show, ADamagedRecordOfTheResultsIsLeftOut) {
  sandbox_.write_script("{T: [1, 2]}");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string journal = sandbox_.read("best.jsonl");
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = journal;
    const std::size_t at = text.find(from, text.rfind("\n{") + 1);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    sandbox_.write("damaged.jsonl", text);
    const Result result = tune({"show", "damaged"});
    EXPECT_TRUE(has(result.err, "this line is not a valid record and is ignored: ")) << to;
    EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  };
  damaged("\"objectives\":[\"time\"]", "\"objectives\":[]");
  damaged("\"values\":[1,2]", "\"values\":[]");
  damaged("\"values\":[1,2]", "\"values\":[2,1]");
  damaged("\"elapsed_seconds\":", "\"elapsed_seconds\":-");
  EXPECT_EQ(tune({"bench.yaml", "--tune", "--output", "damaged"}).code, 0) << "and the run goes on";
}

TEST_F(Show, WithoutANameTheLastRunIsMeant) {
  sandbox_.write_script("{T: [4, 1, 2]}");
  EXPECT_EQ(out({"show", "--list"}), "no run without --output has left a journal\n");
  EXPECT_TRUE(has(out({"bench.yaml", "--tune"}), "T=1"));
  const std::string journal = out({"show", "--list"});
  EXPECT_EQ(count(journal, "\n"), 2u) << journal;
  EXPECT_TRUE(has(journal, "state/tune/bench-"));
  EXPECT_TRUE(has(journal, ".jsonl\n    tune bench.yaml --tune")) << journal;
  EXPECT_TRUE(has(out({"cache", "info"}), "\njournals of runs without --output: 1, "));
  const std::string of_prefix = out({"bench.yaml", "--tune", "--param", "T:[2,8]", "--output", "there/best"});
  const Result shown = tune({"show"});
  EXPECT_EQ(shown.out, of_prefix) << "the last run had an --output";
  EXPECT_TRUE(has(shown.err, "note: the last run: " + (sandbox_.folder() / "there/best.jsonl").string() + "\n"));
  EXPECT_EQ(out({"report"}), "best.html: 1 run\n");
  EXPECT_EQ(out({"show", "--list"}), journal) << "and is not listed";
  fs::remove(sandbox_.folder() / "there/best.jsonl");
  EXPECT_TRUE(has(out({"show"}), "top_spec_idx: 1\n")) << "the one before it";
}

TEST_F(Show, WhatIsNoRunIsRefused) {
  expect_refusal({"show", "none"},
                 "tune: error: there is no run none: neither this file nor none.jsonl is there; give");
  sandbox_.write("empty.jsonl", "");
  expect_refusal({"show", "empty"}, "tune: error: empty.jsonl: the recording is empty");
  sandbox_.write("text.jsonl", "hello\n");
  expect_refusal({"show", "text.jsonl"}, "tune: error: text.jsonl:1: ");
  sandbox_.write_script("{T: [1]}");
  expect_refusal({"show", "bench.yaml"}, "bench.yaml is no run, and there is no journal bench.jsonl of it");
  expect_refusal({"show"}, "tune: error: there is no earlier run to show; give the journal, PREFIX or CSV file of one");
  expect_refusal({"show", "none", "--run", "0"}, "--run");
  out({"bench.yaml", "--tune", "--output", "best"});
  const std::string journal = sandbox_.read("best.jsonl");
  sandbox_.write("begun.jsonl", journal.substr(0, journal.find('\n') + 1));
  expect_refusal({"show", "begun"}, "tune: error: begun.jsonl: the recording holds no trial");
}

TEST_F(Show, ValuesThatAreWrittenTheSameAreAllThere) {
  sandbox_.write_script("{T: [1, '1', 2]}");
  out({"bench.yaml", "--output", "all"});
  const Result shown = tune({"show", "all"});
  EXPECT_FALSE(has(shown.err, "not a valid record")) << shown.err;
  for (const char* row : {"        0 bench/T=1 ", "        1 bench/T=1 ", "        2 bench/T=2 "})
    EXPECT_TRUE(has(shown.out, row));
}

class Cache : public Show {
 protected:
  void build(const Words& more = {}) const {
    Words words = {"gemm.yaml", "--build-only"};
    words.insert(words.end(), more.begin(), more.end());
    tune(words);
  }
  std::vector<fs::path> entries(const std::string& store = "cache/tune/store") const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(sandbox_.folder() / store)) all.push_back(entry.path());
    return all;
  }
  /// As if it had been used so many hours ago.
  static void set_age(const fs::path& entry, int hours) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
};

TEST_F(Cache, TellsWhatTheStoreHolds) {
  EXPECT_TRUE(has(out({"cache", "info"}), "cache/tune/store, which is not there yet\n"));
  EXPECT_TRUE(sandbox_.files().empty()) << "nothing is made";
  sandbox_.write_gemm();
  build();
  const std::string info = out({"cache", "info"});
  EXPECT_TRUE(has(info, "cache/tune/store\nentries: 4\nsize: "));
  EXPECT_TRUE(has(info, " of at most 10.0 GiB\nnot used for longest: since 20"));
  build({"--store", "team", "--spec", "0"});
  const std::string team = out({"cache", "info", "--store", "team"});
  EXPECT_TRUE(has(team, "store: team\nentries: 1\n"));
  EXPECT_FALSE(has(team, "at most"));
}

TEST_F(Cache, IsCleared) {
  sandbox_.write_gemm();
  build();
  EXPECT_TRUE(has(out({"cache", "clear"}), "removed: 4 of 4 entries, "));
  EXPECT_TRUE(entries().empty());
  build();
  EXPECT_EQ(entries().size(), 4U);
}

TEST_F(Cache, FindsWhatIsDamaged) {
  sandbox_.write_gemm();
  build();
  EXPECT_EQ(out({"cache", "verify"}), "verified: 4 entries, 0 damaged\n");
  const fs::path entry = entries().front();
  std::ofstream(entry / "kernel.so", std::ios::app) << "x";
  const Result result = sandbox_.tune({"cache", "verify"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.out, "damaged: "));
  EXPECT_TRUE(has(result.out, entry.filename().string() + "\nverified: 4 entries, 1 damaged\n"));
  EXPECT_TRUE(has(result.err, "it is built again by the next run that needs it"));
  build();
  EXPECT_EQ(out({"cache", "verify"}), "verified: 4 entries, 0 damaged\n");
}

TEST_F(Cache, WhatIsReplacedWhileItIsReadIsNotDamaged) {
  sandbox_.write_gemm();
  build({"--spec", "0"});
  const fs::path entry = entries().front(), other = sandbox_.folder() / "other";
  std::atomic<bool> ended = false;
  int replaced = 0;
  std::thread replacing([&] {
    while (!ended) {  // what cannot be done while a run looks into the store is tried again
      std::error_code copied, renamed;
      fs::copy(entry, other, fs::copy_options::recursive | fs::copy_options::overwrite_existing, copied);
      for (const platform::StoreEntry& each : platform::entries_of(entry.parent_path())) platform::remove_entry(each);
      fs::rename(other, entry, renamed);
      if (!copied && !renamed) ++replaced;
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(has(out({"cache", "verify"}), " 0 damaged\n"));
  ended = true;
  replacing.join();
  EXPECT_GT(replaced, 10);
}

TEST_F(Cache, WhatWasNotUsedForLongestLeavesAStoreThatGrowsTooLarge) {
  sandbox_.write_gemm();
  build({"--spec", "0"});
  const fs::path first = entries().front();
  build({"--spec", "1"});
  ASSERT_EQ(entries().size(), 2U);
  for (const fs::path& entry : entries()) set_age(entry, entry == first ? 3 : 2);
  build({"--spec", "0"});  // is a use
  build({"--spec", "2", "--store-limit", "0.001M"});
  EXPECT_EQ(entries().size(), 2U) << "what was used in the last hour stays";
  EXPECT_TRUE(fs::exists(first));
  for (const fs::path& entry : entries()) set_age(entry, 2);
  build({"--spec", "1", "--store-limit", "1G"});
  EXPECT_EQ(entries().size(), 3U);
}

TEST_F(Cache, AStoreThatOthersCanWriteIsNotLookedInto) {
  sandbox_.write_gemm();
  build({"--spec", "0"});
  for (const char* folder : {"", "cache", "cache/tune"}) fs::permissions(sandbox_.folder() / folder, fs::perms(0755));
  fs::permissions(sandbox_.folder() / "cache/tune/store", fs::perms(0777));
  for (const char* what : {"info", "clear", "verify"}) {
    const Result result = sandbox_.tune({"cache", what});
    EXPECT_EQ(result.code, 4) << what;
    EXPECT_TRUE(has(result.err, "can be written by every user"));
  }
  EXPECT_EQ(entries().size(), 1U);
  expect_refusal({"cache", "empty"}, "empty");
  expect_refusal({"cache"}, "WHAT is required");
}

TEST_F(Cache, WhatOthersPutIntoASharedStoreStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  sandbox_.write_gemm();
  build({"--store", "team", "--spec", "0"});
  ASSERT_EQ(::chown(entries("team").front().c_str(), 12345, 12345), 0);
  build({"--store", "team", "--spec", "1"});
  const Result result = tune({"cache", "clear", "--store", "team"});
  EXPECT_TRUE(has(result.out, "removed: 1 of 2 entries, "));
  EXPECT_TRUE(has(result.err, "note: what belongs to other users, or cannot be removed, stays"));
  EXPECT_EQ(entries("team").size(), 1U);
}

}  // namespace
}  // namespace tune::cli::cli_show_test
