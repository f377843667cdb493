#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "report/recorded/comparison_text.h"
#include "report/recorded/insights.h"
#include "report/recorded/listing.h"
#include "report/shown_text.h"
#include "report/table.h"
#include "support/has.h"

namespace tune::report::report_test {
namespace {

constexpr double kFlops = 2.0 * 8192 * 8192 * 128;

Spec gemm_spec(std::int64_t mesh_idx, std::int64_t bm, std::int64_t stages) {
  return {mesh_idx,
          {{"M", std::int64_t{8192}, false},
           {"BM", bm, false},
           {"NUM_STAGES", stages, false},
           {"TRANSPOSE_B", Bool{false, false}, false},
           {"SPLIT_K", std::int64_t{1}, true}}};
}

Trial measured(Spec spec, double milliseconds) {
  Measurement measurement;
  measurement.timing = {7, milliseconds / 1e3, 0, 0, 0, milliseconds * 0.998e-3, milliseconds * 1.002e-3, false};
  measurement.checked = true;
  return {std::move(spec), measurement};
}

/// Three specs of the seed's example, in mesh order.
std::vector<Trial> three_trials() {
  return {measured(gemm_spec(6, 64, 2), 3.376528), measured(gemm_spec(37, 128, 3), 0.988528),
          measured(gemm_spec(39, 128, 4), 0.984400)};
}

Summary summary_of(const std::vector<Trial>& trials) {
  Summary summary;
  summary.name = "multistage_gemm";
  summary.file = "../tune_multistage_gemm.mojo";
  summary.command = {"tune", "--yaml", "gemm.yaml"};
  summary.tuned = true;
  summary.trials = trials;
  for (const std::size_t i : {2u, 1u, 0u}) {
    if (i < trials.size() && trials[i].measurement()) summary.ranking.rows.push_back({&trials[i], 0, std::nullopt});
  }
  summary.columns = {arithmetic_column(kFlops)};
  summary.varying = {"BM", "NUM_STAGES"};
  summary.elapsed_seconds = 259.31;
  return summary;
}

FinalsResult finals_result(double milliseconds, double ratio, bool tie) {
  FinalsResult result;
  result.time.seconds = milliseconds / 1e3;
  result.time.interval = {milliseconds * 0.999e-3, milliseconds * 1.001e-3};
  result.launches = 50;
  result.ratio = ratio;
  result.tie = tie;
  return result;
}

/// The lines between the number of valid specs and `top_spec_idx`.
std::string table_of(const Summary& summary) {
  const std::string text = result_text(summary);
  const std::size_t begin = text.find('\n', text.find("Number of valid specs")) + 1;
  return text.substr(begin, text.find("top_spec_idx") - begin);
}

TEST(Report, PrintsTheBlocksOfATunedRun) {
  const std::vector<Trial> trials = three_trials();
  EXPECT_EQ(result_text(summary_of(trials)),
            R"(--------------------------------------------------------------------------------
Tuning [multistage_gemm] from [../tune_multistage_gemm.mojo]
--------------------------------------------------------------------------------
Number of valid specs: 3
 mesh_idx                                name  met (ms)  iters  Arithmetic (GFLOPS/s)  +- %
       39 multistage_gemm/BM=128/NUM_STAGES=4  0.984400      7           17452.122292  0.20
       37 multistage_gemm/BM=128/NUM_STAGES=3  0.988528      7           17379.243870  0.20
        6  multistage_gemm/BM=64/NUM_STAGES=2  3.376528      7            5088.028052  0.20
top_spec_idx: 39
--------------------------------------------------------------------------------
Best Measured Time:
--------------------------------------------------------------------------------
params:
  M: 8192
  BM: 128
  NUM_STAGES: 4
  TRANSPOSE_B: False
  $SPLIT_K: 1
--------------------------------------------------------------------------------
Elapsed tuning time: 259.3 (s)
)");
}

TEST(Report, ListsInMeshOrderWithoutABestIfNotTuned) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.tuned = false;
  summary.top = 1;
  summary.columns.clear();
  EXPECT_EQ(result_text(summary), R"(--------------------------------------------------------------------------------
Tuning [multistage_gemm] from [../tune_multistage_gemm.mojo]
--------------------------------------------------------------------------------
Number of valid specs: 3
 mesh_idx                                name  met (ms)  iters  +- %
        6  multistage_gemm/BM=64/NUM_STAGES=2  3.376528      7  0.20
       37 multistage_gemm/BM=128/NUM_STAGES=3  0.988528      7  0.20
       39 multistage_gemm/BM=128/NUM_STAGES=4  0.984400      7  0.20
--------------------------------------------------------------------------------
Elapsed tuning time: 259.3 (s)
)");
}

TEST(Report, HasNoSpreadWhereTheIntervalTellsNothing) {
  std::vector<Trial> trials = three_trials();
  std::get<Measurement>(trials[0].outcome).timing.ci_high = 20e-3;
  Summary summary = summary_of(trials);
  summary.columns.clear();
  EXPECT_NE(table_of(summary).find("NUM_STAGES=2  3.376528      7     -\n"), std::string::npos) << table_of(summary);
}

TEST(Report, HasNoBestIfNothingIsValid) {
  Summary summary = summary_of({});
  summary.notes = {"the journal is run.jsonl"};
  EXPECT_EQ(result_text(summary), R"(--------------------------------------------------------------------------------
Tuning [multistage_gemm] from [../tune_multistage_gemm.mojo]
--------------------------------------------------------------------------------
Number of valid specs: 0
--------------------------------------------------------------------------------
Elapsed tuning time: 259.3 (s)
note: the journal is run.jsonl
)");
}

TEST(Report, ShowsTheTopRowsAndSaysHowManyAreHidden) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.top = 2;
  summary.columns.clear();
  EXPECT_EQ(table_of(summary),
            R"( mesh_idx                                name  met (ms)  iters  +- %
       39 multistage_gemm/BM=128/NUM_STAGES=4  0.984400      7  0.20
       37 multistage_gemm/BM=128/NUM_STAGES=3  0.988528      7  0.20
(1 more)
)");
}

