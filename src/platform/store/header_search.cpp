#include "platform/store/header_search.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "platform/files/file.h"
#include "platform/process/process.h"

namespace tune::platform {
namespace fs = std::filesystem;
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
  const std::string& word() const { return words_[at_]; }

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

std::vector<std::string> pieces_of(std::string_view text, std::string_view separators) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end != 0) pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return pieces;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), R_OK) == 0;
}

constexpr int kDeepest = 8;  // files of options that name others

/// The words, with those of `@FILE` and `--options-file FILE` in their places. The files are among the named ones.
std::vector<std::string> with_option_files(HeaderSearch& search, std::span<const std::string> words, int depth = 0) {
  constexpr std::array<std::string_view, 2> kOptions = {"--options-file", "-optf"};
  std::vector<std::string> all;
  for (Words reader(words); !reader.at_end(); reader.next()) {
    const std::string word = reader.word();
    std::string files = reader.value_of(kOptions);
    if (files.empty() && word.starts_with('@')) files = word.substr(1);
    if (files.empty()) all.push_back(word);
    for (const std::string& name : pieces_of(files, ",")) {
      const fs::path file = search.working_folder / name;
      if (!is_file(file) || depth > kDeepest) continue;
      search.named.insert(file);
      std::ranges::move(with_option_files(search, words_of(read_file(file)), depth + 1), std::back_inserter(all));
    }
  }
  return all;
}

void add_named(HeaderSearch& search, std::string_view word) {
  if (word.starts_with("-D")) return;  // what a macro names is not read by the compiler
  for (const std::string& piece : pieces_of(word, ",="))
    if (const fs::path file = search.working_folder / piece; is_file(file)) search.named.insert(file);
}

void add_libraries(HeaderSearch& search, std::span<const fs::path> folders, const std::string& library) {
  const bool as_it_is = library.starts_with(':');
  for (const fs::path& folder : folders)
    for (const char* ending : {".so", ".a"}) {
      const fs::path file = folder / (as_it_is ? library.substr(1) : "lib" + library + ending);
      if (is_file(file)) search.named.insert(file);
    }
}

std::vector<fs::path> folders_in(const char* variable, const fs::path& working_folder) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream texts(value == nullptr ? "" : value);  // an empty one is the working folder
  for (std::string folder; std::getline(texts, folder, ':');) folders.push_back(working_folder / folder);
  return folders;
}

// A compiler and its launcher are known by their versions.
std::vector<std::string> words_in(const char* variable) {
  const char* value = std::getenv(variable);
  std::vector<std::string> words = words_of(value == nullptr ? "" : value);
  std::erase_if(words, [](const std::string& word) { return word[0] == '/' && ::access(word.c_str(), X_OK) == 0; });
  return words;
}

/// Where a program of this name is, if it is on PATH.
std::optional<fs::path> program_on_path(const std::string& name) try {
  return name.find('/') == std::string::npos ? std::optional<fs::path>(find_program(name)) : std::nullopt;
} catch (const NoProgram&) {
  return std::nullopt;
}

}  // namespace

void add_flags(HeaderSearch& search, std::span<const std::string> flags) {
  constexpr std::array<std::string_view, 2> kLibraryFolders = {"--library-path", "-L"};
  constexpr std::array<std::string_view, 2> kLibraries = {"--library", "-l"};
  constexpr std::array<std::string_view, 4> kOutputs = {"--output-file", "-o", "-MF", "-MT"};
  std::vector<fs::path> libraries_in = folders_in("LIBRARY_PATH", search.working_folder);
  std::vector<std::string> libraries;
  const std::vector<std::string> all = with_option_files(search, flags);
  for (Words words(all); !words.at_end(); words.next()) {
    if (const std::string file = words.value_of(kFileOptions); !file.empty())
      search.included.push_back(file);
    else if (const std::string folder = words.value_of(kFolderOptions); !folder.empty())
      search.folders.push_back(search.working_folder / folder);
    else if (const std::string with_libraries = words.value_of(kLibraryFolders); !with_libraries.empty())
      libraries_in.push_back(search.working_folder / with_libraries);
    else if (const std::string library = words.value_of(kLibraries); !library.empty())
      libraries.push_back(library);
    else if (words.value_of(kOutputs).empty())
      add_named(search, words.word());
  }
  for (const std::string& library : libraries) add_libraries(search, libraries_in, library);
}

void add_environment(HeaderSearch& search) {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
    std::ranges::move(folders_in(name, search.working_folder), std::back_inserter(search.folders));
}

// What a shell's command writes may be named in it like what it reads, and is there when it runs again.
void add_command(HeaderSearch& search, const std::vector<std::string>& command, bool is_shell) {
  std::vector<std::string> argv, of_shell;
  for (const std::string& word : command) {
    if (!is_shell && word.find(' ') == std::string::npos) argv.push_back(word);
    if (!is_shell && word.find(' ') == std::string::npos) continue;
    for (const std::string& part : pieces_of(word, ";&|()`\n")) {
      const std::vector<std::string> words = words_of(part);
      if (!words.empty() && words.front().find('/') != std::string::npos) add_named(search, words.front());
      of_shell.insert(of_shell.end(), words.begin(), words.end());
    }
  }
  for (const auto* words : {&argv, &of_shell})
    for (const std::string& word : *words)
      if (const auto program = program_on_path(word); program && is_file(*program)) search.named.insert(*program);
  HeaderSearch headers = search;
  add_flags(headers, of_shell);
  search.folders = std::move(headers.folders);
  search.included = std::move(headers.included);
  add_flags(search, argv);
}

HeaderSearch header_search(const BuildRules& rules, Backend backend, const std::filesystem::path& source) {
  HeaderSearch search{rules.include, {}, std::filesystem::current_path(), rules.include};
  if (backend == Backend::cpu) search.working_folder = source.parent_path();
  add_flags(search, rules.flags);
  add_command(search, rules.command.words, rules.command.is_shell);
  if (traits_of(backend).compiler_reads == CompilerEnvironment::nothing) return search;
  add_environment(search);
  for (const char* variable : kCompilerVariables) add_flags(search, words_in(variable));
  return search;
}

}  // namespace tune::platform
