#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_spellings_test {
namespace {

using Words = std::vector<std::string>;

/// The options, files and texts of the tools that this one replaces.
class Spellings : public testing::Test {
 protected:
  /// A run that is expected to succeed.
  Result tune(const Words& arguments) {
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return result;
  }
  void refuses(const Words& arguments, const std::string& complaint) {
    EXPECT_EQ(refusal(sandbox_, arguments), "tune: error: " + complaint + "\n");
  }
  /// What a dry run lists, without its last line.
  std::string listed(Words arguments) {
    arguments.push_back("--dry-run");
    const std::string out = tune(arguments).out;
    return out.substr(0, out.find("Number of valid specs"));
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(sandbox_.folder() / name); }
  /// Files beside the sources, the store and the state folder.
  std::vector<std::string> outputs() const {
    std::vector<std::string> names;
    for (const std::string& name : sandbox_.files())
      if (name.starts_with("out")) names.push_back(name);
    return names;
  }

  Sandbox sandbox_;
};

TEST_F(Spellings, TheCommandsOfTuneGemmsReadmeWork) {
  sandbox_.write_gemm();
  sandbox_.write("input_gemm_sizes.yaml",
                 "- {'M': 16, 'N': 24, 'K': 8, 'rowMajorA': 'T', 'rowMajorB': 'T'}\n"
                 "- {'M': 32, 'N': 16, 'K': 16, 'rowMajorA': 'T', 'rowMajorB': 'T'}\n");
  tune({"--gemm_size_file", "input_gemm_sizes.yaml", "--compare"});
  EXPECT_TRUE(has(tune({"-m", "16", "-n", "16", "-k", "16"}).out, "Number of valid specs: 4\n"));

  tune({"--gemm_size_file", "input_gemm_sizes.yaml", "--tuning_results_file", "out/put.yaml", "--finals-budget", "1s"});
  EXPECT_EQ(outputs(), (std::vector<std::string>{"out", "out/put.yaml"}));
  EXPECT_TRUE(std::regex_match(
      sandbox_.read("out/put.yaml"),
      std::regex(
          "- \\{M: 16, N: 24, K: 8, rowMajorA: T, rowMajorB: T, BM: \\d\\} # TFLOPS: \\S+ time\\(us\\): \\S+\n"
          "- \\{M: 32, N: 16, K: 16, rowMajorA: T, rowMajorB: T, BM: \\d\\} # TFLOPS: \\S+ time\\(us\\): \\S+\n")))
      << sandbox_.read("out/put.yaml");

  const Result checked = tune({"--gemm_size_file", "out/put.yaml", "--compare_wo_tuning"});
  EXPECT_TRUE(has(checked.out, "M=32 N=16 K=16 rowMajorA=T rowMajorB=T BM="));
  EXPECT_TRUE(has(checked.out, "Number of valid specs: 1\n"));
  EXPECT_FALSE(has(checked.out, "top_spec_idx"));
}

TEST_F(Spellings, TheCommandsOfKbenchsReadmeWork) {
  sandbox_.write("sample.mojo", "");
  sandbox_.write("YAML_FILE",
                 "name: multistage_gemm\nfile: sample.mojo\nparams:\n    DTYPE: DType.float16\n    M: [1024,512]\n"
                 "    STAGES: [4,8]\n    $x: [3]\n");
  // A compiler whose programs say how they were built and called, and report as kbench's benchmarks do.
  std::filesystem::permissions(
      sandbox_.write(
          "tools/mojo",
          "#!/bin/sh\nall=\"$*\"\nwhile [ \"$1\" != -o ]; do shift; done\ncat > \"$2\" <<END\n#!/bin/sh\n"
          "echo \"$all: \\$*\" >> " +
              (sandbox_.folder() / "calls").string() +
              "\nwhile [ \"\\$1\" != -o ]; do shift; done\n"
              "printf '\"name\",\"met (ms)\",\"iters\"\\n\"gemm\",2.5,7\\n' > \"\\$2\"\nEND\nchmod +x \"$2\"\n"),
      std::filesystem::perms::owner_all);
  sandbox_.environment["PATH"] = (sandbox_.folder() / "tools").string() + ":/usr/bin:/bin";
  const Result all = tune({"--yaml", "YAML_FILE", "--output", "OUTPUT_PATH"});
  EXPECT_TRUE(has(all.out, "Number of valid specs: 4\n"));
  EXPECT_TRUE(has(all.out, "  2.500000      7"));
  const std::string calls = sandbox_.read("calls");
  EXPECT_TRUE(has(calls, "build -DDTYPE=DType.float16 -DM=1024 -DSTAGES=4 "));
  EXPECT_TRUE(has(calls, ": --x=3 -o "));
  EXPECT_TRUE(exists("OUTPUT_PATH.csv"));
  const Result best = tune({"--yaml", "YAML_FILE", "--output", "OUTPUT_PATH", "--tune"});
  EXPECT_TRUE(has(best.out, "\nBest Measured Time:\n"));
  EXPECT_TRUE(exists("OUTPUT_PATH.yaml"));
}

TEST_F(Spellings, ComparingWithoutTuningFindsAWrongResult) {
  sandbox_.write_gemm("", "for (int i = 0; i < m * n; ++i) C[i] = BM;");
  sandbox_.write("results.yaml", "- {M: 16, N: 16, K: 16, BM: 4}\n");
  EXPECT_EQ(sandbox_.tune({"--gemm_size_file", "results.yaml", "--compare_wo_tuning"}).code, 3);
  refuses({"--gemm_size_file", "results.yaml", "--compare_wo_tuning", "--tune"},
          "--compare_wo_tuning checks specs without tuning; it excludes --tune and --tuning_results_file");
}

TEST_F(Spellings, AResultsFileHoldsEveryKindOfValueAndIsReadBack) {
  sandbox_.write_script("{T: [2, 1], $R: [3], PAIR: [[2, 1]], WHERE: ['2*64', here]}");
  sandbox_.write("sizes.yaml", "- {M: 5}\n");
  tune({"bench.yaml", "--shapes", "sizes.yaml", "--o", "out.yaml", "--no-finals"});
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "T: 1, $R: 3, PAIR: [[2, 1]], WHERE: "));
  EXPECT_TRUE(has(listed({"bench.yaml", "--shapes", "out.yaml"}), "        0 T=1/R=3/PAIR=[2, 1]/WHERE="));
  sandbox_.write_script("{T: [2, 1]}", "constraints: [T > 2]\n");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--shapes", "sizes.yaml", "--o", "none.yaml"}).code, 1);
  EXPECT_FALSE(exists("none.yaml")) << "nothing was found";
}

