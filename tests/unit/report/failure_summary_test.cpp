#include "report/failure_summary.h"

#include <gtest/gtest.h>

#include "model/command.h"
#include "model/grid_scan.h"
#include "report/shown_text.h"

namespace tune::report::failure_summary_test {
namespace {

const std::vector<std::string> kCommand = {"tune", "--yaml", "gemm.yaml"};

Trial failed(std::int64_t mesh_idx, Stage stage, Cause cause, std::string message) {
  return {Spec{mesh_idx, {}}, Failure{stage, cause, std::move(message), "log"}};
}

Trial pruned(std::int64_t mesh_idx, std::string reason) {
  return {Spec{mesh_idx, {}}, PrunedAfterBuild{std::move(reason), {}}};
}

TEST(Losses, AreGroupedByReasonMostFrequentFirst) {
  const std::vector<Trial> trials = {failed(9, Stage::check, Cause::reported, "wrong result"),
                                     pruned(8, "spills == 0"),
                                     failed(7, Stage::measure, Cause::timed_out, "no answer in 10 s"),
                                     failed(6, Stage::check, Cause::reported, "wrong result"),
                                     {Spec{5, {}}, Measurement{}}};
  EXPECT_EQ(text_of(loss_lines(trials, kCommand)),
            R"(pruned after the build: 1
      1  spills == 0
         tune --yaml gemm.yaml --spec 8
failed: 3
      2  check, reported: wrong result
         tune --yaml gemm.yaml --spec 6
      1  measure, timed out: no answer in 10 s
         tune --yaml gemm.yaml --spec 7
)");
}

TEST(Losses, TellCausesAndStagesOfTheSameMessageApart) {
  const std::vector<Trial> trials = {failed(0, Stage::check, Cause::crashed, "gone"),
                                     failed(1, Stage::measure, Cause::crashed, "gone"),
                                     failed(2, Stage::check, Cause::protocol, "gone")};
  EXPECT_EQ(text_of(loss_lines(trials, kCommand)),
            R"(failed: 3
      1  check, crashed: gone
         tune --yaml gemm.yaml --spec 0
      1  measure, crashed: gone
         tune --yaml gemm.yaml --spec 1
      1  check, protocol: gone
         tune --yaml gemm.yaml --spec 2
)");
}

TEST(Losses, ShowTheDetailOfTheFirstSpecOfAGroup) {
  const std::vector<Trial> trials = {failed(4, Stage::check, Cause::reported, "wrong result\n9 elements"),
                                     failed(3, Stage::check, Cause::reported, "wrong result\n3 elements\nat [0, 7]\n")};
  EXPECT_EQ(text_of(loss_lines(trials, kCommand)),
            R"(failed: 2
      2  check, reported: wrong result
         3 elements
         at [0, 7]
         tune --yaml gemm.yaml --spec 3
)");
}

TEST(Losses, OfBuildsThatDifferInNumbersAloneAreOneGroup) {
  const std::vector<Trial> trials = {
      failed(2, Stage::build, Cause::reported, "a.cpp:7: error: size 128 of f<128> is above 0x40"),
      failed(1, Stage::build, Cause::reported, "a.cpp:7: error: size 64 of f<64> is above 0x20"),
      failed(0, Stage::build, Cause::reported, "a.cpp:9: error: size 64 of f<64> is above 0x20"),
      failed(3, Stage::build, Cause::reported, "a.cpp:7: error: size 64 of f1<64> is above 0x20")};
  EXPECT_EQ(text_of(loss_lines(trials, kCommand, {{1, "out.logs/1.txt"}, {2, "out.logs/2.txt"}})),
            R"(failed: 4
      2  build, reported: a.cpp:7: error: size 64 of f<64> is above 0x20
         log: out.logs/1.txt
         tune --yaml gemm.yaml --spec 1
      1  build, reported: a.cpp:9: error: size 64 of f<64> is above 0x20
         tune --yaml gemm.yaml --spec 0
      1  build, reported: a.cpp:7: error: size 64 of f1<64> is above 0x20
         tune --yaml gemm.yaml --spec 3
)");
  std::vector<std::int64_t> first;
  for (const Trial* trial : first_failures(trials)) first.push_back(trial->spec.mesh_idx);
  EXPECT_EQ(first, (std::vector<std::int64_t>{1, 0, 3}));
}

TEST(Losses, CutLongDetail) {
  const std::vector<Trial> trials = {failed(0, Stage::build, Cause::reported, "error\n1\n2\n3\n4\n5\n6\n7\n8")};
  EXPECT_EQ(text_of(loss_lines(trials, kCommand)),
            R"(failed: 1
      1  build, reported: error
         1
         2
         3
         4
         5
         6
         ...
         tune --yaml gemm.yaml --spec 0
)");
}

TEST(Losses, SayTheAdviceBehindAnErrorInFull) {
  const std::string error = std::string(150, 'e') + "; " + std::string(170, 'a');
  const std::vector<Trial> trials = {failed(0, Stage::build, Cause::reported, error)};
  EXPECT_TRUE(text_of(loss_lines(trials, kCommand)).find(error + "\n") != std::string::npos);
}

TEST(Losses, QuoteTheCommandForTheShell) {
  const std::vector<std::string> command = {"tune", "--yaml", "it's here.yaml"};
  EXPECT_EQ(text_of(loss_lines(std::vector<Trial>{pruned(0, "r")}, command)),
            "pruned after the build: 1\n      1  r\n         tune --yaml 'it'\\''s here.yaml' --spec 0\n");
}

TEST(Losses, AreNothingIfEverySpecMadeIt) {
  EXPECT_EQ(text_of(loss_lines(std::vector<Trial>{{Spec{}, Measurement{}}}, kCommand)), "");
  EXPECT_EQ(text_of(pruned_lines({})), "");
}

TEST(Losses, CountWhatWasPrunedBeforeTheBuild) {
  const std::vector<GridScan::Pruned> groups = {{"a block has at most 1024 threads", 1234567, 0}, {"BM > 64", 20, 7}};
  EXPECT_EQ(text_of(pruned_lines(groups)),
            "pruned before the build: 1234587\n1234567  a block has at most 1024 threads\n     20  BM > 64\n");
}

TEST(Text, NeverSendsControlCharactersToATerminal) {
  EXPECT_EQ(first_line("\x1b[31merror\x1b[0m\tat\r1\x7f\nmore"), "\\x1b[31merror\\x1b[0m\\tat\\x0d1\\x7f");
}

TEST(Text, SaysSoWhenThereIsNoMessage) { EXPECT_EQ(first_line(""), "(no message)"); }

TEST(Text, CutsALongLineBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 4), "abcd ...");
  EXPECT_EQ(printable("abcö", 4), "abc ...");
}

TEST(Text, QuotesAnEmptyWordForTheShell) { EXPECT_EQ(shell_quote(""), "''"); }

}  // namespace
}  // namespace tune::report::failure_summary_test
