// What holds for every source file, beside what may include what.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace tune::source_test {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

Lines lines_of(const fs::path& path) {
  std::ifstream text(path);
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// All files of the project's code with one of these extensions, by their paths relative to the repository.
std::map<std::string, Lines> files_with(const std::vector<std::string>& extensions) {
  std::map<std::string, Lines> files;
  for (const char* folder : {"src", "worker"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUNE_SOURCE_DIR) / folder))
      if (std::ranges::find(extensions, entry.path().extension().string()) != extensions.end())
        files[fs::relative(entry.path(), TUNE_SOURCE_DIR).string()] = lines_of(entry.path());
  return files;
}

/// The first line that is neither empty, nor for the preprocessor, nor the opening of a namespace.
std::string first_line_of_content(const Lines& lines) {
  static const std::regex kPassedOver(R"(^\s*$|^#.*|^namespace [\w:]+ \{$)");
  for (const std::string& line : lines)
    if (!std::regex_match(line, kPassedOver)) return line;
  return "";
}

/// The types that are defined in the namespaces that have a name, each with all of these: `tune::exec::Batch`.
std::vector<std::string> types_of(const Lines& lines) {
  static const std::regex kOpens(R"(^namespace ?([\w:]*) \{$)"), kCloses(R"(^\}  // namespace.*)"),
      kType(R"(^(?:struct|class|enum|enum class|union) (\w+)(?: final)?(?: :[^:].*)? \{.*)");
  std::vector<std::string> namespaces, types;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, kOpens)) namespaces.push_back(match[1]);
    if (std::regex_match(line, kCloses)) namespaces.pop_back();
    const bool shared = std::ranges::find(namespaces, "") == namespaces.end();
    if (!shared || !std::regex_match(line, match, kType)) continue;
    std::string name;
    for (const std::string& part : namespaces) name += part + "::";
    types.push_back(name + std::string(match[1]));
  }
  return types;
}

/// Two forms of one type, of which no program has both.
bool are_alternatives(const std::string& file, const std::string& other) {
  return std::regex_replace(file, std::regex("_cuda"), "_hip") == other;
}

TEST(Sources, EveryHeaderSaysFirstWhatItHolds) {
  const auto headers = files_with({".h"});
  ASSERT_GT(headers.size(), 150U);
  for (const auto& [file, lines] : headers) EXPECT_TRUE(first_line_of_content(lines).starts_with("//")) << file;
}

// A linker takes one of two types of the same name for both, and their members likewise.
TEST(Sources, NoTwoTypesHaveTheSameFullName) {
  std::map<std::string, std::string> file_of;
  for (const auto& [file, lines] : files_with({".h", ".cpp"}))
    for (const std::string& type : types_of(lines)) {
      const auto [first, is_new] = file_of.emplace(type, file);
      EXPECT_TRUE(is_new || are_alternatives(first->second, file))
          << type << " is defined in " << first->second << " and " << file;
    }
  EXPECT_GT(file_of.size(), 300U);
}

TEST(Sources, ATypeIsFoundInItsNamespaceOnly) {
  EXPECT_EQ(types_of({"namespace tune::exec {", "class Batch : public Job {", "  struct Inner {", "};", "class Later;",
                      "namespace {", "struct Hidden {", "}  // namespace", "enum class Use { one };",
                      "}  // namespace tune::exec", "struct Outside {"}),
            (std::vector<std::string>{"tune::exec::Batch", "tune::exec::Use", "Outside"}));
}

// Several test files are compiled as one in some presets: their helpers must not meet, whatever they are called.
TEST(Sources, ATestFileHasANamespaceOfItsName) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUNE_SOURCE_DIR) / "tests")) {
    const std::string name = entry.path().stem();
    if (!name.ends_with("_test") || entry.path().extension() != ".cpp") continue;
    ++files;
    const Lines lines = lines_of(entry.path());
    EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
      return line.starts_with("namespace tune") && line.ends_with("::" + name + " {");
    })) << name;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace tune::source_test
