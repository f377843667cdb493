#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
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

const std::string kWord = "#include ";  // clang-format sees to it that nothing else is written

std::vector<Include> includes() {
  std::vector<Include> all;
  for (const char* folder : {"src", "worker"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_regular_file() || entry.path().filename() == "CMakeLists.txt") continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        const auto end = line.find_first_of(">\"", kWord.size() + 1);
        if (!line.starts_with(kWord) || end == std::string::npos) continue;
        const std::string header = line.substr(kWord.size() + 1, end - kWord.size() - 1);
        all.push_back({fs::relative(entry.path(), kRoot).string(), header, line[kWord.size()] == '"'});
      }
    }
  return all;
}

// The file that is included, relative to the repository: src/exec/agent.cpp includes "wire/json.h", which is
// src/wire/json.h. Empty if it is not the project's.
std::string included(const Include& include) {
  if (!include.quoted) return "";
  std::vector<std::string> roots = {"src", "demo"};
  if (include.file.starts_with("worker/")) roots.insert(roots.begin(), "worker");
  for (const std::string& root : roots)
    if (fs::exists(kRoot / root / include.header)) return root + '/' + include.header;
  return "";
}

// src/model/values/value.h is of `model`, worker/checking/inputs.cpp of `worker`, src/main.cpp of `main`.
std::string module_of(const std::string& file) {
  if (!file.starts_with("src/")) return file.substr(0, file.find('/'));
  const auto slash = file.find('/', 4);
  return slash == std::string::npos ? "main" : file.substr(4, slash - 4);
}

// src/model/values/value.h is of the room `values`, worker/gpu/cuda/ptxas_log.h of `gpu`, src/model/plan.h of none.
std::string room_of(const std::string& file) {
  const std::string in_module = file.substr(file.starts_with("src/") ? file.find('/', 4) + 1 : file.find('/') + 1);
  const auto slash = in_module.find('/');
  return slash == std::string::npos ? "" : in_module.substr(0, slash);
}

using Arrows = std::map<std::string, std::set<std::string>>;

// Which modules each module may include.
const Arrows kModules = {
    {"model", {}},
    {"platform", {"model"}},
    {"wire", {"model"}},
    {"config", {"model", "platform"}},
    {"database", {"model", "platform", "config"}},
    {"search", {"model"}},
    {"demo", {}},  // headers for programs of others
    {"kokkos", {"model", "platform", "config", "database", "search", "demo"}},
    {"report", {"model"}},
    {"recording", {"model", "wire", "platform"}},
    {"exec", {"model", "wire", "platform"}},
    {"worker", {"model", "wire", "platform"}},
    {"results", {"model", "wire", "platform", "config", "report", "recording"}},
    {"page", {"model", "wire", "platform", "recording"}},
    {"package", {"model", "wire", "platform"}},
    {"tuning", {"model", "wire", "platform", "config", "search", "report", "recording", "exec", "results"}},
    {"cli", {"model", "platform"}},
    {"commands",
     {"model", "wire", "platform", "config", "database", "search", "report", "recording", "exec", "results", "page",
      "package", "tuning", "cli", "kokkos"}},
    {"main", {"model", "platform", "exec", "commands"}},
};

