#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "model/grid_scan.h"
#include "support/tuning_folder.h"

namespace tune::config_test {
namespace {

const Parameter& parameter(const Plan& plan, const std::string& name, std::size_t mapping = 0) {
  const auto& parameters = plan.space.mappings()[mapping].parameters;
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  if (found == parameters.end()) throw std::runtime_error("no parameter " + name);
  return *found;
}

std::string values(const Plan& plan, const std::string& name, std::size_t mapping = 0) {
  std::vector<std::string> texts;
  for (const Value& value : parameter(plan, name, mapping).values) texts.push_back(to_text(value));
  return fmt::format("{}", fmt::join(texts, " "));
}

int count_valid(const Plan& plan) {
  GridScan scan(plan.space);
  int count = 0;
  while (scan.next()) ++count;
  return count;
}

std::string first_reason(const Plan& plan) {
  GridScan scan(plan.space);
  while (scan.next()) {
  }
  return scan.pruned().empty() ? "" : scan.pruned()[0].reason;
}

std::int64_t evaluate(const Plan& plan, const Expression& expression, std::int64_t mesh_idx = 0) {
  const std::vector<Value> slots = plan.space.environment(std::get<Spec>(plan.space.at(mesh_idx)));
  EvalFailure failure;
  const std::int64_t value = expression.integer(slots, failure);
  EXPECT_FALSE(failure) << failure.what;
  return value;
}

class Config : public testing::Test {
 protected:
  Plan load(const std::string& text, const config::LoadRules& options = without_kernel_file()) {
    return load_text(folder_, text, options).plan;
  }
  Plan load_params(const std::string& params) { return load(program_file(params)); }

