#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"
#include "support/terminal.h"

namespace tune::cli::cli_mistakes_test {
namespace {

using Words = std::vector<std::string>;

/// What a newcomer gets wrong: most of it is refused, the rest is done with a warning.
class Mistakes : public testing::Test {
 protected:
  void SetUp() override { sandbox_.write_gemm(); }

  /// What stderr says of a tuning file that is fine, or allowed; nothing is started.
  std::string said(Words arguments) {
    arguments.insert(arguments.end(), {"--dry-run", "--quiet"});
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  }
  std::string said_of(const std::string& file) {
    sandbox_.write("file.yaml", file);
    return said({"file.yaml"});
  }
  /// The complaint about a command line.
  std::string refused(const Words& arguments) {
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  }
  std::string refused_file(const std::string& file) {
    sandbox_.write("file.yaml", file);
    return refused({"file.yaml"});
  }

  Sandbox sandbox_;
};

/// A kernel with the macros BM and SHAPE_wide; the rest of a tuning file follows.
constexpr const char* kHead = "name: x\nfile: gemm.cpp\nkernel: gemm\nproblem: {gemm: {m: 64, n: 64, k: 64}}\n";
constexpr const char* kLaunch = "launch: {args: [A, B, C, m, n, k]}\n";

TEST_F(Mistakes, AnErrorIsBrokenAtWordsInATerminal) {
  InTerminal terminal(sandbox_, {"gemm.yaml", "--param", "BMM:[1, 2]"}, 50);
  EXPECT_EQ(terminal.code(), 2);
  EXPECT_EQ(terminal.text(),
            "tune: error: --param BMM:[1, 2]: there is no\r\n  parameter 'BMM', did you mean 'BM'? To add it,\r\n"
            "  write --add-param 'BMM:[1, 2]'\r\n");
}

TEST_F(Mistakes, ParamOfAnUndeclaredNameIsRefused) {
  EXPECT_EQ(refused({"gemm.yaml", "--param", "BMM:[1, 2]"}),
            "tune: error: --param BMM:[1, 2]: there is no parameter 'BMM', did you mean 'BM'? To add it, write "
            "--add-param 'BMM:[1, 2]'\n");
  EXPECT_EQ(refused({"gemm.yaml", "--param", "$UNROLL:1"}),
            "tune: error: --param $UNROLL:1: there is no parameter 'UNROLL'; the file has BM. To add it, write "
            "--add-param '$UNROLL:1'\n");
  EXPECT_EQ(refused({"gemm.yaml", "--param", "m:32"}),
            "tune: error: --param m:32: 'm' is a size of the problem; write -m SIZE\n");
}

TEST_F(Mistakes, AddParamAddsAParameter) {
  const Result result = sandbox_.tune({"gemm.yaml", "--add-param", "NR:[4, 8]", "--param", "BM:1", "--dry-run"});
  EXPECT_EQ(result.out, "        0 BM=1/NR=4\n        1 BM=1/NR=8\nNumber of valid specs: 2\n");
  EXPECT_EQ(
      refused({"gemm.yaml", "--add-param", "BM:4"}),
      "tune: error: --add-param BM:4: the parameter 'BM' is declared already; to replace its values, write --param "
      "'BM:4'\n");
  EXPECT_EQ(refused({"gemm.yaml", "--add-param", "NR:4", "--param", "NR:8"}),
            "tune: error: --param NR:8: 'NR' is given twice; write NR:[VALUE, VALUE]\n");
}

TEST_F(Mistakes, TheCommandOfAFailureAddsTheParameterToo) {
  sandbox_.write_gemm("", "#error no\n");
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--add-param", "NR:4", "--param", "BM:1"}).out,
                  "tune --yaml gemm.yaml --param BM:1 --add-param NR:4 --spec 0"));
}

