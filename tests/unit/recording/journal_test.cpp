// A journal where files have no locks. What locked ones do is tested over the real binary.
#include "recording/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "platform/store/store.h"
#include "support/tuning_folder.h"

namespace {

int refusal = 0;   // what every lock fails with
bool cuts = true;  // whether files can be made shorter

}  // namespace

// These stand in front of the C library's.
extern "C" int ftruncate(int file, off_t length) noexcept {
  if (cuts) return static_cast<int>(::syscall(SYS_ftruncate, file, length));
  errno = EROFS;
  return -1;
}
extern "C" int flock(int file, int operation) noexcept {
  if (refusal == 0) return static_cast<int>(::syscall(SYS_flock, file, operation));
  errno = refusal;
  return -1;
}

namespace tune::journal_test {
namespace {

class JournalLock : public testing::Test {
 protected:
  void TearDown() override {
    refusal = 0;
    cuts = true;
  }

  std::filesystem::path path() const { return folder_.path() / "out.jsonl"; }
  static wire::TrialRecord trial(const std::string& id) {
    Measurement measurement;
    measurement.timing.median = 1;
    return {id, Trial{Spec{0, {}}, measurement}};
  }

  TuningFolder folder_;
};

TEST_F(JournalLock, KeepsASecondRunAway) {
  const recording::Journal first(path());
  EXPECT_TRUE(first.locked());
  EXPECT_THROW(recording::Journal second(path()), Error);
}

TEST_F(JournalLock, IsNotNeededWhereFilesHaveNone) {
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    refusal = error;
    recording::Journal journal(path());
    EXPECT_FALSE(journal.locked());
    journal.append(wire::RunRecord{});
    journal.append(trial("a"));
    EXPECT_NE(journal.find("a"), nullptr);
  }
}

TEST_F(JournalLock, WhatCannotBeReadForWantOfDescriptorsIsNotCut) {
  recording::Journal(path()).append(wire::RunRecord{});
  const std::string before = platform::read_file(path());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit one_more = {static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  EXPECT_THROW(recording::Journal journal(path()), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(platform::read_file(path()), before);
}

TEST_F(JournalLock, ATornLineIsCutWithAndWithoutOne) {
  for (const int error : {0, ENOLCK}) {
    refusal = error;
    recording::Journal(path()).append(wire::RunRecord{});
    platform::write_file(path(), platform::read_file(path()) + "{\"record\": \"tri");
    recording::Journal(path()).append(trial("a"));
    const recording::Journal journal(path());
    EXPECT_NE(journal.find("a"), nullptr);
    EXPECT_EQ(journal.damaged().count(), 0);
  }
}

TEST_F(JournalLock, NoRecordIsAppendedToATornLineThatCannotBeCut) {
  recording::Journal journal(path());
  journal.append(wire::RunRecord{});
  const std::string before = platform::read_file(path());
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit few_more = {before.size() + 10, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few_more), 0);
  cuts = false;
  EXPECT_THROW(journal.append(trial("a")), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_THROW(journal.append(trial("b")), Error);
  EXPECT_EQ(platform::read_file(path()).size(), before.size() + 10);
  cuts = true;
  journal.append(trial("c"));
  EXPECT_EQ(platform::read_file(path()), before + encode(wire::Record(trial("c"))) + "\n");
}

TEST_F(JournalLock, AClearedJournalKnowsNothingAndTakesRecords) {
  {
    recording::Journal journal(path());
    journal.append(wire::RunRecord{});
    journal.append(trial("a"));
    journal.clear();
    EXPECT_EQ(journal.find("a"), nullptr);
    EXPECT_EQ(platform::read_file(path()), "");
    journal.append(wire::RunRecord{});
    journal.append(trial("b"));
  }
  const recording::Journal journal(path());
  EXPECT_EQ(journal.find("a"), nullptr);
  EXPECT_NE(journal.find("b"), nullptr);
}

wire::TrialRecord failed(const std::string& message, const FailureFacts& facts) {
  return {"a", Trial{Spec{0, {}}, Failure{Stage::measure, Cause::crashed, message, "", facts}}};
}

TEST_F(JournalLock, AFailureRepeatsByItsFactsAndNotByItsMessage) {
  recording::Journal journal(path());
  journal.append(wire::RunRecord{});
  const auto repeats_after = [&](const std::string& message, const FailureFacts& facts) {
    journal.append(failed(message, facts));
    return journal.find("a")->repeats;
  };
  EXPECT_FALSE(repeats_after("killed", {.signal = 9}));
  EXPECT_TRUE(repeats_after("said in other words", {.signal = 9}));
  EXPECT_FALSE(repeats_after("said in other words", {.exit_code = 127}));
  EXPECT_TRUE(repeats_after("not found", {.exit_code = 127}));
  journal.append(trial("a"));
  EXPECT_FALSE(journal.find("a")->repeats);
}

class JournalOfEnds : public JournalLock {
 protected:
  /// A run that starts these, on devices 0, 1, ..., and ends.
  void run(const std::vector<std::string>& ids, const std::vector<wire::Record>& then = {}) const {
    recording::Journal journal(path());
    journal.append(wire::RunRecord{});
    for (std::size_t i = 0; i < ids.size(); ++i) journal.append(wire::StartedRecord{ids[i], 0, static_cast<int>(i)});
    for (const wire::Record& record : then) journal.append(record);
  }
  int crashes_during(const std::string& id) const { return recording::Journal(path()).crashes_during(id); }
};

TEST_F(JournalOfEnds, CountsTheRunsThatEndedWhileSomethingRanOnOneOfTheirDevices) {
  run({"a", "b"});
  EXPECT_EQ(crashes_during("a"), 1);
  EXPECT_EQ(crashes_during("a"), 1) << "reading it is no end";
  run({"a"});
  EXPECT_EQ(crashes_during("a"), 2);
  EXPECT_EQ(crashes_during("b"), 1);
  EXPECT_EQ(crashes_during("c"), 0);
}

TEST_F(JournalOfEnds, OfADeviceTheLastThatWasStartedCounts) {
  run({"a"}, {wire::StartedRecord{"b"}});
  EXPECT_EQ(crashes_during("a"), 0);
  EXPECT_EQ(crashes_during("b"), 1);
}

TEST_F(JournalOfEnds, AnOutcomeForgetsThem) {
  run({"a"});
  run({"a"}, {trial("a")});
  EXPECT_EQ(crashes_during("a"), 0);
}

TEST_F(JournalOfEnds, FinalsForgetThoseOfTheirContendersToo) {
  run({"finals"});
  run({"finals/a"}, {trial("b"), wire::FinalsRecord{"other", {}}});
  EXPECT_EQ(crashes_during("finals"), 1);
  EXPECT_EQ(crashes_during("finals/a"), 1);
  run({}, {wire::FinalsRecord{"finals", {}}});
  EXPECT_EQ(crashes_during("finals"), 0);
  EXPECT_EQ(crashes_during("finals/a"), 0);
}

TEST_F(JournalOfEnds, AnEndThatIsNotedIsNone) {
  {
    recording::Journal journal(path());
    journal.append(wire::RunRecord{});
    journal.append(wire::StartedRecord{"a"});
    journal.note_end();
    const std::string text = platform::read_file(path());
    journal.note_end();
    EXPECT_EQ(platform::read_file(path()), text) << "nothing runs any more";
  }
  EXPECT_EQ(crashes_during("a"), 0);
}

TEST(TrialRecords, KeepWhatIsKnownOfDisturbances) {
  Measurement measurement;
  measurement.timing.median = 1;
  wire::TrialRecord record{"a", Trial{Spec{0, {}}, measurement}};
  const auto read = [&] {
    return std::get<wire::TrialRecord>(wire::decode_record(wire::encode(wire::Record(record))));
  };
  EXPECT_EQ(wire::encode(wire::Record(record)).find("clean_seconds"), std::string::npos);
  EXPECT_EQ(read().trial.measurement()->clean_seconds, 0) << "as in journals of older versions";
  std::get<Measurement>(record.trial.outcome).clean_seconds = 0.5;
  EXPECT_EQ(read().trial.measurement()->clean_seconds, 0.5);
}

}  // namespace
}  // namespace tune::journal_test