TEST_F(Spellings, AResultsLineMeansOneSpecOfAUnion) {
  sandbox_.write_script("[{T: [2, 1], U: [1]}, {T: [2, 1], V: [5, 6]}]", "constraints: [U < 2, V > 4]\n");
  sandbox_.write("sizes.yaml", "- {V: 6}\n");
  tune({"bench.yaml", "--shapes", "sizes.yaml", "--o", "out.yaml", "--no-finals"});
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "- {T: 1, V: 6} # time(us): 1000\n")) << sandbox_.read("out.yaml");
  EXPECT_EQ(listed({"bench.yaml", "--shapes", "out.yaml"}), "T=1 V=6\n        5 T=1/V=6\n");
  sandbox_.write_script("[{T: [2, 1], U: [1]}, {T: [2, 1], V: {range: [1, 0, 0]}}]");
  refuses({"bench.yaml", "--shapes", "out.yaml", "--dry-run"},
          "bench.yaml:3: parameter 'V' has an empty range; write [low, high, step > 0]");
}

TEST_F(Spellings, AResultsFileIsNoInput) {
  sandbox_.write_script("{T: [2, 1]}");
  sandbox_.write("sizes.yaml", "- {M: 5}\n");
  refuses({"bench.yaml", "--shapes", "sizes.yaml", "--o", "sizes.yaml"},
          "the output sizes.yaml is also an input of this run; choose another --tuning_results_file FILE");
  refuses({"bench.yaml", "--simulate", "rec.jsonl", "--o", "out.yaml"},
          "--tuning_results_file is for real tunings; --simulate writes --output PREFIX");
}

