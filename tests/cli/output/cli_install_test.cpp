// What `cmake --install` and the package put where, and that it runs from there.
#include <gtest/gtest.h>

#include "platform/process/process.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_install_test {
namespace {

namespace fs = std::filesystem;

class Install : public testing::Test {
 protected:
  void install() const { run({TUNE_CMAKE, "--install", build_.string(), "--prefix", prefix_.string()}); }
  std::string run(const std::vector<std::string>& argv) const {
    platform::Command command;
    command.argv = argv;
    command.environment = sandbox_.environment;
    command.directory = sandbox_.folder();
    const platform::Finished finished = platform::run(command);
    EXPECT_EQ(finished.exit.code, 0) << finished.output << finished.captured;
    return finished.output;
  }

  Sandbox sandbox_;
  const fs::path build_ = fs::path(TUNE_BIN_DIR).parent_path();
  const fs::path prefix_ = sandbox_.folder() / "usr";
};

TEST_F(Install, PutsEveryFileInItsPlace) {
  install();
  for (const char* file :
       {"bin/tune", "libexec/tune/tune-worker-cpu", "libexec/tune/tune-worker-program",
        "libexec/tune/tune-device-clocks", "include/tune/bench.h", "include/tune/tuning.h",
        "include/tune/kokkos_tools.h", "share/bash-completion/completions/tune", "share/zsh/site-functions/_tune",
        "share/fish/vendor_completions.d/tune.fish", "share/man/man1/tune.1.gz", "share/doc/tune/README.md",
        "share/doc/tune/copyright", "share/doc/tune/docs/options.md", "share/doc/tune/examples/configs/gemm_cpu.yaml",
        "share/doc/tune/configs/README.md", "share/doc/tune/demo/README.md", "share/tune/configs/gemm_cpu.yaml",
        "share/tune/demo/gemm_cpu.cpp"})
    EXPECT_TRUE(fs::exists(prefix_ / file)) << file;
  EXPECT_FALSE(fs::exists(prefix_ / "share/tune/demo/run.sh")) << "it builds a checkout";
}

TEST_F(Install, RunsWhereverItLies) {
  install();
  fs::rename(prefix_, sandbox_.folder() / "moved");
  const fs::path bin = sandbox_.folder() / "moved/bin";
  sandbox_.write_gemm();
  const Result kernel = sandbox_.tune_from(bin, {"gemm.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(kernel.code, 0) << kernel.err;
  const Result demo = sandbox_.tune_from(bin, {"moved/share/tune/configs/gemm_cpu.yaml", "--dry-run", "--quiet"});
  EXPECT_EQ(demo.code, 0) << demo.err;
  EXPECT_TRUE(has(demo.out, "Number of valid specs: ")) << demo.out;
  const Result device = sandbox_.tune_from(
      bin, {"moved/share/tune/configs/gemm_simt.yaml", "--dry-run", "--quiet", "--device-file", "h100"});
  EXPECT_EQ(device.code, 0) << device.err;
  sandbox_.write("bench.cpp", "#include <tune/bench.h>\nint main() {}\n");
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.cpp\nparams: {P: 1}\n");
  const Result program = sandbox_.tune_from(bin, {"bench.yaml", "--build-only"});
  EXPECT_EQ(program.code, 0) << program.out << program.err;
}

TEST_F(Install, APackageOfDebianNamesWhatItNeedsAndRuns) {
  if (!fs::exists("/usr/bin/dpkg-shlibdeps") || !fs::exists("/usr/bin/file"))
    GTEST_SKIP() << "dpkg-dev or file is not installed";
  // Not compressed, which would take most of the time.
  run({TUNE_CPACK, "--config", (build_ / "CPackConfig.cmake").string(), "-G", "DEB", "-B", "packages", "-D",
       "CPACK_DEBIAN_COMPRESSION_TYPE=none"});
  fs::path package;
  for (const auto& entry : fs::directory_iterator(sandbox_.folder() / "packages"))
    if (entry.path().extension() == ".deb") package = entry.path();
  ASSERT_FALSE(package.empty());
  EXPECT_TRUE(has(run({"/usr/bin/dpkg-deb", "-f", package.string(), "Depends"}), "libc6 (>= "));
  EXPECT_TRUE(has(run({"/usr/bin/dpkg-deb", "-f", package.string(), "Recommends"}), "g++ | c++-compiler"));
  run({"/usr/bin/dpkg-deb", "-x", package.string(), "root"});
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "root/usr/share/zsh/vendor-completions/_tune"));
  sandbox_.write_gemm();
  const Result result = sandbox_.tune_from(sandbox_.folder() / "root/usr/bin", {"gemm.yaml", "--max-evals", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Install, AWheelIsInstalledByPipAndTunes) {
  if (std::system("python3 -c 'import ensurepip, venv' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-venv is not installed";
  run({TUNE_SOURCE_DIR "/src/wheel.py", build_.string(), "wheels"});
  const fs::path wheel = fs::directory_iterator(sandbox_.folder() / "wheels")->path();
  const fs::path environment = sandbox_.folder() / "environment", bin = environment / "bin";
  run({"python3", "-m", "venv", environment.string()});
  run({bin / "pip", "install", "--no-index", "--disable-pip-version-check", wheel.string()});
  for (const char* file :
       {"bin/tune", "include/tune/bench.h", "share/man/man1/tune.1.gz", "share/bash-completion/completions/tune",
        "share/tune/configs/gemm_cpu.yaml", "share/tune/demo/gemm_cpu.cpp", "share/tune/docs/options.md"})
    EXPECT_TRUE(fs::exists(environment / file)) << file;
  sandbox_.write_gemm();
  const Result result = sandbox_.tune_from(bin, {"gemm.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: ")) << result.out;
  run({bin / "pip", "uninstall", "--yes", "--disable-pip-version-check", "tune"});
  EXPECT_FALSE(fs::exists(environment / "libexec/tune/tune-worker-cpu")) << "pip knows what it has installed";
}

}  // namespace
}  // namespace tune::cli::cli_install_test
