#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/reader/load.h"
#include "model/values/error.h"

namespace tune {

/// A folder for one test's files, removed with it.
class TuningFolder {
 public:
  TuningFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tune-config-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TuningFolder() { std::filesystem::remove_all(folder_); }
  TuningFolder(const TuningFolder&) = delete;
  TuningFolder& operator=(const TuningFolder&) = delete;

  std::filesystem::path path() const { return folder_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }

  /// What `attempt` complains of, with this folder's name left out; empty if it succeeds.
  template <class Attempt>
  std::string complaint(const Attempt& attempt) const {
    std::string text;
    try {
      attempt();
    } catch (const Error& error) {
      text = error.what();
    }
    const std::string prefix = folder_.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }

 private:
  std::filesystem::path folder_;
};

inline config::LoadRules without_kernel_file() {
  config::LoadRules options;
  options.file_must_exist = false;
  return options;
}

/// Loads one tuning file named gemm.yaml; its kernel file need not exist.
inline config::Loaded load_text(const TuningFolder& folder, const std::string& text,
                                const config::LoadRules& options = without_kernel_file()) {
  const std::vector<std::filesystem::path> yamls = {folder.write("gemm.yaml", text)};
  return config::load(yamls, options);
}

/// A tuning file for a CPU kernel with one parameter, and more keys.
inline std::string cpu_file(const std::string& more, const std::string& params = "{BM: [64, 128]}") {
  return "name: gemm\nfile: gemm.cpp\nkernel: gemm\nproblem: {gemm: {m: 256, n: 128, k: 64}}\nparams: " + params +
         "\nlaunch: {args: [A, B, C, m, n, k]}\n" + more;
}

/// A tuning file for a program with the given params, and more keys.
inline std::string program_file(const std::string& params, const std::string& more = "") {
  return "name: gemm\nfile: gemm.mojo\nparams: " + params + "\n" + more;
}

}  // namespace tune