TEST_F(Spellings, WithoutAnyTuningFileTheCommandsOfTuneGemmTuneAShippedOne) {
  sandbox_.write("sizes.yaml",
                 "- {'M': 20, 'N': 24, 'K': 8, 'rowMajorA': 'T', 'rowMajorB': 'N'}\n"
                 "- {'M': 7, 'N': 33, 'K': 17, 'rowMajorA': 'N', 'rowMajorB': 'T'}\n");
  const auto quickly = [&](Words words) {
    for (const char* word : {"--backend", "cpu", "--max-evals", "2", "--no-finals"}) words.emplace_back(word);
    return tune(words);
  };
  const Result one = quickly({"-m", "16", "-n", "16", "-k", "16"});
  EXPECT_TRUE(has(one.out, "Tuning [gemm_cpu] from [../demo/gemm_cpu.cpp]\nproblem: 16x16x16\n"));
  EXPECT_TRUE(has(one.out, "\ntop_spec_idx: ")) << "it tunes, as tune_gemm does";
  EXPECT_TRUE(has(one.err, "note: this folder has no gemm.yaml; the tuning file is " +
                               (std::filesystem::path(TUNE_BIN_DIR).parent_path() / "share").string() +
                               "/tune/configs/gemm_cpu.yaml\n"));
  EXPECT_TRUE(has(quickly({"--gemm_size_file", "sizes.yaml", "--compare"}).out, "2 of 2 sizes: 2 right, 0 wrong"));
  quickly({"--gemm_size_file", "sizes.yaml", "--tuning_results_file", "out.yaml"});
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "- {M: 7, N: 33, K: 17, rowMajorA: N, rowMajorB: T, MR: "));
  const Result checked = tune({"--gemm_size_file", "out.yaml", "--compare_wo_tuning", "--backend", "cpu"});
  EXPECT_TRUE(has(checked.out, "2 of 2 sizes: 2 right, 0 wrong; 2 specs: 2 right, 0 wrong"));
}

TEST_F(Spellings, TheShippedFileIsThatOfTheDevice) {
  const auto file = [&](const Words& device) {
    Words words = {"-m", "16", "-n", "16", "-k", "16", "--dry-run", "-q"};
    words.insert(words.end(), device.begin(), device.end());
    const std::string text = sandbox_.tune(words).err, note = text.substr(0, text.find('\n') + 1);
    return note.substr(note.rfind('/') + 1);
  };
  EXPECT_EQ(file({"--arch", "sm_75"}), "gemm_simt.yaml\n") << "it has not the instructions of gemm_mma";
  EXPECT_EQ(file({"--device-file", "a100"}), "gemm_mma.yaml\n");
  EXPECT_EQ(file({"--device-file", "mi300x"}), "gemm_mfma.yaml\n");
}

