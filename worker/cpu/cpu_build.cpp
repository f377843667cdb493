#include "cpu/cpu_build.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "backend.h"
#include "capabilities.h"
#include "compiler/compiler_output.h"
#include "cpu/cpu_shim.h"
#include "model/values/error.h"
#include "platform/process/process.h"
#include "platform/store/store.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShim = "shim.cpp";
constexpr const char* kReads = "reads.d";

/// $CXX may hold options and a launcher: `ccache g++`.
std::vector<std::string> compiler() {
  const char* variable = std::getenv("CXX");
  std::istringstream words(variable ? variable : "");
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  if (result.empty()) result.emplace_back("c++");
  return result;
}

platform::Finished run_compiler(std::vector<std::string> argv, const fs::path& directory) try {
  platform::Command command;
  command.argv = std::move(argv);
  command.directory = directory;
  command.environment = {{"LC_ALL", "C"}};  // its messages are read by explain_shim() and compiler_output.h
  command.own_group = false;
  return platform::run(command);
} catch (const platform::TooLong& error) {
  throw SpecFailure(Stage::build, error.what());
} catch (const platform::NoProgram& error) {
  throw platform::NoProgram(error.code(),
                            fmt::format("no compiler: {}; install a C++20 compiler or set CXX", error.what()));
}

std::vector<std::string> command_line(const wire::BuildRequest& request, const fs::path& artifact) {
  std::vector<std::string> argv = compiler();
  for (const char* flag :
       {"-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-fstack-usage", "-Wl,-z,defs", "-MMD", "-MF"})
    argv.emplace_back(flag);
  argv.push_back((fs::path(request.output) / kReads).string());
  for (const Define& define : request.defines) argv.push_back(fmt::format("-D{}={}", define.name, define.value));
  for (const std::string& folder : request.include) argv.push_back("-I" + folder);
  argv.push_back((fs::path(request.output) / kShim).string());
  argv.emplace_back("-o");
  argv.push_back(artifact.string());
  // Last, so that they win over ours, and libraries stand after what needs them.
  argv.insert(argv.end(), request.flags.begin(), request.flags.end());
  return argv;
}

/// `, did you mean 'gemm'?` where the compiler asks so.
std::string suggestion_in(std::string_view line) {
  constexpr std::string_view kAsks = "did you mean '";
  const std::size_t at = line.find(kAsks);
  const std::string_view name = at == line.npos ? "" : line.substr(at + kAsks.size());
  return name.empty() ? "" : fmt::format(", did you mean '{}'?", name.substr(0, name.find('\'')));
}

/// What the shim's errors mean for the kernel; empty if the error is of another kind. The rest of what the compiler
/// says of them quotes the shim, which no user wrote.
std::string explain_shim(const wire::BuildRequest& request, std::string_view line) {
  if (line.find(kShim) == line.npos) return "";
  const std::string source = fs::path(request.source).filename().string();
  for (const wire::KernelLaunch& launch : request.launches)
    for (const char* form : {"'{}' was not declared", "undeclared identifier '{}'"})
      if (line.find(fmt::format(fmt::runtime(form), launch.kernel)) != line.npos)
        return fmt::format("kernel '{}' is not declared in {}{}", launch.kernel, source, suggestion_in(line));
  return "";
}

std::string message_of(const wire::BuildRequest& request, const platform::Finished& finished) {
  if (const auto misfit = explain_misfit(request, finished.captured)) return *misfit;
  const CompilerError error = first_error(finished.captured);
  if (const std::string text = explain_shim(request, error.line); !text.empty()) return text;
  const BuildFolders folders = {fs::path(request.source).parent_path(), {request.output, fs::temp_directory_path()}};
  return message_of_build(finished.captured, folders,
                          fmt::format("{}: {}", compiler().front(), platform::to_text(finished.exit)));
}

[[noreturn]] void refuse(const wire::BuildRequest& request, const platform::Finished& finished) {
  throw SpecFailure(wire::Failed{.stage = Stage::build,
                                 .message = message_of(request, finished),
                                 .facts = facts_of_build(finished.exit, finished.captured),
                                 .room_error = room_error_of_build(finished.captured)});
}

/// Bytes of the .text section; 0 if the file is not a 64-bit ELF object.
double code_bytes(const fs::path& object) {
  const std::string file = platform::read_file(object);
  Elf64_Ehdr header;
  if (file.size() < sizeof header || !file.starts_with("\177ELF\2")) return 0;
  std::memcpy(&header, file.data(), sizeof header);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr result{};
    const std::size_t at = header.e_shoff + index * header.e_shentsize;
    if (at + sizeof result <= file.size()) std::memcpy(&result, file.data() + at, sizeof result);
    return result;
  };
  const std::size_t names = section(header.e_shstrndx).sh_offset;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr candidate = section(i);
    const std::size_t name = names + candidate.sh_name;
    if (name < file.size() && std::strcmp(file.c_str() + name, ".text") == 0)
      return static_cast<double>(candidate.sh_size);
  }
  return 0;
}

/// The largest frame in the compiler's -fstack-usage files: lines of `place<tab>bytes<tab>kind`.
double stack_bytes(const fs::path& folder) {
  double largest = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".su") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (const auto tab = line.find('\t'); tab != line.npos)
        largest = std::max(largest, std::strtod(line.c_str() + tab, nullptr));
  }
  return largest;
}

}  // namespace

std::string cpp_compiler_version() try {
  std::vector<std::string> argv = compiler();
  argv.emplace_back("--version");
  const platform::Finished finished = run_compiler(std::move(argv), "");
  return finished.exit.clean() ? finished.output.substr(0, finished.output.find('\n')) : "";
} catch (const platform::NoProgram&) {
  return "";
}

wire::Built build_shared_object(const wire::BuildRequest& request) {
  require_supported(request.problem, Backend::cpu, Stage::build);
  const auto start = std::chrono::steady_clock::now();
  const fs::path folder = request.output, artifact = folder / traits_of(Backend::cpu).artifact;
  platform::write_file(folder / kShim, shim_source(request));
  // In the source's folder, which is what relative paths among the flags mean.
  const platform::Finished finished =
      run_compiler(command_line(request, artifact), fs::path(request.source).parent_path());
  std::fputs(finished.captured.c_str(), stderr);
  if (!finished.exit.clean()) refuse(request, finished);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {artifact.filename().string(),
          spent.count(),
          {{"code", code_bytes(artifact)}, {"stack", stack_bytes(folder)}},
          files_read(folder / kReads, fs::path(request.source).parent_path())};
}

}  // namespace tune::worker
