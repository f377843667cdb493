#include "platform/store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "model/values/error.h"
#include "platform/store/store_care.h"

namespace {

/// As some file systems that run as programs (FUSE) do.
std::atomic<bool> links_are_not_counted = false;

}  // namespace

// Stands before the C library's.
extern "C" int fstat(int fd, struct stat* status) noexcept {
  const int result = ::fstatat(fd, "", status, AT_EMPTY_PATH);
  if (links_are_not_counted) status->st_nlink = 0;
  return result;
}

namespace tune::store_test {
namespace {

namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    ::umask(022);
    std::string name = (fs::temp_directory_path() / "tune-test.XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~StoreTest() override { fs::remove_all(folder); }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  fs::path folder;
};

using Hashing = StoreTest;
using HeldFolders = StoreTest;
using Trusting = StoreTest;
using Files = StoreTest;

/// What an action throws; empty: nothing.
std::string complaint(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Processes that do something again and again, each its own thing, until this ends.
class Others {
 public:
  Others(std::initializer_list<std::function<void()>> things) {
    for (const auto& thing : things) {
      const pid_t process = ::fork();
      if (process == 0)
        for (;;) thing();
      processes_.push_back(process);
    }
  }
  ~Others() {
    for (const pid_t process : processes_) {
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  std::vector<pid_t> processes_;
};

TEST_F(StoreTest, FindsOnlyWhatWasCommitted) {
  const platform::Store store({folder / "store", false, {}});
  const platform::LockedFolder begun = store.begin("key");
  EXPECT_TRUE(store.find("key").empty());
  std::ofstream(begun.path() / "artifact") << "bytes";
  const fs::path entry = store.commit(begun.path(), "key");
  EXPECT_EQ(store.read(entry, "artifact"), "bytes");
  EXPECT_EQ(store.find("key"), std::vector{entry});
  EXPECT_FALSE(fs::exists(begun.path()));
}

TEST_F(StoreTest, KeepsNothingOfADiscardedBuild) {
  const platform::Store store({folder / "store", false, {}});
  store.discard(store.begin("key").path());
  EXPECT_TRUE(store.find("key").empty());
  EXPECT_TRUE(fs::is_empty(folder / "store"));
}

TEST_F(StoreTest, TheFirstOfTwoBuildersWins) {
  const platform::Store store({folder / "store", false, {}});
  const platform::LockedFolder first = store.begin("key"), second = store.begin("key");
  std::ofstream(first.path() / "artifact") << "first";
  std::ofstream(second.path() / "artifact") << "second";
  store.commit(first.path(), "key");
  EXPECT_EQ(store.read(store.commit(second.path(), "key"), "artifact"), "first");
  EXPECT_TRUE(fs::exists(second.path())) << "its builder may need it";
  store.discard(second.path());
}

TEST_F(StoreTest, ABuilderMayWinOnceTheEntryOfTheFirstIsRemoved) {
  const platform::Store store({folder / "store", false, {}});
  const std::string key(32, 'a');
  const auto build = [&] {
    const platform::LockedFolder begun = store.begin(key);
    std::ofstream(begun.path() / "artifact") << "bytes";
    store.commit(begun.path(), key);
    store.discard(begun.path());
  };
  const auto clear = [&] {
    for (const auto& entry : platform::entries_of(store.folder())) platform::remove_entry(entry);
  };
  const Others others{[&] { complaint(build); }, clear};
  for (int i = 0; i < 1500; ++i) ASSERT_EQ(complaint(build), "");
}

TEST_F(StoreTest, TheOwnEntryStandsBeforeTheBaseStoresWhichStaysAsItIs) {
  write("base/key/artifact", "base");
  const platform::Store store({folder / "store", false, folder / "base"});
  ASSERT_EQ(store.find("key"), std::vector{folder / "base" / "key"});
  EXPECT_EQ(store.read(store.find("key").front(), "artifact"), "base");
  store.discard(folder / "base" / "key");
  store.commit(store.begin("key").path(), "key");
  EXPECT_EQ(store.find("key"), (std::vector{folder / "store" / "key", folder / "base" / "key"}));
}

TEST_F(StoreTest, ReadsNothingOutsideOfAnEntry) {
  const platform::Store store({folder / "store", false, {}});
  write("secret", "text");
  const fs::path entry = store.commit(store.begin("key").path(), "key");
  fs::create_symlink(folder / "secret", entry / "link");
  fs::create_directory(entry / "sub");
  for (const std::string name : {"../../secret", "/etc/hostname", "link", "sub", "", ".", ".."})
    EXPECT_NE(complaint([&] { store.read(entry, name); }).find("cannot read "), std::string::npos) << name;
  fs::create_symlink(folder, folder / "store" / "other");
  EXPECT_TRUE(store.find("other").empty());
}

TEST_F(StoreTest, RemovesWhatAKilledBuildLeft) {
  const platform::Store store({folder / "store", false, {}});
  const platform::LockedFolder held = store.begin("held");
  const fs::path abandoned = store.begin("key").path(), users = folder / "store" / "tmp.mine";
  fs::create_directories(users);
  const platform::Store next({folder / "store", false, {}});
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(held.path()));
  EXPECT_TRUE(fs::exists(users));
}

TEST_F(StoreTest, RemovesWhatAnEarlierVersionLeftADayAgo) {
  const std::string name = "store/tmp." + platform::Hash().hex();
  const fs::path old = write(name + ".AbCdEf/file", "text").parent_path();
  const fs::path fresh = write(name + ".FeDcBa/file", "text").parent_path();
  const fs::path users = write("store/tmp.mine/file", "text").parent_path();
  for (const fs::path& path : {old, users})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(25));
  for (const fs::path& path : {old, fresh, users}) fs::permissions(path, fs::perms(0700));
  const platform::Store store({folder / "store", false, {}});
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "it may be in use, and that version locked none";
  EXPECT_TRUE(fs::exists(users));
}

TEST_F(StoreTest, AnEntryOfANamedStoreIsForOthersWhateverTheUmask) {
  const platform::Store store({folder / "store", true, {}});
  ::umask(077);
  const platform::LockedFolder begun = store.begin("key");
  std::ofstream(begun.path() / "artifact") << "bytes";
  std::ofstream(begun.path() / "program") << "bytes";
  fs::permissions(begun.path() / "program", fs::perms::owner_exec, fs::perm_options::add);
  fs::create_symlink(write("private", "text"), begun.path() / "link");
  const fs::path entry = store.commit(begun.path(), "key");
  ::umask(022);
  const auto mode_of = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode_of(entry), fs::perms(0755));
  EXPECT_EQ(mode_of(entry / "artifact"), fs::perms(0644));
  EXPECT_EQ(mode_of(entry / "program"), fs::perms(0755));
  EXPECT_EQ(mode_of(folder / "private"), fs::perms(0600)) << "what a link leads to is not of the entry";
}

TEST_F(StoreTest, NamesAFolderItCannotWrite) {
  write("file", "");
  try {
    const platform::Store store({folder / "file" / "store", false, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find((folder / "file" / "store").string()), std::string::npos);
  }
}

TEST_F(HeldFolders, RemoveNothingThatAnotherProgramMade) {
  write("run-data/file", "text");
  fs::permissions(folder / "run-data", fs::perms::owner_all);
  fs::create_directories(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "run-link");
  platform::LockedFolder::remove_abandoned(folder, "run-");
  EXPECT_TRUE(fs::exists(folder / "run-data/file"));
  EXPECT_TRUE(fs::exists(folder / "elsewhere"));
}

TEST_F(HeldFolders, StayWhileOtherRunsTidyUp) {
  const auto tidy_up = [&] {
    platform::LockedFolder::remove_abandoned(folder, "run-");
    std::this_thread::sleep_for(std::chrono::microseconds(10));  // without a pause they leave nobody a folder
  };
  const Others others{tidy_up, tidy_up};
  int gone = 0;
  for (int i = 0; i < 400; ++i) {
    const platform::LockedFolder held(folder, "run-", "");
    gone += fs::exists(held.path()) ? 0 : 1;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    gone += fs::exists(held.path()) ? 0 : 1;
    std::error_code ignored;
    fs::remove_all(held.path(), ignored);
  }
  EXPECT_EQ(gone, 0);
}

TEST_F(HeldFolders, AreMadeWhereFoldersHaveNoLinks) {
  links_are_not_counted = true;
  EXPECT_EQ(complaint([&] { const platform::LockedFolder held(folder, "run-", ""); }), "");
  EXPECT_EQ(complaint([&] { platform::write_file(folder / "file", "text"); }), "");
  links_are_not_counted = false;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_F(HeldFolders, AreNotTriedForever) {
  const std::string name = "run-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < 100; ++i) fs::create_directory(folder / (name + std::to_string(i)));
  EXPECT_EQ(complaint([&] { const platform::LockedFolder held(folder, "run-", "; next"); }),
            "cannot create " + (folder / name).string() + "99: File exists; next");
}

TEST_F(Trusting, AFolderThatOthersCanWriteIsNamed) {
  fs::permissions(folder, fs::perms(0755));
  const auto of = [&](fs::perms mode) {
    fs::create_directories(folder / "open" / "store");
    fs::permissions(folder / "open", mode);
    return complaint([&] { platform::Trust("; next").walk_to(folder / "open" / "store"); });
  };
  EXPECT_EQ(of(fs::perms(0755)), "");
  EXPECT_EQ(of(fs::perms(0777)), (folder / "open").string() + " can be written by every user; next");
  EXPECT_EQ(of(fs::perms(01777)), "") << "as /tmp";
  fs::permissions(folder, fs::perms(0700));
  EXPECT_EQ(of(fs::perms(0777)), "") << "nobody else can get there";
}

TEST_F(Trusting, LinksAreFollowedBeforeAFolderIsChecked) {
  fs::create_directories(folder / "store");
  fs::create_directory_symlink(folder / "store", folder / "link");
  EXPECT_EQ(platform::Trust("").walk_to(folder / "link"), fs::canonical(folder / "store"));
}

TEST_F(Trusting, WhatAnotherUserOwnsIsNamedWithItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directories(folder / "theirs" / "store");
  ASSERT_EQ(::chown((folder / "theirs").c_str(), 12345, 12345), 0);
  EXPECT_EQ(complaint([&] { platform::Trust("; next").walk_to(folder / "theirs" / "store"); }),
            (folder / "theirs").string() + " belongs to another user (uid 12345); next");
}

TEST_F(Files, NoMoreThanTheBoundIsRead) {
  EXPECT_EQ(platform::read_file(write("file", "text"), 4), "text");
  EXPECT_NE(complaint([&] { platform::read_file("/dev/zero", 1 << 20); }).find("is longer than 1 MiB"),
            std::string::npos);
  fs::resize_file(folder / "file", 5 << 20);
  EXPECT_NE(complaint([&] { platform::read_file(folder / "file", 4 << 20); }).find("is longer than 4 MiB"),
            std::string::npos);
}

TEST_F(Files, APipeIsWaitedForAsLongAsAProgramHasItOpen) {
  const fs::path pipe = folder / "pipe";
  constexpr std::chrono::milliseconds kShort(20);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(complaint([&] { platform::read_file(pipe, 4, kShort); }),
            pipe.string() +
                ": cannot be read: no program has opened this pipe to write into it; give a regular file, "
                "or start its writer");
  platform::Descriptor writer(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  std::thread slow([&] {
    for (const char* word : {"te", "xt"}) {
      std::this_thread::sleep_for(5 * kShort);
      writer.write(word);
    }
    // What a writer closes before its reader has opened the pipe is lost.
    for (int bytes = 1, pauses = 0; bytes > 0 && pauses < 1000; ++pauses) {
      std::this_thread::sleep_for(5 * kShort);
      ::ioctl(writer.get(), FIONREAD, &bytes);
    }
    writer.close();
  });
  EXPECT_EQ(complaint([&] { EXPECT_EQ(platform::read_file(pipe, 4, kShort), "text"); }), "");
  slow.join();
}

TEST_F(Files, AWriterFollowsNoLinkAndTakesOverWhatAKilledOneLeft) {
  write("victim", "precious");
  fs::create_symlink(folder / "victim", folder / "out.tune-tmp");
  write("out.tune-tmp1", "torn");
  platform::write_file(folder / "out", "text");
  EXPECT_EQ(platform::read_file(folder / "out"), "text");
  EXPECT_EQ(platform::read_file(folder / "victim"), "precious");
  EXPECT_FALSE(fs::exists(folder / "out.tune-tmp1"));
}

TEST_F(Files, AWriterMakesTheFolderOrSaysWhyItCannot) {
  platform::write_file(folder / "new" / "one" / "out", "text");
  EXPECT_EQ(platform::read_file(folder / "new" / "one" / "out"), "text");
  const std::string why = complaint([&] { platform::write_file(folder / "new" / "one" / "out" / "none", "text"); });
  EXPECT_NE(why.find("out/none: Not a directory"), std::string::npos) << why;
}

TEST_F(Files, OnlyRegularFilesAreReplaced) {
  fs::create_symlink("/dev/null", folder / "device");
  EXPECT_NE(complaint([&] { platform::write_file(folder / "device", "text"); }).find("it is a device"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(folder / "device"));
}

TEST_F(StoreTest, WritesAFileAsAWholeOrNotAtAll) {
  platform::write_file(folder / "out", "text");
  EXPECT_EQ(platform::read_file(folder / "out"), "text");
  EXPECT_THROW(platform::write_file(folder / "out" / "none", "text"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(Hashing, TellsPartsApart) {
  EXPECT_NE(platform::Hash().add("ab").add("c").hex(), platform::Hash().add("a").add("bc").hex());
  EXPECT_EQ(platform::Hash().add("ab").hex(), platform::Hash().add("ab").hex());
  EXPECT_EQ(platform::Hash().hex().size(), 32u);
}

}  // namespace
}  // namespace tune::store_test
