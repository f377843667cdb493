#include "host/nvidia_nodes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <thread>

#include "support/tuning_folder.h"

namespace tune::nvidia_nodes_test {
namespace {

namespace fs = std::filesystem;

class NvidiaNodes : public testing::Test {
 protected:
  void add_gpu(const std::string& address, const std::string& minor, const std::string& uuid) const {
    folder_.write("gpus/" + address + "/information",
                  "Model: \t\t NVIDIA H200\nGPU UUID: \t " + uuid + "\nDevice Minor: \t " + minor + "\n");
    folder_.write("dev/nvidia" + minor, "");
  }
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const fs::path& node : worker::nvidia_nodes(folder_.path() / "dev")) names.push_back(node.filename());
    std::ranges::sort(names);
    return names;
  }
  std::vector<std::string> others_of(const std::string& uuid) const {
    std::vector<std::string> names;
    for (const fs::path& node : worker::nodes_of_other_gpus(uuid, folder_.path() / "gpus", folder_.path() / "dev"))
      names.push_back(node.filename());
    return names;
  }

  TuningFolder folder_;
};

using Names = std::vector<std::string>;

TEST_F(NvidiaNodes, OfOtherGpusGoByMinorNumber) {
  add_gpu("0000:06:00.0", "2", "GPU-a");
  add_gpu("0000:07:00.0", "0", "GPU-b");
  add_gpu("0000:08:00.0", "1", "GPU-c");
  EXPECT_EQ(others_of("GPU-a"), Names({"nvidia0", "nvidia1"}));
  EXPECT_EQ(others_of("GPU-b"), Names({"nvidia1", "nvidia2"}));
}

TEST_F(NvidiaNodes, AreNoneBesideTheOnlyGpu) {
  add_gpu("0000:06:00.0", "0", "GPU-a");
  EXPECT_EQ(others_of("GPU-a"), Names());
}

TEST_F(NvidiaNodes, AreLeftAloneForAGpuThatTheDriverDoesNotName) {
  add_gpu("0000:06:00.0", "0", "GPU-unknown-until-it-is-used");
  add_gpu("0000:07:00.0", "1", "GPU-b");
  EXPECT_EQ(others_of("GPU-an-instance-of-b"), Names());
  EXPECT_EQ(others_of(""), Names());
}

TEST_F(NvidiaNodes, WithoutTheDriverAreNone) { EXPECT_EQ(others_of("GPU-a"), Names()); }

TEST_F(NvidiaNodes, ThatAreNotThereAreNotNamed) {
  add_gpu("0000:06:00.0", "0", "GPU-a");
  add_gpu("0000:07:00.0", "1", "GPU-b");
  fs::remove(folder_.path() / "dev/nvidia1");
  EXPECT_EQ(others_of("GPU-a"), Names());
}

TEST_F(NvidiaNodes, AreAllThatLeadsToTheDriver) {
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1", "dxg", "null"})
    folder_.write(std::string("dev/") + name, "");
  EXPECT_EQ(all(), Names({"dxg", "nvidia-caps", "nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl"}));
}

TEST_F(NvidiaNodes, OfAMachineWithoutDevicesAreNone) { EXPECT_EQ(all(), Names()); }

/// 0, or why it cannot be opened.
int why_not(const fs::path& file) { return std::fstream(file).is_open() ? 0 : errno; }

TEST_F(NvidiaNodes, RenouncedCannotBeOpenedWhileAllElseCan) {
  const fs::path other = folder_.write("dev/nvidia1", "1"), own = folder_.write("dev/nvidia0", "0");
  const fs::path beside = folder_.write("else/where", "2");
  bool possible = false;
  int renounced = 0, kept = -1, elsewhere = -1, null = -1;
  std::thread([&] {
    possible = worker::renounce({fs::canonical(other)});
    renounced = why_not(other);
    kept = why_not(own);
    elsewhere = why_not(beside);
    null = why_not("/dev/null");
  }).join();
  EXPECT_EQ(why_not(other), 0) << "it is the thread's alone";
  EXPECT_EQ(kept, 0);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(null, 0);
  if (!possible) GTEST_SKIP() << "this system has no Landlock";
  EXPECT_EQ(renounced, EACCES);
}

TEST_F(NvidiaNodes, InARenouncedFolderCannotBeOpened) {
  const fs::path node = folder_.write("dev/nvidia-caps/nvidia-cap1", "1");
  bool possible = false;
  int renounced = 0;
  std::thread([&] {
    possible = worker::renounce({fs::canonical(node.parent_path())});
    renounced = why_not(node);
  }).join();
  if (!possible) GTEST_SKIP() << "this system has no Landlock";
  EXPECT_EQ(renounced, EACCES);
}

// A worker's standard streams are pipes, and /dev has links to them.
TEST_F(NvidiaNodes, AreRenouncedWhateverTheStandardStreamsAre) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int input = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const fs::path node = folder_.write("dev/nvidia0", "0");
  bool possible = false, beside_streams = false;
  int full = 0;
  std::thread([&] { possible = worker::renounce({fs::canonical(node)}); }).join();
  std::thread([&] {
    beside_streams = worker::renounce({"/dev/full"});
    full = why_not("/dev/full");
  }).join();
  ::dup2(input, STDIN_FILENO);
  for (const int descriptor : {input, ends[0], ends[1]}) ::close(descriptor);
  if (!possible) GTEST_SKIP() << "this system has no Landlock";
  EXPECT_TRUE(beside_streams);
  EXPECT_EQ(full, EACCES);
}

}  // namespace
}  // namespace tune::nvidia_nodes_test
