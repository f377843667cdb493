#include <gtest/gtest.h>

#include <filesystem>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_shapes_test {
namespace {

using Words = std::vector<std::string>;

/// A line of cuBLASLt's trace for D[m,n] = op(A) * op(B).
std::string cublaslt(int m, int n, int k, bool transposed_a, const std::string& type = "R_32F") {
  const auto matrix = [&](int rows, int cols) {
    return "[type=" + type + " rows=" + std::to_string(rows) + " cols=" + std::to_string(cols) +
           " ld=" + std::to_string(rows) + "]";
  };
  return "[2025-11-03 19:02:38][cublasLt][557785][Trace][cublasLtMatmul] A=0X736CB315E800 Adesc=" +
         (transposed_a ? matrix(k, m) : matrix(m, k)) + " B=0X736C9B644000 Bdesc=" + matrix(k, n) +
         " C=0X0 Cdesc=" + matrix(m, n) + " D=0X736CB30A4400 Ddesc=" + matrix(m, n) +
         " computeDesc=[computeType=COMPUTE_32F scaleType=R_32F" + (transposed_a ? " transa=OP_T" : "") +
         "] algo=[algoId=66 tile=MATMUL_TILE_128x128] workSpace=0X0 workSpaceSizeInBytes=0 beta=0 outOfPlace=1 "
         "stream=0X0\n";
}

class Shapes : public testing::Test {
 protected:
  /// A run that is expected to succeed.
  Result tune(const Words& arguments) const {
    Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return result;
  }
  /// What `tune shapes` makes of a file with this text, without the comments.
  std::string listed(const std::string& name, const std::string& text) const {
    sandbox_.write(name, text);
    std::string list = tune({"shapes", name}).out;
    list.erase(0, list.find('\n') + 1);
    for (auto at = list.find("  #"); at != std::string::npos; at = list.find("  #"))
      list.erase(at, list.find('\n', at) - at);
    return list;
  }
  void refuses(const Words& arguments, const std::string& complaint) const {
    EXPECT_TRUE(has(refusal(sandbox_, arguments), complaint));
  }
  void refuses_text(const std::string& name, const std::string& text, const std::string& complaint) const {
    sandbox_.write(name, text);
    refuses({"shapes", name}, complaint);
  }