TEST_F(Spellings, SizesWithoutATuningFileNeedOneInTheFolderOrAShippedOne) {
  const Result missing =
      sandbox_.tune_from(sandbox_.copy_binaries(), {"-m", "16", "-n", "16", "-k", "16", "--backend", "cpu"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_EQ(
      missing.err,
      "tune: error: this folder has no gemm.yaml, and the tuning file that is installed with tune is not there: " +
          (sandbox_.folder() / "share/tune/configs/gemm_cpu.yaml").string() + "; name one with --yaml FILE\n");
  refuses({"-m", "16", "-n", "16", "-k", "16", "--backend", "program"},
          "this folder has no gemm.yaml; give the tuning file of the program with --yaml FILE");
  refuses({"-m", "16", "-n", "16", "-k", "16", "--launcher", "slurm"},
          "this folder has no gemm.yaml; with --launcher, give the tuning file with --yaml FILE");
  refuses({"--tune"}, "there is nothing to tune: --yaml FILE is missing, or -- and a command; see tune --help");
}

TEST_F(Spellings, OutputNamesAFileItself) {
  sandbox_.write_script("{T: [2, 1]}");
  tune({"bench.yaml", "--tune", "--no-finals", "--output", "out.csv"});
  EXPECT_EQ(outputs(), (std::vector<std::string>{"out.csv", "out.jsonl", "out.yaml"}));
  tune({"bench.yaml", "--tune", "--no-finals", "--output", "out2.yml"});
  EXPECT_TRUE(exists("out2.yml"));
  EXPECT_TRUE(exists("out2.csv"));
  tune({"bench.yaml", "--output", "out3.jsonl"});
  EXPECT_TRUE(exists("out3.jsonl"));
  sandbox_.write("sizes.yaml", "- {M: 5}\n");
  tune({"bench.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--output", "out4.yaml"});
  EXPECT_TRUE(exists("out4-M5.yaml"));
  refuses({"bench.yaml", "--output", "out5.yaml"},
          "--output out5.yaml is the file of the best spec, which is written with --tune; without it give --output "
          "out5.csv");
}

TEST_F(Spellings, KbenchsFilesAreWrittenOnRequest) {
  sandbox_.write_script("{T: [2, 1], $SAYS: [fine, dies]}");
  tune({"bench.yaml", "--output", "out.csv", "--kbench-files"});
  EXPECT_EQ(outputs(), (std::vector<std::string>{"out.csv", "out.failures.json", "out.jsonl", "out.txt"}));
  const std::string failures = sandbox_.read("out.failures.json");
  EXPECT_TRUE(has(failures,
                  "{\n  \"spec_name\": \"bench\",\n  \"spec_file\": \"bench.sh\",\n  \"num_valid\": 2,\n"
                  "  \"num_total\": 4,\n  \"failures\": [\n    {\n      \"mesh_idx\": 1,\n"
                  "      \"params\": {\n        \"T\": 2,\n        \"$SAYS\": \"dies\"\n      },\n"
                  "      \"failure_type\": \"execution\",\n      \"exec_stderr\": \""));
  EXPECT_TRUE(has(failures, "no such tile"));
  const std::string text = sandbox_.read("out.txt");
  EXPECT_TRUE(has(text, "\nRunning ['bench.sh']\n"));
  EXPECT_TRUE(has(text, "\nNumber of invalid specs: 2 (out of 4)\n"));
  EXPECT_TRUE(has(text, "\nNumber of valid executed specs: 2 (out of 4)\n"));
  EXPECT_TRUE(has(text, "  2.000000      1  bench/T=2/$SAYS=fine\n")) << text;
  refuses({"bench.yaml", "--kbench-files"}, "--kbench-files are named after --output; give --output PREFIX too");
}

TEST_F(Spellings, KbenchsFilesTellTheKindOfAFailure) {
  sandbox_.write_gemm("",
                      "\n#if BM == 2\n#error no such tile\n#elif BM == 4\nfor (volatile int i = 0; i >= 0;) i = 0;"
                      "\n#endif\nfor (int i = 0; i < m * n; ++i) C[i] = 0;");
  sandbox_.tune({"gemm.yaml", "--output", "out", "--kbench-files", "--timeout-run", "2"});
  const std::string failures = sandbox_.read("out.failures.json");
  for (const char* type : {"execution", "build", "timeout"})
    EXPECT_TRUE(has(failures, "\"failure_type\": \"" + std::string(type) + "\"")) << failures;
}

TEST_F(Spellings, PartsOfTheGridArePutTogetherByTheirJournals) {
  sandbox_.write_script("{T: [5, 4, 3, 2, 1]}");
  EXPECT_EQ(listed({"bench.yaml", "--partition", "0:2"}), "        0 T=5\n        1 T=4\n");
  EXPECT_EQ(listed({"bench.yaml", "--partition", "1:2"}), "        2 T=3\n        3 T=2\n        4 T=1\n");
  EXPECT_EQ(tune({"bench.yaml", "--partition", "1:2", "--dry-run", "-q"}).out, "Number of valid specs: 3\n");
  tune({"bench.yaml", "--partition", "0:2", "--output", "part0"});
  tune({"bench.yaml", "--partition", "1:2", "--output", "part1"});
  EXPECT_EQ(sandbox_.script_runs(), 5);
  sandbox_.write("all.jsonl", sandbox_.read("part0.jsonl") + sandbox_.read("part1.jsonl"));
  const Result all = tune({"bench.yaml", "--tune", "--no-finals", "--output", "all"});
  EXPECT_EQ(sandbox_.script_runs(), 5) << "everything is known";
  EXPECT_TRUE(has(all.out, "Number of valid specs: 5\n"));
  EXPECT_TRUE(has(all.out, "top_spec_idx: 4\n"));
}

TEST_F(Spellings, PartsOfAListAreItsSizes) {
  sandbox_.write_script("{T: [2, 1]}");
  sandbox_.write("sizes.yaml", "- {M: 1}\n- {M: 2}\n- {M: 3}\n");
  const auto part = [&](const char* text) {
    return tune({"bench.yaml", "--shapes", "sizes.yaml", "--partition", text, "--dry-run", "-q"}).out;
  };
  EXPECT_EQ(part("0:2"), "M=1\nNumber of valid specs: 2\n");
  EXPECT_EQ(part("1:2"), "M=2\nNumber of valid specs: 2\nM=3\nNumber of valid specs: 2\n");
  refuses({"bench.yaml", "--shapes", "sizes.yaml", "--partition", "0:4"},
          "--partition 0:4: sizes.yaml has only 3 sizes; use no more parts than that");
}

TEST_F(Spellings, KbenchsShapesAreAGrid) {
  sandbox_.write_script("{T: [2, 1]}");
  sandbox_.write("shapes.yaml", "name: x\nfile: bench.sh\nparams:\n- M: [1, 2]\n  $N: [3, 4]\n- M: 5\n  $N: 6\n");
  std::string shapes;
  for (const char* shape : {"M=1 N=3", "M=1 N=4", "M=2 N=3", "M=2 N=4", "M=5 N=6"})
    shapes += std::string(shape) + "\nNumber of valid specs: 2\n";
  EXPECT_EQ(tune({"bench.yaml", "--shapes", "shapes.yaml", "--dry-run", "-q"}).out, shapes);
}

TEST_F(Spellings, APartThatIsNoneIsRefused) {
  sandbox_.write_script("{T: [2, 1]}");
  for (const char* none : {"2:2", "-1:2", "1", "a:b", "0:0", "0:2x", ":2"})
    refuses({"bench.yaml", "--partition", none},
            "--partition: '" + std::string(none) + "' is no part; write 0:4 for the first of four; see tune --help");
  refuses({"bench.yaml", "--partition", "0:3"}, "--partition 0:3: there are only 2 specs; use no more parts than that");
  refuses({"bench.yaml", "--partition", "0:2", "--spec", "0"}, "--spec runs one spec; it excludes --partition");
  refuses({"bench.yaml", "--filter", "T=1", "--spec", "0"}, "--spec runs one spec; it excludes --filter");
}

TEST_F(Spellings, AConfigurationOfTuneGemmIsParsed) {
  sandbox_.write_script("{BLOCK_SIZE_M: [1], nW: [2], MFMA: [16], K: [1], SPLIT_K: [1, 2], schedule_hint: [none, x]}");
  EXPECT_EQ(listed({"bench.yaml", "--config_str", "M16_K128_BM64_SK4_nW8_mfma32_schedCK_V3"}),
            "        0 BLOCK_SIZE_M=64/nW=8/MFMA=32/K=128/SPLIT_K=4/schedule_hint=ck_v3/M=16\n");
  refuses({"bench.yaml", "--config_str", "M16_GM4"},
          "--config_str M16_GM4: the file has no parameter 'GM' or 'GROUP_SIZE_M'");
  refuses(
      {"bench.yaml", "--config_str", "M16_B"},
      "--config_str M16_B: 'B' is no part of a configuration, which has names with a number behind each, joined by _: "
      "sizes (M, N, K) and parameters (BM, BN, BK, GM, SK, nW, nS, EU, kP, mfma), such as "
      "M16_N8_K128_BM64_BN64_BK64_GM1_SK2_nW2_nS0_EU0_kP2_mfma16");
  sandbox_.write_gemm();
  const Result one = tune({"--config_str", "M16_N8_K128_BM16"});
  EXPECT_TRUE(has(one.out, "Number of valid specs: 1\n"));
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--config_str", "M16_BM3", "--filter", "BM=4"}).err,
                  "'BM' is never 4; its values are 3"));
}

