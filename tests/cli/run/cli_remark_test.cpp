// What a worker remarks on though all goes well reaches the user: once, and in every run.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <regex>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_remark_test {
namespace {

/// All but the one that results are from the journal.
std::vector<std::string> notes_of(const Result& result) {
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  static const std::regex kNote("note: .*");
  std::vector<std::string> notes(std::sregex_token_iterator(result.out.begin(), result.out.end(), kNote), {});
  std::erase_if(notes, [](const std::string& note) { return note.find("from the journal") != note.npos; });
  return notes;
}

TEST(Remarks, OfTheProbeAndOfABaselineAreNotesAlsoWhereTheJournalKnowsAll) {
  Sandbox sandbox;
  const auto bin = sandbox.copy_binaries_with_fake_worker();
  std::filesystem::rename(bin / "tune-worker-cpu", bin / "tune-worker-cuda");
  sandbox.write("gemm.cu", "");
  sandbox.write("gemm.yaml",
                "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}}, baseline: vendor,\n"
                "params: {P: 1}, launch: {grid: [1], block: [32], args: [A, B, C, m, n, k]}}\n");
  sandbox.environment["FAKE_LOG"] = (sandbox.folder() / "log.txt").string();
  sandbox.environment["FAKE_REMARKS"] = "1";
  const auto tune = [&] { return sandbox.tune_from(bin, {"gemm.yaml", "--tune", "--output", "out"}); };
  const Result first = tune();
  EXPECT_TRUE(has(first.out, "vendor best"));
  EXPECT_EQ(notes_of(first),
            (std::vector<std::string>{"note: its gauges are hidden", "note: baseline vendor: its library is old"}));
  const std::string log = sandbox.read("log.txt");
  EXPECT_EQ(notes_of(tune()), notes_of(first));
  EXPECT_EQ(sandbox.read("log.txt"), log) << "workers were started";
}

// The one that the worker opens; why it cannot show what is tested, or an empty text.
std::string unfit_openblas() {
  void* library = nullptr;
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (library == nullptr) library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "there is no OpenBLAS";
  for (const char* kernels : {"gotoblas_PRESCOTT", "gotoblas_HASWELL"})
    if (::dlsym(library, kernels) == nullptr) return std::string("OpenBLAS has no ") + kernels;
  const std::string cpu = platform::read_file("/proc/cpuinfo");
  return cpu.find(" avx2 ") == cpu.npos || cpu.find(" fma ") == cpu.npos ? "this CPU has no AVX2" : "";
}

TEST(Remarks, OldKernelsOfOpenBlasAreANoteUntilItsAdviceIsTaken) {
  if (const std::string reason = unfit_openblas(); !reason.empty()) GTEST_SKIP() << reason;
  Sandbox sandbox;
  sandbox.write_gemm("baseline: vendor\n");
  const auto tune = [&](const std::string& core) {
    sandbox.environment["OPENBLAS_CORETYPE"] = core;
    return sandbox.tune({"gemm.yaml", "--tune", "--filter", "BM=4", "--output", "out"});
  };
  const auto notes = notes_of(tune("Prescott"));
  ASSERT_EQ(notes.size(), 1u);
  std::smatch match;
  ASSERT_TRUE(std::regex_match(notes[0], match,
                               std::regex("note: baseline vendor: OpenBLAS ran its kernels for Prescott, .*set "
                                          "OPENBLAS_CORETYPE=(\\w+) and repeat the command")))
      << notes[0];
  EXPECT_EQ(notes_of(tune("Prescott")), notes);
  const Result better = tune(match[1]);
  EXPECT_TRUE(notes_of(better).empty()) << better.out;
  EXPECT_TRUE(has(better.out, "x vendor"));
}

}  // namespace
}  // namespace tune::cli::cli_remark_test