TEST_F(Mistakes, AParameterThatNothingUsesIsWarnedOf) {
  const std::string head = kHead, launch = kLaunch;
  const auto unused = [](int line, const std::string& name) {
    return "warning: file.yaml:" + std::to_string(line) + ": nothing uses the parameter '" + name +
           "': neither gemm.cpp nor an expression of the tuning file names it; remove it, or correct its name\n";
  };
  EXPECT_EQ(said_of(head + "params:\n  BM: 1\n  BX: [1, 2]\n" + launch), unused(7, "BX"));
  EXPECT_EQ(said_of(head + "params: {BM: 1, BX: [1, 2]}\nlet: {TWICE: 2*BX}\n" + launch), unused(5, "BX"));
  EXPECT_EQ(said_of(head + "params: {BM: 1, BX: [1, 2]}\nlet: {TWICE: 2*BX}\nconstraints: [TWICE < 9]\n" + launch), "");
  EXPECT_EQ(said_of(head + "params: {BM: 1, BX: [1, 2]}\nbuild: {flags: [-DTILE=BX]}\n" + launch), "");
  EXPECT_EQ(said_of(head + "params: {BM: 1, file: gemm.cpp}\n" + launch), "") << "as a best YAML says it";
  EXPECT_EQ(
      said_of(head + "params: {BM: 1, $R: [1, 2]}\n" + launch),
      "warning: file.yaml:5: nothing uses the parameter '$R': a value with $ is no macro of the source, and neither "
      "launch nor a constraint names R; remove it, or correct its name\n");
  EXPECT_EQ(said({"gemm.yaml", "--add-param", "NR:4"}),
            "warning: --add-param NR:4: nothing uses the parameter 'NR': neither gemm.cpp nor an expression of the "
            "tuning file names it; remove it, or correct its name\n");
}

TEST_F(Mistakes, TheSourceAndItsHeadersAreSearchedForNames) {
  const auto unused = [this](const std::string& source) {
    sandbox_.write("gemm.cpp", source);
    return has(said_of(std::string(kHead) + "params: {BX: [1, 2]}\n" + kLaunch), "nothing uses the parameter 'BX'");
  };
  EXPECT_FALSE(unused("int x = BX;\n"));
  EXPECT_TRUE(unused("int x = BX2; // BX\n/* BX */ char text[] = \"//\"; int ABX;\n"));
  EXPECT_FALSE(unused("char quote = '\"'; int digits = 1'000; int x = BX;\n"));
  EXPECT_FALSE(unused("const char* url = \"http://\"; int x = BX;\n"));
  sandbox_.write("tile.h", "constexpr int tile = BX;\n");
  EXPECT_FALSE(unused("#include \"tile.h\"\n"));
  EXPECT_FALSE(unused("#define HEADER \"tile.h\"\n#include HEADER\n"));
  EXPECT_FALSE(unused("#define NAME(x) B##x\nint x = NAME(X);\n"));
  EXPECT_TRUE(unused("#define NAME(x) B##x\nint x = NAME(Y);\n"));
  std::filesystem::create_directory(sandbox_.folder() / "inc");
  sandbox_.write("inc/far.h", "constexpr int far = BX;\n");
  EXPECT_TRUE(unused("#include <far.h>\n"));
  sandbox_.environment["CXX"] = "c++ -Iinc";
  EXPECT_FALSE(unused("#include <far.h>\n"));
}

TEST_F(Mistakes, TheMacrosOfPairsAndTextsAreUses) {
  sandbox_.write("gemm.cpp", "#if SHAPE_wide\nint x = TILE_0;\n#endif\nvoid gemm();\n");
  EXPECT_EQ(said_of(std::string(kHead) + "params: {SHAPE: [wide, high], TILE: [[1, 2]]}\n" + kLaunch), "");
}

TEST_F(Mistakes, ArgumentsOfAProgramAreUses) {
  sandbox_.write_script("{T: [1, 2], OTHER: 3}");
  EXPECT_EQ(said({"bench.yaml"}), "");
  sandbox_.write_script("{T: [1, 2]}", "run: ['{file}']\n");
  EXPECT_TRUE(has(refused({"bench.yaml"}),
                  "the parameter 'T' does not reach the program: write {T} into run where its value is to stand, or "
                  "{args} for --T=VALUE\n"));
  sandbox_.write("prog.cpp", "int main() { return T; }\n");
  EXPECT_EQ(
      said_of("name: x\nfile: prog.cpp\nparams: {T: 1, U: 2, $V: 3}\n"),
      "warning: file.yaml:3: nothing uses the parameter 'U': neither prog.cpp nor an expression of the tuning file "
      "names it; remove it, or correct its name\n");
}

TEST_F(Mistakes, ShippedTuningFilesHaveNoWarning) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TUNE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    const Result result = sandbox_.tune({entry.path(), "--dry-run", "--quiet"});
    EXPECT_FALSE(has(result.err, "warning: ")) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 10);
}

