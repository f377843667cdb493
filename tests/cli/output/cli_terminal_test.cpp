// What a person sees at a terminal.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "support/has.h"
#include "support/terminal.h"

namespace tune::cli::cli_terminal_test {
namespace {

using Words = std::vector<std::string>;

/// `T: [1, 2, ..., 30]`, of which the last three fail.
constexpr const char* kThirty = "[{T: {range: [1, 27]}}, {T: 1, SAYS: [dies, wrong, crashes]}]";

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write_script(kThirty, "baseline: {T: 4}\n");
    sandbox_.environment["TERM"] = "xterm";
  }

  /// What a run leaves on a terminal of so many columns; it is checked that no line was broken there, commands
  /// excepted.
  std::string left_on(unsigned short columns, const Words& arguments) {
    InTerminal run(sandbox_, arguments, columns);
    EXPECT_EQ(run.code(), 0) << run.text();
    raw_ = run.text();
    const std::size_t results = raw_.find("\n---");
    Screen screen(columns);
    screen.write(raw_.substr(0, results));
    EXPECT_EQ(screen.wraps(), 0) << raw_;
    EXPECT_EQ(screen.unknown(), "");
    std::string text;
    for (const std::string& line : screen.lines()) text += line + "\n";
    std::istringstream rest(without_escapes(raw_.substr(results + 1)));
    for (std::string line; std::getline(rest, line); text += line + "\n")
      EXPECT_TRUE(line.size() <= columns || (line.starts_with("    ") && has(line, " tune "))) << line;
    return text;
  }

  Sandbox sandbox_;
  std::string raw_;  ///< of left_on
};

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != std::string::npos) return line;
  return "";
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST_F(TerminalTest, TheTableFits) {
  const Words words = {"bench.yaml", "--tune", "-o", "best"};
  const std::string at_80 = left_on(80, words);
  EXPECT_EQ(line_with(at_80, "mesh_idx"), " mesh_idx       name  met (ms)  iters  +- %  x baseline");
  EXPECT_TRUE(has(at_80, "        0  bench/T=1     1.000"));
  EXPECT_TRUE(has(at_80, "best 1.000 ms (0) T=1 | 3 failed: 1 crashed, 1 measure, 1 wrong result\n"));
  const std::string at_200 = left_on(200, words);
  EXPECT_EQ(line_with(at_200, "mesh_idx"), line_with(at_80, "mesh_idx"));
  const std::string at_40 = left_on(40, words);
  EXPECT_EQ(line_with(at_40, "mesh_idx"), " mesh_idx   T/SAYS  met (ms)  x baseline");
  EXPECT_EQ(line_with(left_on(20, words), "mesh_idx"), " mesh_idx  met (ms)");
}

TEST_F(TerminalTest, WarningsBeforeTheStartAndDuringTheRunFit) {
  sandbox_.write("p.yaml",
                 "{name: p, run: \"echo {A}\", params: {A: 1}, default: {A: 7}, measure: {max_seconds: 0.02}}\n");
  EXPECT_TRUE(has(left_on(50, {"p.yaml", "-o", "p"}), "\n  ")) << raw_;
  EXPECT_TRUE(has(raw_, "warning: ")) << raw_;
  sandbox_.write("p.sh", "echo '{\"ms\": 3}'\n");
  sandbox_.write("p.yaml", "{name: p, run: \"sh p.sh {A}\", params: {A: 1}, measure: {max_seconds: 0.02}}\n");
  EXPECT_TRUE(has(left_on(50, {"p.yaml", "-o", "p"}), "warning: the whole command is timed, because it\n  reported"))
      << raw_;
}

TEST_F(TerminalTest, ShowsTwentyRowsAndSaysWhereTheOthersAre) {
  const Words words = {"bench.yaml", "--tune", "--no-finals", "-o", "best"};
  const std::string text = left_on(80, words);
  EXPECT_TRUE(has(text, "       19 bench/T=20"));
  EXPECT_EQ(count(text, "T=21"), 0);
  EXPECT_TRUE(has(text, "\n(7 more: best.csv, or the same command with --top all)\n"));
  Words more = words;
  more.insert(more.end(), {"--top", "all"});
  EXPECT_TRUE(has(left_on(80, more), "       26 bench/T=27"));
  more.back() = "5";
  EXPECT_TRUE(has(left_on(80, more), "\n(22 more: "));
  EXPECT_TRUE(has(sandbox_.tune(words).out, "\n(7 more: best.csv, or the same command with --top all)\n"))
      << "elsewhere, too";
  Words all = {"bench.yaml", "--no-finals"};
  EXPECT_TRUE(has(left_on(80, all), "       26 bench/T=27")) << "and in mesh order";
}

