// A journal where files have no locks. What locked ones do is tested over the real binary.
#include "journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/store.h"
#include "tuning_folder.h"

namespace {

int refusal = 0;  // what every lock fails with

}  // namespace

// Stands in front of the C library's.
extern "C" int flock(int file, int operation) noexcept {
  if (refusal == 0) return static_cast<int>(::syscall(SYS_flock, file, operation));
  errno = refusal;
  return -1;
}

namespace tune {
namespace {

class JournalLock : public testing::Test {
 protected:
  void TearDown() override { refusal = 0; }

  std::filesystem::path path() const { return folder_.path() / "out.jsonl"; }
  static wire::TrialRecord trial(const std::string& id) { return {id, Trial{Spec{0, {}}, Measurement{}}}; }

  TuningFolder folder_;
};

TEST_F(JournalLock, KeepsASecondRunAway) {
  const Journal first(path());
  EXPECT_TRUE(first.locked());
  EXPECT_THROW(Journal second(path()), Error);
}

TEST_F(JournalLock, IsNotNeededWhereFilesHaveNone) {
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    refusal = error;
    Journal journal(path());
    EXPECT_FALSE(journal.locked());
    journal.append(wire::RunRecord{});
    journal.append(trial("a"));
    EXPECT_NE(journal.find("a"), nullptr);
  }
}

TEST_F(JournalLock, WhatCannotBeReadForWantOfDescriptorsIsNotCut) {
  Journal(path()).append(wire::RunRecord{});
  const std::string before = read_file(path());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit one_more = {static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  EXPECT_THROW(Journal journal(path()), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(read_file(path()), before);
}

TEST_F(JournalLock, ATornLineIsCutWithAndWithoutOne) {
  for (const int error : {0, ENOLCK}) {
    refusal = error;
    Journal(path()).append(wire::RunRecord{});
    write_file(path(), read_file(path()) + "{\"record\": \"tri");
    Journal(path()).append(trial("a"));
    const Journal journal(path());
    EXPECT_NE(journal.find("a"), nullptr);
    EXPECT_EQ(journal.unreadable_lines(), 0);
  }
}

TEST_F(JournalLock, AClearedJournalKnowsNothingAndTakesRecords) {
  {
    Journal journal(path());
    journal.append(wire::RunRecord{});
    journal.append(trial("a"));
    journal.clear();
    EXPECT_EQ(journal.find("a"), nullptr);
    EXPECT_EQ(read_file(path()), "");
    journal.append(wire::RunRecord{});
    journal.append(trial("b"));
  }
  const Journal journal(path());
  EXPECT_EQ(journal.find("a"), nullptr);
  EXPECT_NE(journal.find("b"), nullptr);
}

}  // namespace
}  // namespace tune
