#include "gpu_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tune {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

}  // namespace

void GpuCompiler::check(gpu::CompilerStatus status) const {
  if (status != gpu::kCompiled) throw std::runtime_error(fmt::format("NVRTC: {}", library_.error_text(status)));
}

std::string GpuCompiler::version() const {
  int major = 0, minor = 0;
  check(library_.version(&major, &minor));
  return fmt::format("NVRTC {}.{}", major, minor);
}

std::vector<std::string> GpuCompiler::architectures() const {
  int count = 0;
  check(library_.architecture_count(&count));
  std::vector<int> numbers(static_cast<std::size_t>(count));
  check(library_.architectures(numbers.data()));
  std::vector<std::string> names;
  for (const int number : numbers) {
    names.push_back(fmt::format("sm_{}", number));
    if (number >= 90) names.push_back(fmt::format("sm_{}a", number));
    if (number >= 100) names.push_back(fmt::format("sm_{}f", number));
  }
  return names;
}

GpuCompiler::Result GpuCompiler::compile(const std::string& name, const std::string& source,
                                         const std::vector<std::string>& options,
                                         const std::vector<Header>& headers) const {
  std::vector<const char*> texts, names;
  for (const Header& header : headers) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  gpu::Program program = nullptr;
  check(library_.create(&program, source.c_str(), name.c_str(), static_cast<int>(headers.size()), texts.data(),
                        names.data()));
  const std::vector<const char*> words = pointers(options);
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

std::string architecture_of(int major, int minor) {
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

}  // namespace tune