TEST_F(Mistakes, ADefaultThatIsNoSpecIsWarnedOf) {
  const std::string head =
      std::string(kHead) + "params: {BM: [1, 2, 4]}\nconstraints:\n  - BM < 4  # too tall\n" + kLaunch;
  EXPECT_EQ(said_of(head + "default: {BM: 2}\n"), "");
  sandbox_.write("file.yaml", head + "default: {BM: 3}\n");
  EXPECT_TRUE(sandbox_.tune({"file.yaml", "--dry-run"})
                  .err.starts_with("warning: file.yaml:9: default is no spec, and is not tried: BM is never 3; its "
                                   "values are 1, 2, 4\n"));
  sandbox_.write("file.yaml", std::string(kHead) + "params: {BM: ['4', '8']}\n" + kLaunch + "default: {BM: 8}\n");
  EXPECT_TRUE(has(sandbox_.tune({"file.yaml", "--dry-run"}).err, "BM is never 8; its values are '4', '8'\n"));
  EXPECT_TRUE(has(sandbox_.tune({"file.yaml", "--filter", "BM=9"}).err, "'BM' is never 9; its values are '4', '8'\n"));
  sandbox_.write("file.yaml", head + "default: {BM: 4}\n");
  EXPECT_TRUE(sandbox_.tune({"file.yaml", "--dry-run"})
                  .err.starts_with("warning: file.yaml:9: default is no spec, and is not tried: it is pruned: too "
                                   "tall\n"));
  const Result result = sandbox_.tune({"file.yaml", "--tune", "--quiet"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.err, "default is no spec"));
  // A filter leaves it out by intention.
  sandbox_.write("file.yaml", head + "default: {BM: 2}\n");
  EXPECT_FALSE(has(sandbox_.tune({"file.yaml", "--dry-run", "--filter", "BM=1"}).err, "warning"));
}

TEST_F(Mistakes, AConstraintThatComparesNothingIsWarnedOf) {
  const auto with = [this](const std::string& constraint) {
    return said_of(std::string(kHead) +
                   "params: {BM: [1, 2], ON: [True, False]}\nlet: {FITS: BM < 9}\nconstraints:\n  - ON\n  - " +
                   constraint + "\n" + kLaunch);
  };
  EXPECT_EQ(with("BM*64"),
            "warning: file.yaml:9: constraint 'BM*64' compares nothing: it excludes only what makes it 0; write a "
            "comparison, such as BM*64 <= 1024\n");
  for (const char* idle : {"BM", "m", "BM % 8 + 1", "max(BM, 2)", "(BM + 1)"})
    EXPECT_TRUE(has(with(idle), idle)) << idle;
  for (const char* fine :
       {"not BM % 8 == 0", "BM*8 == 8 or BM", "BM in (1, 2)", "FITS", "FITS and ON", "BM if ON else 1", "1 <= BM < 3"})
    EXPECT_EQ(with(fine), "") << fine;
}

TEST_F(Mistakes, ARepeatedValueIsWarnedOf) {
  EXPECT_EQ(said_of(std::string(kHead) + "params:\n  BM:\n    - 1\n    - 2\n    - 2\n" + kLaunch),
            "warning: file.yaml:9: parameter 'BM' has the value 2 more than once; it counts once\n");
  EXPECT_EQ(said({"gemm.yaml", "--param", "BM:[1, 1]"}),
            "warning: --param BM:[1, 1]: parameter 'BM' has the value 1 more than once; it counts once\n");
}

TEST_F(Mistakes, SeveralFlagsInOneEntryAreWarnedOf) {
  EXPECT_EQ(said_of(std::string(kHead) + "params: {BM: 1}\nbuild: {flags: -O2 -g}\n" + kLaunch),
            "warning: file.yaml:6: '-O2 -g' in build.flags is passed on as one flag; write several as a list: [-O2, "
            "-g]\n");
}

TEST_F(Mistakes, ARangeOfDecimalsHasDecimals) {
  const auto values = [this](const std::string& range) {
    sandbox_.write_script("{T: {range: " + range + "}}");
    return sandbox_.tune({"bench.yaml", "--dry-run"}).out;
  };
  EXPECT_EQ(values("[0.1, 0.5, 0.1]"),
            "        0 T=0.1\n        1 T=0.2\n        2 T=0.3\n        3 T=0.4\n        4 T=0.5\n"
            "Number of valid specs: 5\n");
  EXPECT_EQ(values("[0.1, 0.59, 0.2]"),
            "        0 T=0.1\n        1 T=0.3\n        2 T=0.5\nNumber of valid specs: 3\n");
  EXPECT_EQ(values("[1, 2, 0.5]"), "        0 T=1.0\n        1 T=1.5\n        2 T=2.0\nNumber of valid specs: 3\n");
}

