#include "base/header_search.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

namespace tune::base {
namespace {

// The value is the next word, or follows `=` or a name with one dash directly. A name stands before its own prefixes.
constexpr std::array<std::string_view, 9> kFolderOptions = {"--include-directory-after",
                                                            "--include-directory",
                                                            "--include-path",
                                                            "--system-include",
                                                            "-isystem-after",
                                                            "-isystem",
                                                            "-iquote",
                                                            "-idirafter",
                                                            "-I"};
constexpr std::array<std::string_view, 5> kFileOptions = {"--pre-include", "--include", "-include", "-imacros",
                                                          "--imacros"};

/// Reads options whose value is a word of its own, or a part of the option's.
class Words {
 public:
  explicit Words(std::span<const std::string> words) : words_(words) {}
  bool at_end() const { return at_ == words_.size(); }
  void next() { ++at_; }

  /// The value of the word if it is one of these options; its own word is skipped too. Empty: it is none.
  std::string value_of(std::span<const std::string_view> options) {
    const std::string_view word = words_[at_];
    for (const std::string_view option : options) {
      if (!word.starts_with(option)) continue;
      std::string_view rest = word.substr(option.size());
      if (rest.empty()) return at_ + 1 < words_.size() ? words_[++at_] : "";
      if (rest.starts_with('=')) return std::string(rest.substr(1));
      if (!option.starts_with("--")) return std::string(rest);
    }
    return "";
  }

 private:
  std::span<const std::string> words_;
  std::size_t at_ = 0;
};

// Words that blanks separate.
std::vector<std::string> words_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '\'' || c == '"'; });
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

void add_flags(HeaderSearch& search, std::span<const std::string> flags) {
  for (Words words(flags); !words.at_end(); words.next()) {
    if (const std::string file = words.value_of(kFileOptions); !file.empty())
      search.included.push_back(file);
    else if (const std::string folder = words.value_of(kFolderOptions); !folder.empty())
      search.folders.push_back(search.working_folder / folder);
  }
}

void add_environment(HeaderSearch& search) {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) {
    const char* value = std::getenv(name);
    std::istringstream folders(value == nullptr ? "" : value);
    for (std::string folder; std::getline(folders, folder, ':');)
      search.folders.push_back(search.working_folder / folder);
  }
}

// Only NVRTC ignores the environment.
HeaderSearch header_search(const BuildRules& rules, Backend backend, const std::filesystem::path& source) {
  HeaderSearch search{rules.include, {}, std::filesystem::current_path(), rules.include};
  if (backend == Backend::cpu) search.working_folder = source.parent_path();
  add_flags(search, rules.flags);
  add_flags(search, rules.command_is_shell ? words_of(rules.command.front()) : rules.command);
  if (backend == Backend::cuda) return search;
  add_environment(search);
  for (const char* variable : kCompilerVariables)
    if (const char* value = std::getenv(variable)) add_flags(search, words_of(value));
  return search;
}

}  // namespace tune::base
