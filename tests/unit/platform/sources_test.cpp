#include "platform/store/sources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "model/values/error.h"
#include "platform/store/store.h"

namespace tune::sources_test {
namespace {

namespace fs = std::filesystem;

class Sources : public testing::Test {
 protected:
  Sources() {
    std::string name = (fs::temp_directory_path() / "tune-test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Sources() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  platform::HeaderSearch search(const std::vector<std::string>& flags = {}) const {
    platform::HeaderSearch search{{}, {}, folder_};
    platform::add_flags(search, flags);
    return search;
  }
  /// Whether a change of a file of the folder changes the hash of a.cpp.
  bool follows(const std::string& file, const platform::HeaderSearch& search) const {
    const std::string before = platform::hash_sources(folder_ / "a.cpp", search).hex;
    write(file, platform::read_file(folder_ / file) + "// changed\n");
    return platform::hash_sources(folder_ / "a.cpp", search).hex != before;
  }
  fs::path folder_;
};

TEST_F(Sources, HeadersThatResolveAreFollowed) {
  write("a.cpp", "#include \"b.h\"\n#  include <c.h>\n#include <vector>\n");
  write("b.h", "#include \"sub/d.h\"\n");
  write("sub/d.h", "#include \"e.h\"  // beside d.h\n");
  for (const char* header : {"sub/e.h", "inc/c.h", "other.h"}) write(header, "1");
  for (const char* file : {"b.h", "sub/d.h", "sub/e.h", "inc/c.h", "a.cpp"})
    EXPECT_TRUE(follows(file, {{folder_ / "inc"}, {}, {}})) << file;
  EXPECT_FALSE(follows("other.h", {{folder_ / "inc"}, {}, {}}));
}

TEST_F(Sources, FoldersAmongTheFlagsAreSearched) {
  write("a.cpp", "#include <c.h>\n");
  write("inc/c.h", "1");
  EXPECT_FALSE(follows("inc/c.h", search({"-O3"})));
  const std::string inc = (folder_ / "inc").string();
  const std::vector<std::vector<std::string>> spellings = {{"-Iinc"},
                                                           {"-I" + inc},
                                                           {"-I", "inc"},
                                                           {"-iquote", "inc"},
                                                           {"-isystem" + inc},
                                                           {"-idirafter", inc},
                                                           {"--include-path=inc"},
                                                           {"--include-path", "inc"},
                                                           {"--include-directory=inc"},
                                                           {"-O3", "-I=inc", "-g"}};
  for (const auto& flags : spellings) EXPECT_TRUE(follows("inc/c.h", search(flags))) << flags.front();
}

TEST_F(Sources, FilesThatFlagsIncludeAreFollowed) {
  write("a.cpp", "");
  write("inc/pre.h", "#include \"more.h\"\n");
  write("inc/more.h", "1");
  const std::string pre = (folder_ / "inc/pre.h").string();
  const std::vector<std::vector<std::string>> spellings = {{"-include", pre},
                                                           {"-include", "inc/pre.h"},
                                                           {"-Iinc", "-include", "pre.h"},
                                                           {"-imacros", pre},
                                                           {"--pre-include=" + pre}};
  for (const auto& flags : spellings) EXPECT_TRUE(follows("inc/more.h", search(flags))) << flags.front();
}

TEST_F(Sources, FoldersOfTheEnvironmentAreSearched) {
  write("a.cpp", "#include <c.h>\n");
  write("inc/c.h", "1");
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    ::setenv(name, ("/none:" + (folder_ / "inc").string()).c_str(), 1);
    platform::HeaderSearch found = search();
    platform::add_environment(found);
    EXPECT_TRUE(follows("inc/c.h", found)) << name;
    ::unsetenv(name);
  }
}

TEST_F(Sources, EveryHeaderOfANameCounts) {
  write("a.cpp", "#include <c.h>\n");
  write("first/c.h", "#include_next <c.h>\n");
  write("second/c.h", "1");
  EXPECT_TRUE(follows("second/c.h", search({"-Ifirst", "-Isecond"})));
}

TEST_F(Sources, AnIncludeByAMacroIsNamed) {
  EXPECT_EQ(
      platform::hash_sources(write("a.cpp", "#include \"b.h\"\n#include <c>\n#include\n"), search()).macro_include, "");
  write("b.h", "\n  # include HEADER\n");
  EXPECT_EQ(platform::hash_sources(folder_ / "a.cpp", search()).macro_include, "b.h:2");
}

TEST_F(Sources, AnIncludeByAMacroIsNamedOfTheUsersOwnHeadersOnly) {
  const fs::path source = write("src/a.cpp", "#include <b.h>\n");
  write("library/b.h", "#include HEADER\n");
  const platform::HeaderSearch library = search({"-Ilibrary"});
  EXPECT_EQ(platform::hash_sources(source, library).macro_include, "");
  platform::HeaderSearch own = library;
  own.own = {folder_ / "library"};
  EXPECT_EQ(platform::hash_sources(source, own).macro_include, "b.h:1");
}

TEST_F(Sources, HeadersMayIncludeEachOther) {
  write("b.h", "#include \"a.h\"\n");
  EXPECT_EQ(platform::hash_sources(write("a.h", "#include \"b.h\"\n"), search()).hex.size(), 32u);
}

TEST_F(Sources, AMissingSourceIsNamed) { EXPECT_THROW(platform::hash_sources(folder_ / "none.cpp", search()), Error); }

TEST_F(Sources, ANameThatIsTooLongIsAMissingSource) {
  EXPECT_THROW(platform::hash_sources(folder_ / std::string(5000, 'x'), search()), Error);
}

}  // namespace
}  // namespace tune::sources_test