TEST_F(TerminalTest, TheBestIsBoldAndFailuresAreRed) {
  const Words words = {"bench.yaml", "--tune", "--no-finals", "-o", "best"};
  left_on(80, words);
  EXPECT_TRUE(has(raw_, "\n\x1b[1m        0  bench/T=1"));
  EXPECT_TRUE(has(raw_, "\n\x1b[31mfailed: 3\x1b[0m\r\n"));
  const std::string plain = without_escapes(raw_);
  sandbox_.environment["NO_COLOR"] = "1";
  left_on(80, words);
  EXPECT_EQ(count(raw_, "m        0"), 0) << raw_;
  EXPECT_EQ(count(raw_, "\x1b[31m"), 0) << raw_;
  const auto with = [&](const std::string& when) {
    Words colored = words;
    colored.insert(colored.end(), {"--color", when});
    return colored;
  };
  left_on(80, with("always"));
  EXPECT_TRUE(has(raw_, "\n\x1b[1m        0  bench/T=1"));
  sandbox_.environment["NO_COLOR"] = "";
  left_on(80, with("never"));
  EXPECT_EQ(count(raw_, "\x1b[1m"), 0) << raw_;
  EXPECT_TRUE(has(sandbox_.tune(with("always")).out, "\n\x1b[1m        0  bench/T=1"));
  EXPECT_EQ(sandbox_.tune(with("auto")).out.find('\x1b'), std::string::npos);
}

TEST_F(TerminalTest, TiesHaveAColor) {
  sandbox_.write_script("{U: [a, b], T: 1}");
  left_on(80, {"bench.yaml", "--tune"});
  EXPECT_TRUE(has(raw_, "\n\x1b[1m\x1b[36m        0 "));
  EXPECT_TRUE(has(raw_, "\n\x1b[36m        1 "));
}

TEST_F(TerminalTest, ADumbTerminalGetsPlainLines) {
  for (const char* type : {"dumb", ""}) {
    sandbox_.environment["TERM"] = type;
    const std::string text = left_on(80, {"bench.yaml", "--tune", "-o", std::string("best") + type});
    EXPECT_EQ(raw_.find('\x1b'), std::string::npos) << raw_;
    EXPECT_TRUE(has(text, "30/30 | best 1.000 ms (0) T=1 | 3 failed"));
    EXPECT_TRUE(has(text, "\n(7 more: "));
  }
}

TEST_F(TerminalTest, ATerminalThatDoesNotTellItsWidthHas80Columns) {
  const Words words = {"bench.yaml", "--tune", "-q", "-o", "best"};
  const std::string text = left_on(80, words);
  InTerminal silent(sandbox_, words, 0);
  const auto table = [](const std::string& whole) { return whole.substr(0, whole.find("Elapsed")); };
  EXPECT_EQ(table(without_escapes(silent.text())), table(text));
  sandbox_.environment["COLUMNS"] = "40";
  InTerminal asked(sandbox_, words, 0);
  EXPECT_TRUE(has(asked.text(), " mesh_idx   T/SAYS  met (ms)  x baseline\r\n"));
}

TEST_F(TerminalTest, ProgressIsABarAndTheBestSoFar) {
  left_on(80, {"bench.yaml", "--tune", "-o", "best"});
  EXPECT_TRUE(has(raw_, "[#"));
  EXPECT_TRUE(has(raw_, "\r\n\x1b[1mbest 1.000 ms (0), 0:00 ago\x1b[0m  T=1"));
  EXPECT_TRUE(has(raw_, "  measuring "));
}

