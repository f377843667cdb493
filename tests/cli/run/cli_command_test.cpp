// Any executable: what stands behind `--`, and what `run:` of a tuning file without `file:` says.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_command_test {
namespace {

using Words = std::vector<std::string>;

class Commands : public testing::Test {
 protected:
  /// A script that appends its arguments to seen.txt, a line for each run, and goes on with `body`. It sleeps, because
  /// a program that ends at once is started hundreds of times to be timed.
  void write_script(const std::string& body = "sleep 0.05") const {
    const auto path =
        sandbox_.write("run.sh", "#!/bin/sh\nprintf '%s|' \"$@\" >> seen.txt; echo >> seen.txt\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  Result tune(Words options, const Words& command, int code = 0) const {
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return tune(options, code);
  }
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.out << result.err;
    return result;
  }
  /// The different lines of seen.txt, sorted; it is removed.
  std::vector<std::string> seen() const {
    std::vector<std::string> lines = all_seen();
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
  }
  std::vector<std::string> all_seen() const {
    if (!std::filesystem::exists(sandbox_.folder() / "seen.txt")) return {};
    std::istringstream text(sandbox_.read("seen.txt"));
    std::filesystem::remove(sandbox_.folder() / "seen.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// Nothing was started.
  void refuses(const Words& words, const std::string& complaint) const {
    EXPECT_EQ(refusal(sandbox_, words), "tune: error: " + complaint + "\n");
    EXPECT_EQ(seen(), Words());
  }
  void refuses_yaml(const std::string& yaml, const std::string& complaint) const {
    sandbox_.write("run.yaml", "name: x\n" + yaml + "\n");
    refuses({"run.yaml", "--tune"}, complaint);
  }
  /// The column of a CSV file.
  std::vector<std::string> column(const std::string& file, const std::string& title) const {
    std::istringstream text(sandbox_.read(file));
    std::vector<std::string> cells;
    std::string line;
    std::getline(text, line);
    const auto titles = cells_of(line);
    const auto at = std::ranges::find(titles, title) - titles.begin();
    while (std::getline(text, line)) cells.push_back(cells_of(line).at(static_cast<std::size_t>(at)));
    return cells;
  }
  static Words cells_of(const std::string& line) {
    Words cells;
    std::istringstream text(line + ",");
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    return cells;
  }

  Sandbox sandbox_;
};

const Words kQuick = {"--tune", "--no-finals", "--output", "out"};

TEST_F(Commands, ACommandLineThatIsTooLongIsTheFailureOfItsSpec) {
  const std::string params = "params: {P: [\"1\", \"" + std::string(200'000, '2') + "\"]}\n";
  sandbox_.write_script("{T: 1}");
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\n" + params);
  sandbox_.write("p.cpp", "#include <cstdio>\nint main() { std::puts(\"{\\\"time\\\": 1e-3, \\\"ok\\\": true}\"); }\n");
  sandbox_.write("p.yaml", "name: p\nfile: p.cpp\n" + params);
  sandbox_.write_gemm();
  sandbox_.write("gemm.yaml", std::regex_replace(sandbox_.read("gemm.yaml"), std::regex("  BM: .*\n"),
                                                 "  BM: [1]\n  " + params.substr(9, params.size() - 11) + "\n"));
  for (const char* file : {"bench.yaml", "p.yaml", "gemm.yaml"}) {
    const Result result = tune(Words{file, "--no-finals"});
    EXPECT_TRUE(has(result.out, "its command line and environment are too long for the system")) << file;
    EXPECT_TRUE(has(result.out, "1 of 2 measured\n")) << file;
  }
}

TEST_F(Commands, AnInstalledProgramIsTunedWithoutATuningFile) {
  sandbox_.write("input.txt", "b\nc\na\n");
  const Result result = tune(
      {"--tune", "--finals-budget", "2s", "--param", "P:[1,2]", "--param", "buffer-size:[1M,2M]", "--output", "out"},
      {"sort", "--parallel={P}", "--buffer-size={buffer-size}", "input.txt"});
  EXPECT_TRUE(has(result.out, "Tuning [sort] from [sort --parallel={P} --buffer-size={buffer-size} input.txt]\n"))
      << result.out;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 4\n"));
  EXPECT_TRUE(has(result.out, "sort/P=1/buffer-size=1M"));
  EXPECT_TRUE(has(result.out, "\ncommand: sort --parallel="));
  for (const char* title : {"user_ms", "system_ms", "peak_mib"}) {
    EXPECT_TRUE(has(result.out, title));
    EXPECT_EQ(column("out.csv", title).size(), 4u);
  }
  for (const std::string& peak : column("out.csv", "peak_mib")) EXPECT_GT(std::stod(peak), 0.5);
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "  command: 'sort --parallel=")) << sandbox_.read("out.yaml");
}

TEST_F(Commands, ATuningFileWithoutANameIsCalledAfterTheProgram) {
  const auto heading = [this](const std::string& run) {
    sandbox_.write("run.yaml", "run: " + run + "\nparams: {P: 1}\nmeasure: {max_seconds: 0.02}\n");
    return tune({"run.yaml", "--no-finals", "--output", "out"}).out;
  };
  EXPECT_TRUE(has(heading("' /bin/true {P}'"), "Tuning [true] from [/bin/true {P}]"));
  EXPECT_TRUE(has(heading("['true', '{P}']"), "Tuning [true] from [true {P}]"));
}

TEST_F(Commands, TheBestYamlRepeatsTheWinner) {
  write_script("sleep 0.0$2");
  tune({"--tune", "--no-finals", "--param", "LEVEL:[5,1]", "--output", "best"},
       {"./run.sh", "-{LEVEL}", "{LEVEL}", "a b"});
  EXPECT_EQ(seen(), (Words{"-1|1|a b|", "-5|5|a b|"}));
  const std::string yaml = sandbox_.read("best.yaml");
  EXPECT_TRUE(has(yaml, "  command: './run.sh -1 1 ''a b'''\n")) << yaml;
  EXPECT_TRUE(has(yaml, "params:\n  LEVEL: 1\n")) << yaml;
  tune({"best.yaml", "--tune", "--output", "again"});
  EXPECT_EQ(seen(), (Words{"-1|1|a b|"}));
  EXPECT_TRUE(has(sandbox_.read("again.yaml"), "  command: './run.sh -1 1 ''a b'''\n"));
}

TEST_F(Commands, PlaceholdersStandAnywhereInAWord) {
  write_script();
  tune({"--no-finals", "--param", "N:[1]", "--param", "flag:['', --fast]", "--param", "odd-name.1:[x y]"},
       {"./run.sh", "data-{N}.txt", "{flag}", "{odd-name.1}", "{{N}}", "${N}", "{ N }", "{1}", "{N}{N}"});
  EXPECT_EQ(seen(), (Words{"data-1.txt|--fast|x y|{N}|${N}|{ N }|{1}|11|", "data-1.txt|x y|{N}|${N}|{ N }|{1}|11|"}));
}

TEST_F(Commands, AValueIsPassedAsItIsWritten) {
  const auto names = [&](const std::string& values) {
    return tune({"--dry-run", "--param", "CPUS:" + values, "--", "taskset", "-c", "{CPUS}", "true"}).out;
  };
  const std::string out = names("[0-1, 1/2, '1.10', '1e3']");
  for (const char* value : {"0-1", "1/2", "1.10", "1e3"}) EXPECT_TRUE(has(out, "CPUS=" + std::string(value) + "\n"));
  EXPECT_TRUE(has(names("0-3"), "CPUS=0-3\n"));
}

TEST_F(Commands, ATuningFileSaysWhatToRun) {
  write_script();
  const std::string params =
      "name: x\nmeasure: {max_seconds: 0.01}\nparams: {A: [1, 2], file: [f.txt]}\nlet: {B: A*10}\n";
  int runs = 0;
  for (const char* run :
       {"run: ./run.sh --a={A} \"b c\" 'd|e' {B} {file}\n", "run: [./run.sh, '--a={A}', b c, 'd|e', '{B}', '{file}']\n",
        "run: ./run.sh --a={A} 'b c' 'd|e' {B} {file} > out.txt\nshell: true\n"}) {
    sandbox_.write("run.yaml", params + run);
    tune({"run.yaml", "--output", std::to_string(++runs)});
    EXPECT_EQ(seen(), (Words{"--a=1|b c|d|e|10|f.txt|", "--a=2|b c|d|e|20|f.txt|"})) << run;
  }
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "out.txt"));
}