TEST_F(Mistakes, ShapesSayAWarningOnce) {
  sandbox_.write("sizes.yaml", "- {M: 64, N: 64, K: 64}\n- {M: 32, N: 32, K: 32}\n");
  const std::string text = said({"gemm.yaml", "--shapes", "sizes.yaml", "--param", "BM:[1, 1]"});
  EXPECT_EQ(text, "warning: --param BM:[1, 1]: parameter 'BM' has the value 1 more than once; it counts once\n");
}

TEST_F(Mistakes, AFileOfAnotherKindIsNamed) {
  const std::string recorded = "if it is a recorded run, write --simulate ";
  sandbox_.write("big.csv", "mesh_idx,name\n0,\"gemm\n");
  EXPECT_EQ(refused({"big.csv"}), "tune: error: big.csv: this is no tuning file; " + recorded + "big.csv\n");
  sandbox_.write("x.jsonl", "{}\n{}\n");
  EXPECT_EQ(refused({"x.jsonl"}),
            "tune: error: x.jsonl: this is the journal of a run and no tuning file; to answer specs from it, write "
            "--simulate x.jsonl; to resume that run, repeat its command\n");
  sandbox_.write("cache.json", "{\"device_name\": \"x\", \"cache\": {}}");
  EXPECT_EQ(
      refused({"cache.json"}),
      "tune: error: cache.json: this is no tuning file, which has name, file and params; " + recorded + "cache.json\n");
  EXPECT_EQ(
      refused({"gemm.cpp"}),
      "tune: error: gemm.cpp: this is a source file; this writes a tuning file for its kernel: tune init gemm.cpp\n");
  sandbox_.write("bench", "#!/bin/sh\n");
  EXPECT_EQ(
      refused({"bench"}),
      "tune: error: bench: this is a program; write a tuning file in YAML that names it, with file: bench, or tune "
      "its command line: tune --tune --param NAME:[1,2] -- ./bench {NAME}\n");
  EXPECT_EQ(refused({"gem.yaml"}), "tune: error: gem.yaml: there is no such file, did you mean 'gemm.yaml'?\n");
  EXPECT_EQ(refused({"gemm.yml"}), "tune: error: gemm.yml: there is no such file, did you mean 'gemm.yaml'?\n");
  EXPECT_EQ(refused({"--simulate", "gemm.yaml"}).find("tune: error: gemm.yaml:1: a JSON object or list is expected"),
            0u);
}

TEST_F(Mistakes, ALongTextIsCut) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "row " + std::to_string(i) + "\n";
  EXPECT_EQ(
      refused_file(text),
      "tune: error: file.yaml:1: the file is 'row 0 row 1 row 2 row 3 row 4 row 5 row 6 row 7 row 8 row 9  ...'; a "
      "tuning file is a mapping with name, file and params\n");
}

TEST_F(Mistakes, TabsInYamlAreNamed) {
  const auto tab = [](int line) {
    return "tune: error: file.yaml:" + std::to_string(line) +
           ": YAML does not allow tabs in the indentation of a line; write blanks instead\n";
  };
  EXPECT_EQ(refused_file("name: x\nparams:\n\tBM: 1\n"), tab(3));
  EXPECT_EQ(refused_file("name: x\nparams: {BM: 1}\nconstraints:\n\t- BM > 0\n"), tab(4));
  EXPECT_EQ(refused_file("name: x\n\tfile: y\n"), tab(2));
  EXPECT_EQ(refused_file("name: x\nparams:\n  BM: 1\n \tBN: 1\n"), tab(4));
  // Within brackets they are blanks.
  EXPECT_EQ(said_of(std::string(kHead) + "params: {\n\tBM: [1,\n\t\t2]}\n" + kLaunch), "");
}

TEST_F(Mistakes, OperatorsOfOtherLanguagesAreCorrected) {
  const auto with = [this](const std::string& text) {
    const std::string complaint =
        refused_file(std::string(kHead) + "params: {BM: 1}\n" + kLaunch + "constraints:\n  - " + text);
    return complaint.substr(complaint.find("unexpected"));
  };
  EXPECT_EQ(with("BM =< 4"), "unexpected '=<', use '<=' in constraint 'BM =< 4', at its column 4\n");
  EXPECT_EQ(with("BM => 4"), "unexpected '=>', use '>=' in constraint 'BM => 4', at its column 4\n");
  EXPECT_EQ(with("BM <> 4"), "unexpected '<>', use '!=' in constraint 'BM <> 4', at its column 4\n");
  EXPECT_EQ(with("BM = 4"), "unexpected '=', use '==' in constraint 'BM = 4', at its column 4\n");
}