TEST_F(Spellings, EntriesOfTheProblemAreSet) {
  sandbox_.write_gemm("", "volatile float zero = 0;\n  for (int i = 0; i < m * n * k; ++i) C[i / k] = zero;");
  // With zeros for inputs the kernel is right. It takes longer than a product can on any CPU.
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--spec", "0", "--compare"}).code, 3);
  tune({"gemm.yaml", "--spec", "0", "--compare", "--init_type", "zeros"});
  const Result failed = sandbox_.tune({"gemm.yaml", "--spec", "0", "-dtype_a", "fp16", "--dtype_b", "fp16"});
  EXPECT_EQ(failed.code, 1) << "the kernel takes floats";
  EXPECT_TRUE(has(failed.out, "tune --yaml gemm.yaml --problem a=f16 --problem b=f16 --spec 0\n")) << failed.out;
  refuses({"gemm.yaml", "-dtype_a", "fp12"},
          "--problem a=fp12: type a must be one of f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8, not 'fp12'");
  refuses({"gemm.yaml", "--problem", "btch=2"},
          "--problem btch=2: 'btch' is no entry of the problem, did you mean "
          "'batch'?");
  refuses({"gemm.yaml", "--problem", "batch"}, "--problem batch: write KEY=VALUE, such as a=bf16");
  sandbox_.write_script("{T: [2, 1]}");
  refuses({"bench.yaml", "-dtype_a", "fp16"},
          "--problem a=f16: 'a' is no entry of the problem; the file has none, and --param sets the parameters of a "
          "program");
}

