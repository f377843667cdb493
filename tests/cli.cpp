#include "cli.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "base/process.h"
#include "base/store.h"

namespace tune::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKernel = R"(
  for (int i = 0; i < m; i += BM)
    for (int j = 0; j < n; ++j)
      for (int r = i; r < i + BM && r < m; ++r) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[r * k + p] * B[p * n + j];
        C[r * n + j] = sum;
      }
)";

constexpr const char* kYaml = R"(name: gemm
file: gemm.cpp
kernel: gemm
problem:
  gemm: {m: 64, n: 64, k: 64}
params:
  BM: [1, 2, 4, 8]
launch: {args: [A, B, C, m, n, k]}
measure: {max_seconds: 0.02}
)";

}  // namespace

Sandbox::Sandbox() {
  std::string name = (fs::temp_directory_path() / "tune-cli.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  folder_ = fs::canonical(name);
  environment = {{"HOME", folder_.string()},
                 {"XDG_STATE_HOME", (folder_ / "state").string()},
                 {"XDG_CACHE_HOME", (folder_ / "cache").string()}};
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Sandbox::write(const std::string& name, const std::string& text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name) << text;
  return folder_ / name;
}

std::string Sandbox::read(const std::string& name) const { return read_file(folder_ / name); }

void Sandbox::write_gemm(const std::string& extra, const std::string& kernel) const {
  write(
      "gemm.cpp",
      "#include <cstdlib>\nextern \"C\" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {\n" +
          (kernel.empty() ? kKernel : kernel) + "}\n");
  write("gemm.yaml", kYaml + extra);
}

Result Sandbox::tune(const std::vector<std::string>& arguments) const { return tune_from(TUNE_BIN_DIR, arguments); }

Result Sandbox::tune_from(const fs::path& bin, const std::vector<std::string>& arguments) const {
  Command command;
  command.argv = {(bin / "tune").string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  command.directory = folder_;
  command.capture_limit = 16 << 20;
  const Finished finished = run(command);
  return {finished.exit.signal != 0 ? 128 + finished.exit.signal : finished.exit.code, finished.output,
          finished.captured};
}

fs::path Sandbox::copy_binaries() const {
  const fs::path bin = folder_ / "bin";
  fs::create_directories(bin);
  for (const char* name : {"tune", "tune-worker-cpu", "tune-worker-program"})
    fs::copy_file(fs::path(TUNE_BIN_DIR) / name, bin / name, fs::copy_options::overwrite_existing);
  return bin;
}

}  // namespace tune::cli