// Modules of several rooms, and which others each room may include; "" is what lies beside the rooms.
const std::map<std::string, Arrows> kRooms = {
    {"model",
     {{"values", {}},
      {"expression", {"values"}},
      {"", {"values", "expression"}},  // what other modules speak of
      {"diagrams", {"values", "expression", ""}},
      {"constraints", {"values", "expression", "", "diagrams"}},
      {"statistics", {"values", "expression", ""}},
      {"cost", {"values", "expression", "statistics", ""}}}},
    {"platform", {{"files", {}}, {"process", {"files"}}, {"store", {"files", "process"}}, {"net", {"", "files"}}}},
    {"wire", {{"", {}}, {"agents", {""}}, {"binaries", {""}}}},
    {"config",
     {{"yaml", {}},
      {"shapes", {"yaml"}},
      {"foreign", {"yaml"}},
      {"reader", {"yaml", "shapes", "foreign"}},
      {"recorded", {"yaml", "reader"}}}},
    {"recording", {{"text", {}}, {"", {"text"}}, {"foreign", {"", "text"}}}},
    {"exec",
     {{"request", {}},
      {"process", {}},
      {"build", {"request", "process"}},
      {"device", {"request", "process", "build"}},
      {"evaluate", {"request", "process", "build", "device"}},
      {"", {"process", "device"}},  // the workers of this machine
      {"cluster", {"request", "process", "build", "device", "evaluate", ""}}}},
    {"worker",
     {{"host", {}},
      {"compiler", {}},
      {"sensors", {}},
      {"clocks", {"sensors"}},
      {"checking", {""}},
      {"measuring", {"", "sensors", "checking"}},
      {"program", {"", "host", "compiler", "measuring"}},
      {"cpu", {"", "host", "compiler", "sensors", "checking", "measuring", "program"}},
      {"gpu", {"", "host", "compiler", "sensors", "checking", "measuring"}},
      {"", {"cpu"}}}},  // main.cpp runs kernels in processes of their own
};

// What a reader of the main job need not know: included by their command, by the file that wires them into the job, or
// by the interface behind which they are.
const std::map<std::string, std::set<std::string>> kClosed = {
    {"exec/cluster/", {"src/commands/agent.cpp", "src/commands/tune/options.h", "src/commands/tune/agent_plan."}},
    {"database/",
     {"src/commands/database/", "src/commands/results/show.cpp", "src/kokkos/", "src/commands/kokkos.cpp"}},
    {"page/", {"src/commands/results/report.cpp", "src/commands/tune/tune.cpp"}},
    {"kokkos/", {"src/commands/kokkos.cpp"}},
    {"package/", {"src/commands/database/package.cpp", "src/commands/database/package_contents."}},
    {"commands/audit/", {}},
    {"commands/preview/", {}},  // declared in commands/tune/modes.h
    {"commands/results/", {"src/commands/database/show_database.cpp"}},
    {"commands/simulate/", {"src/commands/audit/"}},
    {"commands/init/", {"src/commands/tune/source_check.cpp"}},
    {"commands/database/",
     {"src/commands/tune/tune_all.cpp", "src/commands/tune/compared_baseline.cpp", "src/commands/results/report.cpp",
      "src/commands/results/diff.cpp"}},
    {"config/reader/command/", {"src/config/reader/"}},
    {"config/shapes/", {"src/commands/database/cover.cpp", "src/config/reader/load.h", "src/tuning/workload.h"}},
    {"config/foreign/", {"src/config/reader/overrides.cpp", "src/config/reader/source.cpp"}},
    {"model/cost/", {"src/tuning/searching.", "src/tuning/tuning.h"}},
    {"model/diagrams/", {"src/model/constraints/"}},
    {"search/methods/", {"src/search/"}},
    {"platform/net/", {"src/exec/cluster/", "src/page/"}},
    {"wire/agents/", {"src/exec/cluster/"}},
    {"wire/binaries/", {"src/exec/request/launch_check.cpp"}},
    {"cli/foreign/", {"src/cli/command_line.cpp"}},
    {"cli/texts/", {"src/cli/command_line.cpp"}},
    {"recording/text/", {"src/recording/"}},
    {"report/recorded/", {"src/commands/results/", "src/commands/tune/compared_baseline.cpp"}},
    {"results/verdict/", {"src/results/results.h"}},
    {"results/comparison/",
     {"src/commands/database/database_runs.h", "src/commands/results/diff.cpp", "src/commands/tune/compared_baseline.h",
      "src/commands/tune/end_notes.cpp"}},
    {"recording/foreign/", {"src/tuning/export.", "src/commands/results/convert.cpp"}},
};

// So many lines of src, at most, are outside of closed rooms.
constexpr std::ptrdiff_t kMostOpenLines = 40'788;