TEST_F(Commands, WhatHasNoPlaceholderOfItsOwnIsAnArgument) {
  write_script();
  tune({"--param", "A:1", "--param", "B:2"}, {"./run.sh", "{A}", "{args}"});
  EXPECT_EQ(seen(), (Words{"1|--B=2|"}));
}

TEST_F(Commands, AShellRunsOnlyWhatIsAskedFor) {
  write_script();
  tune({"--shell", "--param", "A:[x y]"}, {"./run.sh {A} | cat > piped.txt; ./run.sh $((1+1))"});
  EXPECT_EQ(seen(), (Words{"2|", "x y|"}));
  tune({"--param", "A:1"}, {"./run.sh {A} 'b  c'"});
  EXPECT_EQ(seen(), (Words{"1|b  c|"}));
  const std::string told = tune({"--param", "A:1"}, {"./run.sh", "{A}", "|", "$HOME"}).err;
  EXPECT_EQ(seen(), (Words{"1|||$HOME|"}));
  EXPECT_TRUE(has(told,
                  "warning: the command behind --: ./run.sh is given the word '|' as it is, because no shell runs "
                  "the command; --shell lets one run it (in a file: shell: true, and one string)\n"))
      << told;
}

TEST_F(Commands, WhatFindsItsOwnFilesIsToldHowToRemoveThem) {
  write_script("[ ! -e left ] || { printf 'left already exists;\\tnot overwritten\\n' >&2; exit 2; }; touch left");
  const std::string out = tune({"--param", "A:1"}, {"./run.sh", "{A}"}, 1).out;
  EXPECT_TRUE(has(out,
                  "the program ended with exit code 2: left already exists; not overwritten; it is run again and "
                  "again: let it write to stdout, or remove the file before each run by --prepare\n"))
      << out;
  tune({"--param", "A:1", "--prepare", "rm -f left"}, {"./run.sh", "{A}"});
}