TEST_F(Spellings, OptionsOfOtherToolsWorkOrSayWhatToUse) {
  sandbox_.write_script("{T: [2, 1]}");
  tune({"bench.yaml", "-c", "--num_threads", "1", "--cache-dir", "store", "--skip-clock-check", "--time_breakdown"});
  EXPECT_EQ(listed({"bench.yaml", "-dryrun"}), "        0 T=2\n        1 T=1\n");
  refuses({"bench.yaml", "--output-dir", "out"},
          "--output-dir is an option of kbench and not of tune: write the folder in front of the name: --output "
          "DIR/NAME");
  refuses({"bench.yaml", "--keep", "--compare"},
          "--keep is given the option --compare; give the name of a folder");  // tune_gemm's has no value
  refuses({"bench.yaml", "--ngpus", "x"}, "--ngpus: 'x' is not a number of GPUs; write a whole number above 0");
}

/// Programs that stand for others: each notes its words and runs the rest of them.
class Surrounded : public Spellings {
 protected:
  Surrounded() {
    sandbox_.write_script("{T: [2, 1]}");
    add("mpirun", "shift 2");
    add("ncu", "echo profile > \"$3.ncu-rep\"; shift 3");
    sandbox_.environment["PATH"] = (sandbox_.folder() / "tools").string() + ":/usr/bin:/bin";
  }
  void add(const std::string& name, const std::string& drop_words) const {
    const std::filesystem::path log = sandbox_.folder() / "calls";
    std::filesystem::permissions(
        sandbox_.write("tools/" + name, "#!/bin/sh\necho \"" + name + " $*\" >> " + log.string() + "\n" + drop_words +
                                            "\nexec \"$@\"\n"),
        std::filesystem::perms::owner_all);
  }
  /// Whether a program was called with these words.
  testing::AssertionResult called(const std::string& words) const { return has(sandbox_.read("calls"), words + "\n"); }

  const std::string script_ = (sandbox_.folder() / "bench.sh").string();
};

TEST_F(Surrounded, AProgramRunsBetweenWhatTheCommandLineSays) {
  add("outer", "shift");
  tune({"bench.yaml", "--exec-prefix", "outer 'a b{T}'", "--mpirun-np", "4", "--exec-suffix", "--more 'x y'"});
  EXPECT_TRUE(called("outer a b2 mpirun -np 4 " + script_ + " --T=2 --more x y"));
  EXPECT_TRUE(called("mpirun -np 4 " + script_ + " --T=1 --more x y"));
  EXPECT_EQ(sandbox_.script_runs(), 2);
  tune({"bench.yaml", "--mpirun-np", "2"});
  EXPECT_EQ(sandbox_.script_runs(), 4) << "what was measured in another way does not count";
  tune({"bench.yaml", "--mpirun-np", "2"});
  EXPECT_EQ(sandbox_.script_runs(), 4) << "what was measured in the same way does";
}