const std::map<std::string, std::set<std::string>> kThirdParty = {
    {"boost/",
     {"src/platform/process/child.cpp", "src/platform/process/child.h", "src/platform/net/frame_hub.cpp",
      "src/platform/net/page_server.cpp", "src/platform/process/process.cpp", "src/model/statistics/tournament.cpp"}},
    {"xxhash.h", {"src/platform/store/store.cpp"}},
    {"spdlog/", {"src/platform/files/log.cpp"}},
    {"nlohmann/", {"src/wire/json.h"}},
    {"CLI/", {"src/cli/command.cpp", "src/cli/command_line.cpp"}},
    {"yaml-cpp/", {"src/config/yaml/parse_yaml.cpp"}},
    {"zlib.h", {"src/recording/text/text_file.cpp"}},
    {"bzlib.h", {"src/recording/text/text_file.cpp"}},
};

TEST(Layering, ClosedRoomsAreIncludedOnlyWhereTheyAreWiredIn) {
  std::map<std::string, std::set<std::string>> seen;
  for (const Include& include : includes())
    for (const auto& [room, users] : kClosed) {
      if (!include.quoted || !include.header.starts_with(room) || include.file.starts_with("worker/")) continue;
      const auto allows = [&](const std::string& user) { return include.file.starts_with(user); };
      if (allows("src/" + room)) continue;
      const auto user = std::ranges::find_if(users, allows);
      EXPECT_NE(user, users.end()) << include.file << " includes " << include.header;
      if (user != users.end()) seen[room].insert(*user);
    }
  for (const auto& [room, users] : kClosed) EXPECT_EQ(seen[room], users) << "those that may include " << room;
}

TEST(Layering, WhatAReaderOfTheMainJobHasToKnowHasALimit) {
  std::ptrdiff_t open = 0, all = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ifstream text(entry.path());
    const auto lines = std::count(std::istreambuf_iterator<char>(text), {}, '\n');
    const std::string path = fs::relative(entry.path(), kRoot / "src").string();
    all += lines;
    if (std::ranges::none_of(kClosed, [&](const auto& room) { return path.starts_with(room.first); })) open += lines;
  }
  std::cout << open << " of " << all << " lines of src are outside of closed rooms\n";
  EXPECT_LE(open, kMostOpenLines) << "shorten something, or close a room: see kClosed";
}

TEST(Layering, EveryModuleIncludesOnlyTheModulesBelowIt) {
  const auto all = includes();
  ASSERT_GT(all.size(), 300u);
  for (const Include& include : all) {
    const std::string header = included(include), from = module_of(include.file);
    if (header.empty()) continue;
    ASSERT_TRUE(kModules.contains(from)) << include.file;
    EXPECT_TRUE(from == module_of(header) || kModules.at(from).contains(module_of(header)))
        << include.file << " includes " << header;
  }
}

TEST(Layering, EveryRoomIncludesOnlyTheRoomsBelowIt) {
  std::map<std::string, std::set<std::string>> seen;
  for (const Include& include : includes()) {
    const std::string header = included(include), module = module_of(include.file);
    if (header.empty() || module_of(header) != module || !kRooms.contains(module)) continue;
    const std::string from = room_of(include.file), to = room_of(header);
    ASSERT_TRUE(kRooms.at(module).contains(from)) << include.file;
    seen[module].insert(from);
    EXPECT_TRUE(from == to || kRooms.at(module).at(from).contains(to)) << include.file << " includes " << header;
  }
  for (const auto& [module, rooms] : kRooms) EXPECT_EQ(seen[module].size(), rooms.size()) << module;
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
  const std::string header = included({"src/model/values/value.h", "wire/messages.h", true});
  EXPECT_EQ(header, "src/wire/messages.h");
  EXPECT_FALSE(kModules.at(module_of("src/model/values/value.h")).contains(module_of(header)));
  EXPECT_FALSE(kRooms.at("exec").at(room_of("src/exec/build/builder.h")).contains(room_of("src/exec/cluster/agent.h")));
}

}  // namespace
}  // namespace tune::layering_test