TEST_F(Commands, ExpressionsSpellOddNamesWithUnderscores) {
  write_script();
  sandbox_.write(
      "run.yaml",
      "name: x\nmeasure: {max_seconds: 0.01}\nparams: {buffer-size: [1, 2, 3]}\nconstraints: [buffer_size != 2]\n"
      "run: ./run.sh {buffer-size}\n");
  tune({"run.yaml", "--output", "out", "--filter", "buffer-size=3"});
  EXPECT_EQ(seen(), (Words{"3|"}));
  tune({"run.yaml", "--output", "out"});
  EXPECT_EQ(seen(), (Words{"1|"}));
}

TEST_F(Commands, PrepareWarmupAndCleanupRunAroundTheTimedRuns) {
  write_script();
  sandbox_.write("run.yaml",
                 "name: x\nmeasure: {warmup: 2, min_launches: 3, max_seconds: 1e-9}\nparams: {A: [1]}\n"
                 "run: ./run.sh {A}\nwhole: true\nprepare: ./run.sh prepare {A}; true\ncleanup: [./run.sh, cleanup]\n");
  tune({"run.yaml", "--output", "out"});
  EXPECT_EQ(all_seen(), (Words{"prepare|1|", "1|", "prepare|1|", "1|", "prepare|1|", "1|", "cleanup|"}));
  EXPECT_EQ(column("out.csv", "iters"), (Words{"1"}));
  tune({"run.yaml", "--output", "two", "--warmup", "0", "--prepare", "true", "--cleanup", "./run.sh done"});
  EXPECT_EQ(all_seen(), (Words{"1|", "done|"}));
}

TEST_F(Commands, AFailedPreparationFailsTheSpecAndIsCleanedUp) {
  write_script();
  const Result result = tune({"--param", "A:[1,2]", "--prepare", "test {A} = 1 || { echo no room >&2; exit 3; }",
                              "--cleanup", "./run.sh cleanup", "--whole", "--warmup", "0"},
                             {"./run.sh", "{A}"});
  EXPECT_TRUE(has(result.out, "measure, reported: prepare ended with exit code 3: no room\n")) << result.out;
  EXPECT_EQ(seen(), (Words{"1|", "cleanup|"}));
}