TEST(Report, SaysThatTimesOfSeveralDevicesAreScaled) {
  std::vector<Trial> trials = three_trials();
  std::get<Measurement>(trials[0].outcome).device = "GPU-a";
  EXPECT_EQ(table_of(summary_of(trials)).find("devices: "), std::string::npos);
  std::get<Measurement>(trials[1].outcome).device = "GPU-b";
  EXPECT_NE(table_of(summary_of(trials)).find("\n2 devices: times of the sweep are scaled to those of the first"),
            std::string::npos);
}

TEST(Report, ShowsFinalsTiesAndBaselines) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.name = "gemm";
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, true);
  summary.ranking.rows[1].finals_result = finals_result(1.01, 1.01, true);
  summary.ranking.baselines = {{entrant_of("vendor"), finals_result(0.9, 0.9, false)},
                               {entrant_of("old.yaml"), std::nullopt}};
  EXPECT_EQ(table_of(summary),
            R"( mesh_idx                     name  met (ms)  iters  Arithmetic (GFLOPS/s)  +- %  x vendor  note
       39 gemm/BM=128/NUM_STAGES=4  1.000000     50           17179.869184  0.10     0.900   tie
       37 gemm/BM=128/NUM_STAGES=3  1.010000     50           17009.771469  0.10     0.891   tie
        6  gemm/BM=64/NUM_STAGES=2  3.376528      7            5088.028052  0.20         -
        -                   vendor  0.900000     50           19088.743538  0.10     1.000
finals: 3 rows were timed in turns; the others once, in the sweep
x vendor: how many times as fast as vendor, in the finals
tie: as fast as the winner to 0.3 %, beyond doubt
)");
}

TEST(Report, MarksWhatOnlyTheSweepShowsAsFasterThanTheWinner) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.columns.clear();
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, false);
  const std::string table = table_of(summary);
  EXPECT_NE(table.find("NUM_STAGES=3  0.988528      7  0.20  sweep only\n"), std::string::npos) << table;
  EXPECT_NE(table.find("NUM_STAGES=2  3.376528      7  0.20\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\nsweep only: it was not in the finals, whose times are of another moment\n"),
            std::string::npos);
}

