#include "gpu/gpu_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <span>
#include <stdexcept>

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

#define TUNE_TEXT(x) TUNE_TEXT_(x)
#define TUNE_TEXT_(x) #x

std::vector<std::string> names_of(std::span<const char* const> names) { return {names.begin(), names.end()}; }

fs::path path_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) && info.dli_fname ? fs::path(info.dli_fname) : fs::path();
}

}  // namespace

GpuLibrary::GpuLibrary(const std::vector<std::string>& places) {
  std::string reason;
  std::error_code error;
  for (bool exists = false; const std::string& place : places) {
    handle_ = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    place_ = place;
    if (handle_) return;
    const std::string why = ::dlerror();
    // A library that cannot be loaded says more than the places where there is none.
    if (!exists) reason = why;
    exists = exists || fs::exists(place, error);
  }
  throw std::runtime_error(reason);
}

void* GpuLibrary::address(const char* symbol) const {
  void* found = ::dlsym(handle_, symbol);
  if (!found) throw std::runtime_error(fmt::format("{} is too old: it has no {}", place_, symbol));
  return found;
}

std::vector<std::string> places_of(std::span<const char* const> names) {
  std::vector<std::string> places;
  for (const fs::path& root : toolkits())
    for (const char* folder : {"lib64", "lib"})
      for (const char* name : names) places.push_back((root / folder / name).string());
#ifdef TUNE_TOOLKIT_LIBRARIES
  for (const char* name : names) places.push_back(fs::path(TUNE_TOOLKIT_LIBRARIES) / name);
#endif
  places.insert(places.end(), names.begin(), names.end());
  return places;
}

std::vector<fs::path> toolkits() {
  std::vector<fs::path> roots;
  for (const char* variable : gpu::kToolkitVariables)
    if (const char* value = std::getenv(variable); value && *value) roots.emplace_back(value);
  roots.emplace_back(gpu::kToolkit);
  return roots;
}

GpuDriver GpuDriver::open() {
  const GpuLibrary library(gpu::kDriverInToolkit ? places_of(gpu::kDriverLibraries) : names_of(gpu::kDriverLibraries));
  GpuDriver driver;
#define TUNE_FIND(member, function) library.find(driver.member, TUNE_TEXT(function));
  TUNE_GPU_DRIVER(TUNE_FIND)
#undef TUNE_FIND
  return driver;
}

GpuCompilerLibrary GpuCompilerLibrary::open() {
  const GpuLibrary library(places_of(gpu::kCompilerLibraries));
  GpuCompilerLibrary compiler;
#define TUNE_FIND(member, function) library.find(compiler.member, TUNE_TEXT(function));
  TUNE_GPU_COMPILER(TUNE_FIND)
#ifdef TUNE_GPU_GENERATOR
  const GpuLibrary generator(places_of(gpu::kGeneratorLibraries));
#define TUNE_FIND_IN_GENERATOR(member, function) generator.find(compiler.member, TUNE_TEXT(function));
  TUNE_GPU_GENERATOR(TUNE_FIND_IN_GENERATOR)
#undef TUNE_FIND_IN_GENERATOR
#endif
#undef TUNE_FIND
  compiler.path = path_of(reinterpret_cast<const void*>(compiler.compile));
  return compiler;
}

std::optional<std::string> display_driver_version() try {
  const GpuLibrary library({"libnvidia-ml.so.1"});
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

}  // namespace tune::worker