  TuningFolder folder_;
};

TEST_F(Config, LoadsTheExample) {
  const std::vector<std::filesystem::path> yamls = {TUNE_SOURCE_DIR "/configs/example.yaml"};
  const Plan plan = tune::config::load(yamls, {}).plan;
  EXPECT_EQ(plan.name, "example");
  EXPECT_EQ(plan.backend(), Backend::cpu);
  EXPECT_EQ(plan.space.product_size(), 2 * 3 * 2 * 2 * 2);
  EXPECT_EQ(plan.default_settings.size(), 2u);
  ASSERT_EQ(plan.prune_after_build.size(), 1u);
  EXPECT_EQ(plan.prune_after_build[0].reason, "stack <= 65536");
  ASSERT_EQ(plan.kernel()->launches.size(), 1u);
  EXPECT_EQ(plan.kernel()->launches[0].args.size(), 7u);
  EXPECT_EQ(plan.build.include[0].lexically_relative(TUNE_SOURCE_DIR "/configs"), ".");
  ASSERT_EQ(plan.metrics.size(), 1u);
  EXPECT_EQ(plan.metrics[0].maximize, true);
  EXPECT_EQ(plan.baselines[0].kind, Baseline::Kind::vendor);
}

TEST_F(Config, NumbersTheSeedsGridAsTheSeedDoes) {
  const Plan plan = load(R"(
name: multistage_gemm
file: ../tune_multistage_gemm.mojo
params:
  M: 8192
  N: 8192
  K: 128
  BM: [64, 128, 256]
  BN: [64, 128, 256]
  WM: [32, 64]
  WN: [32, 64]
  NUM_STAGES: 4
  TRANSPOSE_B: ["True", "False"]
)");
  EXPECT_EQ(plan.backend(), Backend::program);
  EXPECT_EQ(plan.space.product_size(), 72);
  const Spec spec = std::get<Spec>(plan.space.at(39));
  std::string text;
  for (const Setting& setting : spec.params) text += setting.name + "=" + to_text(setting.value) + " ";
  EXPECT_EQ(text, "M=8192 N=8192 K=128 BM=128 BN=128 WM=64 WN=64 NUM_STAGES=4 TRANSPOSE_B=False ");
}

TEST_F(Config, LoadsAKbenchFile) {
  const Plan plan = load(R"(
name: multistage_gemm
file: sample.mojo
params:
- dtype: DType.float16
  shape: [1024x512x256, 32x32x32]
  stages: [4, 8]
  $x: [0, 1, 2, 3]
  metadata: {anything: [goes]}
- dtype: DType.float32
  shape: 64x64x64
  stages: "2*64"
rules: ["stages <= 8", "x < 2"]
)");
  EXPECT_EQ(plan.space.product_size(), 16 + 1);
  EXPECT_EQ(values(plan, "dtype"), "DType.float16");
  EXPECT_EQ(values(plan, "stages", 1), "128");
  EXPECT_TRUE(parameter(plan, "x").run_time);
  EXPECT_EQ(count_valid(plan), 8);
}

TEST_F(Config, ReadsEveryFormOfValues) {
  const Plan plan = load_params(
      "{A: 7, B: [1, 2, 1], C: {pow2: [8, 64]}, D: {range: [16, 64, 16]}, E: {range: [1, 3]}, F: [[1, 1], [2, 1]], "
      "G: [0.5, 1.0], H: [true, False], I: {range: [0.1, 0.5, 0.2]}, J: {range: [1, 10, 4]}}");
  EXPECT_EQ(values(plan, "A"), "7");
  EXPECT_EQ(values(plan, "B"), "1 2");
  EXPECT_EQ(values(plan, "C"), "8 16 32 64");
  EXPECT_EQ(values(plan, "D"), "16 32 48 64");
  EXPECT_EQ(values(plan, "E"), "1 2 3");
  EXPECT_EQ(values(plan, "F"), "[1, 1] [2, 1]");
  EXPECT_EQ(values(plan, "G"), "0.5 1.0");
  EXPECT_EQ(values(plan, "H"), "true False");
  EXPECT_EQ(parameter(plan, "I").values.size(), 3u);
  EXPECT_EQ(values(plan, "J"), "1 5 9");
}

TEST_F(Config, DerivesTheKindFromTheForm) {
  const Plan plan = load_params(
      "{A: {pow2: [8, 64]}, B: {range: [1, 3]}, C: [1, 2.5], D: [a, b], E: [true, false], F: [[1, 1]], G: [1, a], "
      "H: {values: [1, 2], kind: categorical}, I: {pow2: [1, 2], kind: ordinal}, J: {values: [lo, hi], kind: "
      "ordinal}}");
  const std::vector<Kind> expected = {Kind::ratio,       Kind::interval,    Kind::ordinal,     Kind::categorical,
                                      Kind::categorical, Kind::categorical, Kind::categorical, Kind::categorical,
                                      Kind::ordinal,     Kind::ordinal};
  std::vector<Kind> kinds;
  for (const Parameter& each : plan.space.mappings()[0].parameters) kinds.push_back(each.kind);
  EXPECT_EQ(kinds, expected);
}

TEST_F(Config, TakesTextsForNumbersOnlyIfAllAreArithmetic) {
  const Plan plan =
      load_params("{A: [2*64, 3], B: [2*64, x], C: {values: [2*64]}, D: [1/0], E: [1024x512], F: ['0-3', '1-2']}");
  EXPECT_EQ(values(plan, "A"), "128 3");
  EXPECT_EQ(values(plan, "B"), "2*64 x");
  EXPECT_TRUE(std::holds_alternative<std::string>(parameter(plan, "C").values[0]));
  EXPECT_EQ(values(plan, "D"), "1/0");
  EXPECT_EQ(values(plan, "E"), "1024x512");
  EXPECT_EQ(values(plan, "F"), "0-3 1-2") << "what is quoted is a text";
  EXPECT_TRUE(std::holds_alternative<Bool>(parameter(load_params("{G: ['True', 'False']}"), "G").values[0]));
  EXPECT_EQ(values(load_params("[{A: ['2*64', 3]}]"), "A"), "128 3") << "kbench's form";
}

TEST_F(Config, GivesReasonsByBecauseCommentOrTheExpression) {
  EXPECT_EQ(first_reason(load(cpu_file("constraints: [{if: BM < 1, because: too large}]"))), "too large");
  EXPECT_EQ(first_reason(load(cpu_file("constraints:\n  - BM < 1   # accumulators must fit\n"))),
            "accumulators must fit");
  EXPECT_EQ(first_reason(load(cpu_file("constraints:\n  - 'BM < 1'  # quoted, too\n"))), "quoted, too");
  EXPECT_EQ(first_reason(load(cpu_file("constraints: [\n  BM < 1,  # in a list\n  BM < 2 ]\n"))), "in a list");
  EXPECT_EQ(first_reason(load(cpu_file("constraints:\n  - BM\n    < 1  # on two lines\n"))), "BM < 1");
  EXPECT_EQ(first_reason(load(cpu_file("constraints: [BM < 1, BM < 2]  # of the list\n"))), "BM < 1");
}

TEST_F(Config, ReadsWindowsLineEndingsAndAByteOrderMark) {
  const Plan plan = load("\xEF\xBB\xBFname: x\r\nfile: a.py\r\nparams: {P: [1, 2]}\r\nrules:\r\n  - P < 2  # why\r\n");
  EXPECT_EQ(plan.name, "x");
  EXPECT_EQ(first_reason(plan), "why");
}

TEST_F(Config, AConstraintAppliesOnlyWhereItsNamesAre) {
  const Plan plan = load(program_file("[{BM: [1, 2], BK: 4}, {BM: [1, 2]}]",
                                      "let: {TILE: BM*BK}\nconstraints: [BK < 4, TILE < 4, BM < 2]\n"));
  EXPECT_EQ(plan.space.mappings()[0].constraints.size(), 3u);
  EXPECT_EQ(plan.space.mappings()[1].constraints.size(), 1u);
  EXPECT_EQ(plan.space.mappings()[0].derived.size(), 1u);
  EXPECT_EQ(plan.space.mappings()[1].derived.size(), 0u);
  EXPECT_EQ(count_valid(plan), 1);
}

TEST_F(Config, LetMayUseEarlierLetsAndTheProblem) {
  const Plan plan = load(cpu_file("let: {HALF: BM//2, TILES: m//HALF}"));
  const Spec spec = std::get<Spec>(plan.space.at(std::int64_t{1}));
  const std::vector<Setting> derived = plan.space.derived(spec);
  ASSERT_EQ(derived.size(), 2u);
  EXPECT_EQ(to_text(derived[1].value), "4");
}

TEST_F(Config, FillsInAGemm) {
  const Plan plan = load(cpu_file(""));
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.a, Type::f32);
  EXPECT_EQ(gemm.acc, Type::f32);
  EXPECT_EQ(gemm.lda, 64);
  EXPECT_EQ(gemm.ldb, 128);
  EXPECT_EQ(gemm.stride_c, 256 * 128);
  EXPECT_EQ(std::get<std::int64_t>(plan.constants.at("m")), 256);
  EXPECT_EQ(to_text(plan.constants.at("type_a")), "f32");
  EXPECT_EQ(to_text(plan.constants.at("layout_b")), "row");
  EXPECT_EQ(to_text(plan.constants.at("fast_accum")), "False");
  EXPECT_EQ(plan.constants.size(), 27u);
}

TEST_F(Config, AccumulatesInTheTypeThatFitsTheInputs) {
  const auto accumulator = [&](const std::string& type) {
    const std::string problem = "problem: {gemm: {m: 8, n: 8, k: 8, a: " + type + "}}\n";
    const Plan plan = load("name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A]}\n" + problem);
    return std::string(to_text(std::get<Gemm>(plan.problem).acc));
  };
  EXPECT_EQ(accumulator("f16"), "f32");
  EXPECT_EQ(accumulator("bf16"), "f32");
  EXPECT_EQ(accumulator("f64"), "f64");
  EXPECT_EQ(accumulator("s8"), "s32");
}

constexpr const char* kStencil = R"(
name: hotspot
file: hotspot.cpp
kernel: hotspot
problem:
  custom:
    sizes: {w: 64, h: 2*w}
    buffers:
      - {name: power, type: f32, count: w*h, init: random}
      - {name: result, type: f64, count: w, init: zero, role: out}
    flops: 15*w*h
    bytes: 8.5*w
    tolerance: 1e-4
    reference: REFERENCE
params: {BX: [16, 32], BY: 4}
launch: {args: [power, result, w, {i64: h}, {f32: 0.5}, workspace], workspace: w*4MORE}
)";