  Sandbox sandbox_;
};

TEST_F(Shapes, ALogOfCublasltIsAWeightedList) {
  sandbox_.write("run.log",
                 "loading the model\n" + cublaslt(128, 32, 64, true, "R_16BF") + cublaslt(128, 32, 64, true, "R_16BF") +
                     "[2025-11-03 19:02:38][cublasLt][1][Api][cublasLtMatmulAlgoGetHeuristic] Adesc=[type=R_32F "
                     "rows=1 cols=1 ld=1]\nstep 1\n" +
                     cublaslt(256, 32, 64, false, "R_16BF"));
  const Result result = tune({"shapes", "run.log", "-o", "shapes.yaml"});
  EXPECT_EQ(result.out, "shapes.yaml: 2 shapes\n");
  const std::string page = platform::read_file(TUNE_SOURCE_DIR "/docs/workloads.md"),
                    command = "$ tune shapes run.log\n";
  const auto shown = page.find(command) + command.size();
  EXPECT_EQ(sandbox_.read("shapes.yaml"), page.substr(shown, page.find("```", shown) - shown))
      << "as the manual has it";
  const std::string twice = tune({"shapes", "shapes.yaml", "run.log"}).out;
  EXPECT_TRUE(has(twice, "# 2 shapes and 6 calls")) << twice;
}

TEST_F(Shapes, AnEpilogueIsPartOfAShape) {
  sandbox_.write(
      "list.yaml",
      "- {M: 8, N: 16, K: 32, epilogue: swiglu}\n- {M: 8, N: 16, K: 32, bias: row, epilogue: silu, residual: "
      "true}\n- {M: 8, N: 16, K: 32}\n");
  EXPECT_EQ(tune({"shapes", "list.yaml"}).out,
            "# 3 shapes and 3 calls; behind each shape stands its share of the operations\n"
            "- {M: 8, N: 16, K: 32, epilogue: swiglu, calls: 1}  # 50 %\n"
            "- {M: 8, N: 16, K: 32, bias: row, epilogue: silu, residual: true, calls: 1}  # 25 %\n"
            "- {M: 8, N: 16, K: 32, calls: 1}  # 25 %\n");
}

TEST_F(Shapes, ScalesAreEntriesOfAList) {
  sandbox_.write("list.yaml", "- {M: 8, N: 16, K: 32, a: e4m3, scale_a: 1x128, scale_b: 128x128}\n");
  EXPECT_EQ(tune({"shapes", "list.yaml"}).out,
            "# 1 shape and 1 call; behind each shape stands its share of the operations\n"
            "- {M: 8, N: 16, K: 32, a: e4m3, scale_a: 1x128, scale_b: 128x128, calls: 1}  # 100 %\n");
}

TEST_F(Shapes, GroupsAreEntriesOfAList) {
  sandbox_.write("list.yaml", "- {M: 8, N: 16, K: 32, groups: 4, routing: zipf 1.2}\n");
  EXPECT_EQ(tune({"shapes", "list.yaml"}).out,
            "# 1 shape and 1 call; behind each shape stands its share of the operations\n"
            "- {M: 8, N: 16, K: 32, groups: 4, routing: zipf 1.2, calls: 1}  # 100 %\n");
}

TEST_F(Shapes, LogsOfHipblasltAreRead) {
  const std::string trace =
      "[2025-02-28 11:24:46][HIPBLASLT][1862601][Trace][rocblaslt_matmul] A=0x7f667d700000 Adesc=[type=R_16BF rows=48 "
      "cols=1024 ld=48] B=0x7f667d718000 Bdesc=[type=R_16BF rows=176 cols=1024 ld=176] C=0x7f667d770000 "
      "Cdesc=[type=R_16BF rows=48 cols=176 ld=48] D=0x7f667d775000 Ddesc=[type=R_16BF rows=48 cols=176 ld=48] "
      "computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transA=OP_N transB=OP_T epilogue=EPILOGUE_DEFAULT "
      "biasPointer=0x0] workSpace=0 workSpaceSizeInBytes=0 alpha=1 beta=0 stream=0 \n";
  const std::string expected =
      "- {M: 176, N: 48, K: 1024, rowMajorA: 'N', rowMajorB: T, a: bf16, b: bf16, c: bf16, calls: ";
  EXPECT_EQ(listed("trace.log", trace), expected + "1}\n");
  EXPECT_EQ(listed("bench.log",
                   "hipblaslt-bench --api_method c -m 48 -n 176 -k 1024 --lda 48 --ldb 176 --ldc 48 --ldd 48 --alpha "
                   "1.000000 --beta -1.000000 --transA N --transB T --batch_count 1 --a_type bf16_r --b_type bf16_r "
                   "--c_type bf16_r --d_type bf16_r --compute_type f32_r --algo_method index\n"),
            expected + "1}\n");
  EXPECT_EQ(
      listed("profile.yaml",
             "- {function: matmul, M: 48, N: 176, K: 1024, lda: 48, transA: N, transB: T, batch_count: 1, a_type: "
             "bf16_r, b_type: bf16_r, c_type: bf16_r, d_type: bf16_r, compute_type: c_f32_r, call_count: 7}\n"),
      expected + "7}\n");
}

TEST_F(Shapes, ResultsOfTunableOpNameEachShapeOnce) {
  EXPECT_EQ(listed("tunableop_results.csv",
                   "Validator,PT_VERSION,2.2.0\r\nValidator,ROCBLAS_VERSION,4.0.0-72e57364-dirty\r\n"
                   "GemmTunableOp_float_NT,nt_25088_4096_64,Gemm_Hipblaslt_1219,1.262\r\n"
                   "GemmAndBiasTunableOp_BFloat16_TN,tn_768_32_1024_ld_1024_1024_768,Gemm_Hipblaslt_220580,0.0103\r\n"
                   "GemmAndBiasTunableOp_BFloat16_TN,tn_768_32_1024_ld_1024_1024_800,Default,0.0103\r\n"
                   "GemmStridedBatchedTunableOp_Half_NN,nn_64_32_16_B_8_ld_64_16_64,Default,0.01\r\n"
                   "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e5m2_BFloat16_TN,"
                   "tn_64_32_16_ld_16_16_64_rw_0_bias_None,Default,0.01\r\n"),
            "- {M: 4096, N: 25088, K: 64, rowMajorA: 'N', rowMajorB: T, a: f32, b: f32, c: f32, calls: 1}\n"
            "- {M: 32, N: 768, K: 1024, rowMajorA: T, rowMajorB: 'N', a: bf16, b: bf16, c: bf16, calls: 1}\n"
            "- {M: 32, N: 64, K: 16, rowMajorA: T, rowMajorB: T, a: f16, b: f16, c: f16, batch: 8, calls: 1}\n"
            "- {M: 32, N: 64, K: 16, rowMajorA: T, rowMajorB: 'N', a: e5m2, b: e4m3, c: bf16, calls: 1}\n");
}

TEST_F(Shapes, TablesAreRead) {
  EXPECT_EQ(listed("sizes.csv", "# sizes\nm,n,k,calls\n64, 32, 16, 2.5\n8,8,8,1\n64,32,16,1\n"),
            "- {M: 64, N: 32, K: 16, calls: 3.5}\n- {M: 8, N: 8, K: 8, calls: 1}\n");
  EXPECT_EQ(listed("excel.csv", "\xef\xbb\xbfM;N;K\r\n8;8;8\r\n"), "- {M: 8, N: 8, K: 8, calls: 1}\n");
  EXPECT_EQ(listed("sizes.txt", "m n k\n64 32 16\n64 32 16\n"), "- {M: 64, N: 32, K: 16, calls: 2}\n");
  const std::string row =
      ",64,256,5120,False,torch.bfloat16,torch.float32,False,False,asm,5,13,7.9,_ZN5E,0.0,21.1,417\n";
  EXPECT_EQ(listed("bf16_tuned_gemm.csv",
                   "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,"
                   "err_ratio,tflops,bw\ngfx950,256" +
                       row + "gfx942,304" + row),
            "- {M: 64, N: 256, K: 5120, a: bf16, b: bf16, c: f32, calls: 1}\n");
  EXPECT_EQ(listed("N=1024,K=2048,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json",
                   "{\n  \"triton_version\": \"3.5.1\",\n  \"1\": {\"BLOCK_SIZE_M\": 16},\n  \"24\": "
                   "{\"BLOCK_SIZE_M\": 16}\n}\n"),
            "- {M: 24, N: 1024, K: 2048, calls: 1}\n- {M: 1, N: 1024, K: 2048, calls: 1}\n");
}

/// Each row is the two products of a layer, one row of A for each expert of a token.
TEST_F(Shapes, TablesAndConfigurationsOfExpertsAreRead) {
  const std::string names =
      "token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,doweight_stage1\n";
  EXPECT_EQ(
      listed("untuned_fmoe.csv", names + "16,4096,1536,128,8,ActivationType.Silu,torch.bfloat16,torch.float8_e4m3fnuz,"
                                         "torch.float8_e4m3fnuz,QuantType.per_1x128,1,0\n"),
      "- {M: 128, N: 3072, K: 4096, groups: 128, a: e4m3, b: e4m3, c: bf16, scale_a: 1x128, scale_b: 128x128, "
      "calls: 1}\n"
      "- {M: 128, N: 4096, K: 1536, groups: 128, a: e4m3, b: e4m3, c: bf16, scale_a: 1x128, scale_b: 128x128, "
      "calls: 1}\n");
  EXPECT_EQ(listed("plain_fmoe.csv", names + "16,4096,1536,128,8,ActivationType.Gelu,torch.bfloat16,torch.bfloat16,"
                                             "torch.bfloat16,QuantType.No,0,0\n"),
            "- {M: 128, N: 1536, K: 4096, groups: 128, a: bf16, b: bf16, c: bf16, calls: 1}\n"
            "- {M: 128, N: 4096, K: 1536, groups: 128, a: bf16, b: bf16, c: bf16, calls: 1}\n");
  refuses_text("fp4_fmoe.csv",
               names +
                   "16,4096,1536,128,8,ActivationType.Silu,torch.bfloat16,torch.float4_e2m1fn_x2,"
                   "torch.float4_e2m1fn_x2,QuantType.per_1x32,1,0\n",
               "fp4_fmoe.csv: the table has no row that could be tuned");
  refuses_text("many_fmoe.csv",
               names +
                   "2147483647,4096,1536,128,8,ActivationType.Silu,torch.bfloat16,torch.bfloat16,torch.bfloat16,"
                   "QuantType.No,1,0\n",
               "many_fmoe.csv:2: the experts have more than 2147483647 rows or columns");
  EXPECT_EQ(listed("E=8,N=14336,device_name=NVIDIA_H200.json", "{\"1\": {}, \"64\": {}}\n"),
            "- {M: 64, N: 28672, groups: 8, calls: 1}\n- {M: 1, N: 28672, groups: 8, calls: 1}\n");
}

TEST_F(Shapes, WhatIsNoListOfShapesIsRefused) {
  refuses_text("empty.log", "[2025-11-03][cublasLt][1][Api][cublasLtCreate] lightHandle=0x0\n",
               "empty.log: the log has no GEMM that could be tuned; a program logs them if it runs with "
               "CUBLASLT_LOG_LEVEL=2");
  refuses_text("README.md", "# A program\n\n`gemm` multiplies.\n",
               "tune: error: README.md is no log or table of shapes either; a list has lines such as - {M: 4096, N: "
               "4096, K: 4096}");
  refuses_text("fp4.log", cublaslt(8, 8, 8, true, "R_4F_E2M1"), "(1 are of other types)");
  refuses_text("no_k.csv", "m,n,calls\n8,8,1\n", "no_k.csv:1: the table has no column K");
  refuses_text("zero.csv", "m,n,k\n8,0,8\n", "zero.csv:2: N is '0'; it must be a whole number from 1 to 2147483647");
  refuses_text("short.csv", "m,n,k\n8,8\n", "short.csv:2: the row has 2 columns, and the first line names 3");
  refuses_text("calls.csv", "m,n,k,calls\n8,8,8,-1\n", "calls.csv:2: the number of calls is '-1'; it must be positive");
  refuses_text("only.csv", "m,n,k\n", "only.csv: the table has no row that could be tuned");
  refuses_text("list.yaml", "- {M: 8, N: 8, K: 8, calls: 0}\n", "list.yaml:1: calls is 0; it must be positive");
  refuses_text("N=14336,device_name=NVIDIA_H200.json", "{\"1\": {}}\n", "the name does not say N and K");
  refuses_text("E=0,N=14336,device_name=NVIDIA_H200.json", "{\"1\": {}}\n", "or E and N");
  refuses_text("nothing.yaml", "", "nothing.yaml");
  refuses({"shapes", "absent.log"}, "absent.log: cannot be read");
  refuses({"shapes", "list.yaml", "-o", "list.yaml"}, "list.yaml: the output is also an input");
  const Result cut = sandbox_.tune(
      {"shapes", sandbox_
                     .write("cut.log", cublaslt(8, 8, 8, true) + "[2025][cublasLt][1][Trace]"
                                                                 "[cublasLtMatmul] A=0X1 Adesc=[type=R_32F rows=4")
                     .string()});
  EXPECT_EQ(cut.code, 0);
  EXPECT_TRUE(has(cut.err, "cut.log: 1 GEMM is left out, whose types or orders a shape cannot say")) << cut.err;
}

TEST_F(Shapes, AFilterKeepsOneKind) {
  sandbox_.write("run.log", cublaslt(128, 32, 64, true) + cublaslt(128, 32, 64, true, "R_16BF"));
  EXPECT_TRUE(has(tune({"shapes", "run.log", "--filter", "a=bf16"}).out, "# 1 shape and 1 call;"));
  refuses({"shapes", "run.log", "--filter", "a=f16"}, "--filter a=f16: a is bf16, f32 in these shapes");
  refuses({"shapes", "run.log", "--filter", "d=f16"}, "--filter d=f16: no shape has an entry d");
  refuses({"shapes", "run.log", "--filter", "a"}, "--filter a: write NAME=VALUE, such as a=bf16");
}

TEST_F(Shapes, ALogIsTunedForAsFarAsTheKernelFits) {
  sandbox_.write_gemm();
  sandbox_.write("run.log", cublaslt(32, 16, 64, false) + cublaslt(32, 16, 64, false) + cublaslt(64, 16, 64, false) +
                                cublaslt(32, 16, 64, true) + cublaslt(32, 16, 64, false, "R_16BF"));
  const Result result = tune({"gemm.yaml", "--shapes", "run.log", "--dry-run", "-q"});
  EXPECT_TRUE(has(result.out, "M=16 N=32 K=64\nNumber of valid specs: 4\nM=16 N=64 K=64\n")) << result.out;
  EXPECT_TRUE(has(result.err,
                  "run.log: 2 of 4 shapes, with 40 % of the calls, differ from gemm.yaml (rowMajorA=T "
                  "rowMajorB=T a=f32 b=f32 c=f32) in types or layouts"))
      << result.err;
  sandbox_.write("other.log", cublaslt(32, 16, 64, false, "R_16BF"));
  refuses({"gemm.yaml", "--shapes", "other.log", "--dry-run"}, "1 of 1 shapes, with 100 % of the calls, differ from");
}

/// Three shapes of a program whose time follows from its parameters, and of which T=1 is the best.
class Workload : public Shapes {
 protected:
  Workload() {
    sandbox_.write_script("{T: [5, 4, 3, 2, 1]}", "default: {T: 2}\n");
    sandbox_.write("sizes.yaml", "- {M: 16, calls: 3}\n- {M: 32}\n- {M: 64, calls: 1.5}\n");
  }
  Result run(const Words& more) const {
    Words words = {"bench.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words);
  }
};

TEST_F(Workload, EndsWithOneTable) {
  const Result result = run({"--output", "out"});
  const std::string rule(80, '-');
  EXPECT_TRUE(has(result.out, rule + "\nWorkload: 3 of 3 shapes tuned, 5.5 calls\n" + rule +
                                  "\n"
                                  "      shape  calls  met (ms)  % time                       found\n"
                                  "       M=16      3     1.000    54.5           5 of 5, no finals\n"
                                  "       M=32      1     1.000    18.2  5 of 5, no finals, as M=16\n"
                                  "       M=64    1.5     1.000    27.3  5 of 5, no finals, as M=16\n"
                                  "  all calls    5.5     5.500\n"
                                  "database: out.db.yaml\n"))
      << result.out;
}

TEST_F(Workload, HasOneJournalAndOneDatabase) {
  run({"--output", "out"});
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 15u);
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "out-M16.jsonl"));
  const std::string database = sandbox_.read("out.db.yaml");
  for (const char* size : {"{m: 16}", "{m: 32}", "{m: 64}"}) EXPECT_TRUE(has(database, size)) << database;
  const int runs = sandbox_.script_runs();
  const Result again = run({"--output", "out"});
  EXPECT_EQ(sandbox_.script_runs(), runs) << "all is known";
  EXPECT_TRUE(has(again.out, "5 of 5, no finals, as M=16, recorded\n")) << again.out;
  EXPECT_EQ(sandbox_.read("out.db.yaml"), database);
}