TEST_F(Commands, AnotherExitCodeThan0FailsTheSpec) {
  write_script("test $1 != 2 || { echo one >&2; echo two >&2; exit 7; }");
  const Result result = tune({"--param", "A:[1,2]"}, {"./run.sh", "{A}", "x y"});
  EXPECT_TRUE(has(result.out,
                  "     1  measure, reported: the program ended with exit code 7: two\n         one\n         two\n"))
      << result.out;
  EXPECT_TRUE(has(result.out, "         tune --param 'A:[1,2]' --spec 1 -- ./run.sh '{A}' 'x y'\n")) << result.out;
  seen();
  tune({"--param", "A:[1,2]", "--spec", "1", "--", "./run.sh", "{A}", "x y"}, 1);
  EXPECT_EQ(seen(), (Words{"2|x y|"}));
}

TEST_F(Commands, TimeAndMemoryAreLimited) {
  const Result result = tune({"--param", "S:[0.05,60]", "--timeout-run", "2"}, {"sleep", "{S}"});
  EXPECT_TRUE(has(result.out, "timed out: no answer within 2 s")) << result.out;
  EXPECT_TRUE(has(result.out, "\n1 of 2 measured\n"));
  const Result memory =
      tune({"--param", "S:[900M]", "--memory", "200M"}, {"dd", "bs={S}", "count=1", "if=/dev/zero", "of=/dev/null"}, 1);
  EXPECT_TRUE(has(memory.out, "its memory is limited to 200 MiB by --memory")) << memory.out;
}

TEST_F(Commands, AResultThatTheCommandReportsCounts) {
  write_script("echo '{\"name\": \"case '$1'\", \"time\": 0.'$1', \"speed\": 5}'");
  const Result result = tune({"--tune", "--param", "A:[2,1]", "--output", "out"}, {"./run.sh", "{A}"});
  EXPECT_EQ(column("out.csv", "met (ms)"), (Words{"200", "100"}));
  EXPECT_EQ(column("out.csv", "name (reported)"), (Words{"case 2", "case 1"}));
  EXPECT_TRUE(has(result.out, "name (reported)")) << result.out;
  EXPECT_TRUE(has(result.out, "case 1")) << result.out;
  EXPECT_TRUE(has(result.out, "speed")) << result.out;
  EXPECT_FALSE(has(result.out, "user_ms")) << result.out;
  EXPECT_TRUE(has(result.out,
                  "note: the times are those that the command reports itself; --whole (whole: true) times "
                  "the command instead\n"))
      << result.out;
}

TEST_F(Commands, OneThatLeavesItsWorkToTheBackgroundIsNotTimed) {
  write_script("case $1 in 1) sleep 0.05;; 2) sleep 1 & ;; 3) setsid sh -c 'sleep 1 & ' & ;; esac");
  for (const std::string option : {"--no-finals", "--whole"}) {
    tune({"--param", "A:[1,2,3]", option, "--output", "out" + option}, {"./run.sh", "{A}"});
    EXPECT_EQ(column("out" + option + ".csv", "status"), (Words{"ok", "failed", "failed"}));
    for (const wire::TrialRecord& record : sandbox_.trials("out" + option + ".jsonl")) {
      const std::string outcome = outcome_text(record.trial);
      const bool refused = has(outcome, "the command ended before its work: a process that it started still ran");
      EXPECT_EQ(refused, record.trial.spec.mesh_idx > 0) << outcome;
    }
  }
  write_script("sh -c 'sleep 0.002' & true");
  tune({"--param", "A:1", "--output", "moment"}, {"./run.sh", "{A}"});
  EXPECT_GE(std::stod(column("moment.csv", "met (ms)").front()), 2) << "what ends at once counts";
}

TEST_F(Commands, AResultIsFoundHoweverMuchIsPrintedAroundIt) {
  const std::string much = "head -c 100000 /dev/zero | tr '\\0' 'x'; echo; ";
  write_script(much + "echo '{\"time\": 5}'; " + much);
  tune({"--param", "A:1", "--output", "one"}, {"./run.sh", "{A}"});
  EXPECT_EQ(column("one.csv", "met (ms)"), Words{"5000"});
  write_script("echo '{\"time\": 1}'; " + much + "echo '{\"time\": 5}'; " + much);
  EXPECT_TRUE(has(tune({"--param", "A:1"}, {"./run.sh", "{A}"}, 1).out, "2 results on stdout"));
}

