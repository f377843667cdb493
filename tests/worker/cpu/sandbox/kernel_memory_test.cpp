#include "cpu/sandbox/kernel_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tune::kernel_memory_test {
namespace {

TEST(KernelMemory, CachesOfAContainerAreFree) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tune-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(pattern.data()));
  const std::filesystem::path folder = pattern;
  EXPECT_FALSE(worker::left_in_container(folder)) << "no such files";
  std::ofstream(folder / "memory.max") << "max\n";
  EXPECT_FALSE(worker::left_in_container(folder));
  std::ofstream(folder / "memory.max") << "1000\n";
  std::ofstream(folder / "memory.current") << "900\n";
  EXPECT_EQ(worker::left_in_container(folder), 100);
  std::ofstream(folder / "memory.stat") << "anon 200\nfile 600\ninactive_anon 1\nactive_anon 2\ninactive_file "
                                           "300\nactive_file 250\nslab_reclaimable 50\n";
  EXPECT_EQ(worker::left_in_container(folder), 700);
  std::ofstream(folder / "memory.current") << "500\n";
  EXPECT_EQ(worker::left_in_container(folder), 1000) << "the files were read at different times";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tune::kernel_memory_test
