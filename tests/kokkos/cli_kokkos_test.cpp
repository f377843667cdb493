// Applications that tune themselves through libtune_kokkos.so, and the commands about their results. The applications
// compute their costs, so that each run takes the same path; those of real times are only asked whether their results
// are right.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "platform/process/process.h"
#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"
#include "tune/kokkos_tools.h"

namespace tune::cli::cli_kokkos_test {
namespace {

using Words = std::vector<std::string>;

long count_of(const std::string& text, const std::string& part) {
  long count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

class Kokkos : public testing::Test {
 protected:
  Kokkos() {
    for (const char* name : {"KOKKOS_TOOLS_LIBS", "TUNE_KOKKOS_DB", "TUNE_KOKKOS_STRATEGY", "TUNE_KOKKOS_EVALS"})
      ::unsetenv(name);
  }

  /// Runs the application with the library, and the database `db.yaml`.
  Result run(const Words& words, std::map<std::string, std::string> more = {}) const {
    more.try_emplace("KOKKOS_TOOLS_LIBS", TUNE_KOKKOS_LIBRARY);
    more.try_emplace("TUNE_KOKKOS_DB", "db.yaml");
    return run_plain(TUNE_KOKKOS_APPLICATION, words, more);
  }

  Result run_plain(const char* program, const Words& words,
                   const std::map<std::string, std::string>& environment = {}) const {
    platform::Command command;
    command.argv = {program};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment = environment;
    command.directory = sandbox_.folder();
    const platform::Finished finished = platform::run(command);
    return {finished.exit.signal != 0 ? 128 + finished.exit.signal : finished.exit.code, finished.output,
            finished.captured};
  }

  long turns() const { return count_of(sandbox_.read("db.yaml.turns"), "turn\t"); }

  Sandbox sandbox_;
};

TEST_F(Kokkos, VariablesOfAllKindsAndTypesWithSetsAndRanges) {
  const Result result = run({"categories", "3000"});
  EXPECT_EQ(result.out, "first: list 1 0.0 8\nlast: tree 8 0.3 64\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(Kokkos, TheEndsOfAnOpenRangeAreNoCandidates) {
  EXPECT_EQ(run({"open_range", "100"}).out, "seen: x-x-x-x--\n");  // 0 is the application's own
}

TEST_F(Kokkos, TheSearchUsesTheKindOfAVariable) {
  const std::map<std::string, std::string> few = {{"TUNE_KOKKOS_EVALS", "30"}};
  EXPECT_EQ(run({"line", "1000", "interval"}, few).out, "last: 700\n");  // by halves
  EXPECT_NE(run({"line", "1000", "categorical"}, few).out, "last: 700\n");
}

TEST_F(Kokkos, EveryStrategyCanBeChosen) {
  for (const char* strategy : {"auto", "bayes", "genetic", "annealing", "random:latin=0", "exhaustive"}) {
    const Result result = run({"size", "300"}, {{"TUNE_KOKKOS_STRATEGY", strategy}, {"TUNE_KOKKOS_DB", ""}});
    EXPECT_TRUE(has(result.out, "last: 8")) << strategy << result.err;
  }
  const Result wrong = run({"size", "3"}, {{"TUNE_KOKKOS_STRATEGY", "gentic"}});
  EXPECT_EQ(wrong.code, 0);
  EXPECT_TRUE(
      has(wrong.err, "tune: kokkos: --strategy gentic: there is no strategy 'gentic', did you mean 'genetic'?"));
}

TEST_F(Kokkos, InputsKeyTheResultsAndContextsNest) {
  EXPECT_EQ(run({"nested", "3000"}).out, "first: outer 1, tile 1 and 1\nlast: outer 3, tile 2 and 8\n");
  const std::string database = sandbox_.read("db.yaml");
  EXPECT_TRUE(has(database, "sizes: {size: 100}\n    problem: {tunes: tile, within: outer}"));
  EXPECT_TRUE(has(database, "sizes: {size: 800}\n    problem: {tunes: tile, within: outer}"));
}

TEST_F(Kokkos, NumbersOfContextsAreUsedAgain) { EXPECT_EQ(run({"reused", "600"}).out, "last: 8 and 2\n"); }

TEST_F(Kokkos, AnUnknownSizeBeginsWithTheNearestOne) {
  run({"size", "300", "64"});
  EXPECT_EQ(run({"size", "1", "100"}).out, "first: 8\n");
  EXPECT_TRUE(has(sandbox_.read("db.yaml.turns"), "\ttile, size=100\tsize=64\n"));
  const Result said = run({"size", "1", "90"}, {{"TUNE_KOKKOS_VERBOSE", "1"}});
  EXPECT_EQ(said.err, "tune: region: tile, size=90: tile=8, approximate: decided for size=64\n");
  EXPECT_EQ(run({"size", "1", "1000"}).out, "first: 1\n");  // too far away
}

TEST_F(Kokkos, WithoutAToolOrAnAnswerTheDefaultsStay) {
  EXPECT_EQ(run({"size", "100"}, {{"KOKKOS_TOOLS_LIBS", ""}}).out, "first: 1\nlast: 1\n");
  const Result wrong = run({"wrong"});
  EXPECT_EQ(wrong.out, "changed: 0\n");
  for (const char* part :
       {"variable 'empty': its set of candidates is empty", "variable 'no_step': its range has no values",
        "variable 'unbounded': its candidates are not declared", "variable 'damaged': its declaration cannot be read",
        "input 'not_a_number' is no number", "10000 variables are asked for at once"})
    EXPECT_TRUE(has(wrong.err, part));
}

TEST_F(Kokkos, ALibraryThatIsNoToolIsReported) {
  const Result missing = run({"size", "10"}, {{"KOKKOS_TOOLS_LIBS", "/nowhere/libtune_kokkos.so"}});
  EXPECT_EQ(missing.out, "first: 1\nlast: 1\n");
  EXPECT_TRUE(has(missing.err, "no tuning: /nowhere/libtune_kokkos.so"));
}

TEST_F(Kokkos, TheLibraryHasTheFunctionsOfTheInterfaceAndNoOthers) {
  void* const library = ::dlopen(TUNE_KOKKOS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const char* name :
       {"init_library", "finalize_library", "parse_args", "print_help", "declare_output_type", "declare_input_type",
        "request_values", "begin_context", "end_context", "declare_optimization_goal", "request_tool_settings",
        "provide_tool_programming_interface", "begin_parallel_for", "end_parallel_for", "begin_parallel_reduce",
        "end_parallel_reduce", "begin_parallel_scan", "end_parallel_scan"})
    EXPECT_NE(::dlsym(library, (std::string("kokkosp_") + name).c_str()), nullptr) << name;
  EXPECT_EQ(::dlsym(library, "_ZN4tune7kokkos4ToolC1Ev"), nullptr);
}

TEST_F(Kokkos, TheLayoutIsThatOfTheInterface) {
  EXPECT_EQ(sizeof(tools::VariableInfo), 224U);
  EXPECT_EQ(offsetof(tools::VariableInfo, candidates), 16U);
  EXPECT_EQ(offsetof(tools::VariableInfo, of_tool), 216U);
  EXPECT_EQ(sizeof(tools::VariableValue), 80U);
  EXPECT_EQ(offsetof(tools::VariableValue, info), 72U);
  EXPECT_EQ(sizeof(tools::ValueSet), 16U);
  EXPECT_EQ(sizeof(tools::ValueRange), 200U);
}

TEST_F(Kokkos, TheNextRunBeginsWithWhatWasDecidedAndSearchesNothing) {
  EXPECT_EQ(run({"size", "300"}).out, "first: 1\nlast: 8\n");
  const long before = turns();
  EXPECT_GT(before, 3);
  EXPECT_EQ(run({"size", "300"}).out, "first: 8\nlast: 8\n");
  EXPECT_EQ(turns(), before);
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "params: {$tile: 8}\n    time_ms: 125\n    ratio: {default: 8}"));
}

TEST_F(Kokkos, ShortRunsContinueEachOther) {
  for (int i = 0; i < 12; ++i) run({"categories", "250"});
  EXPECT_EQ(run({"categories", "1"}).out, "first: tree 8 0.3 64\nlast: tree 8 0.3 64\n");
}

TEST_F(Kokkos, AChangedDeclarationInvalidatesOnlyItsOwnResults) {
  run({"size", "300"});
  run({"categories", "3000"});
  std::string database = sandbox_.read("db.yaml");
  const std::size_t at = database.find("source: ", database.find("tunes: tile"));
  database.replace(at + 8, 4, "beef");
  sandbox_.write("db.yaml", database);
  std::filesystem::remove(sandbox_.folder() / "db.yaml.turns");
  EXPECT_TRUE(has(run({"size", "1"}).out, "first: 1"));
  EXPECT_TRUE(has(run({"categories", "1"}).out, "first: tree 8 0.3 64"));
}

TEST_F(Kokkos, ManyProcessesShareADatabase) {
  std::vector<std::jthread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([this, i] { run({"size", "300", std::to_string(std::size_t{1} << (10 * i))}); });
  all.clear();
  EXPECT_EQ(count_of(sandbox_.read("db.yaml"), "params: {$tile: 8}"), 4);
}

TEST_F(Kokkos, ManyThreadsAndForksAreSurvived) {
  EXPECT_EQ(run({"threads", "500"}).out, "done\n");
  EXPECT_EQ(run({"forks", "300"}, {{"TUNE_KOKKOS_DB", "forks.yaml"}}).out, "parent: 8, child: 0\n");
}

TEST_F(Kokkos, AnyNamesAndTextsAreKept) {
  EXPECT_EQ(run({"names", "3000"}).out, "first: 1 1 1 a+b\nlast: 8 3 1 16\n");
  EXPECT_EQ(run({"names", "1"}).out, "first: 8 3 1 16\n") << sandbox_.read("db.yaml");
}

TEST_F(Kokkos, ReplayUsesWhatIsKnownAndSearchesNothing) {
  EXPECT_EQ(run({"size", "300"}, {{"TUNE_KOKKOS_REPLAY", "1"}}).out, "first: 1\nlast: 1\n");
  run({"size", "300"});
  EXPECT_EQ(run({"size", "2"}, {{"TUNE_KOKKOS_REPLAY", "1"}}).out, "first: 8\nlast: 8\n");
}

TEST_F(Kokkos, AFileThatIsNoDatabaseIsReportedAndNotTouched) {
  sandbox_.write("db.yaml", "hello: world\n");
  const Result result = run({"size", "300"});
  EXPECT_EQ(result.out, "first: 1\nlast: 8\n");
  EXPECT_TRUE(has(result.err, "/db.yaml:1: this is neither a database nor"));
  EXPECT_TRUE(has(result.err, "nothing is kept"));
  EXPECT_EQ(sandbox_.read("db.yaml"), "hello: world\n");
}

TEST_F(Kokkos, ADamagedFileOfTurnsLosesOnlyWhatIsDamaged) {
  run({"size", "6"});
  sandbox_.write("db.yaml.turns", sandbox_.read("db.yaml.turns") + "turn\tx\nturn\t\t\t\t\n\x01\xff\nturn\tabc");
  EXPECT_TRUE(has(run({"size", "300"}).out, "last: 8\n"));
}

TEST_F(Kokkos, TheCommandRunsTheProgramUntilAllIsDecided) {
  const Result result =
      sandbox_.tune({"kokkos", "--db", "db.yaml", "--pairs", "1", "--", TUNE_KOKKOS_APPLICATION, "nested", "60"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "tune: run 1: "));
  EXPECT_TRUE(has(result.err, "3 of 3 regions are decided"));
  EXPECT_TRUE(has(result.out,
                  "outer: outer=3, decided\ntile, size=100: tile=2, decided\ntile, size=800: tile=8, decided\n"
                  "before: "));
  EXPECT_TRUE(has(result.out, "database: db.yaml\n"));
  const Result again =
      sandbox_.tune({"kokkos", "--db", "db.yaml", "--pairs", "0", "--", TUNE_KOKKOS_APPLICATION, "nested", "60"});
  EXPECT_TRUE(has(again.err, "tune: run 1: "));
  EXPECT_EQ(count_of(again.err, "tune: run "), 1);
}

TEST_F(Kokkos, TheCommandHearsTheLibraryWhateverTheProgramDoesWithItsStreams) {
  const std::string program = std::string("exec >&- 2>&-; exec ") + TUNE_KOKKOS_APPLICATION + " size 300";
  const Result result = sandbox_.tune({"kokkos", "--db", "db.yaml", "--pairs", "1", "--", "sh", "-c", program});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "tile=8, decided\nbefore: ")) << result.out;
  EXPECT_EQ(sandbox_.files(), (Words{"db.yaml", "db.yaml.turns"}));
}