TEST_F(Commands, WhatIsTimedAsAWholeMayPrintAnything) {
  write_script("echo '{\"time\": 1e-9}'; echo '{\"time\": 2}'");
  const Result both = tune({"--param", "A:1"}, {"./run.sh", "{A}"}, 1);
  EXPECT_TRUE(has(both.out,
                  "2 results on stdout: a program must run exactly one case; --whole (whole: true) times the "
                  "command, whatever it prints\n"))
      << both.out;
  const Result result = tune({"--param", "A:1", "--whole", "--output", "out"}, {"./run.sh", "{A}"});
  EXPECT_TRUE(has(result.out, "user_ms")) << result.out;
  EXPECT_GT(std::stod(column("out.csv", "met (ms)").front()), 0.01);
  write_script("echo '{\"size\": 7}'; echo '{'; echo '[1]'; head -c 300000 /dev/zero");
  tune({"--param", "A:1", "--output", "other"}, {"./run.sh", "{A}"});
  EXPECT_TRUE(has(sandbox_.read("other.csv"), "user_ms"));
}

TEST_F(Commands, OneThatReportsItsTimeIsNotComparedWithOneThatDoesNot) {
  write_script("test $1 = 2 || echo '{\"time\": 5}'");
  const Result result = tune({"--tune", "--param", "A:[1,2,3]", "--no-finals", "--output", "out"}, {"./run.sh", "{A}"});
  EXPECT_EQ(column("out.csv", "status"), (Words{"ok", "failed", "ok"}));
  EXPECT_TRUE(has(result.out,
                  "the program printed no result, and in spec 0 it printed one: their times cannot be "
                  "compared; say which counts by whole: true (--whole) or whole: false\n"))
      << result.out;
}

TEST_F(Commands, AProgramInAFileIsTimedAsAWholeOnRequest) {
  write_script();
  sandbox_.write("run.yaml", "name: x\nfile: run.sh\nmeasure: {max_seconds: 0.01}\nparams: {A: [1, 2]}\n");
  EXPECT_TRUE(has(tune({"run.yaml", "--output", "out"}, 1).out, "the program wrote no result"));
  EXPECT_TRUE(has(tune({"run.yaml", "--output", "two", "--whole"}).out, "user_ms"));
  EXPECT_EQ(seen(), (Words{"--A=1|", "--A=2|"}));
}

TEST_F(Commands, ResourcesCanBeTheObjective) {
  write_script("test $1 = 1 || sleep 0.01");
  const Result result =
      tune({"--tune", "--no-finals", "--param", "A:[1,2]", "--objective", "peak_mib", "--output", "out"},
           {"./run.sh", "{A}"});
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "objective: peak_mib\n")) << sandbox_.read("out.yaml");
  tune({"out.yaml"});
}

// The best takes the longest, and its figure is a thousandth less than another's.
TEST_F(Commands, AFigureThatEachRunPrintsDecidesTheFinals) {
  write_script("sleep 0.0$1; echo \"{\\\"bytes\\\": $((1000 - $1)), \\\"ok\\\": true}\"");
  const auto verdict_by = [&](const std::string& objective) {
    return tune({"--tune", "--param", "A:[1,2,3]", "--objective", objective, "--output", "out"}, {"./run.sh", "{A}"});
  };
  const Result result = verdict_by("bytes");
  EXPECT_TRUE(result.out.starts_with("DECIDED: A=3 (spec 2), bytes 997, ")) << result.out;
  EXPECT_TRUE(has(result.err, "| best 997 bytes (2) A=3\n")) << result.err;
  EXPECT_FALSE(has(result.err, "warning: ")) << result.err;
  EXPECT_FALSE(has(result.out, "checked: no")) << result.out;
  EXPECT_FALSE(seen().empty());
  EXPECT_TRUE(verdict_by("bytes").out.starts_with("DECIDED: A=3 ")) << "by the recorded finals";
  EXPECT_EQ(seen(), Words());
  const std::string other = sandbox_.tune({"--simulate", "out.jsonl", "--tune", "--objective", "time"}).out;
  EXPECT_TRUE(has(other, "DECIDED: A=1 ")) << "the recorded figures do not answer for the time: " << other;
  EXPECT_TRUE(has(verdict_by("time").out, "DECIDED: A=1 ")) << "or undecided; by finals of their own";
  EXPECT_FALSE(seen().empty());
}