/// `more` goes into the launch.
std::string stencil(const std::string& reference, const std::string& more = "") {
  std::string text = kStencil;
  text.replace(text.find("REFERENCE"), 9, reference);
  return text.replace(text.find("MORE"), 4, more);
}

TEST_F(Config, ABiasIsABufferOfAGemm) {
  const Plan plan = load(
      "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A, bias]}\n"
      "problem: {gemm: {m: 8, n: 16, k: 32, bias: row}}\n");
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.bias_length(), 16);
  EXPECT_EQ(gemm.bytes(), 4.0 * (8 * 32 + 32 * 16 + 8 * 16 + 16));
  EXPECT_EQ(plan.kernel()->launches[0].args[1].buffer, "bias");
}

TEST_F(Config, WithoutABiasNothingIsCalledSo) {
  EXPECT_EQ(folder_.complaint([&] {
    load(
        "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A, bias]}\n"
        "problem: {gemm: {m: 8, n: 16, k: 32}}\n");
  }),
            "gemm.yaml:5: unknown name 'bias' in launch.args 'bias'; no buffer, parameter, let or size has this name");
}

/// A kernel that knows all epilogues, for the problem `gemm: {m: 8, n: 16, k: 32...}`.
std::string finishing(const std::string& more, const std::string& args = "A, {optional: bias}, {optional: residual}",
                      const std::string& build = "defines: [epilogue]") {
  return "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [" + args + "]}\nbuild: {" + build +
         "}\nproblem: {gemm: {m: 8, n: 16, k: 32" + more + "}}\n";
}

TEST_F(Config, AnEpilogueAndAResidualBelongToAGemm) {
  const Plan plan = load(finishing(", bias: row, epilogue: silu, residual: true"));
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.epilogue, Epilogue::silu);
  EXPECT_EQ(gemm.bytes(), 4.0 * (8 * 32 + 32 * 16 + 2 * 8 * 16 + 16));
  EXPECT_EQ(to_text(plan.constants.at("epilogue")), "silu");
  ASSERT_EQ(plan.kernel()->launches[0].args.size(), 3u);
  EXPECT_EQ(plan.kernel()->launches[0].args[1].buffer, "bias");
  EXPECT_EQ(plan.kernel()->launches[0].args[2].buffer, "residual");
  EXPECT_EQ(epilogue_macros(gemm),
            (std::vector<std::string>{"epilogue_bias_row", "epilogue_silu", "epilogue_residual"}));
}

TEST_F(Config, AnOptionalBufferThatIsNotThereIsNoArgument) {
  const Plan plan = load(finishing(""));
  EXPECT_EQ(plan.kernel()->launches[0].args.size(), 1u);
  EXPECT_TRUE(epilogue_macros(std::get<Gemm>(plan.problem)).empty());
}

TEST_F(Config, WithSwigluBHasTwiceTheColumns) {
  const auto gemm = [&](const std::string& more) {
    return std::get<Gemm>(load(finishing(", epilogue: swiglu" + more)).problem);
  };
  EXPECT_EQ(gemm("").ldb, 32);
  EXPECT_EQ(gemm("").ldc, 16);
  EXPECT_EQ(gemm(", layout: {b: col}").stride_b, 32 * 32);
  EXPECT_EQ(gemm(", bias: row").bias_length(), 32);
  EXPECT_EQ(gemm(", bias: col").bias_length(), 8);
  EXPECT_EQ(gemm("").flops(), 2.0 * 8 * 32 * 32);
  EXPECT_EQ(gemm("").bytes(), 4.0 * (8 * 32 + 32 * 32 + 8 * 16));
}

TEST_F(Config, MistakesInEpiloguesAreSaid) {
  const auto complaint = [&](const std::string& text) { return folder_.complaint([&] { load(text); }); };
  EXPECT_EQ(complaint(finishing(", epilogue: gelu")),
            "gemm.yaml:7: epilogue must be one of none, relu, gelu_tanh, gelu_erf, silu, swiglu, not 'gelu'");
  EXPECT_EQ(complaint(finishing(", a: s8, epilogue: relu")),
            "gemm.yaml:7: epilogue: relu is for floating-point sums, and acc is s32");
  EXPECT_EQ(
      complaint(finishing(", init: zeros, epilogue: relu")),
      "gemm.yaml:7: with epilogue: relu, init is one of uniform, normal, hpl: other inputs would not tell it from "
      "another epilogue");
  EXPECT_EQ(complaint(finishing(", beta: 1, epilogue: swiglu")),
            "gemm.yaml:7: beta is for a C of the product's size, and with epilogue: swiglu C has half its columns");
  EXPECT_EQ(
      complaint(finishing(", epilogue: relu", "A", "")),
      "gemm.yaml:5: the problem has epilogue: relu, and build.defines does not name 'epilogue', from which kernels "
      "know it: this kernel computes none");
  EXPECT_EQ(
      complaint(finishing(", residual: true", "A")),
      "gemm.yaml:5: the problem has a residual, and no launch has 'residual' among its args: this kernel adds none");
  EXPECT_EQ(
      complaint(finishing("", "A, {optional: D}")),
      "gemm.yaml:5: optional is for buffers that a gemm may have, bias, residual, scale_a, scale_b, group_offsets, "
      "group_rows, not 'D'");
}