TEST_F(Surrounded, TheBestYamlHasWhatSurroundedTheProgram) {
  add("outer", "shift");
  tune({"bench.yaml", "--tune", "--output", "best", "--exec-prefix", "outer 'a b'", "--exec-suffix", "--more"});
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "run: [outer, a b, '{file}', '{args}', '--more']\n"));
  tune({"best.yaml", "--output", "again"});
  EXPECT_TRUE(called("outer a b " + script_ + " --T=1 --more"));
}

TEST_F(Surrounded, AnotherProgramOfTheSameNameIsAnotherMeasurement) {
  add("outer", ":");
  tune({"bench.yaml", "--exec-prefix", "outer"});
  const int before = sandbox_.script_runs();
  tune({"bench.yaml", "--exec-prefix", "outer"});
  EXPECT_EQ(sandbox_.script_runs(), before);
  add("outer", ": edited");
  tune({"bench.yaml", "--exec-prefix", "outer"});
  EXPECT_EQ(sandbox_.script_runs(), before + 2);
}

TEST_F(Surrounded, ACommandBehindDashesRunsBetweenThemToo) {
  tune({"--param", "T:[1,2]", "--mpirun-np", "3", "--", "./bench.sh", "--T={T}"});
  EXPECT_TRUE(called("mpirun -np 3 ./bench.sh --T=2"));
  tune({"--param", "T:[1,2]", "--mpirun-np", "3", "--exec-suffix", "--last 'x y'", "--shell", "--",
        "./bench.sh --T={T}"});
  EXPECT_TRUE(called("mpirun -np 3 /bin/sh -c ./bench.sh --T='2' --last 'x y'"));
  tune({"--param", "T:[1,2]", "--mpirun-np", "3", "--exec-suffix", "--last", "--shell", "--",
        "./bench.sh --T={T} ';|' >&1 2>&1"});
  EXPECT_TRUE(called("mpirun -np 3 /bin/sh -c ./bench.sh --T='2' ';|' >&1 2>&1 --last"));
}

TEST_F(Surrounded, AProfilerWritesAFileForEachSpec) {
  tune({"bench.yaml", "--profile", "ncu-single", "--output", "out/best"});
  EXPECT_TRUE(called("ncu -f -o " + (sandbox_.folder() / "out/best-profile-1").string() + " " + script_ +
                     " --T=1 --bench-max-iters=0 --bench-max-batch-size=1"));
  EXPECT_EQ(sandbox_.read("out/best-profile-0.ncu-rep"), "profile\n");
  tune({"bench.yaml", "--profile", "ncu", "--spec", "1"});
  EXPECT_TRUE(exists("bench-profile-1.ncu-rep"));
}

TEST_F(Surrounded, WhatCannotRunIsRefused) {
  refuses({"bench.yaml", "--profile", "rocm"}, "bench.yaml: run: cannot start rocprof-compute: not found on PATH");
  refuses({"bench.yaml", "--exec-prefix", "a | b"},
          "--exec-prefix: an unquoted | needs a shell, which does not read this; write the command into run: of the "
          "tuning file, or a script");
  refuses(
      {"--param", "T:[1,2]", "--exec-suffix", "{T}", "--shell", "--", "./bench.sh --T={T}"},
      "--exec-suffix: '{T}' has a placeholder, and the command is read by a shell; write it into run: of the tuning "
      "file");
  for (const auto& [rest, end] : {std::pair("| cat", "an unquoted |"),
                                  {"; true", "an unquoted ;"},
                                  {"# T", "an unquoted #"},
                                  {"&", "an unquoted &"},
                                  {"\n", "an end of a line"}})
    refuses(
        {"--param", "T:[1,2]", "--exec-suffix", "--more", "--shell", "--", std::string("./bench.sh --T={T} ") + rest},
        std::string("--exec-suffix: the shell's command has ") + end +
            ", behind which words do not reach the program; write them into run: of the tuning file");
  refuses(
      {"--param", "T:[1,2]", "--profile", "ncu-single", "--shell", "--", "./bench.sh --T={T} | cat"},
      "--profile: the shell's command has an unquoted |, behind which words do not reach the program; write them into "
      "run: of the tuning file");
  refuses({"bench.yaml", "--exec-suffix", "{NOPE}"},
          "--exec-suffix: unknown placeholder {NOPE}; the parameters have placeholders here");
  EXPECT_EQ(tune({"--param", "N:[1,2]", "--exec-prefix", "outer {N}", "--dry-run", "--quiet", "--", "./bench.sh"}).out,
            "Number of valid specs: 2\n")
      << "it reaches what surrounds the program";
  sandbox_.write_gemm();
  refuses({"gemm.yaml", "--problem", "bias=col"},
          "gemm.yaml:8: the problem has a bias, and no launch has 'bias' among its args: this kernel adds none");
  refuses({"gemm.yaml", "--profile", "ncu"},
          "--profile: is for programs, and gemm is a kernel, which a worker of tune launches; to profile one of its "
          "specs, run ncu --target-processes all tune --yaml FILE --spec N");
}