TEST_F(TerminalTest, ProgressTellsTheRoundsOfTheFinals) {
  sandbox_.write("slow.sh", "#!/bin/sh\nsleep 0.1\necho \"{\\\"time\\\": 0.00${1#--T=}, \\\"ok\\\": true}\"\n");
  std::filesystem::permissions(sandbox_.folder() / "slow.sh", std::filesystem::perms::owner_all);
  sandbox_.write("slow.yaml", "{name: slow, file: slow.sh, params: {T: [1, 2]}, baseline: {T: 2}}");
  left_on(80, {"slow.yaml", "--tune", "-o", "best"});
  EXPECT_TRUE(has(raw_, "  ETA 0:"));
  EXPECT_TRUE(has(raw_, "finals: round "));
  EXPECT_TRUE(has(raw_, " of 3 contenders left")) << "two specs and the baseline";
}

TEST_F(TerminalTest, WithoutATerminalProgressIsALineEveryTenSeconds) {
  sandbox_.write("slow.sh", "#!/bin/sh\n[ \"$1\" = --T=2 ] && sleep 11\necho '{\"time\": 1, \"ok\": true}'\n");
  std::filesystem::permissions(sandbox_.folder() / "slow.sh", std::filesystem::perms::owner_all);
  sandbox_.write("slow.yaml", "{name: slow, file: slow.sh, params: {T: [1, 2]}}");
  const std::string progress = sandbox_.tune({"slow.yaml"}).err;
  EXPECT_TRUE(has(masked(progress),
                  " # specs\n#/# | best # ms (#) T=#, #:# ago | measuring #\n"
                  "#/# | best # ms (#) T=#\n"))
      << progress;
}

TEST_F(TerminalTest, AReaderThatLeavesIsNoProblem) {
  const std::string script = "{ $TUNE bench.yaml --tune -o best; echo code $? >code; } | head -n 1; cat code";
  InTerminal run(sandbox_, "/bin/sh", {"-c", script}, 80);
  EXPECT_TRUE(has(run.text(), "DECIDED: T=1 (spec 0), 1.000 ms +-0 %, the fastest of 30 specs, 3 of which failed\r\n"));
  EXPECT_TRUE(has(run.text(), "code 0\r\n"));  // warnings may stand before it
  EXPECT_FALSE(has(run.text(), "tune: error")) << run.text();
  EXPECT_TRUE(has(run.text(), "best 1.000 ms (0)"));
}

TEST_F(TerminalTest, OfAnotherObjectiveItsValueIsShown) {
  sandbox_.write_script("{T: [1, 2]}", "metrics: {rate: {expr: T/time, maximize: true}}\nobjective: rate\n");
  EXPECT_TRUE(has(left_on(80, {"bench.yaml", "--no-finals"}), "2/2 | best 1000 rate (0) T=1\n"));
}