/// A kernel for fp8 with scales, for the problem `gemm: {m: 20, n: 300, k: 640, a: e4m3...}`.
std::string scaled(const std::string& more, const std::string& args = "A, {optional: scale_a}, {optional: scale_b}") {
  return "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [" + args +
         "]}\nbuild: {defines: [scale_a, scale_b]}\nproblem: {gemm: {m: 20, n: 300, k: 640" + more + "}}\n";
}

TEST_F(Config, ScalesBelongToFp8) {
  const Plan plan =
      load(scaled(", a: e4m3, scale_a: 1x128, scale_b: 128x128", "A, scale_a, ld_scale_a, scale_b, ld_scale_b"));
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.scale_a, Scale::of_128);
  EXPECT_EQ(gemm.scale_b, Scale::of_128x128);
  EXPECT_EQ(to_text(plan.constants.at("scale_a")), "1x128");
  EXPECT_EQ(to_text(plan.constants.at("ld_scale_a")), "20");
  EXPECT_EQ(to_text(plan.constants.at("ld_scale_b")), "8");
  EXPECT_EQ(plan.kernel()->launches[0].args[1].buffer, "scale_a");
  EXPECT_EQ(plan.kernel()->launches[0].args[3].buffer, "scale_b");
  EXPECT_EQ(scale_macros(gemm, "scale_a"), std::vector<std::string>{"scale_a_1x128"});
  EXPECT_EQ(scale_macros(gemm, "scale_b"), std::vector<std::string>{"scale_b_128x128"});
}

TEST_F(Config, EachMatrixHasItsOwnNamesOfScales) {
  const Gemm rows = std::get<Gemm>(load(scaled(", a: e5m2, b: e4m3, scale_a: row, scale_b: col")).problem);
  EXPECT_EQ(rows.scale_a, Scale::line);
  EXPECT_EQ(rows.scale_b, Scale::line);
  const Gemm one = std::get<Gemm>(load(scaled(", a: e4m3, scale_a: tensor")).problem);
  EXPECT_EQ(one.scale_a, Scale::tensor);
  EXPECT_EQ(one.scale_b, Scale::none);
}

TEST_F(Config, WithoutScalesThereIsNoArgumentAndNoMacro) {
  const Plan plan = load(scaled(""));
  EXPECT_EQ(plan.kernel()->launches[0].args.size(), 1u);
  EXPECT_TRUE(scale_macros(std::get<Gemm>(plan.problem), "scale_a").empty());
}

TEST_F(Config, MistakesInScalesAreSaid) {
  const auto complaint = [&](const std::string& more) { return folder_.complaint([&] { load(scaled(more)); }); };
  EXPECT_EQ(complaint(", a: e4m3, scale_a: col"),
            "gemm.yaml:7: scale_a must be one of none, tensor, row, 1x128, 128x128, not 'col'");
  EXPECT_EQ(folder_.complaint([&] { load(scaled(", a: e4m3, scale_a: col", "A, scale_a, ld_scale_a")); }),
            "gemm.yaml:7: scale_a must be one of none, tensor, row, 1x128, 128x128, not 'col'");
  EXPECT_EQ(complaint(", a: e4m3, scale_b: 1x32"),
            "gemm.yaml:7: scale_b must be one of none, tensor, col, 1x128, 128x128, not '1x32'");
  EXPECT_EQ(complaint(", a: bf16, scale_a: row"), "gemm.yaml:7: scale_a: row is for fp8; a and b must be e4m3 or e5m2");
  EXPECT_EQ(complaint(", a: e4m3, b: bf16, scale_b: 128x128"),
            "gemm.yaml:7: scale_b: 128x128 is for fp8; a and b must be e4m3 or e5m2");
  EXPECT_EQ(complaint(", a: e4m3, acc: f16, c: f16, scale_a: row"),
            "gemm.yaml:7: scale_a: row is f32, and so must be acc, in which the scaled sums are added\n"
            "gemm.yaml:7: the cpu backend has no accumulation in f16; acc is one of f32 f64 s32");
  EXPECT_EQ(complaint(", a: e4m3, batch: 2, scale_b: tensor"),
            "gemm.yaml:7: scale_b: tensor is for one product; batch must be 1");
  EXPECT_EQ(
      complaint(", a: e4m3, fast_accum: true, scale_a: 1x128"),
      "gemm.yaml:7: scale_a: 1x128 ends a sum after 128 products, which fast_accum is not for; remove fast_accum");
  EXPECT_EQ(folder_.complaint([&] { load(scaled(", a: e4m3, scale_a: row", "A")); }),
            "gemm.yaml:5: the problem has a scale_a, and no launch has 'scale_a' among its args: this kernel "
            "multiplies by none");
  EXPECT_EQ(
      folder_.complaint([&] { load(scaled("", "A, scale_a")); }),
      "gemm.yaml:5: launch.args names scale_a, and the problem has none; give it one, such as scale_a: tensor, or "
      "write {optional: scale_a}");
}

