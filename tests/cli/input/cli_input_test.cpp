#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_input_test {
namespace {

using Words = std::vector<std::string>;

/// 10^12 points.
constexpr const char* kTrillion =
    "{A: {range: [1, 1000]}, B: {range: [1, 1000]}, C: {range: [1, 1000]}, T: {range: [1, 1000]}}";

/// Input that is refused, or understood, before anything is started.
class Input : public testing::Test {
 protected:
  void SetUp() override { sandbox_.write_script("{T: [3, 1, 2]}"); }

  /// Exit code, the complaint and nothing else: no result, no new file, no program run.
  void refuses(const Words& arguments, const std::string& complaint, int code = 2) {
    EXPECT_EQ(refusal(sandbox_, arguments, code), complaint);
  }
  void refuses_file(const std::string& text, const std::string& complaint) {
    sandbox_.write("bad.yaml", text);
    refuses({"bad.yaml", "--tune", "--output", "best"}, complaint);
  }
  /// What a dry run lists. `missing`: the file that it says is missing.
  std::string listed(Words arguments, const std::string& missing = "") {
    arguments.push_back("--dry-run");
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_FALSE(has(result.err, "error")) << result.err;
    EXPECT_EQ(has(result.err, "warning"), !missing.empty()) << result.err;
    if (!missing.empty()) {
      EXPECT_TRUE(has(result.err, ": there is no file " + missing + ", which a run needs\n"));
    }
    return result.out;
  }