TEST_F(Commands, AnEarlierResultIsComparedByTheObjective) {
  write_script("sleep 0.0$1; echo \"{\\\"bytes\\\": $((1000 - 100 * $1))}\"");
  const auto gate = [&](const std::string& values, Words options, int code) {
    options.insert(options.begin(), {"--tune", "--param", "A:" + values});
    return tune(options, {"./run.sh", "{A}"}, code).out;
  };
  gate("[2,3]", {"--objective", "bytes", "--output", "old"}, 0);
  const Words compared = {"--objective", "bytes", "--baseline", "old.yaml"};
  const std::string better = gate("[3,4]", compared, 0), worse = gate("[1,2]", compared, 3);
  EXPECT_TRUE(better.starts_with("PASS: new is 0.857 times as bad as old (0.857..0.857), allowed 1.03\n")) << better;
  EXPECT_TRUE(worse.starts_with("FAIL: new is 1.143 times as bad as old (1.143..1.143), allowed 1.03: worse\n"))
      << worse;
  Words alone = compared;
  alone.push_back("--no-finals");
  EXPECT_TRUE(gate("[1,2]", alone, 5)
                  .starts_with("UNDECIDED: new is 1.143 times as bad as old, its noise is not known, allowed 1.03"));
  const std::string one = gate("[2]", compared, 3);
  EXPECT_TRUE(has(one, ": worse\n  old: old.yaml, its winner, by its recorded value, because what is not built "))
      << one;
  EXPECT_EQ(refusal(sandbox_, {"--tune", "--param", "A:[1,2]", "--objective", "peak_mib", "--objective", "bytes",
                               "--baseline", "old.csv", "--", "./run.sh", "{A}"}),
            "tune: error: --baseline old.csv: it has no peak_mib, which is the objective; give the best.yaml of a run "
            "with --objective peak_mib, or compare the times: --objective time\n");
}

TEST_F(Commands, AFigureOfManyDigitsIsKnownToHaveStayedTheSame) {
  write_script("sleep 0.05; echo \"{\\\"bytes\\\": 123456$1}\"");
  const auto gate = [&](Words options) {
    options.insert(options.begin(), {"--tune", "--param", "A:[7,8]", "--objective", "bytes"});
    return tune(options, {"./run.sh", "{A}"}, 0).out;
  };
  gate({"--output", "old"});
  EXPECT_TRUE(has(sandbox_.read("old.yaml"), "bytes: 1234567\n")) << sandbox_.read("old.yaml");
  const std::string same = gate({"--output", "new", "--baseline", "old.yaml", "--threshold", "0"});
  EXPECT_TRUE(same.starts_with("PASS: new is 1.000 times as bad as old (1.000..1.000), allowed 1\n")) << same;
}

TEST_F(Commands, AFigureThatSomeRunsDoNotPrintIsAFailure) {
  write_script("sleep 0.05; test $(grep -c $1 seen.txt) = 3 || echo \"{\\\"bytes\\\": $1}\"");
  const Result result =
      tune({"--tune", "--no-finals", "--param", "A:[1,2]", "--output", "out"}, {"./run.sh", "{A}"}, 1);
  EXPECT_TRUE(has(result.out, "1 of its ")) << result.out;
  EXPECT_TRUE(has(result.out, " runs did not print bytes\n")) << result.out;
}

TEST_F(Commands, ASpecThatLacksItsFigureInTheFinalsHasFailedThere) {
  write_script("sleep 0.05; test $1 = 2 -a $(grep -c 2 seen.txt) -gt 2 || echo \"{\\\"bytes\\\": $1}\"");
  sandbox_.write("run.yaml", "name: x\nrun: ./run.sh {A}\nparams: {A: [1, 2]}\nmeasure: {max_seconds: 0.001}\n");
  const Result result = tune({"run.yaml", "--tune", "--objective", "bytes"});
  EXPECT_TRUE(has(result.out + result.err,
                  "spec 1 failed in the finals and keeps its time of the sweep: objective bytes was not measured"))
      << result.out << result.err;
}

