#include "program_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace tune::worker {
namespace {

// The known placeholder that starts at text[at], without its braces; empty if none does.
std::string_view placeholder_at(std::string_view text, std::size_t at, const Placeholders& known) {
  if (text[at] != '{' || (at > 0 && text[at - 1] == '$')) return {};
  const auto end = text.find('}', at);
  if (end == std::string_view::npos) return {};
  const auto name = text.substr(at + 1, end - at - 1);
  return known.contains(name) ? name : std::string_view();
}

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

// One pass: what a placeholder stands for is never searched for placeholders.
std::string replace(std::string_view text, const Placeholders& placeholders,
                    const std::function<std::string(const std::string&)>& spelling) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto name = placeholder_at(text, i, placeholders);
    if (name.empty()) {
      result += text[i];
      continue;
    }
    const char* separator = "";
    for (const auto& word : placeholders.find(name)->second) {
      result += separator;
      result += spelling(word);
      separator = " ";
    }
    i += name.size() + 1;
  }
  return result;
}

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

Words expand_command(const Words& command, bool is_shell, const Placeholders& placeholders) {
  if (is_shell) return {"/bin/sh", "-c", replace(command.front(), placeholders, shell_quoted)};
  Words argv;
  for (const auto& word : command) {
    const auto name = word.empty() ? std::string_view() : placeholder_at(word, 0, placeholders);
    if (!name.empty() && name.size() + 2 == word.size()) {
      const auto& words = placeholders.find(name)->second;
      argv.insert(argv.end(), words.begin(), words.end());
    } else {
      argv.push_back(replace(word, placeholders, std::identity()));
    }
  }
  return argv;
}

bool uses(const Words& command, std::string_view name) {
  const std::string placeholder = fmt::format("{{{}}}", name);
  return std::ranges::any_of(command, [&](const auto& word) { return word.find(placeholder) != word.npos; });
}

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