TEST_F(Workload, FreshMeasuresEveryShapeAgain) {
  run({"--output", "out"});
  const int runs = sandbox_.script_runs();
  run({"--output", "out", "--fresh"});
  EXPECT_EQ(sandbox_.script_runs(), 2 * runs);
  run({"--output", "out", "--fresh"});
  EXPECT_EQ(sandbox_.script_runs(), 3 * runs) << "the run before was complete";
}

TEST_F(Workload, ASearchBeginsWithTheWinnerOfTheNearestShape) {
  run({"--output", "out", "--max-evals", "3"});
  const std::vector<wire::TrialRecord> trials = sandbox_.trials("out.jsonl");
  ASSERT_EQ(trials.size(), 9u);
  const auto value = [&](std::size_t i) { return to_text(*trials[i].trial.spec.find("T")); };
  EXPECT_EQ(value(0), "2") << "the default";
  std::string best = "5";
  for (std::size_t i = 0; i < 3; ++i) best = std::min(best, value(i));
  EXPECT_EQ(value(3), "2");
  if (best != "2") {
    EXPECT_EQ(value(4), best);
  }
}

TEST_F(Workload, PartsOfAListHaveJournalsAndDatabasesOfTheirOwn) {
  run({"--output", "out", "--partition", "0:2"});
  run({"--output", "out", "--partition", "1:2"});
  EXPECT_EQ(sandbox_.trials("out-part0of2.jsonl").size(), 5u);
  EXPECT_EQ(sandbox_.trials("out-part1of2.jsonl").size(), 10u);
  tune({"merge", "out-part0of2.db.yaml", "out-part1of2.db.yaml", "-o", "all.db.yaml"});
  run({"--output", "all"});
  EXPECT_TRUE(has(sandbox_.read("all.db.yaml"), "{m: 64}"));
}

