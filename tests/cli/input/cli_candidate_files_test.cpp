// file: [a.cpp, b.cpp]: several sources of one kernel, compared under one contract.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_candidate_files_test {
namespace {

namespace fs = std::filesystem;

class CandidateFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string head =
        "extern \"C\" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {\n";
    sandbox_.write("plain.cpp", head +
                                    "  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j) {\n"
                                    "      volatile float sum = 0;\n"
                                    "      for (int p = 0; p < k; ++p) sum = sum + A[i * k + p] * B[p * n + j];\n"
                                    "      C[i * n + j] = sum;\n    }\n}\n");
    sandbox_.write("new/rows.cpp",
                   head +
                       "  for (int i = 0; i < m * n; ++i) C[i] = 0;\n"
                       "  for (int i = 0; i < m; ++i)\n    for (int p = 0; p < k; ++p)\n"
                       "      for (int j = 0; j < n; ++j) C[i * n + j] += A[i * k + p] * B[p * n + j];\n"
                       "  static_assert(U > 0);\n}\n");
    sandbox_.write("wrong.cpp", head + "  for (int i = 0; i < m * n; ++i) C[i] = 1;\n}\n");
    write("[plain.cpp, new/rows.cpp, wrong.cpp]");
  }

  void write(const std::string& files, const std::string& params = "U: [1, 2]", const std::string& more = "") const {
    sandbox_.write("gemm.yaml", "name: gemm\nfile: " + files +
                                    "\nkernel: gemm\nproblem: {gemm: {m: 64, n: 64, k: 64}}\nparams: {" + params +
                                    "}\nlaunch: {args: [A, B, C, m, n, k]}\nmeasure: {max_seconds: 0.02}\n" + more);
  }
  std::string refusal() const {
    const Result result = sandbox_.tune({"gemm.yaml", "--dry-run"});
    EXPECT_EQ(result.code, 2) << result.out;
    return result.err;
  }

  Sandbox sandbox_;
};