TEST_F(Config, FastAccumulationIsForFp8) {
  const std::string rest = "name: x\nfile: x.cu\nkernel: f\nparams: {P: 1}\nlaunch: {grid: 1, block: 1, args: [A]}\n";
  const Plan plan = load(rest + "problem: {gemm: {m: 8, n: 16, k: 32, a: e4m3, fast_accum: true}}\n");
  EXPECT_TRUE(std::get<Gemm>(plan.problem).fast_accum);
  EXPECT_EQ(
      folder_.complaint([&] { load(rest + "problem: {gemm: {m: 8, n: 16, k: 32, a: bf16, fast_accum: true}}\n"); }),
      "gemm.yaml:6: fast_accum is for sums of fp8 products; a and b must be e4m3 or e5m2");
}

TEST_F(Config, ALaunchMayBeRepeatedInAChain) {
  const Plan plan = load(stencil("{kernel: slow, args: [power, result]}",
                                 ", repeat: {times: BX//4, from: power, to: result, through: workspace}"));
  ASSERT_TRUE(plan.kernel()->launches[0].repeat);
  EXPECT_EQ(plan.kernel()->launches[0].repeat->times.text(), "BX//4");
  EXPECT_EQ(plan.kernel()->launches[0].repeat->through, "workspace");
}

TEST_F(Config, KeepsLayoutsAndPaddedLeadingDimensions) {
  const Plan plan = load(
      "name: x\nfile: x.cpp\nkernel: f\nparams: {P: 1}\nlaunch: {args: [A]}\n"
      "problem: {gemm: {m: 8, n: 16, k: 32, layout: {a: col}, lda: 10, ldb: 0, alpha: 0.5, beta: 1, init: normal}}\n");
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.layout_a, Layout::col);
  EXPECT_EQ(gemm.lda, 10);
  EXPECT_EQ(gemm.ldb, 16);
  EXPECT_EQ(gemm.stride_a, 31 * 10 + 8);
  EXPECT_EQ(gemm.alpha, 0.5);
  EXPECT_EQ(gemm.beta, 1);
  EXPECT_EQ(gemm.init, Init::normal);
}

TEST_F(Config, ReadsACustomProblemWithAReferenceKernel) {
  const Plan plan = load(stencil("{kernel: slow, args: [power, result, w]}"));
  const Custom custom = std::get<Custom>(plan.problem);
  ASSERT_EQ(custom.buffers.size(), 2u);
  EXPECT_EQ(custom.buffers[0].count, 64 * 128);
  EXPECT_EQ(custom.buffers[1].role, Buffer::Role::out);
  EXPECT_EQ(custom.buffers[1].init, Init::zeros);
  EXPECT_EQ(custom.flops, 15.0 * 64 * 128);
  EXPECT_EQ(custom.bytes, 8.5 * 64);
  EXPECT_EQ(custom.tolerance, 1e-4);
  EXPECT_EQ(std::get<std::int64_t>(plan.constants.at("h")), 128);
  const auto* reference = std::get_if<Launch>(&plan.kernel()->reference);
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->kernel, "slow");
  EXPECT_EQ(reference->args.size(), 3u);
}

TEST_F(Config, ReadsACustomProblemWithATrustedSpec) {
  const Plan plan = load(stencil("{spec: {BY: 4, BX: 8}}"));
  const auto& trusted = std::get<TrustedSpec>(plan.kernel()->reference).settings;
  ASSERT_EQ(trusted.size(), 2u);
  EXPECT_EQ(trusted[0].name, "BX");
  EXPECT_EQ(to_text(trusted[0].value), "8");
}

TEST_F(Config, ReadsArgumentsByTheirForm) {
  const Plan plan = load(stencil("{spec: {BX: 16, BY: 4}}"));
  const std::vector<Argument>& args = plan.kernel()->launches[0].args;
  ASSERT_EQ(args.size(), 6u);
  EXPECT_EQ(args[0].buffer, "power");
  EXPECT_EQ(args[2].kind, Argument::Kind::scalar);
  EXPECT_EQ(args[2].type, Argument::Scalar::i32);
  EXPECT_EQ(evaluate(plan, *args[2].expression), 64);
  EXPECT_EQ(args[3].type, Argument::Scalar::i64);
  EXPECT_EQ(args[4].type, Argument::Scalar::f32);
  EXPECT_EQ(args[5].buffer, "workspace");
  EXPECT_FALSE(plan.kernel()->workspace->zero);
}

constexpr const char* kHopper = R"(
name: hopper
file: FILE
kernel: gemm
problem: {gemm: {m: 256, n: 256, k: 64, a: bf16}}
params: {BM: 64, CLUSTER: [[2, 1], [1, 2]]}
launch:
  - grid: [m//BM, 1]
    block: 128
    cluster: CLUSTER
    shared: BM*64
    workspace: {bytes: m*4, zero: true}
    args: [{tma: A, box: [64, BM], swizzle: 128, l2: 256}, B, workspace, alpha, beta]
    c_init: zero
  - {kernel: reduce, grid: [1], block: [BM], args: [workspace, C]}
)";

std::string hopper(const std::string& file) {
  std::string text = kHopper;
  return text.replace(text.find("FILE"), 4, file);
}