TEST_F(Workload, AShapeWithoutAValidSpecIsARow) {
  sandbox_.write_script("{T: [5, 4, 3, 2, 1]}", "constraints: [M < 40]\n");
  const Result result = sandbox_.tune({"bench.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "Workload: 2 of 3 shapes tuned, 4 calls\n")) << result.out;
  EXPECT_TRUE(has(result.out, "\n  all calls      4     4.000\n")) << result.out;
  EXPECT_TRUE(has(result.out, "       M=64    1.5         -       -               no valid spec\n")) << result.out;
  EXPECT_TRUE(has(result.out, "3 tunings: 2 UNDECIDED, 1 FAIL\n")) << result.out;
}

TEST_F(Workload, AShapeForWhichTheOnlySpecIsPrunedIsARow) {
  sandbox_.write_script("{T: [5, 4]}", "constraints: [M > 16 or T < 5]\n");
  const Result result =
      sandbox_.tune({"bench.yaml", "--shapes", "sizes.yaml", "--spec", "0", "--tune", "--no-finals", "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, ": --spec 0 is pruned: M > 16 or T < 5;")) << result.err;
  EXPECT_TRUE(has(result.out, "Workload: 2 of 3 shapes tuned, 2.5 calls\n")) << result.out;
}

TEST_F(Workload, AFileThatIsNoDatabaseIsRefusedBeforeAnythingRuns) {
  sandbox_.write("out.db.yaml", "garbage\n");
  refuses({"bench.yaml", "--shapes", "sizes.yaml", "--tune", "-q", "--output", "out"},
          "out.db.yaml:1: this is neither");
  EXPECT_EQ(sandbox_.read("out.db.yaml"), "garbage\n");
}

TEST_F(Workload, AJournalOfSeveralShapesIsSimulated) {
  run({"--output", "out"});
  const std::string simulated = tune({"--simulate", "out.jsonl", "--tune"}).out;
  EXPECT_TRUE(has(simulated, "top_spec_idx: 4\n")) << simulated;
  EXPECT_TRUE(has(simulated, "note: out.jsonl is of 3 problems, and this is the last, M=64;")) << simulated;
}

TEST_F(Shapes, ShapesShareTheirBuilds) {
  sandbox_.write_gemm();
  sandbox_.write("gemm.yaml", sandbox_.read("gemm.yaml") + "let: {BLOCKS: \"ceil_div(m, 16)\"}  # not in the source\n");
  sandbox_.write("sizes.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32, N: 16, K: 16}\n");
  const Words words = {"gemm.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--quiet", "--output", "out"};
  const Result result = tune(words);
  EXPECT_EQ(sandbox_.artifacts(), 4) << "one for each value of BM, whatever the size";
  EXPECT_TRUE(has(result.out, "Workload: 2 of 2 shapes tuned, 2 calls\n")) << result.out;
  EXPECT_TRUE(has(sandbox_.read("out.db.yaml"), "{m: 32, n: 16, k: 16}"));
  const auto simulated = [&](const char* m) {
    return tune({"gemm.yaml", "--simulate", "out.jsonl", "--tune", "-m", m, "-n", "16", "-k", "16"}).out;
  };
  EXPECT_TRUE(has(simulated("16"), "simulated: 4 of the 4 specs")) << simulated("16");
  EXPECT_FALSE(has(simulated("16"), "problems"));
}

TEST_F(Shapes, WhatTheSearchesTryFirstIsBuiltBeforeAnythingIsTimed) {
  sandbox_.write_gemm();
  sandbox_.write("sizes.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32, N: 16, K: 16}\n");
  const Words words = {"gemm.yaml", "--shapes", "sizes.yaml", "--max-evals", "2", "--no-finals", "--output", "out"};
  const Result first = tune(words);
  EXPECT_EQ(first.err.find("building "), 0u) << first.err;
  EXPECT_TRUE(has(first.err, " kernels that the searches for 2 sizes may try\n")) << first.err;
  EXPECT_FALSE(has(tune(words).err, "building ")) << "the journal has the results";
}

// Neither the source nor a header has the name TWICE.
TEST_F(Shapes, AValueThatOnlyAFlagNamesIsCompiled) {
  sandbox_.write_gemm("let: {TWICE: 2*BM}\nbuild: {flags: [-DTILE=TWICE]}\n", "static_assert(TILE == 2 * BM);\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--build-only"});
  EXPECT_TRUE(has(result.out, "valid built specs: 4 (out of 4)")) << result.out << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_shapes_test