TEST_F(Commands, WhatIsKnownIsNotRunAgainUnlessTheProgramChanges) {
  write_script();
  const Words options = {"--tune", "--no-finals", "--param", "A:[1,2]"}, command = {"./run.sh", "{A}"};
  const Result first = tune(options, command);
  EXPECT_TRUE(has(first.out, "note: journal: ")) << first.out;
  EXPECT_FALSE(seen().empty());
  tune(options, command);
  EXPECT_EQ(seen(), Words());
  tune({"--tune", "--no-finals", "--param", "A:[1,2]", "--prepare", "true"}, command);
  EXPECT_EQ(seen(), (Words{"1|", "2|"})) << "what is prepared matters";
  write_script("sleep 0.06");
  tune(options, command);
  EXPECT_EQ(seen(), (Words{"1|", "2|"}));
  tune(options, {"sh", "run.sh", "{A}"});
  EXPECT_EQ(seen(), (Words{"1|", "2|"}));
  write_script();
  tune(options, {"sh", "run.sh", "{A}"});
  EXPECT_EQ(seen(), (Words{"1|", "2|"})) << "the script is the program";
}

TEST_F(Commands, AnAuditRepeatsACommand) {
  write_script("sleep 0.0$1");
  const Result result =
      sandbox_.tune({"audit", "--runs", "2", "--param", "A:[1,5]", "--no-finals", "--", "./run.sh", "{A}"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "runs of each shape: 2")) << result.out;
}

TEST_F(Commands, ADryRunListsSpecsAndStartsNothing) {
  const Result result = tune({"--dry-run", "--param", "A:[1,2]"}, {"no-such-program", "{A}"});
  EXPECT_EQ(result.out, "        0 A=1\n        1 A=2\nNumber of valid specs: 2\n");
}

TEST_F(Commands, ADryRunSaysWhatARunWouldMiss) {
  EXPECT_TRUE(has(tune({"--dry-run", "--param", "A:1"}, {"no-such-program", "{A}"}).err,
                  "warning: no-such-program: run: cannot start no-such-program: not found on PATH\n"));
  sandbox_.write("gone.yaml", "name: gone\nfile: gone.sh\nparams: {A: 1}\n");
  EXPECT_TRUE(has(tune({"gone.yaml", "--dry-run"}).err, "warning: gone.yaml: there is no file "));
}