TEST_F(Mistakes, ATextThatLooksLikeAListIsWarnedOf) {
  const auto with = [this](const std::string& values) {
    const std::string text = said_of("name: x\nfile: bench.sh\nparams:\n  BM: " + values + "\n");
    return text.substr(0, text.find(';'));
  };
  sandbox_.write_script("{T: 1}");
  for (const char* list : {"2, 4, 8", "2 4 8", "[2 4 8]", "[2; 4]", "range(2, 8)"})
    EXPECT_TRUE(has(with(list), "warning: file.yaml:4: parameter 'BM' has the text '")) << list;
  for (const char* fine : {"'2, 4, 8'", "2*4", "[2, 4]", "row major", "0.5"}) EXPECT_EQ(with(fine), "") << fine;
}

TEST_F(Mistakes, WhatYamlDoesNotUnderstandIsExplained) {
  const std::string colon =
      "malformed YAML: illegal map value; in this line or the one before: a key is followed by a colon and a blank, "
      "the "
      "keys of a mapping are indented alike, and a text that contains ': ' is quoted\n";
  EXPECT_EQ(refused_file("name: x\nparams:\n  BM:[2, 4]\n  BN: 1\n"), "tune: error: file.yaml:4: " + colon);
  EXPECT_EQ(refused_file("name: x\nparams:\n  BM: 1\n   BN: 1\n"), "tune: error: file.yaml:4: " + colon);
  EXPECT_EQ(refused_file("name: x\nparams:\n  BM: 1\n BN: 1\n"),
            "tune: error: file.yaml:4: malformed YAML: end of map not found; indent the keys of a mapping alike, "
            "and put a blank behind each colon\n");
  EXPECT_EQ(
      refused_file("name: x\nparams:\u00a0{BM: 1}\nfile: y\n"),
      "tune: error: file.yaml:2: its character 8 is a no-break space, which YAML does not take for a blank; replace "
      "it by one\n");
}

TEST_F(Mistakes, AFilterTakesOneValue) {
  EXPECT_EQ(refused({"gemm.yaml", "--filter", "BM==1"}), "tune: error: --filter BM==1: write NAME=VALUE\n");
  EXPECT_EQ(refused({"gemm.yaml", "--filter", "BM=1,2"}),
            "tune: error: --filter BM=1,2: 'BM' is never 1,2; its values are 1, 2, 4, 8; for several, repeat --filter "
            "NAME=VALUE\n");
}

TEST_F(Mistakes, AFileInThePlaceOfAFolderIsRefused) {
  EXPECT_EQ(refused({"gemm.yaml", "--keep", "gemm.cpp"}),
            "tune: error: --keep gemm.cpp is a file; give the name of a folder\n");
}

TEST_F(Mistakes, AMisspelledOptionIsCorrected) {
  EXPECT_EQ(refused({"gemm.yaml", "--tunee"}), "tune: error: there is no option --tunee, did you mean '--tune'?\n");
}

TEST_F(Mistakes, NoOptionIsNeededToContinue) {
  EXPECT_EQ(refused({"gemm.yaml", "--tune", "--continue"}),
            "tune: error: there is no option --continue; the same command continues where the "
            "last run stopped, without an option\n");
}

TEST_F(Mistakes, ArgumentsThatDoNotFitAreShownBelowTheKernels) {
  const auto out = [this](const std::string& args) {
    sandbox_.write("file.yaml", std::string(kHead) + "params: {BM: 1}\nlaunch: {args: " + args + "}\n");
    return sandbox_.tune({"file.yaml", "--quiet"}).out;
  };
  EXPECT_TRUE(has(out("[A, B, C, m, n]"),
                  "build, reported: args do not fit the parameters of kernel 'gemm': the kernel has 6 parameters, "
                  "args has 5 entries\n"
                  "         the kernel:   const float*,   const float*,   float*,   int,   int,   int\n"
                  "         args:         const float* A, const float* B, float* C, int m, int n  -\n"));
  EXPECT_TRUE(has(out("[A, m, C, BM*2, n, k]"),
                  "parameter 2 of the kernel is const float*, the entry of args is int m\n"
                  "         the kernel:   const float*,   const float*, float*,   int,      int,   int\n"
                  "         args:         const float* A, int m,        float* C, int BM*2, int n, int k\n"));
}

}  // namespace
}  // namespace tune::cli::cli_mistakes_test