TEST(Report, HasNoSpreadOfASingleRound) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.columns.clear();
  summary.ranking.rows.resize(1);
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, false);
  summary.ranking.rows[0].finals_result->time.interval.reset();
  EXPECT_NE(table_of(summary).find("  1.000000     50     -\n"), std::string::npos) << table_of(summary);
}

TEST(Report, ListsBaselinesAsTheTableHasThem) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.ranking.rows.resize(1);
  summary.ranking.baselines = {{{Spec{-1, {}}, Entrant::Kind::vendor_first, "vendor"}, finals_result(0.9, 0.9, false)}};
  EXPECT_EQ(listing_text(summary, {{"mesh_idx", "name", "iters", "BM"}, {}, false}),
            " mesh_idx                 name  iters   BM\n"
            "       39  BM=128/NUM_STAGES=4      7  128\n"
            "        -               vendor     50    -\n");
}

TEST(Report, ShowsTheOtherPowerStateWhereItWasTimed) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.name = "gemm";
  summary.columns.clear();
  summary.ranking.rows.resize(2);
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, false);
  summary.ranking.rows[1].finals_result = finals_result(1.01, 1.01, false);
  EXPECT_EQ(table_of(summary).find("sustained"), std::string::npos);
  summary.ranking.rows[0].finals_result->other_state_seconds = 1.25e-3;
  EXPECT_EQ(table_of(summary), R"( mesh_idx                     name  met (ms)  iters  sustained ms  +- %
       39 gemm/BM=128/NUM_STAGES=4  1.000000     50      1.250000  0.10
       37 gemm/BM=128/NUM_STAGES=3  1.010000     50             -  0.10
)");
  summary.other_state = PowerState::burst;
  EXPECT_NE(table_of(summary).find("  burst ms  "), std::string::npos);
}

TEST(Report, MarksWhatIsTheSameCodeAndWhatFailedInTheFinals) {
  const std::vector<Trial> trials = three_trials();
  const Failure failure;
  Summary summary = summary_of(trials);
  summary.name = "gemm";
  summary.columns.clear();
  summary.verdict = {"DECIDED: it is"};
  summary.ranking.rows[1].same_as = &trials[2];
  summary.ranking.rows[2].failed_in_finals = &failure;
  EXPECT_EQ(table_of(summary), R"( mesh_idx                     name  met (ms)  iters  +- %                  note
       39 gemm/BM=128/NUM_STAGES=4  0.984400      7  0.20
       37 gemm/BM=128/NUM_STAGES=3  0.984400      7  0.20       same code as 39
        6  gemm/BM=64/NUM_STAGES=2  3.376528      7  0.20  failed in the finals
failed in the finals: its time is the sweep's, and it cannot win
)");
  EXPECT_TRUE(result_text(summary).starts_with("DECIDED: it is\n---"));
}

TEST(Report, MarksEarlyStoppedAndUncheckedSpecs) {
  std::vector<Trial> trials = three_trials();
  std::get<Measurement>(trials[0].outcome).timing.stopped_early = true;
  std::get<Measurement>(trials[0].outcome).timing.count = 1;
  std::get<Measurement>(trials[0].outcome).checked = false;
  std::get<Measurement>(trials[1].outcome).checked = false;
  Summary summary = summary_of(trials);
  summary.name = "gemm";
  summary.columns.clear();
  EXPECT_EQ(table_of(summary), R"( mesh_idx                     name    met (ms)  iters  +- %                note
       39 gemm/BM=128/NUM_STAGES=4    0.984400      7  0.20
       37 gemm/BM=128/NUM_STAGES=3    0.988528      7  0.20         checked: no
        6  gemm/BM=64/NUM_STAGES=2  > 3.376528      1     -  early, checked: no
early: slow, so timed with fewer launches; it takes at least the time shown
checked: no: its output was not compared with a reference
)");
}

TEST(Report, ShowsOfASpecThatWasStoppedEarlyTheLeastTimeAndItsFigures) {
  std::vector<Trial> trials = three_trials();
  Timing& timing = std::get<Measurement>(trials[0].outcome).timing;
  timing.stopped_early = true;
  timing.ci_low = timing.median / 2;
  EXPECT_TRUE(cli::has(table_of(summary_of(trials)), "/BM=64/NUM_STAGES=2  > 1.688264      7           10176.056105 "))
      << table_of(summary_of(trials));
}

