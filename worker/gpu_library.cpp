#include "gpu_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace tune {
namespace {

namespace fs = std::filesystem;

#define TUNE_TEXT(x) TUNE_TEXT_(x)
#define TUNE_TEXT_(x) #x

class Library {
 public:
  /// Opens the first of `names` that there is.
  explicit Library(const std::vector<std::string>& names) {
    std::string reason;
    for (const std::string& name : names) {
      handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      name_ = name;
      if (handle_) return;
      if (reason.empty()) reason = ::dlerror();
    }
    throw std::runtime_error(reason);
  }

  template <typename Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_, symbol));
    if (!function) throw std::runtime_error(fmt::format("{} is too old: it has no {}", name_, symbol));
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

/// Where toolkits are, apart from what the loader knows: the user's choice, then what this was built with.
std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value && *value) roots.emplace_back(value);
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

std::vector<std::string> compiler_names() {
  std::vector<std::string> names;
  for (const fs::path& root : toolkit_roots()) names.push_back((root / "lib64" / "libnvrtc.so").string());
  names.emplace_back(TUNE_CUDA_LIBRARY_DIR "/libnvrtc.so");
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) names.emplace_back(name);
  return names;
}

fs::path path_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) && info.dli_fname ? fs::path(info.dli_fname) : fs::path();
}

}  // namespace

GpuDriver GpuDriver::open() {
  const Library library({"libcuda.so.1"});
  GpuDriver driver;
#define TUNE_FIND(member, function) library.find(driver.member, TUNE_TEXT(function));
  TUNE_GPU_DRIVER(TUNE_FIND)
#undef TUNE_FIND
  return driver;
}

GpuCompilerLibrary GpuCompilerLibrary::open() {
  const Library library(compiler_names());
  GpuCompilerLibrary compiler;
#define TUNE_FIND(member, function) library.find(compiler.member, TUNE_TEXT(function));
  TUNE_GPU_COMPILER(TUNE_FIND)
#undef TUNE_FIND
  compiler.path = path_of(reinterpret_cast<const void*>(compiler.compile));
  return compiler;
}

std::vector<std::string> toolkit_includes(const GpuCompilerLibrary& compiler) {
  std::vector<fs::path> candidates;
  std::error_code error;
  for (fs::path folder = fs::canonical(compiler.path, error).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    candidates.push_back(folder / "include");
  for (const fs::path& root : toolkit_roots()) candidates.push_back(root / "include");
  candidates.emplace_back(TUNE_CUDA_INCLUDE_DIR);
  for (const fs::path& folder : candidates)
    if (fs::exists(folder / "cuda_fp16.h", error)) return {folder.string(), (folder / "cccl").string()};
  return {};
}

std::optional<std::string> display_driver_version() try {
  const Library library({"libnvidia-ml.so.1"});
  int (*init)() = nullptr;
  int (*version)(char*, unsigned) = nullptr;
  library.find(init, "nvmlInit_v2");
  library.find(version, "nvmlSystemGetDriverVersion");
  std::array<char, 96> text{};
  if (init() != 0 || version(text.data(), static_cast<unsigned>(text.size())) != 0) return std::nullopt;
  return text.data();
} catch (const std::runtime_error&) {
  return std::nullopt;
}

}  // namespace tune