// Tables, notes and errors. Lists of options and files for other programs, such as YAML, have widths of their own.
TEST_F(TerminalTest, EveryCommandFitsEightyColumns) {
  namespace fs = std::filesystem;
  for (const char* folder : {"configs", "demo"})
    fs::create_directory_symlink(fs::path(TUNE_SOURCE_DIR) / folder, sandbox_.folder() / folder);
  fs::copy_file(fs::path(TUNE_SOURCE_DIR) / "demo/softmax.cpp", sandbox_.folder() / "a_kernel_with_a_long_name.cpp");
  const std::string mma = "configs/recorded/gemm_mma_8192_h200.jsonl",
                    simt = "configs/recorded/gemm_simt_exhaustive_h200.jsonl",
                    hopper = "configs/h200/hopper_bf16.db.yaml", wgmma = "configs/h200/gemm_wgmma.db.yaml";
  const Words diff = {"diff", "configs/recorded/gemm_simt_isolation_spec_h200.jsonl",
                      "configs/recorded/gemm_simt_isolation_auto_h200.jsonl"};
  const std::vector<std::pair<int, Words>> commands = {
      {0, {"bench.yaml", "--tune"}},
      {0, {"bench.yaml", "--tune", "--output", "best"}},
      {0, {"best.yaml"}},
      {0, {"best.yaml", "--compare", "--seed", "3"}},
      {0, {"bench.yaml", "--dry-run"}},
      {0, {"show"}},
      {0, {"show", "--list"}},
      {0, {"show", "best", "--failed"}},
      {0, {"show", mma}},
      {0, {"show", mma, "--effects"}},
      {0, {"show", mma, "--chart"}},
      {0, {"show", mma, "--changes"}},
      {0, {"show", mma, "--failed"}},
      {0, {"show", mma, "--sort", "registers"}},
      {0, {"show", simt}},
      {0, {"show", simt, "--effects"}},
      {0, {"show", hopper}},
      {0, {"show", "configs/recorded/hopper_scaled_h200.jsonl.gz"}},
      {0, {"show", "configs/recorded/hopper_grouped_skewed_h200.jsonl.gz"}},
      {0, {"show", "configs/recorded/hotspot_h200.jsonl", "--changes"}},
      {2, {"show", simt, "--columns", "nothing"}},
      {2, {"show", "nowhere.jsonl"}},
      {0, diff},
      {0, {"diff", hopper, hopper}},
      {0, {"merge", hopper, "-o", "new.db.yaml"}},
      {0, {"report", simt, "--yaml", "configs/gemm_simt.yaml", "-o", "report.html"}},
      {2, {"report", "nowhere"}},
      {2, {"convert", mma, "run.nonsense"}},
      {0, {"--simulate", simt, "--max-evals", "20", "--tune"}},
      {0, {"configs/gemm_simt.yaml", "--dry-run", "--device-file", "h100", "--top", "5"}},
      {0, {"configs/gemm_cpu.yaml", "--build-only", "--max-evals", "1"}},
      {0, {"init", "a_kernel_with_a_long_name.cpp"}},
      {2, {"init", "a_kernel_with_a_long_name.cpp"}},
      {0, {"cache", "info"}},
      {0, {"cache", "verify"}},
      {0, {"cache", "clear"}},
      {2, {"bench.yaml", "--filter", "T=99"}},
      {2, {"bench.yaml", "--param", "NOTHING:3"}},
      {2, {"nowhere.yaml", "--tune"}},
      {2, {"--tune", "--param", "X:[1,2]", "--", "xz"}},
      {2, {"lookup", "--db", hopper}},
      {1, {"lookup", "--db", hopper, "-m", "8", "-n", "8", "-k", "8", "--device", "nothing"}},
      {0, {"cover", wgmma, "configs/recorded/gemm_wgmma_shapes_h200.jsonl.gz", "--slowdown", "1.04", "-o", "x.yaml"}},
      {2, {"cover", "nowhere.db.yaml", "nowhere"}},
      {0, {"audit", "--simulate", mma, "--runs", "2"}},
      {2, {"--simulate", mma, "--tune", "--objective", "nothing"}},
      {2, {"bench.yaml", "--spec", "99"}},
      {2, {"bench.yaml", "--tune", "--strategy", "nothing"}},
      {2, {"retime", "nowhere.db.yaml", "--yaml", "nowhere.yaml"}},
      {2, {"package", "nowhere.db.yaml", "--yaml", "nowhere.yaml", "-o", "nowhere"}},
      {2, {}},
  };
  for (const auto& [code, words] : commands) {
    std::string line = "tune";
    for (const std::string& word : words) line += " " + word;
    SCOPED_TRACE(line);
    InTerminal run(sandbox_, words, 80);
    EXPECT_EQ(run.code(), code) << run.text();
    Screen screen(80);
    // A command to repeat a failed spec stands in one line, so that it can be copied; so does the place of a journal.
    std::istringstream lines(run.text());
    for (std::string each; std::getline(lines, each);)
      if (!has(each, "    tune ") && !has(each, "/state/tune/")) screen.write(each + "\n");
    EXPECT_EQ(screen.wraps(), 0) << run.text();
  }
}

TEST_F(TerminalTest, ACommandToCopyIsALineOfItsOwn) {
  const Words words = {"env", "--option-with-a-name", "-1", "a_file_whose_name_is_as_long_as_the_line"};
  const std::string command =
      "tune --tune --param 'NAME:[1,2]' -- env --option-with-a-name -1 a_file_whose_name_is_as_long_as_the_line";
  InTerminal run(sandbox_, words, 60);
  EXPECT_EQ(run.code(), 2);
  EXPECT_TRUE(has(without_escapes(run.text()), " tune:\n    " + command + "\n")) << run.text();
  EXPECT_TRUE(has(sandbox_.tune(words).err, " tune: " + command + "\n")) << "in one line, to be searched";
}

