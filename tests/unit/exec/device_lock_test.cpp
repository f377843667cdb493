// Each DeviceLock opens the file on its own, as another process would.
#include "exec/device/device_lock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "platform/store/store.h"
#include "support/tuning_folder.h"

namespace tune::device_lock_test {
namespace {

using Use = exec::DeviceLock::Use;

class TwoRuns : public testing::Test {
 protected:
  TuningFolder folder_;
  exec::DeviceLock one{folder_.path(), "gpu"}, two{folder_.path(), "gpu"};
};

TEST_F(TwoRuns, WhoeverWaitsIsNext) {
  EXPECT_TRUE(one.take());
  EXPECT_FALSE(two.take());
  EXPECT_TRUE(two.holder().starts_with(exec::DeviceLock::our_name() + " user ")) << two.holder();
  one.release();
  EXPECT_FALSE(one.take());
  EXPECT_TRUE(two.take());
  two.release();
  EXPECT_TRUE(one.take());
}

TEST_F(TwoRuns, OpenAtTheSameTime) {
  EXPECT_TRUE(one.begin(Use::opening));
  EXPECT_TRUE(two.begin(Use::opening));
  EXPECT_TRUE(one.begin(Use::opening));
}

TEST_F(TwoRuns, DoNotTimeWhileTheOtherOpens) {
  EXPECT_TRUE(one.begin(Use::opening));
  EXPECT_FALSE(two.begin(Use::timing));
  one.end(Use::opening);
  EXPECT_TRUE(two.begin(Use::timing));
}

TEST_F(TwoRuns, DoNotOpenWhileTheOtherTimes) {
  EXPECT_TRUE(one.begin(Use::timing));
  EXPECT_FALSE(two.begin(Use::opening));
  one.end(Use::timing);
  EXPECT_TRUE(two.begin(Use::opening));
}

TEST_F(TwoRuns, LetTheOneThatWaitsToTimeInBeforeMoreIsOpened) {
  EXPECT_TRUE(one.begin(Use::opening));
  EXPECT_FALSE(two.begin(Use::timing));
  EXPECT_FALSE(one.begin(Use::opening)) << "another process of the same run";
  one.end(Use::opening);
  EXPECT_FALSE(one.begin(Use::opening));
  EXPECT_TRUE(two.begin(Use::timing));
}

TEST_F(TwoRuns, LetTheOneThatWaitsToOpenInBeforeMoreIsTimed) {
  EXPECT_TRUE(one.begin(Use::timing));
  EXPECT_TRUE(one.begin(Use::timing)) << "the next of the same batch";
  EXPECT_FALSE(two.begin(Use::opening));
  one.end(Use::timing);
  EXPECT_FALSE(one.begin(Use::timing));
  EXPECT_TRUE(two.begin(Use::opening));
}

TEST_F(TwoRuns, DoNotHinderTheOtherOnceTheyWaitNoLonger) {
  EXPECT_TRUE(one.begin(Use::opening));
  EXPECT_FALSE(two.begin(Use::timing));
  two.end(Use::timing);
  EXPECT_TRUE(one.begin(Use::opening));
}

TEST_F(TwoRuns, LaunchInTurnsWhileOneOpens) {
  EXPECT_TRUE(one.begin(Use::opening));
  EXPECT_TRUE(two.take());
  EXPECT_FALSE(one.take());
  two.release();
  EXPECT_TRUE(one.take());
  one.release();
  EXPECT_FALSE(two.begin(Use::timing)) << "launching has ended no opening";
}

TEST_F(TwoRuns, AreFreeOfOneThatHasEnded) {
  {
    exec::DeviceLock third(folder_.path(), "gpu");
    EXPECT_TRUE(third.begin(Use::timing));
    EXPECT_FALSE(one.begin(Use::opening));
  }
  EXPECT_TRUE(one.begin(Use::opening));
}

TEST_F(TwoRuns, AreToldWhoHasItAndSinceWhen) {
  exec::DeviceLock third(folder_.path(), "gpu", "gemm.yaml");
  EXPECT_TRUE(third.take());
  EXPECT_FALSE(one.take());
  std::string holder = one.holder();
  std::ranges::replace_if(
      holder, [](unsigned char c) { return std::isdigit(c) != 0; }, '0');
  EXPECT_TRUE(holder.ends_with(", gemm.yaml, since 00:00:00")) << one.holder();
}

TEST_F(TwoRuns, AreToldNoMoreThanALineOfPlainTextWhateverTheFileHolds) {
  std::ofstream(folder_.path() / "tune-gpu.lock") << "tune, pid \x1b[2J\xff" << std::string(1000, 'x');
  EXPECT_EQ(one.holder().substr(0, 16), "tune, pid ?[2J?x");
  EXPECT_EQ(one.holder().size(), 200U);
}

TEST_F(TwoRuns, AreToldNothingBeforeTheHolderIsWrittenThere) {
  std::ofstream(folder_.path() / "tune-gpu.lock") << std::string(300, '\0');
  EXPECT_EQ(one.holder(), "");
}

TEST_F(TwoRuns, WriteToNoFileThatHasAnotherNameToo) {
  std::ofstream(folder_.path() / "mine") << "of value";
  std::filesystem::create_hard_link(folder_.path() / "mine", folder_.path() / "tune-cpu.lock");
  exec::DeviceLock lock(folder_.path(), "cpu");
  EXPECT_NE(lock.problem().find("is not a regular file with a single hard link; remove it"), std::string::npos)
      << lock.problem();
  EXPECT_TRUE(lock.take()) << "and there are no turns";
  EXPECT_EQ(platform::read_file(folder_.path() / "mine"), "of value");
}

TEST_F(TwoRuns, FollowNoLink) {
  std::ofstream(folder_.path() / "mine") << "of value";
  std::filesystem::create_symlink("mine", folder_.path() / "tune-cpu.lock");
  exec::DeviceLock lock(folder_.path(), "cpu");
  EXPECT_NE(lock.problem().find("cannot be opened"), std::string::npos) << lock.problem();
  EXPECT_EQ(platform::read_file(folder_.path() / "mine"), "of value");
}

TEST(DeviceLock, WithoutAnIdKeepsOneRunFromOpeningWhatItTimes) {
  exec::DeviceLock lock("", ""), other("", "");
  EXPECT_TRUE(lock.begin(Use::timing));
  EXPECT_FALSE(lock.begin(Use::opening));
  EXPECT_TRUE(other.begin(Use::opening));
  lock.end(Use::timing);
  EXPECT_TRUE(lock.begin(Use::opening));
}

}  // namespace
}  // namespace tune::device_lock_test
