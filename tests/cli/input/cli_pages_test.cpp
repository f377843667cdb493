// The manual's blocks of commands, run by a shell as somebody would who copies them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_pages_test {
namespace {

namespace fs = std::filesystem;
using Edits = std::vector<std::pair<std::string, std::string>>;

/// A block of a page, by its first command.
struct Block {
  std::string page, begin;
  Edits edits = {};  ///< what of it is shortened, or stands for another machine
};

const std::vector<Block> kRun = {
    {"README.md", "seq 1000000", {{"1000000", "20000"}}},
    {"docs/coming-from.md", "tune gemm.yaml --partition"},
    {"docs/comparing.md",
     "tune --yaml gemm.yaml",
     {{"--baseline best/gemm.yaml", "--baseline best/gemm.yaml --threshold 90% --exit-undecided 0"}}},
    {"docs/comparing.md", "tune best/gemm.yaml --tune --fresh"},
    {"docs/comparing.md", "tune --tune --param BUILD:new", {{"5%", "90% --exit-undecided 0"}}},
    {"docs/cost-model.md", "tune configs/hopper_bf16.yaml"},
    {"docs/programs.md", "tune --tune --param LEVEL", {{"/bin/bash", "/bin/sh"}}},
    {"docs/programs.md", "tune bench.yaml --exec-prefix"},
    {"docs/report.md", "tune --yaml gemm.yaml --tune --output best/gemm --live", {{"--live 8080", "--live 0"}}},
    {"docs/workloads.md", "CUBLASLT_LOG_LEVEL"},
    {"docs/workloads.md",
     "tune gemm.yaml --shapes",
     {{"# and 1:2", "&& tune gemm.yaml --shapes shapes.yaml --tune --output best --partition 1:2 #"}}},
};

/// The same where the CUDA toolkit is.
const std::vector<Block> kRunWithCuda = {
    {"docs/backends.md",
     "tune --yaml configs/gemm_simt",
     {{"rtx4090 ", "rtx4090 --max-evals 1 "}, {"tune --probe", "#"}}},
    {"docs/gpu-kernel.md", "tune init transpose.cu", {{"tune transpose.yaml --tune", "#"}, {"tune package", "#"}}},
};

/// What other tests run, or needs what is not here.
const std::vector<Block> kElsewhere = {
    {"docs/tutorial.md", "tune gemm.yaml --dry-run"},      // Manual.TheCommandsOfTheTutorialWork
    {"docs/replay.md", "# all specs"},                     // Manual.ItsCommandsOnRecordings...
    {"docs/comparing.md", "#!/bin/sh"},                    // Bisect
    {"docs/comparing.md", "git checkout"},                 // Bisect
    {"docs/clusters.md", "#!/bin/bash"},                   // clusters.sh
    {"docs/clusters.md", "tune --launcher 'srun"},         // other machines
    {"docs/clusters.md", "tune --launcher ssh"},           // clusters.sh
    {"docs/clusters.md", "tune --launcher 'mpirun"},       // the page says that it was not tried
    {"docs/coming-from.md", "tune configs/program_cute"},  // CuteDsl, a GPU
    {"docs/dispatch.md", "tune package ../../configs"},    // a GPU
    {"docs/workloads.md", "cd configs/h200"},              // a GPU
};

std::string page(const std::string& file) { return platform::read_file(std::string(TUNE_SOURCE_DIR) + "/" + file); }

/// The blocks of a page in this language.
std::vector<std::string> all_blocks(const std::string& file, const std::string& language) {
  const std::string text = page(file), open = "```" + language + "\n";
  std::vector<std::string> blocks;
  for (auto at = text.find(open); at != text.npos; at = text.find(open, at)) {
    at += open.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

/// The blocks of a page in which there is a command of tune.
std::vector<std::string> blocks_of(const std::string& file) {
  std::vector<std::string> blocks = all_blocks(file, "sh");
  std::erase_if(blocks, [](const std::string& block) { return !block.starts_with("tune ") && !has(block, "\ntune "); });
  return blocks;
}

class Pages : public testing::Test {
 protected:
  Pages() {
    for (const char* folder : {"configs", "demo"})
      fs::create_directory_symlink(fs::path(TUNE_SOURCE_DIR) / folder, sandbox_.folder() / folder);
    sandbox_.write_gemm();
    sandbox_.write(
        "gemm.yaml",
        std::string(sandbox_.read("gemm.yaml")).replace(sandbox_.read("gemm.yaml").find("[1, 2"), 12, "[1, 2]"));
    sandbox_.write_script("{T: [1, 2, 3, 4]}");
    for (const char* build : {"build-old/bench", "build-new/bench"})
      fs::permissions(sandbox_.write(build, "#!/bin/sh\nsleep 0.01\n"), fs::perms::owner_all);
    const std::string text = page("docs/gpu-kernel.md");
    const auto begin = text.find("extern \"C\" __global__ void transpose(");
    sandbox_.write("transpose.cu", text.substr(begin, text.find("```", begin) - begin));
    // A model that calls cuBLASLt twice, as its log shows it.
    sandbox_.write("model.py", R"(
import os
LINE = ('[2025-11-03 19:02:38][cublasLt][557785][Trace][cublasLtMatmul] A=0X1 Adesc=[type=R_32F rows={0} cols=64 ld={0}] '
        'B=0X2 Bdesc=[type=R_32F rows=64 cols=16 ld=64] C=0X0 Cdesc=[type=R_32F rows={0} cols=16 ld={0}] '
        'D=0X3 Ddesc=[type=R_32F rows={0} cols=16 ld={0}] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F] '
        'algo=[algoId=7] workSpace=0X0\n')
for name in ('CUBLASLT_LOG_FILE', 'HIPBLASLT_LOG_FILE'):
    if name in os.environ:
        with open(os.environ[name], 'w') as log:
            log.write(LINE.format(32) + LINE.format(48))
)");
    program("numactl", "shift 2");
    program("mpirun", "shift 2");
    program("ncu", "shift 3");
  }

  void program(const std::string& name, const std::string& what) const {
    fs::permissions(sandbox_.write("path/" + name, "#!/bin/sh\n" + what + "\nexec \"$@\"\n"), fs::perms::owner_all);
  }

  /// Runs a block as a script that ends at the first command that fails; what both streams say, and `code N`.
  std::string said(const std::string& block) const {
    sandbox_.write("block.sh", block);
    const std::string folder = sandbox_.folder().string();
    const std::string line = "cd '" + folder + "' && export PATH=$PWD/path:" + TUNE_BIN_DIR +
                             ":$PATH HOME=. XDG_CACHE_HOME=$PWD/cache XDG_STATE_HOME=$PWD/state TUNE_LOCKS=$PWD; "
                             "sh -e block.sh >said.txt 2>&1";
    const int status = std::system(line.c_str());
    return sandbox_.read("said.txt") + "code " + std::to_string(WEXITSTATUS(status));
  }

  void expect_to_work(const Block& each) const {
    SCOPED_TRACE(each.page + ": " + each.begin);
    const auto blocks = blocks_of(each.page);
    const auto found = std::ranges::find_if(blocks, [&](const std::string& b) { return b.starts_with(each.begin); });
    ASSERT_NE(found, blocks.end());
    std::string block = *found;
    for (const auto& [from, to] : each.edits) {
      const auto at = block.find(from);
      ASSERT_NE(at, block.npos) << from;
      block.replace(at, from.size(), to);
    }
    const std::string out = said(block);
    EXPECT_TRUE(out.ends_with("code 0")) << out;
    EXPECT_FALSE(has(out, "\nfailed: ")) << out;
  }

  Sandbox sandbox_;
};

TEST_F(Pages, TheirBlocksOfCommandsWork) {
  for (const Block& each : kRun) expect_to_work(each);
}

TEST_F(Pages, TheirBlocksOfCommandsForCudaWork) {
  if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-cuda")) GTEST_SKIP() << "tune-worker-cuda was not built";
  for (const Block& each : kRunWithCuda) expect_to_work(each);
}

/// What a part of a tuning file in the manual needs around it, and how it begins.
struct Part {
  std::string page, begin, rest;
};

// Each is made a whole file, which --dry-run reads.
TEST(Manual, ItsPartsOfTuningFilesAreRead) {
  const std::string gemm =
                        "name: gemm\nfile: k.cu\nkernel: gemm\n"
                        "problem: {gemm: {m: 512, n: 512, k: 512, a: f32, b: f32, c: f32}}\n",
                    launch = "launch: {grid: [m//64], block: [256], args: [A, B, C, m, n, k]}\n",
                    blur = "name: blur\nfile: k.cpp\nkernel: blur\nparams: {T: [8, 16]}\n",
                    buffer = "type: f32, count: w*h, role: ";
  const std::vector<Part> parts = {
      {"docs/cost-model.md", "model:",
       gemm + launch + "params: {BM: 64, BN: 64, BK: 16, WM: 32, WN: 32, NUM_STAGES: 2, SPLIT_K: [1, 2], GROUP: 8}\n"},
      {"docs/energy.md", "params:", gemm + launch},
      {"docs/tuning-file.md", "problem:", blur + "launch: {args: [in, out, w, h]}\n"},
      {"docs/tuning-file.md", "launch:",
       blur +
           "problem: {custom: {sizes: {w: 64, h: 64, steps: 32}, reference: {spec: {T: 8}}, buffers: [{name: power, " +
           buffer + "in}, {name: temp, " + buffer + "in}, {name: out, " + buffer + "out}]}}\n"}};
  for (const Part& part : parts) {
    Sandbox sandbox;
    const std::string more = part.begin == "launch:" ? "const float*, " : "";
    sandbox.write("k.cu",
                  "extern \"C\" __global__ void gemm(const float*, const float*, float*, int, int, int) { BM, BN, BK, "
                  "WM, WN, NUM_STAGES, SPLIT_K, GROUP; }\n");
    sandbox.write("k.cpp", "extern \"C\" void blur(const float*, " + more +
                               "float*, int, int) { T; }\n"
                               "extern \"C\" void blur_simple(const float*, float*, int, int) {}\n");
    const auto blocks = all_blocks(part.page, "yaml");
    const auto found = std::ranges::find_if(blocks, [&](const std::string& b) { return b.starts_with(part.begin); });
    ASSERT_NE(found, blocks.end()) << part.page;
    const std::string file = part.rest + *found;
    sandbox.write("k.yaml", file);
    const Result result = sandbox.tune({"k.yaml", "--dry-run", has(file, "k.cpp") ? "-q" : "--device-file=h200"});
    EXPECT_EQ(result.code, 0) << file << result.err;
    EXPECT_FALSE(has(result.err, "warning: ")) << file << result.err;
  }
}

TEST(Manual, HasNoBlockOfCommandsThatNoTestKnows) {
  std::set<std::string> files = {"README.md"};
  for (const auto& entry : fs::directory_iterator(std::string(TUNE_SOURCE_DIR) + "/docs"))
    if (entry.path().extension() == ".md") files.insert("docs/" + entry.path().filename().string());
  std::size_t blocks = 0;
  for (const std::string& file : files)
    for (const std::string& block : blocks_of(file)) {
      ++blocks;
      const auto is_it = [&](const Block& known) { return known.page == file && block.starts_with(known.begin); };
      const bool is_known = std::ranges::any_of(kRun, is_it) || std::ranges::any_of(kRunWithCuda, is_it) ||
                            std::ranges::any_of(kElsewhere, is_it);
      EXPECT_TRUE(is_known) << file << " has a block of commands that no test runs:\n" << block;
    }
  EXPECT_EQ(blocks, kRun.size() + kRunWithCuda.size() + kElsewhere.size());
}

}  // namespace
}  // namespace tune::cli::cli_pages_test
