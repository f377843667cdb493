#include "gpu/hip/gpu_command_hip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "gpu/gpu_vendor.h"
#include "platform/files/file.h"
#include "platform/process/process.h"

namespace tune::gpu {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed in the end.
class WorkFolder {
 public:
  WorkFolder() : path_((fs::temp_directory_path() / "tune-hip-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create a folder in " + path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// What hiprtcProgram points to.
struct Source {
  WorkFolder folder;
  fs::path file;
  std::string log, code;
};

Source& source_of(hiprtcProgram program) { return *reinterpret_cast<Source*>(program); }

platform::Finished run_chosen(const std::vector<std::string>& words) {
  platform::Command command;
  command.argv = chosen_compiler();
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = {{"LC_ALL", "C"}};
  command.own_group = false;
  return platform::run(command);
}

hiprtcResult create(hiprtcProgram* program, const char* text, const char* name, int count, const char** headers,
                    const char** names) {
  auto source = std::make_unique<Source>();
  source->file = source->folder.path() / fs::path(name).filename();
  platform::write_file(source->file, text);
  for (int i = 0; i < count; ++i) {
    const fs::path header = source->folder.path() / names[i];
    fs::create_directories(header.parent_path());
    platform::write_file(header, headers[i]);
  }
  *program = reinterpret_cast<hiprtcProgram>(source.release());
  return HIPRTC_SUCCESS;
}

hiprtcResult destroy(hiprtcProgram* program) {
  delete &source_of(*program);
  return HIPRTC_SUCCESS;
}

/// As hipRTC, it knows the headers of HIP without an #include. `-c` is for hipcc, which links without it.
hiprtcResult compile(hiprtcProgram program, int count, const char** options) {
  Source& source = source_of(program);
  const fs::path code = source.folder.path() / "code";
  std::vector<std::string> words = {"-x", "hip", "-c", "--offload-device-only", "--no-gpu-bundle-output", "-O3"};
  words.insert(words.end(), {"-include", "hip/hip_runtime.h"});
  words.insert(words.end(), options, options + count);
  words.insert(words.end(), {"-I" + source.folder.path().string(), source.file.string(), "-o", code.string()});
  const platform::Finished finished = run_chosen(words);
  source.log = finished.captured;
  if (!finished.exit.clean()) {
    if (source.log.empty())
      source.log = fmt::format("{}: {}", chosen_compiler().front(), platform::to_text(finished.exit));
    return HIPRTC_ERROR_COMPILATION;
  }
  source.code = platform::read_file(code);
  return HIPRTC_SUCCESS;
}

hiprtcResult give_size(const std::string& text, std::size_t* size) {
  *size = text.size();
  return HIPRTC_SUCCESS;
}

hiprtcResult give(const std::string& text, char* to) {
  std::copy(text.begin(), text.end(), to);
  return HIPRTC_SUCCESS;
}

/// What the compiler lists; empty if it lists none.
const std::vector<std::string>& listed_architectures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    const platform::Finished finished =
        run_chosen({"--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"});
    std::istringstream words(finished.output + '\n' + finished.captured);
    for (std::string word; words >> word;)
      if (word.starts_with("gfx") && word.find('-') == word.npos) found.push_back(word);  // gfx9-generic is a family
    return found;
  }();
  return names;
}

}  // namespace

std::vector<std::string> chosen_compiler() {
  const char* variable = std::getenv("HIPCXX");
  std::istringstream words(variable != nullptr ? variable : "");
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

std::string version_of_chosen_compiler() {
  const platform::Finished finished = run_chosen({"--version"});
  if (!finished.exit.clean())
    throw std::runtime_error(
        fmt::format("HIPCXX: {} --version: {}", chosen_compiler().front(), platform::to_text(finished.exit)));
  const std::vector<std::string> command = chosen_compiler();
  std::istringstream lines(finished.output);
  std::string version;
  std::getline(lines, version);
  for (std::string line; std::getline(lines, line);)  // hipcc says its own first
    if (line.find("clang version") != line.npos) version += ", " + line;
  if (command.size() == 1) return version;
  return fmt::format("{} ({})", version, fmt::join(command.begin() + 1, command.end(), " "));
}

std::optional<worker::GpuCompilerLibrary> chosen_library() try {
  if (chosen_compiler().empty()) return std::nullopt;
  worker::GpuCompilerLibrary library;
  library.path = platform::find_program(chosen_compiler().front());
  library.error_text = [](hiprtcResult) { return "the compiler does not say why"; };
  library.create = create;
  library.destroy = destroy;
  library.compile = compile;
  library.log_size = [](hiprtcProgram program, std::size_t* size) { return give_size(source_of(program).log, size); };
  library.log = [](hiprtcProgram program, char* to) { return give(source_of(program).log, to); };
  library.code_size = [](hiprtcProgram program, std::size_t* size) { return give_size(source_of(program).code, size); };
  library.code = [](hiprtcProgram program, char* to) { return give(source_of(program).code, to); };
  library.architecture_count = [](std::size_t* count) {
    *count = listed_architectures().size();
    return 0;
  };
  library.architecture = [](std::size_t index, const char** name) {
    *name = listed_architectures().at(index).c_str();
    return 0;
  };
  return library;
} catch (const Error& error) {
  throw std::runtime_error(fmt::format("HIPCXX: {}", error.what()));
}

}  // namespace tune::gpu
