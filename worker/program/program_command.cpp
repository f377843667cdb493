#include "program/program_command.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace tune::worker {
namespace {

bool names_architecture(const Words& flags) {
  constexpr std::array<std::string_view, 5> options = {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                                       "--offload-arch"};
  return std::ranges::any_of(flags, [&](std::string_view flag) {
    return std::ranges::any_of(options, [&](std::string_view option) { return flag.starts_with(option); });
  });
}

// nvcc's -arch=sm_90a would add PTX of compute_90, which refuses what only sm_90a has.
Words cuda_architecture(const std::string& arch) {
  if (!arch.starts_with("sm_")) return {"-arch=native"};
  return {"-gencode", "arch=compute_" + arch.substr(3) + ",code=" + arch};
}

// hipcc targets the cards it finds if nothing is said.
Words hip_architecture(const std::string& arch) {
  return arch.starts_with("gfx") ? Words{"--offload-arch=" + arch} : Words{};
}

Words compiler(Language language, const std::string& arch, const Words& flags) {
  const bool choose = !names_architecture(flags);
  Words words;
  const auto add = [&](const Words& more) { words.insert(words.end(), more.begin(), more.end()); };
  switch (language) {
    case Language::c:
      add(command_from_environment("CC", "cc"));
      add({"-std=c17", "-O2"});
      break;
    case Language::cpp:
      add(command_from_environment("CXX", "c++"));
      add({"-std=c++20", "-O2"});
      break;
    case Language::cuda:
      add({"nvcc", "-std=c++17", "-O3"});
      if (choose) add(cuda_architecture(arch));
      break;
    case Language::hip:
      add({"hipcc", "-std=c++17", "-O3"});
      if (choose) add(hip_architecture(arch));
      break;
  }
  return words;
}

}  // namespace

Words default_build_command(Language language, const std::string& arch, const Words& flags) {
  Words command = compiler(language, arch, flags);
  // Libraries among the flags must follow what uses them.
  for (const char* word : {"{defines}", "{file}", "{flags}", "-o", "{binary}"}) command.emplace_back(word);
  return command;
}

Words default_run_command(const std::filesystem::path& source, bool built) {
  if (built) return {"{binary}", "{args}"};
  if (source.extension() == ".py") return {"python3", "{file}", "{args}"};
  return {"{file}", "{args}"};
}

Words command_from_environment(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  std::istringstream text(value ? value : "");
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  return words.empty() ? Words{fallback} : words;
}

}  // namespace tune::worker