/// What the table looks like on a terminal of so many columns.
std::string on_terminal(Summary summary, int columns) {
  summary.width = columns;
  const std::string text = result_text(summary);
  const std::size_t begin = text.find(" mesh_idx");
  return text.substr(begin, text.find("top_spec_idx") - begin);
}

TEST(Report, ShortensAndDropsColumnsInAKnownOrder) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.ranking.rows.resize(2);
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, false);
  summary.ranking.rows[1].finals_result = finals_result(1.01, 1.01, false);
  summary.ranking.rows[0].finals_result->other_state_seconds = 1.25e-3;
  summary.ranking.baselines = {{entrant_of("vendor"), finals_result(0.9, 0.9, false)}};
  summary.columns.push_back(measured_column("watts"));
  const auto titles = [&](int columns) {
    const std::string table = on_terminal(summary, columns);
    return table.substr(0, table.find('\n'));
  };
  EXPECT_EQ(
      titles(122),
      " mesh_idx                                name  met (ms)  iters  Arithmetic (GFLOPS/s)  watts  sustained ms  "
      "+- %  x vendor");
  EXPECT_EQ(
      titles(121),
      " mesh_idx                name  met (ms)  iters  Arithmetic (GFLOPS/s)  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(titles(103),
            " mesh_idx                name  met (ms)  iters  GFLOPS/s  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(titles(90), " mesh_idx                name  met (ms)  GFLOPS/s  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(titles(83), " mesh_idx BM/NUM_STAGES  met (ms)  GFLOPS/s  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(titles(79), " mesh_idx BM/NUM_ST...  met (ms)  GFLOPS/s  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(titles(73), " mesh_idx BM/NUM  met (ms)  GFLOPS/s  watts  sustained ms  +- %  x vendor");
  EXPECT_EQ(on_terminal(summary, 73).find("all specs shown"), std::string::npos);
  EXPECT_EQ(titles(72), " mesh_idx NUM_STAGES  met (ms)  GFLOPS/s  watts  +- %  x vendor");
  EXPECT_NE(on_terminal(summary, 72).find("\nall specs shown have BM=128\n"), std::string::npos);
  EXPECT_EQ(titles(58), " mesh_idx NUM_STAGES  met (ms)  GFLOPS/s  +- %  x vendor");
  EXPECT_EQ(titles(51), " mesh_idx NUM_STAGES  met (ms)  GFLOPS/s  x vendor");
  EXPECT_EQ(titles(45), " mesh_idx NUM_STAGES  met (ms)  GFLOPS/s");
  EXPECT_NE(on_terminal(summary, 51).find("\nx vendor: "), std::string::npos);
  EXPECT_EQ(on_terminal(summary, 45).find("\nx vendor: "), std::string::npos) << "its column is not there";
  EXPECT_EQ(titles(30), " mesh_idx NUM_STAGES  met (ms)");
  EXPECT_EQ(titles(24), " mesh_idx NUM_  met (ms)");
  EXPECT_EQ(titles(20), " mesh_idx  met (ms)");
  EXPECT_EQ(titles(12), " mesh_idx...");
}

TEST(Report, KeepsTheObjectivesColumnLongerThanOtherFigures) {
  std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.columns = {arithmetic_column(kFlops), measured_column("watts"), measured_column("reads per second")};
  summary.columns.back().objective = true;
  EXPECT_EQ(on_terminal(summary, 65).substr(0, 65),
            " mesh_idx BM/NUM_S...  met (ms)  GFLOPS/s  reads per second  +- %");
}

TEST(Report, ShowsFourDigitsOnATerminal) {
  const std::vector<Trial> trials = three_trials();
  EXPECT_EQ(on_terminal(summary_of(trials), 100),
            R"( mesh_idx                                name  met (ms)  iters  Arithmetic (GFLOPS/s)  +- %
       39 multistage_gemm/BM=128/NUM_STAGES=4    0.9844      7                  17450  0.20
       37 multistage_gemm/BM=128/NUM_STAGES=3    0.9885      7                  17380  0.20
        6  multistage_gemm/BM=64/NUM_STAGES=2     3.377      7                   5088  0.20
)");
}

TEST(Report, NamesDoNotDependOnTheRowsShown) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.top = 1;
  EXPECT_NE(table_of(summary).find(" multistage_gemm/BM=128/NUM_STAGES=4 "), std::string::npos);
  const auto titles = [](const std::string& table) { return table.substr(0, table.find('\n')); };
  const std::string without_note = titles(table_of(summary));
  summary.ranking.rows[2].same_as = &trials[1];
  EXPECT_EQ(titles(table_of(summary)), without_note + "  note") << "the row with a note is not among those shown";
}

