#include "gpu/gpu_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "backend.h"
#include "compiler/compiler_output.h"
#include "gpu/cuda/ptxas_log.h"
#include "gpu/gpu_compiler.h"
#include "gpu/gpu_vendor.h"
#include "platform/store/store.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

bool chooses_standard(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(),
                     [](const std::string& flag) { return flag.starts_with("-std") || flag.starts_with("--std"); });
}

std::vector<std::string> compiler_options(const wire::BuildRequest& request, const GpuCompiler& compiler) {
  std::vector<std::string> options;
  if (!chooses_standard(request.flags)) options.emplace_back("-std=c++20");
  for (const Define& define : request.defines) options.push_back(fmt::format("-D{}={}", define.name, define.value));
  options.push_back("-I" + fs::path(request.source).parent_path().string());
  for (const std::string& folder : request.include) options.push_back("-I" + folder);
  for (const std::string& folder : compiler.includes()) options.push_back("-I" + folder);
  options.insert(options.end(), request.flags.begin(), request.flags.end());
  return options;
}

BuildFolders folders(const wire::BuildRequest& request) {
  return {fs::path(request.source).parent_path(), {fs::temp_directory_path()}};
}

std::string advice_on(const std::string& error) {
  const std::string advice = gpu::compile_error_advice(error);
  return advice.empty() ? advice_on_macro(error) : advice;
}

[[noreturn]] void refuse(const wire::BuildRequest& request, const std::string& log) {
  throw SpecFailure(
      wire::Failed{.stage = Stage::build,
                   .message = message_of_build(log, folders(request), "the compiler says no error", advice_on),
                   .room_error = room_error_of_build(log)});
}

std::map<std::string, double> properties(const wire::BuildRequest& request, const GpuCompiler::Result& result) {
  const auto kernels = gpu::resources(result.code, result.log);
  KernelResources largest;
  for (const wire::KernelLaunch& launch : request.launches) {
    const auto found = kernels.find(launch.kernel);
    if (found == kernels.end())
      throw SpecFailure(Stage::build,
                        fmt::format("{} has no kernel '{}': define it as extern \"C\" __global__ void {}(...)",
                                    fs::path(request.source).filename().string(), launch.kernel, launch.kernel));
    largest.registers = std::max(largest.registers, found->second.registers);
    largest.spills = std::max(largest.spills, found->second.spills);
    largest.shared = std::max(largest.shared, found->second.shared);
  }
  return {{"registers", largest.registers}, {"spills", largest.spills}, {"shared", largest.shared}};
}

GpuCompiler open_compiler() try { return {}; } catch (const std::runtime_error& error) {
  throw SpecFailure(Stage::build, fmt::format("no run-time compiler: {}; {}", error.what(), gpu::kCompilerAdvice));
}

// NVRTC 13 leaves the assembler's errors out of a log that has its statistics.
GpuCompiler::Result compile(const GpuCompiler& compiler, const wire::BuildRequest& request) try {
  const fs::path source(request.source);
  const std::string text = platform::read_file(source);
  std::vector<std::string> options = compiler_options(request, compiler);
  const std::size_t without_statistics = options.size();
  for (const std::string& option : gpu::options_for_statistics()) options.push_back(option);
  GpuCompiler::Result result = compiler.compile(source, text, request.arch, options);
  if (result.compiled || !first_error(result.log).line.empty() || options.size() == without_statistics) return result;
  options.resize(without_statistics);
  result.log += compiler.compile(source, text, request.arch, options).log;
  return result;
} catch (const std::runtime_error& error) {
  throw SpecFailure(Stage::build, error.what());
}

}  // namespace

wire::Built build_gpu_code(const wire::BuildRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  // NVRTC (12.9 and later) answers from a cache of its own where there is a driver, and then without the assembler's
  // log; the store makes that cache needless.
  ::setenv("CUDA_CACHE_DISABLE", "1", 1);
  gpu::renounce_devices();
  const GpuCompiler compiler = open_compiler();
  const auto result = compile(compiler, request);
  std::fputs(result.log.c_str(), stderr);
  if (!result.compiled) refuse(request, result.log);
  wire::Built built;
  built.artifact = traits_of(gpu::kBackend).artifact;
  built.properties = properties(request, result);
  platform::write_file(fs::path(request.output) / built.artifact, result.code);
  built.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return built;
}

}  // namespace tune::worker