TEST_F(Kokkos, TheCommandSaysWhatIsWrong) {
  const Result nothing = sandbox_.tune({"kokkos", "--", "true"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_TRUE(has(nothing.err, "tune: error: the program asked for no values. Kokkos must be built with"));
  const Result fails = sandbox_.tune({"kokkos", "--", TUNE_KOKKOS_APPLICATION, "fails"});
  EXPECT_EQ(fails.code, 1);
  EXPECT_TRUE(has(fails.err, "ended with exit code 3"));
  EXPECT_EQ(sandbox_.tune({"kokkos", "--", "false"}).err, "tune: error: false ended with exit code 1\n");
  const Result wrong =
      sandbox_.tune({"kokkos", "--pairs", "0", "--db", "wrong.yaml", "--", TUNE_KOKKOS_APPLICATION, "wrong"});
  EXPECT_TRUE(has(wrong.err, "warning: variable 'empty': its set of candidates is empty; the defaults stay\n"));
  EXPECT_TRUE(has(wrong.out, "empty: not tuned\n"));
  EXPECT_EQ(sandbox_.tune({"kokkos"}).code, 2);
  EXPECT_EQ(sandbox_.tune({"kokkos", "--strategy", "gentic", "--", "true"}).code, 2);
  sandbox_.write("db.yaml", "hello: world\n");
  EXPECT_EQ(sandbox_.tune({"kokkos", "--db", "db.yaml", "--", "true"}).code, 2);
  EXPECT_EQ(sandbox_.tune({"kokkos", "--db", "nowhere/db.yaml", "--", "true"}).code, 4);
  EXPECT_EQ(sandbox_.tune({"kokkos", "--", "no-such-program"}).code, 4);
  const Result open =
      sandbox_.tune({"kokkos", "--max-runs", "1", "--pairs", "0", "--", TUNE_KOKKOS_APPLICATION, "size", "3"});
  EXPECT_EQ(open.code, 1);
  EXPECT_TRUE(has(open.err, "note: 1 of 1 regions are not decided; the same command continues"));
}

TEST_F(Kokkos, TheDatabaseIsShownLookedUpAndMerged) {
  run({"size", "300"});
  run({"size", "300", "1000"});
  const Result shown = sandbox_.tune({"show", "db.yaml"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, "size=1000"));
  EXPECT_TRUE(has(shown.out, "$tile=8"));
  EXPECT_TRUE(has(shown.out, "x default"));
  EXPECT_TRUE(has(shown.out, "2 results and 0 rules\n"));
  const Result effects = sandbox_.tune({"show", "db.yaml", "--effects"});
  EXPECT_EQ(effects.code, 2);
  EXPECT_TRUE(has(effects.err, "db.yaml is a database, which has only the best of each problem"));
  const Result found = sandbox_.tune({"lookup", "--db", "db.yaml", "--size", "size=64"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(has(found.out, "match: exact"));
  EXPECT_TRUE(has(found.out, "$tile: 8"));
  EXPECT_EQ(sandbox_.tune({"merge", "db.yaml", "-o", "more.yaml"}).code, 0);
  EXPECT_EQ(sandbox_.read("more.yaml"), sandbox_.read("db.yaml"));
}

TEST_F(Kokkos, TheDatabaseIsComparedAndReported) {
  run({"size", "300"});
  const Result same = sandbox_.tune({"diff", "db.yaml", "db.yaml"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(has(same.out, "size=64, tunes: tile\n")) << same.out;
  EXPECT_TRUE(has(same.out, " default ")) << same.out;
  EXPECT_EQ(sandbox_.tune({"report", "db.yaml", "-o", "page.html"}).out, "page.html: 1 run\n");
  EXPECT_TRUE(has(sandbox_.read("page.html"), R"("figures":["default / best"])"));
}

TEST_F(Kokkos, TheManualShowsWhatTheCommandPrintsOfTheExample) {
  const std::string page = platform::read_file(TUNE_SOURCE_DIR "/docs/kokkos.md");
  const auto begin = page.find("rows depth, n=", page.find("$ tune kokkos -- ./tuning_gemm"));
  const Result result = sandbox_.tune({"kokkos", "--", TUNE_TUNING_GEMM, "1000", "16", "24"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(masked(result.out), masked(page.substr(begin, page.find("```", begin) - begin)));
}

TEST_F(Kokkos, TheExampleTunesItsTilesAndComputesTheRightResult) {
  const Result result = run_plain(TUNE_TUNING_GEMM, {"200", "16", "24"},
                                  {{"KOKKOS_TOOLS_LIBS", TUNE_KOKKOS_LIBRARY}, {"TUNE_KOKKOS_DB", "db.yaml"}});
  EXPECT_EQ(count_of(result.out, ", 0 wrong elements\n"), 2) << result.out << result.err;
  EXPECT_TRUE(has(sandbox_.read("db.yaml.turns"), "\trows depth, n=16\t"));
  EXPECT_TRUE(has(sandbox_.read("db.yaml.turns"), "\trows depth, n=24\t"));
}

}  // namespace
}  // namespace tune::cli::cli_kokkos_test
