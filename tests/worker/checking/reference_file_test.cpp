#include "checking/reference_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "backend.h"
#include "platform/store/store.h"

namespace tune::reference_file_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class ReferenceFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tune-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
    path_ = folder_ / "reference";
    worker::write_reference(path_, Problem(), identity_, values_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string refusal(const std::string& identity) const {
    try {
      const worker::ReferenceFile file(path_, identity);
    } catch (const worker::SpecFailure& refused) {
      const std::string text = refused.what();
      return text.substr(text.rfind(": ") + 2);
    }
    return "accepted";
  }

  std::filesystem::path folder_, path_;
  std::string identity_ = worker::reference_identity(Gemm(), 1);
  std::vector<double> values_ = {1, 2, 3, 4};
};

TEST_F(ReferenceFiles, HoldWhatWasWrittenForTheirOwnerOnly) {
  const worker::ReferenceFile file(path_, identity_);
  EXPECT_EQ(file.values().size(), 4U);
  EXPECT_EQ(file.values()[3], 4);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(ReferenceFiles, HoldNumbersOnly) {
  for (const double odd : {HUGE_VAL, -HUGE_VAL, kNaN}) {
    values_[2] = odd;
    EXPECT_THROW(worker::write_reference(path_, Problem(), identity_, values_), worker::SpecFailure) << odd;
  }
}

TEST_F(ReferenceFiles, OfAnotherProblemOrSeedAreRefused) {
  EXPECT_EQ(refusal(worker::reference_identity(Gemm(), 2)), "it belongs to another problem or seed");
  Gemm other = Gemm();
  other.beta = 1;
  EXPECT_EQ(refusal(worker::reference_identity(other, 1)), "it belongs to another problem or seed");
}

TEST_F(ReferenceFiles, ThatAreDamagedAreRefused) {
  const std::string bytes = platform::read_file(path_);
  const auto with = [&](std::string text) {
    std::ofstream(path_, std::ios::binary) << text;
    return refusal(identity_);
  };
  std::string flipped = bytes;
  flipped.back() ^= 1;
  EXPECT_EQ(with(flipped), "its checksum is wrong");
  EXPECT_EQ(with(bytes.substr(0, bytes.size() - 8)), "it is cut short");
  EXPECT_EQ(with(bytes.substr(0, 10)), "it is cut short");
  std::string other = bytes;
  other.front() = 'X';
  EXPECT_EQ(with(other), "it is no reference file of this version");
}

}  // namespace
}  // namespace tune::reference_file_test