TEST_F(Spellings, RunOnlyBuildsNothing) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--build-only", "--filter", "BM=2"});
  ASSERT_EQ(sandbox_.artifacts(), 1);
  const Result only = tune({"gemm.yaml", "--run-only"});
  EXPECT_EQ(sandbox_.artifacts(), 1);
  EXPECT_TRUE(has(only.out, "Number of valid specs: 4\n1 of 4 measured\n"));
  EXPECT_TRUE(has(only.out, "3  build, reported: it is not in the build store, and nothing is built here\n"));
  tune({"gemm.yaml"});
  EXPECT_EQ(sandbox_.artifacts(), 4) << "that they were not built is no failure that lasts";
  refuses({"gemm.yaml", "--run-only", "--build"}, "--run-only builds nothing; it excludes --build-only");
  refuses({"gemm.yaml", "--run-only", "-cc"},
          "--run-only builds nothing; it excludes --clear-cache, which leaves nothing to run");
}

TEST_F(Spellings, TheStoreIsEmptiedOnRequest) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--build-only"});
  const Result cleared = tune({"gemm.yaml", "--build-only", "-cc", "--filter", "BM=2"});
  EXPECT_TRUE(has(cleared.err, "note: 4 of the 4 entries of the build store were removed\n"));
  EXPECT_EQ(sandbox_.artifacts(), 1);
  refuses({"gemm.yaml", "--clear-cache", "--dry-run"},
          "--clear-cache empties the build store for a run that builds; --dry-run, --simulate and --probe build "
          "nothing");
}

TEST_F(Spellings, NoOptionOfOursIsTakenForOneOfAnotherTool) {
  const std::string help = tune({"--help"}).out + tune({"audit", "--help"}).out;
  static const std::regex kOption("\\s(--?[a-z][a-z_-]*)");
  int options = 0;
  for (auto match = std::sregex_iterator(help.begin(), help.end(), kOption); match != std::sregex_iterator(); ++match) {
    ++options;
    EXPECT_FALSE(has(sandbox_.tune({(*match)[1].str()}).err, "is an option of")) << (*match)[1];
  }
  EXPECT_GT(options, 20);
}

TEST_F(Spellings, KernelTunersStrategiesSearch) {
  sandbox_.write_script("{T: {range: [1, 30]}}");
  const auto specs = [&](const std::string& strategy) {
    const Result run = tune({"bench.yaml", "--tune", "--no-finals", "--max-evals", "6", "--strategy", strategy,
                             "--output", "out-" + strategy});
    return run.out.substr(0, run.out.find("Elapsed"));
  };
  EXPECT_EQ(specs("random_sample"), specs("random"));
  EXPECT_EQ(specs("genetic_algorithm"), specs("genetic"));
  refuses({"bench.yaml", "--strategy", "pso"},
          "--strategy pso: this strategy of Kernel Tuner is not here; the nearest one is genetic");
  refuses({"bench.yaml", "--strategy", "random_sample:max_fevals=100"},
          "--strategy random_sample:max_fevals=100: max_fevals is the option --max-evals N here");
}

}  // namespace
}  // namespace tune::cli::cli_spellings_test
