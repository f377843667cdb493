#include "host/core_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tune::core_settings_test {
namespace {

TEST(CoreSettings, TheSmallestShareOfAllGroupsCounts) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tune-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(pattern.data()));
  const std::filesystem::path root = pattern;
  std::filesystem::create_directories(root / "a/b");
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0) << "no such files";
  std::ofstream(root / "a/b/cpu.max") << "max 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0);
  std::ofstream(root / "a/cpu.max") << "150000 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 1.5);
  std::ofstream(root / "cpu.max") << "50000 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0.5);
  EXPECT_EQ(worker::cores_of_group(root, ""), 0.5);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tune::core_settings_test