TEST_F(CandidateFiles, AreAnAxisOfTheGridAndAColumn) {
  write("[plain.cpp, new/rows.cpp, wrong.cpp]", "U: [1, 2]",
        "constraints: [{if: file == 'rows.cpp' or U == 1, because: the others have no U}]\n");
  const Result listed = sandbox_.tune({"gemm.yaml", "--dry-run"});
  EXPECT_TRUE(has(listed.out, "        0 file=plain.cpp/U=1\n        2 file=rows.cpp/U=1\n")) << listed.out;
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--dry-run", "--quiet", "--param", "file:[plain.cpp,wrong.cpp]"}).out,
            "Number of valid specs: 2\n");
  const Result tuned = sandbox_.tune({"gemm.yaml", "--tune", "--output", "out/gemm"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("failed: 1\n      1  check, reported: wrong result in C\n"), std::string::npos)
      << "wrong.cpp alone: " << tuned.out;
  const std::string csv = sandbox_.read("out/gemm.csv");
  EXPECT_EQ(csv.find("mesh_idx,name,status,file,U,"), 0u) << csv;
  EXPECT_NE(csv.find("\n2,gemm,ok,rows.cpp,1,"), std::string::npos) << csv;
  EXPECT_TRUE(has(sandbox_.read("out/gemm.yaml"), "\nparams:\n  file: rows.cpp\n"));
  const Result again = sandbox_.tune({"out/gemm.yaml", "--output", "again"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(has(again.out, "Number of valid specs: 1\n"));
}

// What the tuning file says of the parameter, and the reference kernel of the first file, stay what they are.
TEST_F(CandidateFiles, KeepTheirReferenceInTheBestYaml) {
  const std::string kernel =
      "extern \"C\" void twice(const float* x, float* y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = ";
  sandbox_.write("v1/k.cpp", kernel +
                                 "x[i] * 2;\n  for (volatile int slow = 0; slow < 20000 * V;) slow = slow + 1;\n}\n"
                                 "extern \"C\" void right(const float* x, float* y, int n) {\n"
                                 "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  sandbox_.write("v2/k.cpp", kernel + "x[i] + x[i];\n}\nextern \"C\" void right(const float*, float*, int) {}\n");
  for (const char* reference : {"{kernel: right, args: [x, y, n]}", "{spec: {file: v1/k.cpp, V: 1}}"}) {
    sandbox_.write("twice.yaml",
                   std::string("name: twice\nfile: [v1/k.cpp, v2/k.cpp]\nkernel: twice\nproblem:\n  custom:\n"
                               "    sizes: {n: 512}\n    buffers: [{name: x, type: f32, count: n}, {name: y, type: "
                               "f32, count: n, role: out}]\n    reference: ") +
                       reference +
                       "\nparams: {V: [1]}\nlet: {LAST: \"n if file == 'v1/k.cpp' else n\"}\n"
                       "launch: {args: [x, y, LAST]}\nmeasure: {max_seconds: 0.02}\n");
    const Result tuned = sandbox_.tune({"twice.yaml", "--tune", "--output", "out/twice"});
    ASSERT_EQ(tuned.code, 0) << tuned.out << tuned.err;
    EXPECT_TRUE(has(sandbox_.read("out/twice.yaml"), "\nparams:\n  file: v2/k.cpp\n"));
    const Result again = sandbox_.tune({"out/twice.yaml", "--tune", "--output", "again"});
    EXPECT_EQ(again.code, 0) << again.out << again.err;
  }
}

TEST_F(CandidateFiles, AreBuiltAnewOneByOne) {
  write("[plain.cpp, new/rows.cpp]");
  const std::vector<std::string> words = {"gemm.yaml", "--output", "out/gemm"};
  sandbox_.tune(words);
  const int built = sandbox_.artifacts();
  EXPECT_EQ(built, 4);
  sandbox_.write("plain.cpp", sandbox_.read("plain.cpp") + "// edited\n");
  sandbox_.tune(words);
  EXPECT_EQ(sandbox_.artifacts(), built + 2) << "only the builds of the edited file";
  EXPECT_EQ(sandbox_.trials("out/gemm.jsonl").size(), 6u) << "four, and two of the edited file";
  // What was built of a file serves where it is the only one.
  write("new/rows.cpp");
  sandbox_.tune({"gemm.yaml", "--output", "alone/gemm"});
  EXPECT_EQ(sandbox_.artifacts(), built + 2);
}

TEST_F(CandidateFiles, AreTogetherInADatabaseAndAPackage) {
  write("[plain.cpp, new/rows.cpp]");
  const auto tune = [&](const std::string& size, const std::string& file) {
    const Result tuned =
        sandbox_.tune({"gemm.yaml", "-m", size, "--filter", "file=" + file, "--tune", "--output", "out/" + size});
    ASSERT_EQ(tuned.code, 0) << tuned.err;
  };
  tune("16", "plain.cpp");
  tune("32", "rows.cpp");
  ASSERT_EQ(sandbox_.tune({"merge", "out/16.yaml", "out/32.yaml", "-o", "db.yaml"}).code, 0);
  const Result packed = sandbox_.tune({"package", "db.yaml", "--yaml", "gemm.yaml", "-o", "packed"});
  ASSERT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(has(packed.out, "packed: 2 sizes in 2 binaries"));
  std::string variants;
  for (const char* file : {"packed/src/variant_0.cpp", "packed/src/variant_1.cpp"}) variants += sandbox_.read(file);
  for (const char* file : {"kernel/plain.cpp", "kernel/new/rows.cpp"}) {
    EXPECT_TRUE(fs::exists(sandbox_.folder() / "packed" / file)) << file;
    EXPECT_TRUE(has(variants, std::string("#include \"../") + file + "\"\n"));
  }
}

TEST_F(CandidateFiles, ThatDoNotGoTogetherAreRefused) {
  write("[plain.cpp, plain.cpp]");
  EXPECT_EQ(refusal(), "tune: error: gemm.yaml:2: file names 'plain.cpp' more than once\n");
  sandbox_.write("b.cu", "");
  write("[plain.cpp, b.cu]");
  EXPECT_EQ(refusal(),
            "tune: error: gemm.yaml:2: 'plain.cpp' and 'b.cu' are not in one language; all files of a list are\n");
  write("[]");
  EXPECT_EQ(refusal().find("tune: error: gemm.yaml:2: file names no source\n"), 0u);
  write("[plain.cpp, ./plain.cpp]");
  EXPECT_EQ(refusal(), "tune: error: gemm.yaml:2: file names './plain.cpp' more than once\n");
  write("[plain.cpp, wrong.cpp]", "file: [1, plain.cpp]");
  EXPECT_EQ(refusal(), "tune: error: gemm.yaml:5: '1' is none of the files that 'file' lists\n");
  sandbox_.write("p.yaml", "name: p\nfile: [a.py, b.py]\nparams: {T: [1, 2]}\n");
  EXPECT_NE(sandbox_.tune({"p.yaml", "--dry-run"})
                .err.find("several files need 'kernel:'; of programs, make the name a "
                          "parameter, as in run: [python3, '{script}']"),
            std::string::npos);
  write("[plain.cpp, none.cpp]");
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--tune"}).err.find("tune: error: gemm.yaml:2: no such file: 'none.cpp'"), 0u);
}

}  // namespace
}  // namespace tune::cli::cli_candidate_files_test
