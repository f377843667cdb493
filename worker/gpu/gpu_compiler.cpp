#include "gpu/gpu_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace tune::worker {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

GpuCompilerLibrary open_library() {
  if (const auto chosen = gpu::chosen_library()) return *chosen;
  return GpuCompilerLibrary::open();
}

}  // namespace

GpuCompiler::GpuCompiler() : library_(open_library()) {}

void GpuCompiler::check(gpu::CompilerStatus status) const {
  if (status != gpu::kCompiled) throw std::runtime_error(fmt::format("{}: {}", version(), library_.error_text(status)));
}

GpuCompiler::Result GpuCompiler::compile(const std::string& path, const std::string& source, const std::string& arch,
                                         const std::vector<std::string>& options,
                                         const std::vector<Header>& headers) const {
  // hipRTC 5.2 aborts the process over an architecture that it does not know.
  const auto known = architectures();
  if (!known.empty() && std::find(known.begin(), known.end(), arch) == known.end())
    throw std::runtime_error(
        fmt::format("{} cannot build for '{}'; it knows {}", version(), arch, fmt::join(known, " ")));
  std::vector<const char*> texts, names;
  for (const Header& header : headers) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  gpu::Program program = nullptr;
  // NVRTC looks for headers in the folder of this name first. In messages and in the code, the source has a name
  // without folder; hipRTC would name it after a temporary file of its own.
  const std::string named = fmt::format("#line 1 {:?}\n{}", std::filesystem::path(path).filename().string(), source);
  check(library_.create(&program, named.c_str(), path.c_str(), static_cast<int>(headers.size()), texts.data(),
                        names.data()));
  std::vector<std::string> all = gpu::options_for(library_, arch);
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> words = pointers(all);
  const auto status = library_.compile(program, static_cast<int>(words.size()), words.data());
  Result result;
  std::size_t size = 0;
  check(library_.log_size(program, &size));
  result.log.resize(size);
  check(library_.log(program, result.log.data()));
  result.log.erase(std::find(result.log.begin(), result.log.end(), '\0'), result.log.end());
  result.compiled = status == gpu::kCompiled;
  if (!result.compiled && result.log.empty()) result.log = library_.error_text(status);
  if (result.compiled) {
    check(library_.code_size(program, &size));
    result.code.resize(size);
    check(library_.code(program, result.code.data()));
  }
  library_.destroy(&program);
  return result;
}

}  // namespace tune::worker