TEST_F(Commands, MistakesAreRefusedBeforeAnythingStarts) {
  write_script();
  std::filesystem::create_directory(sandbox_.folder() / "folder");
  const std::string behind = "the command behind --: ";
  refuses({"--tune", "--param", "LEVEL:[1,2]", "--", "./run.sh", "-{LEVL}"},
          behind + "unknown placeholder {LEVL} in run, did you mean {LEVEL}?");
  refuses({"--tune", "--param", "A:1", "--param", "B:[1,2]", "--", "./run.sh", "{A}"},
          behind +
              "the parameter 'B' does not reach the program: write {B} into run where its value is to stand, or "
              "{args} for --B=VALUE");
  refuses({"--tune", "--param", "args:1", "--", "./run.sh"},
          behind +
              "the parameter 'args' does not reach the program: {args} in run means something else; rename the "
              "parameter");
  refuses({"--tune", "--param", "A:1", "--", "./run.sh", "{A}", "{buffer-size}"},
          behind +
              "unknown placeholder {buffer-size} in run; there are {args} {output} {A}, and braces with blanks "
              "inside are no placeholder: { buffer-size }");
  refuses({"--tune", "--param", "A:1", "--", "./run.sh", "{A}", "{file}"},
          behind +
              "unknown placeholder {file} in run; there is no file: that it could stand for; add it, or a parameter "
              "of this name");
  refuses({"--tune", "--param", "args:1", "--", "./run.sh", "{args}"},
          behind +
              "{args} in run could mean the parameter 'args', and is also a placeholder with a meaning of its own; "
              "rename the parameter");
  refuses({"--tune", "--param", "A:1", "--", "no-such-program", "{A}"},
          "no-such-program: run: cannot start no-such-program: not found on PATH");
  refuses({"--tune", "--param", "A:[run,walk]", "--", "./{A}.sh", "{A}"},
          "{A}.sh: run: cannot start ./walk.sh: no such file");
  refuses({"--tune", "--param", "A:1", "--", "./run.sh {A} | cat"},
          behind +
              "run has an unquoted |, which only a shell understands; quote it, or let a shell run the command: "
              "shell: true (--shell)");
  refuses({"--tune", "--param", "A:1", "--", "./run.sh \"$HOME\" {A}"},
          behind +
              "run has a $ outside single quotes, which only a shell understands; quote it, or let a shell run the "
              "command: shell: true (--shell)");
  refuses({"--tune", "--param", "A:1", "--shell", "--", "./run.sh \"{A}\""},
          behind +
              "{A} in run is inside quotes, where the shell would execute parts of its value; remove the quotes: tune "
              "quotes the value itself; or write run as a list: [program, '{A}']");
  refuses({"--tune", "--param", "A:1", "--", "sh", "-c", "./run.sh {A}"},
          behind +
              "{A} in run is in the text of a script, where the shell would execute parts of its value; write run "
              "as one string and add shell: true (--shell), or give it to the script as an argument: [sh, -c, "
              "'program \"$@\"', sh, '{A}']");
  refuses({"--tune", "--param", "A:1", "--", "./folder", "{A}"}, "folder: run: cannot start ./folder: it is a folder");
  refuses({"--tune", "--", "./run.sh"},
          "the command has no parameter; give one as in --param LEVEL:[1,9], and write {LEVEL} where its value is to "
          "stand");
  refuses(
      {"--tune", "--"},
      "there is no command behind --; write for example: tune --tune --param LEVEL:[1,9] -- xz -{LEVEL} -k -c FILE");
  refuses({"run.yaml", "--tune", "--", "./run.sh"},
          "what stands behind -- is the command to tune, and run.yaml is a tuning file; give one of them (in a tuning "
          "file, run: is the command)");
  refuses({"--tune", "--backend", "cpu", "--param", "A:1", "--", "./run.sh", "{A}"},
          "a command behind -- is a program; drop --backend cpu");
  refuses({"--tune", "--warmup", "-1", "--param", "A:1", "--", "./run.sh", "{A}"},
          "--warmup: '-1' is not a whole number from 0 on; see tune --help");
}

TEST_F(Commands, MistakesInTuningFilesHaveTheirLine) {
  write_script();
  refuses_yaml("params: {A: 1}\nrun: ./run.sh '{A}' it's",
               "run.yaml:3: run has a quote (') without an end, which only a "
               "shell understands; quote it, or let a shell run the command: "
               "shell: true (--shell)");
  refuses_yaml("params: {A: 1}\nrun: [./run.sh, '{A}']\nshell: true",
               "run.yaml:4: shell: true is for a command in one string; write run as one");
  refuses_yaml(
      "params: {file: 1}\nfile: run.sh\nrun: [sh, '{file}']",
      "run.yaml:4: {file} in run could mean the parameter 'file', and is also a placeholder with a meaning of its "
      "own; rename the parameter");
  refuses_yaml("params: {A: 1}\nrun: ./run.sh {A}\nprepare: rm {out}",
               "run.yaml:4: unknown placeholder {out} in prepare; there are {A}, and braces with blanks inside are no "
               "placeholder: "
               "{ out }");
  refuses_yaml("params: {N: 1}\nfile: data-{N}.sh",
               "run.yaml:3: no such file: 'data-{N}.sh' (looked for " + (sandbox_.folder() / "data-{N}.sh").string() +
                   "); placeholders are replaced in run, prepare and cleanup, not in file");
  refuses_yaml("params: {A: 1}\nrun: ./run.sh {A}\nbackend: cuda",
               "run.yaml:4: backend cuda needs 'kernel:', the kernel's name; without it the file is run as a program");
  refuses_yaml(
      "params: {'A B': 1}\nrun: ./run.sh {A}",
      "run.yaml:2: 'A B' cannot be a parameter's name: use letters, digits and '_', after an optional '$'\n"
      "tune: error: run.yaml:3: unknown placeholder {A} in run; there are {args} {output}, and braces with blanks "
      "inside are no placeholder: { A }");
}

}  // namespace
}  // namespace tune::cli::cli_command_test
