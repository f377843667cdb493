#include "gpu_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "backend.h"
#include "base/store.h"
#include "compiler_output.h"
#include "gpu_compiler.h"
#include "gpu_vendor.h"
#include "ptxas_log.h"
#include "wire/artifact_name.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDetail = 1500;  // bytes of compiler output in a failure's text; all of it is in the log

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

/// The line of the log that says what is wrong: the first error, or else the first line.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != line.npos || line.find("fatal") != line.npos) return line;
  return log.substr(0, log.find('\n'));
}

[[noreturn]] void refuse(const std::string& log) {
  const std::string line = first_error(log), rest = log.starts_with(line) ? log.substr(line.size()) : "\n" + log;
  const std::string_view cut = rest.size() > kDetail ? "\n[more in the log]" : "";
  throw Refusal(wire::Failed{.stage = Stage::build,
                             .message = line + rest.substr(0, kDetail).append(cut),
                             .room_error = room_error_of_build(log)});
}

std::map<std::string, double> properties(const wire::BuildRequest& request, const GpuCompiler::Result& result) {
  const auto kernels = gpu::resources(result.code, result.log);
  KernelResources largest;
  for (const wire::KernelLaunch& launch : request.launches) {
    const auto found = kernels.find(launch.kernel);
    if (found == kernels.end())
      throw Refusal(Stage::build,
                    fmt::format("{} has no kernel '{}': define it as extern \"C\" __global__ void {}(...)",
                                fs::path(request.source).filename().string(), launch.kernel, launch.kernel));
    largest.registers = std::max(largest.registers, found->second.registers);
    largest.spills = std::max(largest.spills, found->second.spills);
    largest.shared = std::max(largest.shared, found->second.shared);
  }
  return {{"registers", largest.registers}, {"spills", largest.spills}, {"shared", largest.shared}};
}

GpuCompiler open_compiler() try { return {}; } catch (const std::runtime_error& error) {
  throw Refusal(Stage::build, fmt::format("no run-time compiler: {}; {}", error.what(), gpu::kCompilerAdvice));
}

GpuCompiler::Result compile(const GpuCompiler& compiler, const wire::BuildRequest& request) try {
  const fs::path source(request.source);
  return compiler.compile(source.filename().string(), base::read_file(source), request.arch,
                          compiler_options(request, compiler));
} catch (const std::runtime_error& error) {
  throw Refusal(Stage::build, error.what());
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
  if (!result.compiled) refuse(result.log);
  wire::Built built;
  built.artifact = wire::artifact_name(gpu::kBackend);
  built.properties = properties(request, result);
  base::write_file(fs::path(request.output) / built.artifact, result.code);
  built.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return built;
}

}  // namespace tune::worker