TEST(Report, SaysHowManyOfTheSpecsWereTried) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  EXPECT_EQ(result_text(summary).find("tried"), std::string::npos);
  summary.specs = Natural(3);
  EXPECT_EQ(result_text(summary).find("tried"), std::string::npos);
  summary.specs = Natural(476);
  EXPECT_NE(result_text(summary).find("\nNumber of valid specs: 476\n3 of 476 tried\n mesh_idx"), std::string::npos);
}

TEST(Report, SaysWhereTheOtherRowsAre) {
  const std::vector<Trial> trials = three_trials();
  Summary summary = summary_of(trials);
  summary.top = 1;
  EXPECT_NE(on_terminal(summary, 80).find("\n(2 more)\n"), std::string::npos);
  EXPECT_TRUE(result_text(summary).ends_with("\nthe same command with --top all shows the other 2 specs\n"));
  summary.all_in = "best.csv";
  EXPECT_NE(on_terminal(summary, 80).find("\n(2 more: best.csv, or the same command with --top all)\n"),
            std::string::npos);
}

TEST(Report, ShowsTheBestInBoldAndTiesAndFailuresInColors) {
  std::vector<Trial> trials = three_trials();
  trials.push_back({Spec{40, {}}, Failure{Stage::build, Cause::reported, "no such tile\nin line 3", {}, {}}, 1});
  Summary summary = summary_of(trials);
  summary.verdict = {"UNDECIDED: nothing is known"};
  summary.decision = Decision::undecided;
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, true);
  summary.ranking.rows[1].finals_result = finals_result(1.01, 1.01, true);
  const Failure failure;
  summary.ranking.rows[2].failed_in_finals = &failure;
  const std::string plain = result_text(summary);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  summary.colors = true;
  const std::string text = result_text(summary);
  for (const char* line : {"\n\x1b[1m\x1b[36m       39 ", "\n\x1b[36m       37 ", "\n\x1b[31m        6 ",
                           "\x1b[33mUNDECIDED: nothing is known\x1b[0m\n---", "\n\x1b[31mfailed: 1\x1b[0m\n",
                           "\n\x1b[31m      1  build, reported: no such tile\x1b[0m\n         in line 3\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(Report, NothingButCommandsIsWiderThanTheTerminal) {
  std::vector<Trial> trials = three_trials();
  trials.push_back({Spec{40, {}}, Failure{Stage::build, Cause::reported, "there is no tile of this size", {}, {}}, 1});
  Summary summary = summary_of(trials);
  summary.verdict = {"UNDECIDED: the times of this run differ a lot, since other programs used the processor"};
  summary.width = 35;
  std::istringstream lines(result_text(summary));
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool command = line == "         tune --yaml gemm.yaml --spec 40";
    commands += command ? 1 : 0;
    EXPECT_TRUE(command || line.size() <= 35) << line;
  }
  EXPECT_EQ(commands, 1);
  EXPECT_TRUE(result_text(summary).starts_with("UNDECIDED: the times of this run\n    differ a lot, since other\n"));
}

TEST(Report, ShowsADashForAMetricThatASpecLacks) {
  std::vector<Trial> trials = three_trials();
  trials.resize(1);
  std::get<Measurement>(trials[0].outcome).metrics["watts"] = 512.5;
  Summary summary = summary_of(trials);
  summary.columns = {measured_column("watts"), measured_column("volts")};
  EXPECT_EQ(table_of(summary), R"( mesh_idx                               name  met (ms)  iters       watts  volts  +- %
        6 multistage_gemm/BM=64/NUM_STAGES=2  3.376528      7  512.500000      -  0.20
)");
}

