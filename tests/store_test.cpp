#include "base/store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "model/error.h"

namespace tune {
namespace {

namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
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

TEST_F(StoreTest, FindsOnlyWhatWasCommitted) {
  const Store store(folder / "store");
  const fs::path begun = store.begin("key");
  EXPECT_FALSE(store.find("key"));
  std::ofstream(begun / "artifact") << "bytes";
  EXPECT_EQ(read_file(store.commit(begun, "key") / "artifact"), "bytes");
  EXPECT_EQ(store.find("key"), folder / "store" / "key");
  EXPECT_FALSE(fs::exists(begun));
}

TEST_F(StoreTest, KeepsNothingOfADiscardedBuild) {
  const Store store(folder / "store");
  store.discard(store.begin("key"));
  EXPECT_FALSE(store.find("key"));
  EXPECT_TRUE(fs::is_empty(folder / "store"));
}

TEST_F(StoreTest, TheFirstOfTwoBuildersWins) {
  const Store store(folder / "store");
  const fs::path first = store.begin("key"), second = store.begin("key");
  std::ofstream(first / "artifact") << "first";
  std::ofstream(second / "artifact") << "second";
  store.commit(first, "key");
  EXPECT_EQ(read_file(store.commit(second, "key") / "artifact"), "first");
  EXPECT_FALSE(fs::exists(second));
}

TEST_F(StoreTest, RemovesWhatAKilledBuildLeftADayAgo) {
  const Store store(folder / "store");
  const fs::path old = store.begin("old"), fresh = store.begin("fresh");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const Store next(folder / "store");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(StoreTest, NamesAFolderItCannotWrite) {
  write("file", "");
  try {
    const Store store(folder / "file" / "store");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find((folder / "file" / "store").string()), std::string::npos);
  }
}

TEST_F(StoreTest, WritesAFileAsAWholeOrNotAtAll) {
  write_file(folder / "out", "text");
  EXPECT_EQ(read_file(folder / "out"), "text");
  EXPECT_THROW(write_file(folder / "none" / "out", "text"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(Hashing, TellsPartsApart) {
  EXPECT_NE(Hash().add("ab").add("c").hex(), Hash().add("a").add("bc").hex());
  EXPECT_EQ(Hash().add("ab").hex(), Hash().add("ab").hex());
  EXPECT_EQ(Hash().hex().size(), 32u);
}

}  // namespace
}  // namespace tune