TEST_F(Config, ReadsSeveralLaunchesAsOne) {
  const Plan plan = load(hopper("a.cu"));
  ASSERT_EQ(plan.kernel()->launches.size(), 2u);
  EXPECT_EQ(plan.kernel()->launches[0].kernel, "gemm");
  EXPECT_EQ(plan.kernel()->launches[1].kernel, "reduce");
  EXPECT_TRUE(plan.kernel()->zero_c);
  EXPECT_TRUE(plan.kernel()->workspace->zero);
  const std::vector<Argument>& args = plan.kernel()->launches[0].args;
  EXPECT_EQ(args[0].kind, Argument::Kind::tensor_map);
  EXPECT_EQ(args[0].box.size(), 2u);
  EXPECT_EQ(evaluate(plan, *args[0].swizzle, 0), 128);
  EXPECT_EQ(evaluate(plan, *args[0].l2, 0), 256);
  EXPECT_EQ(args[3].kind, Argument::Kind::alpha);
  EXPECT_EQ(args[4].kind, Argument::Kind::beta);
}

TEST_F(Config, APairIsTwoDimensions) {
  const Plan plan = load(hopper("a.cu"));
  ASSERT_EQ(plan.kernel()->launches[0].cluster.size(), 2u);
  EXPECT_EQ(evaluate(plan, plan.kernel()->launches[0].cluster[0], 0), 2);
  EXPECT_EQ(evaluate(plan, plan.kernel()->launches[0].cluster[1], 1), 2);
}

TEST_F(Config, ChoosesTheFirstPresentSourceOfAMapping) {
  const std::string text =
      "name: x\nfile: {cpu: a.cpp, hip: a.hip, cuda: a.cu}\nkernel: f\nparams: {P: 1}\n"
      "problem: {gemm: {m: 8, n: 8, k: 8}}\n"
      "launch: {grid: [m], block: [1], shared: 4, args: [A]}\n";
  config::LoadRules options = without_kernel_file();
  EXPECT_EQ(load(text, options).backend(), Backend::cuda);
  options.present = [](Backend backend) { return backend != Backend::cuda; };
  EXPECT_EQ(load(text, options).backend(), Backend::hip);
  options.present = [](Backend backend) { return backend == Backend::cpu; };
  const Plan plan = load(text, options);
  EXPECT_EQ(plan.backend(), Backend::cpu);
  EXPECT_EQ(plan.file.filename(), "a.cpp");
  EXPECT_TRUE(plan.kernel()->launches[0].grid.empty());
  EXPECT_FALSE(plan.kernel()->launches[0].shared);
  options.backend = Backend::hip;
  EXPECT_EQ(load(text, options).file.filename(), "a.hip");
}

TEST_F(Config, NamesOfOtherBackendsDoNotApply) {
  const std::string text =
      "name: x\nfile: {cpu: a.cpp, cuda: a.cu}\nkernel: f\nparams: {P: [1, 2]}\n"
      "problem: {gemm: {m: 8, n: 8, k: 8}}\nlaunch: {grid: [m], block: [1], args: [A]}\n"
      "constraints: [P < device.warp_size]\nprune_after_build: [spills == 0, stack < 9]\n";
  config::LoadRules options = without_kernel_file();
  options.backend = Backend::cpu;
  const Plan plan = load(text, options);
  EXPECT_TRUE(plan.space.mappings()[0].constraints.empty());
  ASSERT_EQ(plan.prune_after_build.size(), 1u);
  EXPECT_EQ(plan.prune_after_build[0].reason, "stack < 9");
}

TEST_F(Config, GoesByTheSuffix) {
  const auto backend = [&](const std::string& file) {
    const bool gpu = file != "a.cpp" && file != "a.c";
    return load("name: x\nfile: " + file + "\nkernel: f\nparams: {P: 1}\nproblem: {gemm: {m: 8, n: 8, k: 8}}\n" +
                (gpu ? "launch: {grid: [m], block: [1], args: [A]}\n" : "launch: {args: [A]}\n"))
        .backend();
  };
  EXPECT_EQ(backend("a.cu"), Backend::cuda);
  EXPECT_EQ(backend("a.hip"), Backend::hip);
  EXPECT_EQ(backend("a.cpp"), Backend::cpu);
  EXPECT_EQ(backend("a.c"), Backend::cpu);
  EXPECT_EQ(load("name: x\nfile: a.cu\nparams: {P: 1}\n").backend(), Backend::program);
}

TEST_F(Config, AsksForTheDeviceOnlyIfAnExpressionNeedsIt) {
  int asked = 0;
  config::LoadRules options = without_kernel_file();
  options.probe = [&](Backend) {
    ++asked;
    return Device{"cpu", "6.1", "x86", {{"cores", std::int64_t{4}}}};
  };
  load(cpu_file("constraints: [BM > 64]"), options);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(count_valid(load(cpu_file("constraints: [BM == 16*device.cores]"), options)), 1);
  EXPECT_EQ(asked, 1);
}

TEST_F(Config, HasDefaultsForADeviceThatIsNotKnownOrDoesNotTell) {
  const std::string text = cpu_file("device_defaults: {cores: 4}\nconstraints: [BM == 16*device.cores]");
  config::LoadRules options = without_kernel_file();
  Device device{"cpu", "6.1", "x86", {}};
  options.probe = [&](Backend) { return device; };
  EXPECT_EQ(count_valid(load(text, options)), 1) << "it does not tell";
  device.properties["cores"] = std::int64_t{5};
  EXPECT_EQ(count_valid(load(text, options)), 0) << "what the device says counts";
  options.probe = [](Backend) -> Device { throw Error(ExitCode::environment, "no device"); };
  EXPECT_EQ(count_valid(load(text, options)), 1);
  options.probe = nullptr;
  EXPECT_EQ(count_valid(load(text, options)), 1);
}