  Sandbox sandbox_;
};

TEST_F(Input, AMissingFileIsRefused) {
  refuses({"none.yaml"}, "tune: error: none.yaml: there is no such file; tune init SOURCE writes one for a kernel\n");
  refuses({"--tune", "--param", "B:[1,2]", "./build-{B}/bench"},
          "tune: error: ./build-{B}/bench: there is no such file; a command line stands behind --\n");
  sandbox_.write("best/softmax.yaml", "name: x\n");
  refuses({"package", "best/softmx.yaml", "-o", "out"},
          "tune: error: best/softmx.yaml: cannot be read: No such file or directory, did you mean "
          "'best/softmax.yaml'?\n");
  refuses({"package", "best/softmax", "-o", "out"},
          "tune: error: best/softmax: cannot be read: No such file or directory, did you mean 'best/softmax.yaml'?\n");
  sandbox_.write("best/softmax.jsonl", "");
  refuses({"diff", "best/softmx", "best/softmax.yaml"},
          "tune: error: best/softmx.jsonl: cannot be read: No such file or directory, did you mean "
          "'best/softmax.jsonl'?\n");
  refuses({"show", "best/softmx"}, "tune: error: there is no run best/softmx, did you mean 'best/softmax.jsonl'?\n");
}

TEST_F(Input, ADanglingLinkIsNoSuggestionForItself) {
  std::filesystem::create_symlink("nowhere", sandbox_.folder() / "link.yaml");
  refuses({"package", "link.yaml", "-o", "out"}, "tune: error: link.yaml: cannot be read: No such file or directory\n");
}

TEST_F(Input, AnEmptyFileIsRefused) {
  refuses_file("", "tune: error: bad.yaml: the file is empty; a tuning file is a mapping with name, file and params\n");
}

TEST_F(Input, MalformedYamlIsRefusedWithItsLine) {
  refuses_file("name: x\nparams: {T: [1, 2\n",
               "tune: error: bad.yaml:2: malformed YAML: end of sequence flow not found; close the [\n");
}

TEST_F(Input, ADuplicateKeyIsRefused) {
  refuses_file("name: x\nfile: bench.sh\nparams:\n  T: 1\n  T: 2\n",
               "tune: error: bad.yaml:5: duplicate key 'T'; remove one of the two\n");
}

TEST_F(Input, AnUnknownKeyIsRefusedWithASuggestion) {
  refuses_file("name: x\nfile: bench.sh\nparms: {T: 1}\nparams: {T: 1}\n",
               "tune: error: bad.yaml:3: unknown key 'parms' in the tuning file, did you mean 'params'?\n");
}

TEST_F(Input, AnUnknownNameIsRefusedWithASuggestion) {
  refuses_file("name: x\nfile: bench.sh\nparams: {BM: 8}\nconstraints:\n  - BM > 0\n  - BMM % 8 == 0\n",
               "tune: error: bad.yaml:6: unknown name 'BMM' in constraint 'BMM % 8 == 0', did you mean 'BM'?\n");
}

TEST_F(Input, EveryProblemIsALineOfItsOwn) {
  refuses_file("nam: x\nname: x\nfile: none.sh\nparams: {T: []}\n",
               "tune: error: bad.yaml:1: unknown key 'nam' in the tuning file, did you mean 'name'?\n"
               "tune: error: bad.yaml:3: no such file: 'none.sh' (looked for " +
                   (sandbox_.folder() / "none.sh").string() +
                   ")\n"
                   "tune: error: bad.yaml:4: parameter 'T' has no values; give at least one\n");
}

TEST_F(Input, AMissingKernelFileMattersOnlyWhereItIsNeeded) {
  sandbox_.write("bad.yaml", "name: x\nfile: none.sh\nparams: {T: 1}\n");
  EXPECT_EQ(listed({"bad.yaml"}, (sandbox_.folder() / "none.sh").string()),
            "        0 T=1\nNumber of valid specs: 1\n");
}

TEST_F(Input, AnUnsetVariableIsRefused) {
  sandbox_.write("var.yaml", "name: x\nfile: ${BENCH_FOLDER}/bench.sh\nparams: {T: 1}\n");
  const Result result = sandbox_.tune({"var.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err.substr(0, result.err.find('\n')),
            "tune: error: var.yaml:2: environment variable 'BENCH_FOLDER' in '${BENCH_FOLDER}/bench.sh' is not set; "
            "set it, or write $$ for a $");
  sandbox_.environment["BENCH_FOLDER"] = sandbox_.folder();
  EXPECT_EQ(sandbox_.tune({"var.yaml"}).code, 0);
}

TEST_F(Input, ADivisionByZeroPrunesItsPoint) {
  sandbox_.write_script("{T: [0, 1, 3]}", "constraints: [6 % T == 0]\n");
  EXPECT_EQ(listed({"bench.yaml"}),
            "        1 T=1\n"
            "        2 T=3\n"
            "pruned before the build: 1\n"
            "      1  cannot evaluate: division by zero at T=0\n"
            "Number of valid specs: 2\n");
}

TEST_F(Input, AnEmptySpaceIsRefusedWithItsReasons) {
  sandbox_.write_script("{T: [1, 2, 3]}", "constraints:\n  - T > 100  # too fast to be true\n");
  refuses({"bench.yaml", "--tune", "--output", "best"},
          "tune: error: bench.yaml: no spec is left of 3 points\n"
          "tune: error: pruned before the build: 3\n"
          "tune: error:       3  too fast to be true\n"
          "tune: error: no point satisfies\n"
          "tune: error:   bench.yaml:5: T > 100\n",
          1);
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--dry-run"}).code, 1);
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--build-only"}).code, 1);
}

TEST_F(Input, ConstraintsThatContradictEachOtherAreNamed) {
  sandbox_.write_script("{T: [1, 2, 3], U: {range: [1, 1000]}, V: {range: [1, 1000]}}",
                        "constraints:\n  - T != 2\n  - U < V\n  - T * V < 10\n  - U > 8  # too few\n");
  refuses({"bench.yaml", "--tune"},
          "tune: error: bench.yaml: no spec is left of 3000000 points\n"
          "tune: error: these contradict each other:\n"
          "tune: error:   bench.yaml:6: U < V\n"
          "tune: error:   bench.yaml:7: T * V < 10\n"
          "tune: error:   bench.yaml:8: U > 8\n",
          1);
}

TEST_F(Input, ASpaceTooLargeToTryIsRefused) {
  sandbox_.write_script(kTrillion);
  refuses(
      {"bench.yaml", "--tune"},
      "tune: error: bench.yaml: the space has 1000000000000 valid specs, more than 10^6; narrow it with --param, or "
      "bound the run with --max-evals N or --time-budget T\n");
}

TEST_F(Input, ASpaceOfAnySizeIsCounted) {
  std::string params = "{T: 1";
  for (char name = 'A'; name < 'H'; ++name) params += std::string(", ") + name + ": {range: [1, 1000]}";
  sandbox_.write_script(params + "}", "constraints: [A * B * C * D * E * F == 1]\n");
  EXPECT_EQ(listed({"bench.yaml", "--quiet"}), "Number of valid specs: 1000\n");
  EXPECT_EQ(listed({"bench.yaml", "--quiet", "--max-evals", "7"}), "Number of valid specs: 7\n");
  EXPECT_EQ(listed({"bench.yaml", "--quiet", "--filter", "G=5", "--filter", "G=6"}), "Number of valid specs: 2\n");
}

TEST_F(Input, FewSpecsOfAHugeGridAreTriedInMeshOrder) {
  sandbox_.write_script("{A: {range: [0, 9999]}, B: {range: [0, 9999]}, C: {range: [0, 9999]}, T: [1, 2]}",
                        "constraints: [A + B + C >= 29996, A == C, T == 1]\n");
  EXPECT_EQ(listed({"bench.yaml"}),
            "1999999979998 A=9999/B=9998/C=9999/T=1\n"
            "1999999999998 A=9999/B=9999/C=9999/T=1\n"
            "Number of valid specs: 2\n");
}

TEST_F(Input, ASpaceTooLargeToCountIsRefused) {
  std::string params = "{T: 1";
  for (char name = 'A'; name < 'H'; ++name) params += std::string(", ") + name + ": {range: [1, 1000]}";
  sandbox_.write_script(params + "}");
  const Result result = sandbox_.tune({"bench.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("the grid has more than 2^63 points"), std::string::npos) << result.err;
}

TEST_F(Input, ALargeSpaceIsTriedUpToMaxEvals) {
  sandbox_.write_script(kTrillion);
  const Result result = sandbox_.tune({"bench.yaml", "--max-evals", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n2 of "), std::string::npos);
  EXPECT_EQ(sandbox_.script_runs(), 2);
}

TEST_F(Input, ALargeSpaceIsSearchedByAnyStrategy) {
  sandbox_.write_script(kTrillion);
  const Result result = sandbox_.tune({"bench.yaml", "--max-evals", "3", "--strategy", "random", "--seed", "4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n3 of "), std::string::npos);
  EXPECT_EQ(sandbox_.script_runs(), 3);
}

TEST_F(Input, ATimeBudgetEndsTheRunOfALargeSpace) {
  sandbox_.write_script(kTrillion);
  const Result result = sandbox_.tune({"bench.yaml", "--time-budget", "0.2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GE(sandbox_.script_runs(), 1);
}

TEST_F(Input, StopWithinNeedsToKnowTheBestThereCanBe) {
  sandbox_.write_script("{T: [1, 2]}");
  const Result result = sandbox_.tune({"bench.yaml", "--stop-within", "1%"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--stop-within needs to know the best there can be"), std::string::npos) << result.err;
  EXPECT_EQ(sandbox_.script_runs(), 0);
}

TEST_F(Input, ASpecOfALargeSpaceIsRunAlone) {
  sandbox_.write_script(kTrillion);
  const Result result = sandbox_.tune({"bench.yaml", "--spec", "999999999999"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("999999999999 bench"), std::string::npos) << result.out;
  EXPECT_EQ(sandbox_.script_runs(), 1);
}

TEST_F(Input, UnknownOptionsAndBadValuesAreRefused) {
  refuses({"bench.yaml", "--tun"}, "tune: error: there is no option --tun, did you mean '--tune'?\n");
  refuses({"package", "best.yaml", "--out", "folder"},
          "tune: error: there is no option --out, did you mean '--output'?\n");
  refuses({"bench.yaml", "--out", "best"}, "tune: error: there is no option --out, did you mean '--output'?\n");
  refuses({"bench.yaml", "--size", "m=4"}, "tune: error: there is no option --size; see tune --help\n");
  refuses({"show", "a", "b", "c"}, "tune: error: too many arguments were given: b c; see tune show --help\n");
  refuses({"bench.yaml", "--seed", "1", "--seed", "2"}, "tune: error: --seed is given 2 times; see tune --help\n");
  refuses({"bench.yaml", "--strategy", "genetics"},
          "tune: error: --strategy genetics: there is no strategy 'genetics', did you mean 'genetic'?\n");
  refuses({"bench.yaml", "--strategy", "random", "--dry-run"},
          "tune: error: --strategy needs measured times; --dry-run and --build-only take specs in mesh order\n");
  refuses({"bench.yaml", "--time-budget", "10x"},
          "tune: error: --time-budget: '10x' is no time above 0, such as 90s, 10m or 1.5h; see tune --help\n");
  refuses({"bench.yaml", "--time-budget", "0"},
          "tune: error: --time-budget: '0' is no time above 0, such as 90s, 10m or 1.5h; see tune --help\n");
  refuses({"bench.yaml", "--stop-within", "100%"},
          "tune: error: --stop-within: '100%' is no share below 1, such as 1% or 0.01; see tune --help\n");
  refuses({"bench.yaml", "--max-evals", "0"},
          "tune: error: --max-evals: '0' is not a whole number above 0; see tune --help\n");
  refuses({"bench.yaml", "-m", "9223372036854775808"},
          "tune: error: -m: '9223372036854775808' is not a whole number above 0; see tune --help\n");
  refuses({"bench.yaml", "--timeout-run", "nan"},
          "tune: error: --timeout-run: 'nan' is no time above 0, such as 90s, 10m or 1.5h; see tune --help\n");
  refuses({"bench.yaml", "--backend", "rocm"},
          "tune: error: --backend: 'rocm' is none of auto, cuda, hip, cpu, program; see tune --help\n");
  refuses({"--probe", "--backend", "auto"},
          "tune: error: --probe describes the device of one backend; give it with --backend NAME\n");
}

TEST_F(Input, ADeviceIsThatOfTheFilesBackend) {
  sandbox_.write_script("{T: 1}");
  const std::string of_programs = sandbox_.tune({"--probe", "--backend", "program"}).out;
  EXPECT_NE(of_programs, sandbox_.tune({"--probe"}).out);
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--probe"}).out, of_programs);
}

TEST_F(Input, AnAmountOfMemoryHasAUnit) {
  sandbox_.write_script("{T: 1}");
  for (const char* size : {"500M", "500MB", "2g", "1.5Gb"})
    EXPECT_EQ(sandbox_.tune({"bench.yaml", "--dry-run", "--memory", size}).code, 0) << size;
  for (const std::string size : {"500", "2T", "0M", "-1G", "M", "500 M", "500MBB"})
    refuses({"bench.yaml", "--memory", size}, "tune: error: --memory: '" + size +
                                                  "' is not a size; write a number followed by M or G, such as 500M "
                                                  "or 12G; see tune --help\n");
}

TEST_F(Input, TimingThatLeavesNoTimeForTheCheckIsRefused) {
  const auto refusal = [](const std::string& place, const std::string& seconds, const std::string& more) {
    return "tune: error: " + place + ": specs that are timed for measure.max_seconds, which is " + seconds +
           ", would time out: --timeout-run is " + more + "\n";
  };
  sandbox_.write_gemm();
  const std::string yaml = sandbox_.read("gemm.yaml");
  const std::string one = yaml.substr(0, yaml.find("measure:"));
  sandbox_.write("gemm.yaml", one + "measure:\n  max_seconds: 60\n");
  refuses({"gemm.yaml"},
          refusal("gemm.yaml:10", "60",
                  "60, and they are checked in it, too; give --timeout-run 67, or make max_seconds less"));
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--dry-run"}).code, 0);
  sandbox_.write("gemm.yaml", one);
  refuses({"gemm.yaml", "--timeout-run", "0.5"},
          refusal("--timeout-run", "1",
                  "0.5, and they are checked in it, too; give --timeout-run 2, or make max_seconds less"));
}

TEST_F(Input, ACommandWithoutTuningFileIsRefused) {
  const Result result = sandbox_.tune({"--tune"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--yaml"), std::string::npos) << result.err;
}

TEST_F(Input, ASpecOutOfTheGridIsRefused) {
  refuses({"bench.yaml", "--spec", "3"},
          "tune: error: --spec 3: there is no such mesh_idx; the grid has 3 points, from 0 on, and --dry-run lists the "
          "valid ones\n");
  refuses({"bench.yaml", "--spec", "-1"},
          "tune: error: --spec -1: there is no such mesh_idx; the grid has 3 points, from 0 on, and --dry-run lists "
          "the valid ones\n");
  refuses({"bench.yaml", "--spec", "9223372036854775808"},
          "tune: error: --spec: '9223372036854775808' is not a whole number of 64 bits; see tune --help\n");
}

TEST_F(Input, ASpecOfAPrunedPointIsRefusedWithTheReason) {
  sandbox_.write_script("{T: [3, 1, 2]}", "constraints: [{if: T < 3, because: three is too slow}]\n");
  refuses({"bench.yaml", "--spec", "0"},
          "tune: error: --spec 0 is pruned: three is too slow; --dry-run lists the valid specs\n", 1);
}

TEST_F(Input, ABadParamIsRefused) {
  refuses({"bench.yaml", "--param", "T"}, "tune: error: --param T: write NAME:VALUE or NAME:[VALUE, VALUE]\n");
  refuses({"bench.yaml", "--param", "T:[1,"},
          "tune: error: --param T:[1,: '[1,' is no YAML value; write NAME:VALUE, NAME:[VALUE, VALUE] or NAME:{range: "
          "[FIRST, LAST]}\n");
}

TEST_F(Input, ABadFilterIsRefused) {
  refuses({"bench.yaml", "--filter", "T"}, "tune: error: --filter T: write NAME=VALUE\n");
  refuses({"bench.yaml", "--filter", "TT=1"},
          "tune: error: --filter TT=1: unknown parameter 'TT', did you mean 'T'?\n");
  refuses({"bench.yaml", "--filter", "T=7"}, "tune: error: --filter T=7: 'T' is never 7; its values are 3, 1, 2\n");
}

TEST_F(Input, ParamChangesTheGridAndFilterDoesNot) {
  EXPECT_EQ(listed({"bench.yaml", "--param", "T:[5, 6]", "--add-param", "NEW:1"}),
            "        0 T=5/NEW=1\n        1 T=6/NEW=1\nNumber of valid specs: 2\n");
  EXPECT_EQ(listed({"bench.yaml", "--filter", "T=1", "--filter", "T=2"}),
            "        1 T=1\n        2 T=2\nNumber of valid specs: 2\n");
}

TEST_F(Input, AnOutputThatIsAlsoAnInputIsRefused) {
  const std::string tuning_file = sandbox_.read("bench.yaml");
  refuses({"bench.yaml", "--tune", "--output", "bench"},
          "tune: error: the output bench.yaml is also an input of this run; choose another --output PREFIX\n");
  std::filesystem::create_symlink("bench.yaml", sandbox_.folder() / "link.yaml");
  refuses({"bench.yaml", "--tune", "--output", "link"},
          "tune: error: the output link.yaml is also an input of this run; choose another --output PREFIX\n");
  EXPECT_EQ(sandbox_.read("bench.yaml"), tuning_file);
}

TEST_F(Input, TwoOutputsThatAreTheSameFileAreRefused) {
  refuses({"bench.yaml", "--tune", "--output", "t/c", "--t4", "t/c.jsonl"},
          "tune: error: the output t/c.jsonl is also another output of this run; choose another --t4 FILE\n");
  refuses({"bench.yaml", "--tune", "--output", "t/c", "--kt-cache", "t/../t/c.yaml"},
          "tune: error: the output t/../t/c.yaml is also another output of this run; choose another --kt-cache FILE\n");
  for (const char* cache : {"x", "./x"})
    refuses({"bench.yaml", "--t4", "x", "--kt-cache", cache},
            "tune: error: the output x is also another output of this run; choose another --t4 FILE\n");
}

TEST_F(Input, AnOutputFolderThatCannotBeWrittenStopsTheRunAtItsStart) {
  refuses({"bench.yaml", "--output", "bench.sh/best"},
          "tune: error: cannot open the journal bench.sh/best.jsonl: Not a directory; choose another place with "
          "--output PREFIX\n",
          4);
}

TEST_F(Input, TheFlatFormIsUnderstood) {
  const std::string list =
      listed({TUNE_SOURCE_DIR "/configs/mojo_gemm.yaml"}, TUNE_SOURCE_DIR "/configs/tune_multistage_gemm.mojo");
  EXPECT_NE(list.find("39 M=8192/N=8192/K=128/BM=128/BN=128/WM=64/WN=64/NUM_STAGES=4/TRANSPOSE_B=False\n"),
            std::string::npos)
      << list;
  EXPECT_TRUE(list.ends_with("Number of valid specs: 72\n"));
}

TEST_F(Input, TheListFormIsUnderstood) {
  sandbox_.write("list.yaml", R"(name: bench
file: bench.sh
rules:
  - T < 6
params:
  - metadata: small
    T: ["1", "2*3"]
  - T: [4]
    U: 1
)");
  EXPECT_EQ(listed({"list.yaml"}),
            "        0 T=1\n"
            "        2 T=4/U=1\n"
            "pruned before the build: 1\n"
            "      1  T < 6\n"
            "Number of valid specs: 2\n");
}

TEST_F(Input, SeveralTuningFilesAreJoined) {
  sandbox_.write("more.yaml", "name: bench\nfile: bench.sh\nparams: {T: [7, 8]}\n");
  EXPECT_EQ(listed({"--yaml", "bench.yaml", "--yaml", "more.yaml", "--filter", "T=1", "--filter", "T=8"}),
            "        1 T=1\n        4 T=8\nNumber of valid specs: 2\n");
  sandbox_.write("other.yaml", "name: other\nfile: bench.sh\nparams: {T: [7, 8]}\n");
  refuses({"bench.yaml", "other.yaml"},
          "tune: error: other.yaml:1: 'name' differs from bench.yaml:1; files tuned together must share it\n");
}

TEST_F(Input, EachShapeIsTunedOnItsOwn) {
  sandbox_.write_script("{M: 1, T: [2, 1]}");
  sandbox_.write("shapes.yaml", "- {M: 16}\n- {M: 32}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--shapes", "shapes.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(sandbox_.read("best-M16.yaml").find("  M: 16\n"), std::string::npos);
  EXPECT_NE(sandbox_.read("best-M32.yaml").find("  M: 32\n"), std::string::npos);
  const auto files = sandbox_.files();
  sandbox_.write("shapes.yaml", "- {M: 64}\n- {M: 64, S: 1}\n");
  refuses({"bench.yaml", "--shapes", "shapes.yaml", "--tune", "--output", "best"},
          "tune: error: shapes.yaml:2: a shape has 'S', which is neither a size of the problem nor a parameter\n");
  EXPECT_EQ(sandbox_.files(), files);
  refuses({"bench.yaml", "--shapes", "shapes.yaml", "-m", "5"},
          "tune: error: --shapes gives the sizes of each problem; it excludes -m, -n and -k\n");
  sandbox_.write_script("{M: 1, T: [2, 1]}", "constraints: [M > 1]\n");
  sandbox_.write("shapes.yaml", "- {M: 1}\n- {M: 64}\n");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--shapes", "shapes.yaml", "--output", "best"}).code, 1);
  EXPECT_TRUE(has(sandbox_.read("best-M64.csv"), "64"));
  sandbox_.write("shapes.yaml", "M: 16\n");
  refuses({"bench.yaml", "--shapes", "shapes.yaml"},
          "tune: error: shapes.yaml:1: shapes must be a list of mappings such as - {M: 4096, N: 4096, K: 4096}\n");
}

TEST_F(Input, OptionsThatWouldDoNothingAreRefused) {
  for (const char* none : {"0", "-1"})
    refuses({"bench.yaml", "--tune", "--top", none},
            "tune: error: --top: '" + std::string(none) + "' is not a whole number above 0; see tune --help\n");
  refuses({"bench.yaml", "--dry-run", "--build-only"}, "tune: error: --dry-run and --build-only exclude each other\n");
  refuses({"--simulate", "none.jsonl", "--devices", "0"},
          "tune: error: --simulate measures on no device; it excludes --devices\n");
  refuses({"bench.yaml", "./bench.yaml"}, "tune: error: --yaml ./bench.yaml is given twice\n");
  sandbox_.write_gemm();
  refuses({"gemm.yaml", "--build-only", "--arch", "sm_90a"},
          "tune: error: --arch is for CUDA, HIP and programs; on the CPU build.flags says it (-march=...)\n");
}

TEST_F(Input, APairIsOneValueWhereTheValuesArePairs) {
  sandbox_.write_script("{CL: [[1, 1], [2, 1]], D: [1, 2]}", "default: {CL: [2, 1]}\nbaseline: {CL: [2, 1], D: 2}\n");
  const std::string two = "        2 CL=[2, 1]/D=1\n        3 CL=[2, 1]/D=2\nNumber of valid specs: 2\n";
  EXPECT_EQ(listed({"bench.yaml", "--filter", "CL=[2,1]"}), two);
  EXPECT_EQ(listed({"bench.yaml", "--filter", "CL=[2, 1]"}), two);
  const std::string other = "        0 CL=[4, 4]/D=1\n        1 CL=[4, 4]/D=2\nNumber of valid specs: 2\n";
  EXPECT_EQ(listed({"bench.yaml", "--param", "CL:[4,4]"}), other);
  EXPECT_EQ(listed({"bench.yaml", "--param", "CL:[[4,4]]"}), other);
  EXPECT_TRUE(listed({"bench.yaml", "--param", "D:[4,5]"}).ends_with("Number of valid specs: 4\n"));
  const Result result = sandbox_.tune({"bench.yaml", "--tune"});
  EXPECT_TRUE(has(result.out, "        2             default  ")) << result.out << result.err;
  EXPECT_TRUE(has(result.out, "        3            baseline  ")) << result.out;
}

TEST_F(Input, AnOutputNeedsAName) {
  for (const char* folder : {"out/", "..", "out/."})
    refuses({"bench.yaml", "--tune", "--output", folder},
            "tune: error: --output '" + std::string(folder) +
                "' is a folder; add what the files' names begin with, such as " +
                (std::filesystem::path(folder) / "best").string() + "\n");
}

TEST_F(Input, ADeviceFileStandsInForTheDeviceInDryRuns) {
  sandbox_.write_script("{T: [1, 2, 3]}", "constraints: [T <= device.cores]\n");
  sandbox_.write("device.yaml", "name: small\ndriver: '1'\narch: x\nproperties: {cores: 2}\n");
  EXPECT_TRUE(listed({"bench.yaml", "--device-file", "device.yaml"}).ends_with("Number of valid specs: 2\n"));
  refuses({"bench.yaml", "--dry-run", "--device-file", "none.yaml"},
          "tune: error: none.yaml: cannot be read: No such file or directory\n");
  refuses({"bench.yaml", "--device-file", "device.yaml"},
          "tune: error: --device-file stands in for a device in --dry-run, --build-only and --simulate; nothing can be "
          "measured on "
          "it\n");
}

TEST_F(Input, OtherToolsSpellingsAreAliases) {
  sandbox_.write_script("{M: 1, N: 1, K: 1, T: 1}");
  const Result result = sandbox_.tune({"--yaml", "bench.yaml", "--dryrun", "-m", "2", "-n", "3", "-k", "4",
                                       "--timeout-secs", "5", "--num-cpu", "1", "--tuning_results_file", "best"});
  EXPECT_EQ(result.out, "        0 M=2/N=3/K=4/T=1\nNumber of valid specs: 1\n") << result.err;
}

TEST_F(Input, AQuietDryRunSaysTheNumberAlone) {
  sandbox_.write_script("{T: {range: [1, 10]}, U: {range: [1, 10]}}", "constraints: [T <= U]\n");
  EXPECT_EQ(listed({"bench.yaml", "--quiet"}), "Number of valid specs: 55\n");
}

TEST_F(Input, SpecsThatCannotBeCountedAreNotListed) {
  sandbox_.write_script("{A: {range: [1, 90000]}, B: {range: [1, 90000]}, T: {range: [1, 90000]}}",
                        "constraints: [A * B * T <= 10000000000000]\n");
  const std::string complaint =
      "tune: error: the constraints entangle 3 parameters so much that their valid combinations cannot be counted (A, "
      "B, T); a random sample says that there are 143000000000000 to 147000000000000 (95 % confidence); narrow them "
      "with --param, or search a random sample of them with --max-evals N or --time-budget T\n";
  refuses({"bench.yaml", "--dry-run"}, complaint);
  refuses({"bench.yaml", "--tune"}, complaint);
  EXPECT_EQ(listed({"bench.yaml", "--quiet"}),
            "Number of valid specs: 143000000000000 to 147000000000000 (95 % confidence)\n");
  EXPECT_TRUE(listed({"bench.yaml", "--max-evals", "3"}).ends_with("Number of valid specs: 3\n"));
}

TEST_F(Input, SpecsThatCannotBeCountedAreSearchedInASample) {
  sandbox_.write_script("{A: {range: [1, 90000]}, B: {range: [1, 90000]}, T: {range: [1, 90000]}}",
                        "constraints: [A * B * T <= 10000000000000]\ndefault: {A: 7, B: 8, T: 9}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--max-evals", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "the valid specs could not be counted, there are ")) << result.out;
  EXPECT_GE(sandbox_.script_runs(), 3);
}

TEST_F(Input, ASampleThatIsEmptyIsNotAdvised) {
  sandbox_.write_script("{T: {range: [1, 10000]}, U: {range: [1, 10000]}, V: {range: [1, 10000]}}",
                        "constraints: [T*U == V*7+3, T*U > 80000]\n");
  refuses({"bench.yaml", "--tune", "--max-evals", "3"},
          "tune: error: the constraints entangle 3 parameters so much that their valid combinations cannot be counted "
          "(T, U, V), and a random search found none that is valid; narrow the parameters with --param, or loosen the "
          "constraints\n");
}

TEST_F(Input, ADryRunWritesNothing) {
  const std::vector<std::string> before = sandbox_.files();
  listed({"bench.yaml", "--output", "best"});
  EXPECT_EQ(sandbox_.files(), before);
}

TEST_F(Input, HelpAndVersionNeedNoTuningFile) {
  EXPECT_EQ(sandbox_.tune({"--help"}).code, 0);
  const std::string version = sandbox_.tune({"--version"}).out;
  EXPECT_TRUE(std::regex_match(version, std::regex("tune [0-9.]+\\nbuilt by: .+, .+\\nworkers: cpu, program.*\\n")))
      << version;
}

}  // namespace
}  // namespace tune::cli::cli_input_test