TEST(Report, AlignsByCharactersAndNotByBytes) {
  std::vector<Trial> trials = {{Spec{0, {{"P", std::string("größe"), false}}}, measured({}, 1).outcome},
                               {Spec{1, {{"P", std::string("xy"), false}}}, measured({}, 1).outcome}};
  Summary summary = summary_of(trials);
  summary.name = "g";
  summary.varying = {"P"};
  summary.columns.clear();
  EXPECT_EQ(table_of(summary),
            " mesh_idx      name  met (ms)  iters  +- %\n"
            "        1    g/P=xy  1.000000      7  0.20\n"
            "        0 g/P=größe  1.000000      7  0.20\n");
}

TEST(Insights, TheBestWithoutAValueIsTheBestWhereverItsRowIs) {
  std::vector<Trial> trials = three_trials();
  trials.push_back(measured(gemm_spec(40, 128, 5), 0.5));
  trials.push_back(measured(gemm_spec(7, 64, 3), 1.9688));
  Summary summary = summary_of(trials);
  summary.ranking.rows[0].finals_result = finals_result(1.0, 1, false);
  summary.ranking.rows[1].finals_result = finals_result(1.01, 1.01, false);
  summary.ranking.rows[2].finals_result = finals_result(3.4, 3.4, false);  // the default, however slow
  const Failure failure;
  for (const std::size_t i : {3U, 4U}) summary.ranking.rows.push_back({&trials[i], 1.9688e-3, std::nullopt});
  summary.ranking.rows[3].failed_in_finals = &failure;
  const std::string text = changes_text(summary, {});
  EXPECT_NE(text.find("\n        BM=128         7     2.000         2.000   BM=64/NUM_STAGES=3\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  NUM_STAGES=4        37 "), std::string::npos) << text;
}

TEST(Text, KnowsHowWideCharactersAre) {
  EXPECT_EQ(width_of("größe"), 5u);
  EXPECT_EQ(width_of("行列"), 4u);
  EXPECT_EQ(width_of("e\u0301"), 1u);
  EXPECT_EQ(cut_to("größe", 5), "größe");
  EXPECT_EQ(cut_to("größengleich", 9), "größen...");
  EXPECT_EQ(cut_to("行列行列", 7), "行列...");
  EXPECT_EQ(cut_to("行列行列", 3), "行");
}