TEST_F(Config, TheTensorCoreDemosFollowTheDeviceAndNeedNone) {
  config::LoadRules options;
  const auto count = [&](const char* name) {
    const std::vector<std::filesystem::path> yamls = {std::string(TUNE_SOURCE_DIR "/configs/") + name};
    return count_valid(tune::config::load(yamls, options).plan);
  };
  EXPECT_EQ(count("gemm_mma.yaml"), 312);
  EXPECT_EQ(count("gemm_wgmma.yaml"), 336);
  options.probe = [](Backend) { return Device{"large", "", "", {{"multiprocessors", std::int64_t{4000}}}}; };
  EXPECT_GT(count("gemm_mma.yaml"), 312) << "more specs split k";
}

TEST_F(Config, ExpandsEnvironmentVariablesInFile) {
  setenv("TUNE_TEST_FOLDER", "/somewhere", 1);
  EXPECT_EQ(load("name: x\nfile: $TUNE_TEST_FOLDER/a.py\nparams: {P: 1}\n").file, "/somewhere/a.py");
  EXPECT_EQ(load("name: x\nfile: '${TUNE_TEST_FOLDER}er/a.py'\nparams: {P: 1}\n").file, "/somewhereer/a.py");
}

TEST_F(Config, ResolvesPathsAgainstTheFilesFolder) {
  const Plan plan = load(cpu_file("build: {include: [., ../include], flags: -O3}"));
  EXPECT_EQ(plan.file, folder_.path() / "gemm.cpp");
  EXPECT_EQ(plan.file_as_written, "gemm.cpp");
  EXPECT_EQ(plan.yaml, folder_.path() / "gemm.yaml");
  EXPECT_EQ(plan.build.include[1], folder_.path().parent_path() / "include");
  EXPECT_EQ(plan.build.flags, std::vector<std::string>{"-O3"});
}

TEST_F(Config, ReadsRulesOfBuildingAndMeasuring) {
  const Plan plan =
      load(cpu_file("build: {defines: [m, lda]}\n"
                    "measure: {warmup: 0, min_launches: 3, max_seconds: 0.5, cutoff: 0, cold_cache: false}"));
  EXPECT_EQ(plan.build.defines, (std::vector<std::string>{"m", "lda"}));
  EXPECT_EQ(plan.measure, (MeasureRules{0, 3, 0.5, 0, false}));
}

TEST_F(Config, TheCommandLineMayChooseThePowerState) {
  EXPECT_EQ(load(cpu_file("")).measure.state, PowerState::burst);
  EXPECT_EQ(load(cpu_file("measure: {state: sustained}")).measure.state, PowerState::sustained);
  config::LoadRules options = without_kernel_file();
  options.state = PowerState::burst;
  EXPECT_EQ(load_text(folder_, cpu_file("measure: {state: sustained}"), options).plan.measure.state, PowerState::burst);
}

TEST_F(Config, ACommandIsArgvOrAShellString) {
  const Plan list = load(program_file("{P: 1}", "build: {command: [mojo, build, '{file}']}\nrun: ['{binary}']\n"));
  EXPECT_EQ(list.build.command.words, (std::vector<std::string>{"mojo", "build", "{file}"}));
  EXPECT_FALSE(list.build.command.is_shell);
  EXPECT_EQ(list.program()->run.words.size(), 1u);
  const Plan shell = load(program_file("{P: 1}", "build: {command: 'mojo build {file} > log', run: './x {args}'}\n"));
  EXPECT_TRUE(shell.build.command.is_shell);
  EXPECT_TRUE(shell.program()->run.is_shell);
  EXPECT_EQ(shell.program()->run.words[0], "./x {args}");
}

TEST_F(Config, AProgramsColumnsMayBeUsedInMetrics) {
  const Plan plan = load(program_file("{P: 1}",
                                      "metrics: {rate: tokens/time, cost: {expr: energy*P, minimize: true}}\n"
                                      "objective: rate\n"));
  ASSERT_EQ(plan.metrics.size(), 2u);
  EXPECT_FALSE(plan.metrics[0].maximize);
  EXPECT_EQ(plan.metrics[1].maximize, false);
  EXPECT_TRUE(plan.result_names.find("tokens"));
  EXPECT_FALSE(plan.space.names().find("tokens"));
  EXPECT_EQ(plan.objective, "rate");
}

TEST_F(Config, ResultNamesExtendTheSpacesNames) {
  const Plan plan = load(cpu_file("prune_after_build: [stack < BM]\nmetrics: {x: flops/time}"));
  for (int slot = 0; slot < plan.space.names().size(); ++slot) {
    EXPECT_EQ(plan.result_names.at(slot), plan.space.names().at(slot));
  }
  EXPECT_TRUE(plan.result_names.find("stack"));
  EXPECT_TRUE(plan.result_names.find("time"));
}

TEST_F(Config, ReadsBaselinesOfEverySort) {
  folder_.write("old/best.yaml", "name: gemm\nfile: x\nparams: {$S: 2, BM: 64}\nresult: {time_ms: 1}\n");
  const Plan plan = load(
      cpu_file("baseline: [vendor, {BM: 128, S: 1}, old/best.yaml, {BM: 64, S: 4}]", "{BM: [64, 128], $S: [1, 2]}"));
  ASSERT_EQ(plan.baselines.size(), 4u);
  EXPECT_EQ(plan.baselines[0].kind, Baseline::Kind::vendor);
  EXPECT_EQ(plan.baselines[1].label, "baseline");
  EXPECT_TRUE(plan.baselines[1].settings[1].run_time);
  EXPECT_EQ(plan.baselines[2].label, "best.yaml");
  EXPECT_EQ(plan.baselines[2].settings[0].name, "BM");
  EXPECT_EQ(plan.baselines[3].label, "baseline 2");
}

