#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tune::layering_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TUNE_SOURCE_DIR;

struct Include {
  std::string file;    // relative to the repository
  std::string header;  // as written
  bool quoted;
};

std::vector<Include> includes() {
  static const std::regex kLine("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> all;
  for (const char* folder : {"src", "worker"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_regular_file() || entry.path().filename() == "CMakeLists.txt") continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch match;
        if (std::regex_search(line, match, kLine))
          all.push_back({fs::relative(entry.path(), kRoot).string(), match[2], match[1] == "\""});
      }
    }
  return all;
}

// Of the files beside the folders of src/.
std::string module_at_root(const std::string& name) {
  if (name.starts_with("tuner.") || name.starts_with("journal.")) return "loop";
  return name == "main.cpp" ? "main" : "";
}

// src/model/values/value.h is of `model`, src/tuner.cpp of `loop`, worker/checking/compare_result.cpp of `worker`.
std::string module_of(const std::string& file) {
  if (file.starts_with("worker/")) return "worker";
  const std::string rest = file.substr(4);
  const auto slash = rest.find('/');
  return slash == std::string::npos ? module_at_root(rest) : rest.substr(0, slash);
}

std::string module_of_header(const Include& include) {
  const auto slash = include.header.find('/');
  if (slash != std::string::npos) return include.header.substr(0, slash);
  return include.file.starts_with("worker/") ? "worker" : module_at_root(include.header);
}

const std::map<std::string, std::set<std::string>> kArrows = {
    {"model", {}},
    {"base", {"model"}},
    {"wire", {"model"}},
    {"config", {"model", "base"}},
    {"search", {"model"}},
    {"tune", {}},  // demo/tune: headers for programs of others
    {"kokkos", {"model", "base", "config", "search", "tune"}},
    {"report", {"model"}},
    {"interop", {"model", "wire", "base"}},
    {"exec", {"model", "wire", "base"}},
    {"worker", {"model", "wire", "base"}},
    {"loop", {"model", "wire", "base", "search", "report", "exec"}},
    {"flow", {"model", "wire", "base", "config", "search", "report", "exec", "interop", "loop"}},
    {"options", {"model", "base", "config", "search"}},
    {"commands",
     {"model", "wire", "base", "config", "search", "report", "exec", "interop", "loop", "flow", "options", "kokkos"}},
    {"main", {"model", "base", "exec", "commands", "options"}},
};

// The folders of the model; `model` itself holds the plain values that other modules speak of.
const std::map<std::string, std::set<std::string>> kArrowsInModel = {
    {"model/values", {}},
    {"model/expression", {"model/values"}},
    {"model", {"model/values", "model/expression"}},
    {"model/constraints", {"model/values", "model/expression", "model"}},
    {"model/statistics", {"model/values", "model/expression", "model"}},
    {"model/dispatch", {"model/values", "model/expression", "model", "model/statistics"}},
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

const std::map<std::string, std::set<std::string>> kThirdParty = {
    {"boost/", {"src/base/child.cpp", "src/base/child.h", "src/base/page_server.cpp", "src/base/process.cpp"}},
    {"xxhash.h", {"src/base/store.cpp"}},
    {"spdlog/", {"src/base/log.cpp"}},
    {"nlohmann/", {"src/wire/json.h"}},
    {"CLI/", {"src/options/kinds.h", "src/options/texts.cpp"}},
    {"yaml-cpp/", {"src/config/parse_yaml.cpp"}},
    {"zlib.h", {"src/interop/text_file.cpp"}},
    {"bzlib.h", {"src/interop/text_file.cpp"}},
};

TEST(Layering, EveryModuleIncludesOnlyTheModulesBelowIt) {
  const auto all = includes();
  ASSERT_GT(all.size(), 300u);
  for (const Include& include : all) {
    if (!include.quoted) continue;
    const std::string from = module_of(include.file), to = module_of_header(include);
    ASSERT_TRUE(kArrows.contains(from)) << include.file;
    EXPECT_TRUE(from == to || kArrows.at(from).contains(to)) << include.file << " includes " << include.header;
  }
}

TEST(Layering, EveryFolderOfTheModelIncludesOnlyTheFoldersBelowIt) {
  std::set<std::string> seen;
  for (const Include& include : includes()) {
    if (!include.quoted || module_of(include.file) != "model") continue;
    const std::string from = folder_of(include.file.substr(4)), to = folder_of(include.header);
    ASSERT_TRUE(kArrowsInModel.contains(from)) << include.file;
    seen.insert(from);
    EXPECT_TRUE(from == to || kArrowsInModel.at(from).contains(to)) << include.file << " includes " << include.header;
  }
  EXPECT_EQ(seen.size(), kArrowsInModel.size());
}

TEST(Layering, EveryLibraryIsSeenOnlyWhereItIsUsed) {
  std::set<std::string> seen;
  for (const Include& include : includes())
    for (const auto& [prefix, files] : kThirdParty)
      if (include.header.starts_with(prefix)) {
        seen.insert(prefix);
        EXPECT_TRUE(files.contains(include.file)) << include.file << " includes " << include.header;
      }
  EXPECT_EQ(seen.size(), kThirdParty.size());
}

TEST(Layering, TheTestSeesAForbiddenArrow) {
  const std::vector<Include> forbidden = {{"src/model/values/value.h", "wire/messages.h", true},
                                          {"src/flow/grid.h", "options.h", true},
                                          {"src/flow/grid.cpp", "commands/rules.h", true}};
  for (const Include& include : forbidden)
    EXPECT_FALSE(kArrows.at(module_of(include.file)).contains(module_of_header(include))) << include.header;
  EXPECT_FALSE(kArrowsInModel.at(folder_of("model/expression/lexer.h")).contains(folder_of("model/space.h")));
}

}  // namespace
}  // namespace tune::layering_test