TEST_F(TerminalTest, ATerminalMayBeResized) {
  sandbox_.write_script("{T: {range: [1, 60]}}");
  InTerminal run(sandbox_, {"bench.yaml", "--tune", "-o", "best"}, 80);
  run.until("best ");
  for (const int columns : {30, 120, 20, 10, 1, 80}) run.resize(static_cast<unsigned short>(columns));
  EXPECT_EQ(run.code(), 0) << run.text();
  EXPECT_TRUE(has(run.text(), "top_spec_idx: 0\r\n"));
}

TEST_F(TerminalTest, ATerminalMayGoAway) {
  InTerminal run(sandbox_, {"bench.yaml", "--tune", "-o", "best"}, 80);
  run.until("best ");
  run.hang_up();
  EXPECT_EQ(run.code(), 4) << "the results could not be printed";
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "T: 1\n"));
}

TEST_F(TerminalTest, AnInterruptionLeavesACleanScreen) {
  sandbox_.write("wait.sh", "#!/bin/sh\n[ \"$1\" = --T=2 ] && exec sleep 60\necho '{\"time\": 1, \"ok\": true}'\n");
  std::filesystem::permissions(sandbox_.folder() / "wait.sh", std::filesystem::perms::owner_all);
  sandbox_.write("wait.yaml", "{name: wait, file: wait.sh, params: {T: [1, 2]}}");
  InTerminal run(sandbox_, {"wait.yaml", "--tune", "-o", "best"}, 80);
  run.until("measuring 1");
  run.interrupt();
  EXPECT_EQ(run.code(), 130);
  Screen screen(80);
  screen.write(run.text());
  const auto lines = screen.lines();
  EXPECT_TRUE(std::ranges::none_of(lines, [](const std::string& line) { return line.starts_with("["); })) << run.text();
  EXPECT_TRUE(has(run.text(), "1/2 | best 1000 ms (0) T=1\r\n"));
  EXPECT_TRUE(has(run.text(), "\r\n1 of 2 tried\r\n"));
}

TEST_F(TerminalTest, ASearchSaysHowManyOfTheSpecsItTried) {
  const Words words = {"bench.yaml", "--tune", "--no-finals", "--max-evals", "5", "--strategy", "random"};
  EXPECT_TRUE(has(left_on(80, words), "\n5 of 30 tried\n"));
  const std::string elsewhere = sandbox_.tune(words).out;
  EXPECT_TRUE(has(elsewhere, "\n5 of 30 tried\n"));
  EXPECT_EQ(count(sandbox_.tune({"bench.yaml", "--tune", "--no-finals"}).out, "tried\n"), 0);
  EXPECT_EQ(count(sandbox_.tune({"bench.yaml", "--spec", "3"}).out, "tried\n"), 0);
}

TEST_F(TerminalTest, NamesDoNotDependOnTheRowsShown) {
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--tune", "--no-finals", "--top", "1"}).out, " bench/T=1  1.000000"));
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--spec", "3"}).out, " bench/T=4  4.000000"));
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--filter", "T=4"}).out, " bench/T=4  4.000000"));
}

TEST_F(TerminalTest, WideCharactersAreCountedAsTheTerminalDoes) {
  sandbox_.write_script("{T: [1, 2], $NAME: [行列, a]}");
  InTerminal run(sandbox_, {"bench.yaml", "--tune", "--no-finals"}, 80);
  EXPECT_TRUE(has(run.text(), " mesh_idx                name  met (ms)"));
  EXPECT_TRUE(has(run.text(), "        0 bench/T=1/NAME=行列     1.000"));
}

TEST_F(TerminalTest, FailedBuildsCountInTheTimeSpent) {
  sandbox_.write_script("{T: 1}", "build: {command: [sh, -c, 'sleep 0.3; exit 1', '{defines}']}\n");
  const Result result = sandbox_.tune({"bench.yaml"});
  EXPECT_TRUE(has(result.err, "in parallel: build "));
  EXPECT_EQ(count(result.err, "build 0.0 s"), 0) << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_terminal_test