TEST_F(Config, JoinsSeveralFilesAsAUnion) {
  const std::vector<std::filesystem::path> yamls = {
      folder_.write("a.yaml", program_file("{P: [1, 2]}", "rules: [P < 2]\n")),
      folder_.write("b.yaml", program_file("[{P: [1, 2], Q: 5}]", "rules: [Q < 5]\nrun: x {args}\n"))};
  const Plan plan = tune::config::load(yamls, without_kernel_file()).plan;
  EXPECT_EQ(plan.space.product_size(), 4);
  EXPECT_EQ(count_valid(plan), 1);
  EXPECT_EQ(plan.program()->run.words[0], "x {args}");
}

TEST_F(Config, ParamOptionsReplaceAndAdd) {
  config::LoadRules options = without_kernel_file();
  options.params = {"BM:[32, 48]", "S:7"};
  options.new_params = {"$NEW:{pow2: [1, 4]}"};
  const Plan plan = load(program_file("{BM: 64, $S: [1, 2]}"), options);
  EXPECT_EQ(values(plan, "BM"), "32 48");
  EXPECT_EQ(values(plan, "S"), "7");
  EXPECT_TRUE(parameter(plan, "S").run_time);
  EXPECT_EQ(values(plan, "NEW"), "1 2 4");
  EXPECT_TRUE(parameter(plan, "NEW").run_time);
}

TEST_F(Config, AParamOptionChoosesAmongTheMappingsThatAParameterNames) {
  const auto with = [&](const std::string& params, const std::string& option, const std::string& second = "") {
    config::LoadRules options = without_kernel_file();
    options.params = {option};
    if (!second.empty()) options.params.push_back(second);
    return load(program_file(params), options);
  };
  const std::string two = "[{KERNEL: a, X: [1, 2]}, {KERNEL: b, X: [2, 3, 4]}]";
  EXPECT_EQ(with(two, "KERNEL:a").space.product_size(), 2);
  EXPECT_EQ(values(with(two, "KERNEL:b"), "X"), "2 3 4");
  EXPECT_EQ(with(two, "KERNEL:[a, b]").space.product_size(), 5);
  EXPECT_EQ(with(two, "KERNEL:c").space.product_size(), 5) << "a new name has the points of both";
  EXPECT_EQ(with(two, "X:7").space.product_size(), 2);
  const std::string three = "[{A: 1, B: 2}, {A: 1, B: 3}, {A: 2, B: 2}]";
  EXPECT_EQ(with(three, "A:1").space.product_size(), 2);
  EXPECT_EQ(with(three, "A:1", "B:3").space.product_size(), 1);
  EXPECT_THROW(with(three, "A:2", "B:3"), Error) << "they are not in one mapping";
  EXPECT_THROW(with("[{A: 1}, {A: 2}, oops]", "A:2"), Error) << "no mapping";
}

TEST_F(Config, SizeOptionsChangeTheProblemOrTheParameters) {
  config::LoadRules options = without_kernel_file();
  options.m = 512;
  options.k = 96;
  const Gemm gemm = std::get<Gemm>(load(cpu_file(""), options).problem);
  EXPECT_EQ(gemm.m, 512);
  EXPECT_EQ(gemm.k, 96);
  EXPECT_EQ(gemm.lda, 96);
  const Plan program = load(program_file("{M: [1, 2]}"), options);
  EXPECT_EQ(values(program, "M"), "512");
  EXPECT_EQ(values(program, "K"), "96");
}

TEST_F(Config, ShapesChangeTheProblemOrTheParameters) {
  const std::filesystem::path path =
      folder_.write("sizes.yaml",
                    "- {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N', 'BM': 16}\n"
                    "- {M: 16, N: 16, K: 16, batch: 2} # TFLOPS: 1.0 time(us): 2.0\n");
  const std::vector<config::Shape> shapes = config::read_shapes(path).shapes;
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(config::to_text(shapes[1]), "M=16 N=16 K=16 batch=2");
  config::LoadRules options = without_kernel_file();
  options.shape = shapes[0];
  const Plan plan = load(cpu_file(""), options);
  const Gemm gemm = std::get<Gemm>(plan.problem);
  EXPECT_EQ(gemm.k, 8256);
  EXPECT_EQ(gemm.layout_a, Layout::row);
  EXPECT_EQ(gemm.layout_b, Layout::col);
  EXPECT_EQ(values(plan, "BM"), "16");
  EXPECT_EQ(values(load(program_file("{M: 1, BM: 1}"), options), "rowMajorB"), "N");
}

TEST(Values, ARangeMayReachFromOneEndOfTheIntegersToTheOther) {
  const TuningFolder folder;
  const std::string params = "{A: {range: [-9000000000000000000, 9000000000000000000, 4500000000000000000]}}";
  const Plan plan = load_text(folder, program_file(params)).plan;
  const std::vector<Value>& values = plan.space.mappings().front().parameters.front().values;
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values.back(), Value(std::int64_t{9'000'000'000'000'000'000}));
}

TEST(Paths, TwoDollarsAreOne) {
  const TuningFolder folder;
  setenv("TUNE_TEST_FOLDER", "sub", 1);
  const auto file = [&](const std::string& written) {
    const Plan plan = load_text(folder, "name: x\nfile: '" + written + "'\nparams: {P: 1}\n").plan;
    return plan.file.lexically_relative(folder.path()).string();
  };
  EXPECT_EQ(file("a$$b.py"), "a$b.py");
  EXPECT_EQ(file("$$TUNE_TEST_FOLDER/${TUNE_TEST_FOLDER}/$.py"), "$TUNE_TEST_FOLDER/sub/$.py");
}

}  // namespace
}  // namespace tune::config_test
