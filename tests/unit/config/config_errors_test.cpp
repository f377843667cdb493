#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/tuning_folder.h"

namespace tune::config_errors_test {
namespace {

class BadInput : public testing::Test {
 protected:
  std::string complaint(const std::string& text, const config::LoadRules& options = without_kernel_file()) {
    return folder_.complaint([&] { load_text(folder_, text, options); });
  }
  /// The complaint of a program's file whose params, on line 3, are `params`.
  std::string of_params(const std::string& params) { return complaint(program_file(params)); }

  TuningFolder folder_;
};

TEST_F(BadInput, IsExitCodeTwo) {
  try {
    load_text(folder_, "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
  }
}

TEST_F(BadInput, AMissingFileIsNamed) {
  const std::vector<std::filesystem::path> yamls = {folder_.path() / "none.yaml"};
  EXPECT_EQ(folder_.complaint([&] { config::load(yamls, {}); }),
            "none.yaml: there is no such file; tune init SOURCE writes one for a kernel");
}

TEST_F(BadInput, AFolderIsNoFile) {
  const std::vector<std::filesystem::path> yamls = {folder_.path()};
  EXPECT_NE(folder_.complaint([&] { config::load(yamls, {}); }).find("cannot be read: it is a folder"),
            std::string::npos);
}

TEST_F(BadInput, AnEmptyFileSaysWhatBelongsThere) {
  const std::string expected = "gemm.yaml: the file is empty; a tuning file is a mapping with name, file and params";
  EXPECT_EQ(complaint(""), expected);
  EXPECT_EQ(complaint("# only a comment\n"), expected);
}

TEST_F(BadInput, AFileThatIsNoMappingIsRefused) {
  EXPECT_EQ(complaint("[1, 2]"),
            "gemm.yaml:1: the file is a list; a tuning file is a mapping with name, file and params; a list of sizes "
            "is given with --shapes");
}

TEST_F(BadInput, OtherFilesOfTuneAreNamed) {
  EXPECT_EQ(complaint("tune_database: 1\nresults: []\n"),
            "gemm.yaml: this is no tuning file, but a database of results: tune package makes a library of it, tune "
            "retime times its results again");
  EXPECT_EQ(complaint("name: NVIDIA H200\narch: sm_90a\nproperties: {warp_size: 32}\n"),
            "gemm.yaml: this is no tuning file, but describes a device, as --device-file FILE wants it");
}

TEST_F(BadInput, MalformedYamlHasItsLine) {
  EXPECT_EQ(complaint("name: x\nparams: {BM: [1, 2\n"),
            "gemm.yaml:2: malformed YAML: end of sequence flow not found; close the [");
  EXPECT_EQ(complaint("name: x\nshapes: [\n  {m: 1},\n  {m: 2}\n  {m: 3},\n]\n"),
            "gemm.yaml:5: malformed YAML: end of sequence flow not found; put a comma between the entries");
  EXPECT_EQ(complaint("A: [1, 2\nB: [\"x [\ny]\", 3]\n"),
            "gemm.yaml:1: malformed YAML: end of sequence flow not found; close the [");
  EXPECT_EQ(complaint("params:\n  A: [1, 2\n  B: [3]\n  C: {pow2: [1, 2]\n"),
            "gemm.yaml:2: malformed YAML: end of sequence flow not found; close the [");
  EXPECT_EQ(complaint("params:\n  A: ['[', \"[\"]  # [\n  B: {pow2: [1, 2]\nname: {x}\n"),
            "gemm.yaml:3: malformed YAML: end of map flow not found; close the {");
  EXPECT_EQ(complaint("name: x\nfile: *here\n"), "gemm.yaml:2: malformed YAML: the referenced anchor is not defined");
}

TEST_F(BadInput, ALoneCommaDoesNotHangTheReader) { EXPECT_NE(complaint(","), ""); }

TEST_F(BadInput, SeveralDocumentsAreRefused) {
  EXPECT_EQ(complaint("name: x\n---\nname: y\n"),
            "gemm.yaml:2: several YAML documents; put them into files of their own");
}

TEST_F(BadInput, NestedAliasesDoNotFillTheMemory) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const std::vector<std::string> copies(10, fmt::format("*a{}", i - 1));
    text += fmt::format("a{0}: &a{0} [{1}]\n", i, fmt::join(copies, ", "));
  }
  EXPECT_NE(complaint(text).find("its aliases stand for more than 100000 values"), std::string::npos);
}

TEST_F(BadInput, AnAliasOfItselfIsRefused) {
  EXPECT_EQ(complaint("name: &a [*a]\n"),
            "gemm.yaml:1: more than 64 levels are nested here; no tuning file has as many");
}

TEST_F(BadInput, ADuplicateKeyHasItsLine) {
  EXPECT_EQ(complaint(program_file("\n  BM: 1\n  BM: 2")), "gemm.yaml:5: duplicate key 'BM'; remove one of the two");
  EXPECT_EQ(complaint(program_file("{BM: 1}", "name: y\n")),
            "gemm.yaml:4: duplicate key 'name'; remove one of the two");
}

TEST_F(BadInput, AnUnknownKeySuggestsTheNearest) {
  EXPECT_EQ(complaint(program_file("{BM: 1}", "metric: {}\n")),
            "gemm.yaml:4: unknown key 'metric' in the tuning file, did you mean 'metrics'?");
  EXPECT_EQ(complaint(cpu_file("measure: {warmups: 1}")),
            "gemm.yaml:7: unknown key 'warmups' in measure, did you mean 'warmup'?");
}

TEST_F(BadInput, AMisspelledKeyIsOneMistakeWhateverNamesWhatIsInIt) {
  const std::string file = "name: x\nrun: sort {P} y\nparms: {P: [1, 2]}\n";
  for (const char* use : {"default: {P: 1}\n", "baseline: {P: 2}\n", "let: {Q: P * 2}\n", "constraints: [P > 0]\n"})
    EXPECT_EQ(complaint(file + use), "gemm.yaml:3: unknown key 'parms' in the tuning file, did you mean 'params'?")
        << use;
}

TEST_F(BadInput, AnOptionalArgumentNeedsItsName) {
  EXPECT_EQ(complaint("name: x\nfile: gemm.cpp\nkernel: gemm\nbackend: cpu\nproblem: {gemm: {m: 1, n: 1, k: 1}}\n"
                      "params: {BM: 1}\nlaunch: {args: [A, B, C, {optional: }]}\n"),
            "gemm.yaml:7: 'optional' in an argument has no value; give one or remove the key");
}

TEST_F(BadInput, AnOptionThatDeclaresNothingIsOneMistake) {
  config::LoadRules options = without_kernel_file();
  options.params = {"P=1,3"};
  EXPECT_EQ(complaint("name: x\nrun: sort {P} y\n", options), "--param P=1,3: write NAME:VALUE or NAME:[VALUE, VALUE]");
  options.new_params = {"Q=1"};
  EXPECT_EQ(complaint("name: x\nrun: sort {P} {Q} y\nparams: {P: 1}\n", options),
            "--add-param Q=1: write NAME:VALUE or NAME:[VALUE, VALUE]\n"
            "--param P=1,3: write NAME:VALUE or NAME:[VALUE, VALUE]");
}

TEST_F(BadInput, MissingKeysAreNamed) {
  EXPECT_EQ(complaint("backend: program\n"),
            "gemm.yaml:1: the tuning file needs 'name:'\n"
            "gemm.yaml:1: the tuning file needs 'file:'\n"
            "gemm.yaml:1: the tuning file needs 'params:'");
}

TEST_F(BadInput, AnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(complaint(cpu_file("constraints:\n  - BM > 1\n  - BMM % 8 == 0\n")),
            "gemm.yaml:9: unknown name 'BMM' in constraint 'BMM % 8 == 0', did you mean 'BM'?");
}

TEST_F(BadInput, ADefaultOfAnUnknownPropertySuggestsTheNearest) {
  EXPECT_EQ(complaint(cpu_file("device_defaults: {corse: 4}\n")),
            "gemm.yaml:7: unknown name 'corse' in device_defaults, did you mean 'cores'?");
  EXPECT_EQ(complaint(cpu_file("device_defaults: 4\n")), "gemm.yaml:7: device_defaults must be a mapping, not '4'");
}

TEST_F(BadInput, AMalformedExpressionHasItsColumn) {
  EXPECT_EQ(complaint(cpu_file("constraints: [(BM > 1]")),
            "gemm.yaml:7: expected ')' before end in constraint '(BM > 1', at its column 8; quote an expression with "
            "commas");
}

TEST_F(BadInput, AllProblemsAreToldAtOnceInOrder) {
  EXPECT_EQ(complaint("nam: x\nname: x\nfile: x.py\nparams: {min: 1, B: []}\nconstraints: [C > 1]\nobjective: tim\n"),
            "gemm.yaml:1: unknown key 'nam' in the tuning file, did you mean 'name'?\n"
            "gemm.yaml:4: parameter 'min' is also a built-in function; rename it\n"
            "gemm.yaml:4: parameter 'B' has no values; give at least one\n"
            "gemm.yaml:5: unknown name 'C' in constraint 'C > 1'; no parameter, let or size has this name\n"
            "gemm.yaml:6: unknown objective 'tim', did you mean 'time'?");
}

TEST_F(BadInput, AnEmptySpaceIsRefused) {
  const std::string expected = "gemm.yaml:3: params is empty; give at least one parameter, such as BM: [64, 128]";
  EXPECT_EQ(of_params("{}"), expected);
  EXPECT_EQ(of_params("[]"), expected);
  EXPECT_EQ(of_params("[{metadata: 1}]"), expected);
  EXPECT_EQ(of_params("{BM: []}"), "gemm.yaml:3: parameter 'BM' has no values; give at least one");
  EXPECT_EQ(of_params("{BM: }"), "gemm.yaml:3: parameter 'BM' has no value; give one or remove the key");
  EXPECT_EQ(of_params("{BM: [,-e]}"),
            "gemm.yaml:3: parameter 'BM' has an empty value; the empty text is written \"\", in a shell 'BM:[\"\",b]'");
  EXPECT_EQ(of_params("5"), "gemm.yaml:3: params must be a mapping or a list of mappings, not '5'");
}

TEST_F(BadInput, AKeyWithoutABlankBehindItsColonIsSaid) {
  EXPECT_EQ(of_params("{BM:[1, 2], BN: 1}"),
            "gemm.yaml:3: malformed YAML: end of map flow not found; put a comma between the entries, and a blank "
            "behind a key's colon");
  EXPECT_EQ(
      of_params("BM:[1,2]"),
      "gemm.yaml:3: params must be a mapping or a list of mappings, not 'BM:[1,2]'; put a blank behind the colon");
  EXPECT_EQ(of_params("{BM:2, BN: 1}"),
            "gemm.yaml:3: 'BM:2' cannot be a parameter's name: use letters, digits and '_', after an optional '$', and "
            "put a blank behind the colon");
}

TEST_F(BadInput, AKeyOfASectionWithoutABlankBehindItsColonIsOneError) {
  EXPECT_EQ(
      of_params("{P: {min:1, max: 4}}"),
      "gemm.yaml:3: 'min:1' in parameter 'P' lacks a blank behind its colon, and 'min' is no key of it; it may have "
      "values, pow2, range, kind");
  EXPECT_EQ(of_params("{P: {kin:fixed, pow2: [1, 4]}}"),
            "gemm.yaml:3: 'kin:fixed' in parameter 'P' lacks a blank behind its colon, and 'kin' is no key of it, did "
            "you mean 'kind'?");
  EXPECT_EQ(of_params("{P: {kind:fixed, pow2: [1, 4]}}"),
            "gemm.yaml:3: 'kind:fixed' in parameter 'P' lacks a blank behind its colon; write kind: fixed");
  EXPECT_EQ(complaint("name: x\nfile: k.cpp\nkernel: k\nproblem: {gemm: {m:64, n: 8}}\nlaunch: {arg: [A]}\n"),
            "gemm.yaml:4: 'm:64' in gemm lacks a blank behind its colon; write m: 64");
  EXPECT_EQ(of_params("{P: {'min:1', range: [1, 4]}}"),
            "gemm.yaml:3: unknown key 'min:1' in parameter 'P'; it may have values, pow2, range, kind");
}

TEST_F(BadInput, ValuesOfAWrongFormAreRefused) {
  EXPECT_EQ(of_params("{P: {pow2: [3, 8]}}"),
            "gemm.yaml:3: parameter 'P' needs two powers of two in ascending order, such as pow2: [64, 256]");
  EXPECT_EQ(of_params("{P: {range: [8, 1]}}"),
            "gemm.yaml:3: parameter 'P' has an empty range; write [low, high, step > 0]");
  EXPECT_EQ(of_params("{P: {range: [1, 8, 0]}}"),
            "gemm.yaml:3: parameter 'P' has an empty range; write [low, high, step > 0]");
  EXPECT_EQ(of_params("{P: {range: [1, 1000000000000]}}"), "gemm.yaml:3: parameter 'P' has more than 1000000 values");
  EXPECT_EQ(of_params("{P: [[1, 2, 3]]}"),
            "gemm.yaml:3: parameter 'P' has a list among its values that is no pair of integers such as [2, 1]");
  EXPECT_EQ(of_params("{P: {kind: ratio}}"), "gemm.yaml:3: parameter 'P' needs exactly one of values, pow2, range");
  EXPECT_EQ(of_params("{P: {values: [a], kind: ratio}}"),
            "gemm.yaml:3: parameter 'P' has values that are no numbers; its kind can be categorical or ordinal");
  EXPECT_EQ(of_params("{P: {pow: [1, 2]}}"),
            "gemm.yaml:3: unknown key 'pow' in parameter 'P', did you mean 'pow2'?\n"
            "gemm.yaml:3: parameter 'P' needs exactly one of values, pow2, range");
}

TEST_F(BadInput, AParameterMayNotShadowABuiltIn) {
  EXPECT_EQ(complaint(cpu_file("", "{m: 1, time: 1, stack: 1, A: 1, else: 1, BM: 1}")),
            "gemm.yaml:5: parameter 'm' is also a size of the problem; rename it\n"
            "gemm.yaml:5: parameter 'time' is also a built-in figure of a measurement; rename it\n"
            "gemm.yaml:5: parameter 'stack' is also a built-in property of a build; rename it\n"
            "gemm.yaml:5: parameter 'A' is also a buffer; rename it\n"
            "gemm.yaml:5: parameter 'else' is also a word of the expression language; rename it");
  EXPECT_EQ(complaint(cpu_file("", "{M-N: 1}")),
            "gemm.yaml:5: 'M-N' cannot be a parameter's name: use letters, digits and '_', after an optional '$'");
  EXPECT_EQ(of_params("{S: 1, $S: 2}"), "gemm.yaml:3: parameter 'S' is declared with and without '$'; keep one");
}

TEST_F(BadInput, ALetMayNotShadowAParameter) {
  EXPECT_EQ(complaint(cpu_file("let: {BM: 1, k: 2, T: U, U: 1}")),
            "gemm.yaml:7: 'BM' in let is also a parameter; rename it\n"
            "gemm.yaml:7: 'k' in let is also a size of the problem; rename it\n"
            "gemm.yaml:7: unknown name 'U' in let T 'U'; no parameter, let or size has this name");
}

TEST_F(BadInput, AnUnsetEnvironmentVariableIsNamed) {
  unsetenv("TUNE_TEST_UNSET");
  EXPECT_EQ(complaint("name: x\nfile: ${TUNE_TEST_UNSET}/a.py\nparams: {P: 1}\n"),
            "gemm.yaml:2: environment variable 'TUNE_TEST_UNSET' in '${TUNE_TEST_UNSET}/a.py' is not set; set "
            "it, or write $$ for a $");
}

TEST_F(BadInput, AMissingKernelFileIsNamed) {
  const std::string text = complaint(program_file("{P: 1}"), config::LoadRules{});
  EXPECT_EQ(text, "gemm.yaml:2: no such file: 'gemm.mojo' (looked for gemm.mojo)");
}

TEST_F(BadInput, AMissingFileThatTheBuildDependsOnIsNamed) {
  folder_.write("gemm.mojo", "");
  folder_.write("there.py", "");
  EXPECT_EQ(complaint(program_file("{P: 1}", "build: {depends: [there.py, lib/absent.py]}\n"), config::LoadRules{}),
            "gemm.yaml:4: no such file in build.depends: 'lib/absent.py' (looked for lib/absent.py)");
}

TEST_F(BadInput, AKernelNeedsProblemAndLaunch) {
  EXPECT_EQ(complaint("name: x\nfile: x.cu\nkernel: f\nparams: {P: 1}\n"),
            "gemm.yaml:1: the tuning file needs 'launch:'\n"
            "gemm.yaml:3: a kernel needs problem: {gemm: ...} or {custom: ...}, or no 'kernel' key if the file is a "
            "program");
}

TEST_F(BadInput, WhatDependsOnAProblemThatIsNoneIsNotReported) {
  const std::string custom = "{sizes: {n: 8}, buffers: [{name: x, type: f32, count: n}]}\n";
  const std::string head = "name: x\nfile: x.cpp\nkernel: f\nlaunch: {args: [x, n]}\nparams: {P: 1}\n";
  EXPECT_EQ(complaint(head + "custom: " + custom),
            "gemm.yaml:3: a kernel needs problem: {gemm: ...} or {custom: ...}, or no 'kernel' key if the file is a "
            "program\ngemm.yaml:6: unknown key 'custom' in the tuning file; it stands in problem:");
  EXPECT_EQ(complaint(head + "problem: " + custom),
            "gemm.yaml:6: unknown key 'sizes' in problem; it stands in custom:\n"
            "gemm.yaml:6: unknown key 'buffers' in problem; it stands in custom:\n"
            "gemm.yaml:6: problem must be one of gemm: {m, n, k, ...} and custom: {sizes, buffers, ...}");
}

TEST_F(BadInput, TheBackendMustFitTheMode) {
  EXPECT_EQ(complaint("name: x\nfile: x.mojo\nkernel: f\nparams: {P: 1}\nproblem: {gemm: {m: 1, n: 1, k: 1}}\n"),
            "gemm.yaml:2: cannot tell the backend of 'x.mojo' by its suffix; set backend: cuda, hip or cpu, or remove "
            "'kernel' to run it as a program");
  EXPECT_EQ(complaint(program_file("{P: 1}", "backend: cuda\n")),
            "gemm.yaml:4: backend cuda needs 'kernel:', the kernel's name; without it the file is run as a program");
  EXPECT_EQ(complaint(cpu_file("backend: program\n")),
            "gemm.yaml:3: backend program runs whole programs; remove 'kernel' or the backend");
  EXPECT_EQ(complaint(program_file("{P: 1}", "backend: gpu\n")),
            "gemm.yaml:4: backend must be one of auto, cuda, hip, cpu, program, not 'gpu'");
}

TEST_F(BadInput, AFileWithoutBackendIsNotComplainedOfForItsNames) {
  EXPECT_EQ(complaint("name: x\nfile: x.mojo\nkernel: f\nparams: {P: 1}\nproblem: {gemm: {m: 1, n: 1, k: 1}}\n"
                      "launch: {grid: [1]}\nconstraints: [P < device.warp_size]\nprune_after_build: [spills == 0]\n")
                .find('\n'),
            std::string::npos);
}

TEST_F(BadInput, NoPresentBackendIsTheEnvironmentsFault) {
  config::LoadRules options = without_kernel_file();
  options.present = [](Backend) { return false; };
  try {
    load_text(folder_, "name: x\nfile: {cuda: a.cu, hip: a.hip}\nkernel: f\nparams: {P: 1}\n", options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("(cuda, hip); choose one with --backend"), std::string::npos);
  }
}

TEST_F(BadInput, DefaultsOfADeviceMustCoverWhatExpressionsUse) {
  config::LoadRules options = without_kernel_file();
  options.probe = [](Backend) -> Device { throw Error(ExitCode::environment, "no device"); };
  try {
    load_text(folder_, cpu_file("device_defaults: {cores: 4}\nconstraints: [BM < device.cores + device.simd_bits]"),
              options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no device");
  }
}

TEST_F(BadInput, ADeviceThatDoesNotTellAPropertyIsTheEnvironmentsFault) {
  config::LoadRules options = without_kernel_file();
  options.probe = [](Backend) { return Device{"box", "", "", {}}; };
  try {
    load_text(folder_, cpu_file("constraints: [BM < device.cores]"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_STREQ(error.what(), "an expression of 'gemm' uses device.*, but 'box' does not tell device.cores");
  }
}

TEST_F(BadInput, ADevicePropertyMustExist) {
  EXPECT_EQ(complaint(cpu_file("constraints: [BM < device.core]")),
            "gemm.yaml:7: unknown name 'device.core' in constraint 'BM < device.core', did you mean 'device.cores'?");
}

TEST_F(BadInput, SizesAndTypesOfAGemmAreChecked) {
  const std::string head = "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A]}\n";
  EXPECT_EQ(complaint(head + "problem: {gemm: {m: 0, n: 3000000000, a: bf61, lda: 2}}\n"),
            "gemm.yaml:6: m is 0; it must be between 1 and 2147483647\n"
            "gemm.yaml:6: n is 3000000000; it must be between 1 and 2147483647\n"
            "gemm.yaml:6: gemm needs 'k:'\n"
            "gemm.yaml:6: type a must be one of f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8, not 'bf61'");
  EXPECT_EQ(complaint(head + "problem: {gemm: {m: 4, n: 4, k: 8, lda: 7, layout: {a: rows}, alpha: x}}\n"),
            "gemm.yaml:6: layout of a must be one of row, col, not 'rows'\n"
            "gemm.yaml:6: alpha must be a number, not 'x'\n"
            "gemm.yaml:6: lda is 7, which is less than 8, its smallest possible value");
  EXPECT_EQ(complaint(head + "problem: {gem: {m: 4}}\n"),
            "gemm.yaml:6: unknown key 'gem' in problem, did you mean 'gemm'?\n"
            "gemm.yaml:6: problem must be one of gemm: {m, n, k, ...} and custom: {sizes, buffers, ...}");
}

TEST_F(BadInput, BuffersOfACustomProblemAreChecked) {
  const std::string head = "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [q]}\nproblem:\n";
  EXPECT_EQ(complaint(head + "  custom:\n    buffers:\n      - {name: q, type: f32, count: P}\n"
                             "      - {name: q, count: 0, type: f3}\n    reference: {kernel: r, args: [q, P]}\n"),
            "gemm.yaml:9: unknown name 'P' in count of buffer 'q' 'P'; no parameter, let or size has this name\n"
            "gemm.yaml:9: no buffer is written; give the result's buffer `role: out` or `role: inout`\n"
            "gemm.yaml:10: 'q' is already the name of a buffer or size\n"
            "gemm.yaml:10: type of buffer 'q' must be one of f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8, not 'f3'\n"
            "gemm.yaml:10: count of buffer 'q' is 0; it must be positive\n"
            "gemm.yaml:11: 'P' in reference.args 'P' depends on the spec; use sizes of the problem only");
  EXPECT_EQ(complaint(head + "  custom: {buffers: [{name: q, type: float, count: 1, role: output}], reference: "
                             "{kernel: r, args: [q]}}\n"),
            "gemm.yaml:7: type of buffer 'q' must be one of f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8, not "
            "'float', did you mean 'f32'?\n"
            "gemm.yaml:7: role of buffer 'q' must be one of in, out, inout, not 'output'");
  const auto of_scale = [&](const std::string& buffer) {
    return complaint(head +
                     "  custom: {reference: {kernel: r, args: [q]}, buffers: [{name: q, count: 1, role: inout, " +
                     buffer + "}]}\n");
  };
  const std::string is = "gemm.yaml:7: scale of buffer 'q' is ";
  EXPECT_EQ(of_scale("type: f32, scale: 10"), is + "10; for f32 it is a power of two from 2**-60 to 2**60");
  EXPECT_EQ(of_scale("type: f32, scale: -2"), is + "-2; for f32 it is a power of two from 2**-60 to 2**60");
  EXPECT_EQ(of_scale("type: e4m3, scale: 128"), is + "128; for e4m3 it is a power of two from 2**-6 to 2**6");
  EXPECT_EQ(of_scale("type: s8, scale: 2"),
            "gemm.yaml:7: scale of buffer 'q' has no effect: integers, iota, zeros and outputs have none");
  EXPECT_EQ(complaint(head + "  custom: {buffers: [{name: q, type: f32, count: 1, role: out}]}\n"),
            "gemm.yaml:7: custom needs reference: {kernel: NAME, args: [...]} or {spec: {...}}");
}

TEST_F(BadInput, TypesThatTheBackendLacksAreRefused) {
  const std::string head = "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A]}\n";
  EXPECT_EQ(complaint(head + "problem: {gemm: {m: 4, n: 4, k: 4, a: tf32}}\n"),
            "gemm.yaml:6: the cpu backend has no tf32 matrices with f32 accumulation; a and b are one of f32 f16 bf16 "
            "e4m3 e5m2");
}

TEST_F(BadInput, AReferenceSpecMustSatisfyTheConstraints) {
  const std::string head =
      "name: x\nfile: x.cpp\nkernel: f\nparams: {P: [1, 2]}\nlaunch: {args: [q]}\nconstraints: [P < 9]\n"
      "problem:\n  custom:\n    buffers: {name: q, type: f32, count: 1, role: out}\n    reference: ";
  EXPECT_EQ(complaint(head + "{spec: {P: 9}}\n"), "gemm.yaml:10: reference.spec is pruned: P < 9");
  EXPECT_EQ(complaint(head + "{spec: {Q: 9}}\n"),
            "gemm.yaml:10: reference.spec lacks parameter 'P'; give every parameter\n"
            "gemm.yaml:10: unknown parameter 'Q' in reference.spec");
}

TEST_F(BadInput, ACountIsMendedWhereItsSizeIsGiven) {
  const auto file = [](int rows) {
    return fmt::format(
        "name: x\nfile: x.cpp\nkernel: f\nparams: {{P: 1}}\nlaunch: {{args: [q]}}\nproblem:\n  custom:\n"
        "    sizes: {{rows: {}, cols: 4}}\n    buffers: {{name: q, type: f32, count: cols*rows, role: out}}\n"
        "    reference: {{spec: {{P: 1}}}}\n",
        rows);
  };
  const std::string text = "count of buffer 'q' is 0; it must be positive";
  EXPECT_EQ(complaint(file(0)), "gemm.yaml:9: " + text);
  config::LoadRules options = without_kernel_file();
  options.problem = {"cols=8", "rows=0"};
  EXPECT_EQ(complaint(file(64), options), "--problem rows=0: " + text);
}

TEST_F(BadInput, AChainNeedsThreeBuffers) {
  const std::string head =
      "name: x\nfile: x.cpp\nkernel: f\nparams: {P: [1, 2]}\nproblem:\n  custom:\n"
      "    buffers: [{name: p, type: f32, count: 1}, {name: q, type: f32, count: 1, role: out}]\n"
      "    reference: {kernel: r, args: [q]}\nlaunch: {args: [p, q], repeat: ";
  EXPECT_EQ(complaint(head + "{times: 2, from: p, to: p, through: r}}\n"),
            "gemm.yaml:9: repeat needs three buffers, and 'p' is named twice\n"
            "gemm.yaml:9: unknown buffer 'r' in repeat.through");
  EXPECT_EQ(complaint(head + "{times: 2, from: p, to: q, through: workspace}}\n"),
            "gemm.yaml:9: the workspace is named, but launch has none; add workspace: {bytes: ...}");
}

TEST_F(BadInput, GridAndBlockMeanNothingOnTheCpu) {
  const std::string head = "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nproblem: {gemm: {m: 4, n: 4, k: 4}}\n";
  EXPECT_EQ(complaint(head + "launch:\n  grid: [1]\n  block: [1]\n  cluster: [1]\n  shared: 4\n  programmatic: 1\n"
                             "  args: [A]\n"),
            "gemm.yaml:7: launch.grid means nothing on the cpu backend; remove it\n"
            "gemm.yaml:8: launch.block means nothing on the cpu backend; remove it\n"
            "gemm.yaml:9: launch.cluster means nothing on the cpu backend; remove it\n"
            "gemm.yaml:10: launch.shared means nothing on the cpu backend; remove it\n"
            "gemm.yaml:11: launch.programmatic means nothing on the cpu backend; remove it");
}

TEST_F(BadInput, ArgumentsAreChecked) {
  const std::string head = "name: x\nfile: x.cu\nkernel: f\nparams: {P: 1}\nproblem: {gemm: {m: 4, n: 4, k: 4}}\n";
  EXPECT_EQ(complaint(head + "launch:\n  grid: [1]\n  block: [1]\n  args:\n    - {i65: m}\n    - workspace\n"
                             "    - {tma: Q, box: [1], swizzle: 100}\n    - [A]\n    - D\n"
                             "    - {tma: A, box: [1], l2: 1//0}\n"),
            "gemm.yaml:7: the workspace is named, but launch has none; add workspace: {bytes: ...}\n"
            "gemm.yaml:10: an argument must be a buffer, an expression, {i64: m} (or i32, f32, f64), {optional: bias} "
            "or {tma: A, box: "
            "[...]}\n"
            "gemm.yaml:12: unknown buffer 'Q' in tma\n"
            "gemm.yaml:12: swizzle must be one of 0, 32, 64, 128, not 100\n"
            "gemm.yaml:13: an argument must be a buffer, an expression, {i64: m} (or i32, f32, f64), {optional: bias} "
            "or {tma: A, box: "
            "[...]}\n"
            "gemm.yaml:14: unknown name 'D' in launch.args 'D'; no buffer, parameter, let or size has this name\n"
            "gemm.yaml:15: l2: division by zero in '1//0'");
}

TEST_F(BadInput, ALaunchNeedsItsNamesInEveryMapping) {
  const std::string text = complaint(cpu_file("let: {}", "[{BM: 1, S: 2}, {BM: 2}]"));
  EXPECT_EQ(text, "");
  EXPECT_EQ(complaint("name: x\nfile: x.cpp\nkernel: f\nproblem: {gemm: {m: 4, n: 4, k: 4}}\nparams:\n"
                      "  - {BM: 1, S: 2}\n  - {BM: 2}\nlaunch: {args: [A, S]}\n"),
            "gemm.yaml:8: 'S' in launch.args 'S' is not declared in the mapping of params at gemm.yaml:7; declare it "
            "there too, one value is enough");
}

TEST_F(BadInput, RulesOfBuildingAndMeasuringAreChecked) {
  EXPECT_EQ(complaint(cpu_file(
                "build: {defines: [mm], command: x}\n"
                "measure: {warmup: -1, min_launches: 0, max_seconds: 0, cutoff: 0.5, cold_cache: 3, state: hot}\n")),
            "gemm.yaml:7: 'mm' in build.defines is no size of the problem, did you mean 'm'?\n"
            "gemm.yaml:7: build.command and run are for programs; a kernel is built by its backend\n"
            "gemm.yaml:8: warmup is -1; it must be at least 0\n"
            "gemm.yaml:8: min_launches is 0; it must be at least 1\n"
            "gemm.yaml:8: max_seconds must be more than 0\n"
            "gemm.yaml:8: cutoff is 0.5; it must be at least 1\n"
            "gemm.yaml:8: cold_cache must be true or false, not '3'\n"
            "gemm.yaml:8: state must be burst or sustained, not 'hot'");
}

TEST_F(BadInput, AKernelsMetricsMayNotUseUnknownNames) {
  EXPECT_EQ(complaint(cpu_file("metrics: {x: bytes/tme, y: {expr: time, maximize: true, minimize: true}}\n")),
            "gemm.yaml:7: unknown name 'tme' in metric 'x' 'bytes/tme', did you mean 'time'?\n"
            "gemm.yaml:7: metric 'y' has both maximize and minimize; keep one");
  EXPECT_EQ(complaint(cpu_file("metrics: {time: 1/BM, \"GB/s\": {maximize: true}}\n")),
            "gemm.yaml:7: metric 'time' is also a built-in figure of a measurement; rename it\n"
            "gemm.yaml:7: metric 'GB/s' needs 'expr:'");
}

TEST_F(BadInput, AnUnknownPlaceholderIsRefused) {
  EXPECT_EQ(
      complaint(program_file("{P: 1}", "build: {command: [cc, '{file}', '-o{bin}']}\nrun: '{binry} {args} ${HOME}'\n")),
      "gemm.yaml:4: unknown placeholder {bin} in build.command, did you mean {binary}?\n"
      "gemm.yaml:5: unknown placeholder {binry} in run, did you mean {binary}?");
  EXPECT_EQ(complaint(program_file("{P: 1}", "run: \"{file} {args} | awk '{print}'\"\n")),
            "gemm.yaml:4: unknown placeholder {print} in run; there are {binary} {file} {args} {output} {P}, and "
            "braces with blanks inside are no placeholder: { print }");
  EXPECT_EQ(complaint(program_file("{P: 1}", "run: \"{file} {args} | awk '{ print }{print $1}'\"\n")), "");
}

TEST_F(BadInput, APlaceholderOfSeveralWordsIsAWordOfItsOwn) {
  EXPECT_EQ(
      complaint(program_file("{P: 1}", "run: 'x --all={args} -o={output}'\n")),
      "gemm.yaml:4: {args} in run stands for several words and is part of a longer one here; put blanks around it");
  EXPECT_EQ(complaint(program_file("{P: 1}", "run: '(x {args}; y {file}>{output})'\n")), "");
}

TEST_F(BadInput, AScriptsTextHasNoPlaceholders) {
  const std::string advice =
      "where the shell would execute parts of its value; write run as one string, or give it to the script as an "
      "argument: [sh, -c, 'program \"$@\"', sh, '{file}']";
  for (const char* run :
       {"timeout, 9, /bin/bash, -ec, 'x {file}', '{args}'", "bash, -c, -e, 'x {file}'",
        "bash, -c, -o, pipefail, 'x {file}'", "bash, -oe, pipefail, -c, 'x {file}'", "zsh, -c, -opipefail, 'x {file}'",
        "bash, --norc, --rcfile, x, -c, 'x {file}'", "sh, +ec, 'x {file}'", "sh, -c, --, 'x {file}'",
        "env, A=1, nice, sh, -c, 'x {file}'", "xargs, -I, X, sh, -c, 'x {file}'"})
    EXPECT_EQ(complaint(program_file("{P: 1}", fmt::format("run: [{}]\n", run))),
              "gemm.yaml:4: {file} in run is in the text of a script, " + advice)
        << run;
  for (const char* run : {"bash -c {file}", "A=1 timeout 9 /bin/sh -ec x{file}", "cd / && exec sh -c -e {file}",
                          "x | (sh -c {file})", "y $(bash -c {file})", "'sh' -c {file}", "fish --command {file}"})
    EXPECT_EQ(
        complaint(program_file("{P: 1}", fmt::format("run: |-\n  {}\n", run))),
        "gemm.yaml:4: {file} in run is in the text of a script, where the shell would execute parts of its value; "
        "give it to the script as an argument: sh -c 'program \"$@\"' sh {file}")
        << run;
}

TEST_F(BadInput, WhatIsNoScriptsTextMayHavePlaceholders) {
  for (const char* run :
       {"python3, -c, 'x', '--file={file}', '{args}'", "bash, run.sh, -c, '{args}'", "bash, bench.sh, -vec, '{args}'",
        "sh, -e, run.sh, --config, -rc, '{args}'", "python3, '{file}', --shell, bash, -c, '{output}'",
        "sh, -c, 'x \"$@\"', sh, -c, '{args}'", "bash, --norc, '{file}', -c, '{args}'", "bash, -c", "sh, -o", "env",
        "timeout, 9, sh, '{file}', -c, '{args}'"})
    EXPECT_EQ(complaint(program_file("{P: 1}", fmt::format("prepare: x {{P}}\nrun: [{}]\n", run))), "") << run;
  for (const char* run : {"bash run.sh -c {args}", "sh -c 'x \"$@\"' sh {args}", "sh -e {file} {args}",
                          "sh -c x; {binary} {args}", "exec {binary} -c {args}", "{file}"})
    EXPECT_EQ(complaint(program_file("{P: 1}", fmt::format("prepare: x {{P}}\nrun: |-\n  {}\n", run))), "") << run;
}

TEST_F(BadInput, AKeyWithoutAValueHasItsOwnLine) {
  EXPECT_EQ(complaint("name: x\nfile: x.cpp\nkernel:\nparams: {P: 1}\n"),
            "gemm.yaml:3: 'kernel' in the tuning file has no value; give one or remove the key");
}

TEST_F(BadInput, WhatCannotBeComputedAnywhereHasItsLine) {
  EXPECT_EQ(complaint(program_file("{P: 1}", "let: {X: 1//0}\n")),
            "gemm.yaml:4: cannot evaluate let X: division by zero in '1//0'");
}

TEST_F(BadInput, ANameIsOneLine) {
  EXPECT_EQ(complaint("name: \"a\\nb\"\nfile: x.py\nparams: {P: 1}\n"), "gemm.yaml:1: name must be one line");
}

TEST_F(BadInput, AnEmptyListOfObjectivesIsRefused) {
  EXPECT_EQ(complaint(program_file("{P: 1}", "objective: []\n")),
            "gemm.yaml:4: objective is an empty list; name one, such as time, or remove it");
}

TEST_F(BadInput, AFolderOfHeadersMustExist) {
  folder_.write("gemm.cpp", "");
  EXPECT_EQ(complaint(cpu_file("build: {include: [., nodir]}\n"), {}),
            "gemm.yaml:7: build.include: there is no folder nodir");
}

TEST_F(BadInput, ADevicesFiguresAreNumbers) {
  EXPECT_EQ(complaint(cpu_file("device_defaults: {cores: x, name: x}\n")),
            "gemm.yaml:7: cores in device_defaults must be a number, not 'x'");
}

TEST_F(BadInput, AlphaAndBetaFitTheAccumulator) {
  const auto gemm = [this](const std::string& more) {
    return complaint("name: x\nfile: x.cpp\nkernel: x\nproblem: {gemm: {m: 1, n: 1, k: 1, " + more +
                     "}}\nparams: {P: 1}\nlaunch: {args: [A, B, C]}\n");
  };
  EXPECT_EQ(gemm("alpha: 1e300"), "gemm.yaml:4: alpha is 1e+300, which f32, the accumulator's type, cannot hold");
  EXPECT_EQ(gemm("beta: -1e39"), "gemm.yaml:4: beta is -1e+39, which f32, the accumulator's type, cannot hold");
  EXPECT_EQ(gemm("a: f64, alpha: 1e300"), "");
}

TEST_F(BadInput, PruningAfterTheBuildKnowsTheBackendsOwnProperties) {
  EXPECT_EQ(
      complaint(cpu_file("prune_after_build: [spills == 0]\n")),
      "gemm.yaml:7: unknown name 'spills' in prune_after_build 'spills == 0'; no parameter, let or size has this name");
  EXPECT_EQ(complaint(program_file("{P: 1}", "prune_after_build: [P > 1]\n")),
            "gemm.yaml:4: prune_after_build needs kernel mode: nothing is known of a program's build");
}

TEST_F(BadInput, ABaselineNamesEveryParameter) {
  EXPECT_EQ(complaint(cpu_file("baseline: {BM: 64, BL: 1}\ndefault: {BMM: 1}\n", "{BM: 64, BN: 64}")),
            "gemm.yaml:7: baseline lacks parameter 'BN'; give every parameter\n"
            "gemm.yaml:7: unknown parameter 'BL' in baseline, did you mean 'BM'?\n"
            "gemm.yaml:8: unknown parameter 'BMM' in default, did you mean 'BM'?");
  EXPECT_EQ(complaint(cpu_file("baseline: {BM: [64, 128]}\n")), "gemm.yaml:7: 'BM' in baseline has 2 values; give one");
  EXPECT_EQ(complaint(cpu_file("baseline: best.yaml\n")),
            "gemm.yaml:7: baseline 'best.yaml': best.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(complaint(program_file("{P: 1}", "baseline: vendor\n")),
            "gemm.yaml:4: baseline vendor needs kernel mode and problem: {gemm: ...}");
}

TEST_F(BadInput, FilesTunedTogetherMustAgree) {
  const std::vector<std::filesystem::path> yamls = {
      folder_.write("a.yaml", program_file("{P: 1}", "run: x\n")),
      folder_.write("b.yaml", "name: other\nfile: gemm.mojo\nparams: {Q: 1}\nrun: y\n")};
  EXPECT_EQ(folder_.complaint([&] { config::load(yamls, without_kernel_file()); }),
            "b.yaml:1: 'name' differs from a.yaml:1; files tuned together must share it\n"
            "b.yaml:4: 'run' differs from a.yaml:4; files tuned together must share it");
}

TEST_F(BadInput, OptionsAreNamedByTheirText) {
  config::LoadRules options = without_kernel_file();
  options.new_params = {"Q:1"};
  options.params = {"BM", "BN:[1", "P:{pow2: [3, 4]}", "$Q:2"};
  EXPECT_EQ(
      complaint(program_file("{P: 1}"), options),
      "--param BM: write NAME:VALUE or NAME:[VALUE, VALUE]\n"
      "--param BN:[1: '[1' is no YAML value; write NAME:VALUE, NAME:[VALUE, VALUE] or NAME:{range: [FIRST, LAST]}\n"
      "--param $Q:2: '$Q' is given twice; write $Q:[VALUE, VALUE]\n"
      "--param P:{pow2: [3, 4]}: parameter 'P' needs two powers of two in ascending order, such as pow2: [64, "
      "256]");
}

TEST_F(BadInput, AShapeSaysOnlyWhatIsKnownAndAllThatIsNeeded) {
  const std::filesystem::path path = folder_.write(
      "sizes.yaml",
      "- {M: 64, NN: 48, KK: 32}\n- {M: 64, m: 64, N: 48,\n   K: 8, Q: 1}\n- {M: 1, ZZ: 1}\n- {m: 2, BM: 1}\n");
  const std::vector<config::Shape> shapes = config::read_shapes(path).shapes;
  config::LoadRules options = without_kernel_file();
  const auto of_shape = [&](std::size_t index, const std::string& text) {
    options.shape = shapes.at(index);
    return complaint(text, options);
  };
  const std::string neither = ", which is neither a size of the problem nor a parameter";
  EXPECT_EQ(of_shape(0, cpu_file("")), "sizes.yaml:1: a shape has 'NN'" + neither + ", did you mean 'N'?\n" +
                                           "sizes.yaml:1: a shape has 'KK'" + neither + ", did you mean 'K'?\n" +
                                           "sizes.yaml:1: a shape of a gemm lacks N\n"
                                           "sizes.yaml:1: a shape of a gemm lacks K");
  EXPECT_EQ(of_shape(1, cpu_file("")),
            "sizes.yaml:2: a shape has both M and m\nsizes.yaml:3: a shape has 'Q'" + neither);
  EXPECT_EQ(of_shape(2, program_file("{T: 1}")), "sizes.yaml:4: a shape has 'ZZ'" + neither);
  const std::string custom =
      "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nproblem: {custom: {sizes: {m: 64}, buffers: []}}\n";
  EXPECT_TRUE(of_shape(2, custom).starts_with("sizes.yaml:4: a shape has 'M'" + neither + ", did you mean 'm'?\n" +
                                              "sizes.yaml:4: a shape has 'ZZ'" + neither))
      << of_shape(2, custom);
  config::LoadRules with_k = without_kernel_file();
  with_k.k = 8;
  EXPECT_TRUE(
      complaint(custom, with_k)
          .starts_with("-k: the custom problem has no size 'k'; set those that it has by --problem NAME=SIZE\n"))
      << complaint(custom, with_k);
}

TEST_F(BadInput, ShapesMustBeMappings) {
  const std::filesystem::path path = folder_.write("sizes.yaml", "- 5\n- {M: [1, 2]}\n");
  EXPECT_EQ(folder_.complaint([&] { config::read_shapes(path); }),
            "sizes.yaml:1: a shape must be a mapping of parameters, not '5'\n"
            "sizes.yaml:2: 'M' in a shape has 2 values; give one");
  const std::filesystem::path empty = folder_.write("none.yaml", "");
  EXPECT_NE(folder_.complaint([&] { config::read_shapes(empty); }), "");
}

}  // namespace
}  // namespace tune::config_errors_test