TEST(ComparisonText, NamesThatDoNotFitHaveLinesOfTheirOwn) {
  const auto spec_of = [](std::int64_t last) {
    return Spec{last, {{"A_PARAMETER_WITH_A_LONG_NAME", std::int64_t{128}}, {"ANOTHER_LONG_NAME", last}}};
  };
  ComparedShape shape;
  shape.varying = {"A_PARAMETER_WITH_A_LONG_NAME", "ANOTHER_LONG_NAME"};
  ComparedSpec fails, same;
  fails.entrant.spec = spec_of(2);
  same.entrant.spec = spec_of(1);
  fails.before = same.before = same.now = Estimate{1e-3, {}};
  fails.change = Change::fails;
  fails.failure = "a text that says at some length why this spec has no time now";
  shape.specs = {fails, same};
  const RunComparison comparison{{"old", "k", ""}, {"new", "k", ""}, 0.03, {shape}, {}};
  const std::string narrow = comparison_text(comparison, 0, 60), wide = comparison_text(comparison, 0, 0);
  for (const char* name : {"A_PARAMETER_WITH_A_LONG_NAME=128 ANOTHER_LONG_NAME=2\n", "ANOTHER_LONG_NAME=1\n"})
    EXPECT_TRUE(narrow.find(name) != std::string::npos) << narrow;
  EXPECT_TRUE(narrow.find("fails now\n    a text that says at some length why this spec has no\n    time now\n") !=
              std::string::npos)
      << narrow;
  EXPECT_TRUE(wide.find(" A_PARAMETER_WITH_A_LONG_NAME=128/ANOTHER_LONG_NAME=1 ") != std::string::npos) << wide;
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST(Report, WhatATableHasNoRoomForIsNamed) {
  std::vector<Trial> trials = three_trials();
  for (Trial& trial : trials) std::get<Measurement>(trial.outcome).metrics = {{"hits", 3}, {"misses", 4}};
  Summary summary = summary_of(trials);
  summary.columns = {measured_column("hits"), measured_column("misses")};
  summary.width = 40;
  EXPECT_TRUE(result_text(summary).find(
                  "\nnames: BM/NUM_STAGES\nno room for misses; a wider terminal, or\n  | cat, shows it\n") !=
              std::string::npos)
      << result_text(summary);
  summary.width = 0;
  EXPECT_TRUE(result_text(summary).find("no room") == std::string::npos);
}

TEST(Text, WrapsAtSpaces) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 20, 2), Lines{"one two three"});
  EXPECT_EQ(wrapped("one two three", 9, 2), (Lines{"one two", "  three"}));
  EXPECT_EQ(wrapped("  a longword b", 6, 4), (Lines{"  a", "    longword", "    b"}));
  EXPECT_EQ(wrapped("at BM=128/BN=64/BK=8, a/b/c/d/e", 9, 2),
            (Lines{"at", "  BM=128/", "  BN=64/", "  BK=8,", "  a/b/c/d/e"}))
      << "a spec's settings are taken apart, paths are not";
  EXPECT_EQ(wrapped("in m=1/n=2/k.jsonl", 9, 2), (Lines{"in", "  m=1/n=2/k.jsonl"}));
  EXPECT_EQ(wrapped("see 'show A=1/B=2' x", 9, 2), (Lines{"see", "  'show A=1/B=2'", "  x"}));
  EXPECT_EQ(wrapped("at most 0.3 %, so", 11, 2), (Lines{"at most", "  0.3 %, so"})) << "a number keeps its unit";
  EXPECT_EQ(wrapped("", 6, 4), Lines{""});
  EXPECT_EQ(wrapped("a 'b c' d", 4, 0), (Lines{"a", "'b c'", "d"})) << "what is quoted is to be copied";
  EXPECT_EQ(wrapped("the 'ends 'it's so' x", 6, 0), (Lines{"the", "'ends 'it's so'", "x"}));
}

TEST(Text, ShowsFourSignificantDigits) {
  const std::vector<std::pair<double, std::string>> cases = {
      {0.98437, "0.9844"},    {17.4, "17.40"},       {17452.1, "17450"},    {0, "0.000"},     {9.9996, "10.00"},
      {0.00012, "0.0001200"}, {1.2e-7, "1.200e-07"}, {1.5e12, "1.500e+12"}, {-3.5, "-3.500"}, {std::nan(""), "-"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(four_digits(value), text);
}

TEST(Text, ShowsWholeNumbersWhole) {
  EXPECT_EQ(whole_or_four_digits(165288), "165288");
  EXPECT_EQ(whole_or_four_digits(165288.5), "165300");
  EXPECT_EQ(whole_or_four_digits(1e18), "1.000e+18");
  EXPECT_EQ(whole_or_four_digits(INFINITY), "-");
}

TEST(Text, AnEmptyValueIsSeenAmongOthers) {
  Spec spec;
  spec.params = {{"FAST", Value(std::string())}, {"T", Value(std::int64_t{2})}};
  EXPECT_EQ(values_text(spec, std::vector<std::string>{"FAST", "T", "U"}), "''/2/-");
}

TEST(Text, ASpecIsCalledAfterWhatVariesInTheGrid) {
  const auto parameter = [](const char* name, std::vector<Value> values) {
    return Parameter{name, false, Kind::ordinal, std::move(values)};
  };
  const Value one = std::int64_t{1}, two = std::int64_t{2};
  Space::Mapping first, second;
  first.parameters = {parameter("A", {one}), parameter("B", {one, two}), parameter("C", {one})};
  EXPECT_EQ(varying_parameters(Space({}, {}, {first})), std::vector<std::string>{"B"});
  second.parameters = {parameter("A", {one}), parameter("C", {two}), parameter("D", {one})};
  EXPECT_EQ(varying_parameters(Space({}, {}, {first, second})), (std::vector<std::string>{"B", "C", "D"}));
}

}  // namespace
}  // namespace tune::report::report_test
