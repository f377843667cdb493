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
                                    "}\nlaunch: {args: [A, B, C, m, n, k]}\n" + more);
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
        "constraints: [{if: file == 'new/rows.cpp' or U == 1, because: the others have no U}]\n");
  const Result listed = sandbox_.tune({"gemm.yaml", "--dry-run"});
  EXPECT_TRUE(has(listed.out, "        0 file=plain.cpp/U=1\n        2 file=new/rows.cpp/U=1\n")) << listed.out;
  const Result tuned = sandbox_.tune({"gemm.yaml", "--tune", "--output", "out/gemm"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("failed: 1\n      1  check, reported: wrong result in C\n"), std::string::npos)
      << "wrong.cpp alone: " << tuned.out;
  const std::string csv = sandbox_.read("out/gemm.csv");
  EXPECT_EQ(csv.find("mesh_idx,name,status,file,U,"), 0u) << csv;
  EXPECT_NE(csv.find("\n2,gemm,ok,new/rows.cpp,1,"), std::string::npos) << csv;
  const std::string best = sandbox_.read("out/gemm.yaml");
  EXPECT_NE(best.find("file: '../new/rows.cpp'\n"), std::string::npos)
      << "the winner's file, and no parameter: " << best;
  EXPECT_EQ(best.find("$file"), std::string::npos) << best;
  EXPECT_EQ(sandbox_.tune({"out/gemm.yaml", "--output", "again"}).code, 0);
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

TEST_F(CandidateFiles, ArePackagedFromADatabaseWithoutTheirNames) {
  sandbox_.write("sizes.yaml", "[{m: 16, n: 16, k: 16}, {m: 32, n: 16, k: 8}]\n");
  write("[plain.cpp, new/rows.cpp]");
  ASSERT_EQ(sandbox_.tune({"gemm.yaml", "--shapes", "sizes.yaml", "--tune", "--output", "out/gemm"}).code, 0);
  const Result packed = sandbox_.tune({"package", "out/gemm.db.yaml", "--yaml", "gemm.yaml", "-o", "packed"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "packed/kernel/rows.cpp") ||
              fs::exists(sandbox_.folder() / "packed/kernel/plain.cpp"));
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
  write("[plain.cpp, wrong.cpp]", "file: [1, 2]");
  EXPECT_EQ(refusal(),
            "tune: error: gemm.yaml:5: 'file' is the parameter that chooses among the files of 'file'; rename this "
            "one\n");
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
