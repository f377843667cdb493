// How hipBLASLt is opened, through a library that computes nothing (fake_hipblaslt.cpp).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend.h"
#include "gpu/gpu_blas_library.h"
#include "gpu/gpu_device.h"

namespace tune::hip_blas_test {
namespace {

namespace fs = std::filesystem;

class HipBlas : public testing::Test {
 protected:
  HipBlas() {
    std::string name = (fs::temp_directory_path() / "hip_blas_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    fs::create_directory(root_ / "lib");
    ::setenv("ROCM_PATH", root_.c_str(), 1);
    ::unsetenv("FAKE_HIPBLASLT_VERSION");
  }
  ~HipBlas() override { fs::remove_all(root_); }

  void provide(const std::string& name, const char* version) const {
    fs::create_symlink(TUNE_FAKE_HIPBLASLT, root_ / "lib" / name);
    if (version) ::setenv("FAKE_HIPBLASLT_VERSION", version, 1);
  }
  std::string library(const std::string& name) const { return (root_ / "lib" / name).string(); }

  /// Empty: it was opened.
  static std::string refusal(std::vector<std::string>& places) {
    try {
      EXPECT_NE(blas::Library::open(places).handle, nullptr);
      return "";
    } catch (const worker::SpecFailure& error) {
      EXPECT_EQ(error.stage(), Stage::load);
      EXPECT_FALSE(error.failed().no_device);
      return error.what();
    }
  }
  static std::string refusal() {
    std::vector<std::string> places = blas::Library::places();
    return refusal(places);
  }

  fs::path root_;
};

TEST_F(HipBlas, IsFoundWhereROCmIs) {
  provide("libhipblaslt.so.1", "100202");
  EXPECT_EQ(refusal(), "");
}

TEST_F(HipBlas, OfTheOldestThatIsKnownIsTaken) {
  provide("libhipblaslt.so.0", "1000");
  EXPECT_EQ(refusal(), "");
}

TEST_F(HipBlas, ThatIsOlderIsRefused) {
  provide("libhipblaslt.so.0", "703");
  EXPECT_EQ(refusal(),
            library("libhipblaslt.so.0") + " is hipBLASLt 0.7.3; 0.10 (ROCm 6.3) is the oldest that can be used");
}

TEST_F(HipBlas, ThatDoesNotStartSaysWhy) {
  provide("libhipblaslt.so", nullptr);
  EXPECT_EQ(refusal(), library("libhipblaslt.so") + " does not start: HIPBLAS_STATUS_INTERNAL_ERROR");
}

TEST_F(HipBlas, ThatCannotBeUsedMakesPlaceForTheNext) {
  Dl_info standard{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&::mkdtemp), &standard), 0);
  fs::create_symlink(standard.dli_fname, root_ / "lib" / "libhipblaslt.so.1");
  provide("libhipblaslt.so.0", "1000");
  std::vector<std::string> places = blas::Library::places();
  EXPECT_EQ(refusal(places), library("libhipblaslt.so.1") + " is too old: it has no hipblasLtCreate");
  EXPECT_EQ(refusal(places), "");
}

TEST_F(HipBlas, IsSoughtInFewerAndFewerPlaces) {
  provide("libhipblaslt.so", nullptr);
  std::vector<std::string> places = blas::Library::places();
  ASSERT_FALSE(places.empty());
  for (std::size_t tries = places.size(); !places.empty(); --tries) {
    ASSERT_GT(tries, 0u);
    refusal(places);
  }
}

TEST_F(HipBlas, ThatCannotBeLoadedSaysWhy) {
  std::ofstream(library("libhipblaslt.so")) << "no library";
  const std::string text = refusal();
  if (text.empty()) GTEST_SKIP() << "there is another one";
  EXPECT_EQ(text.find("no hipBLASLt: " + library("libhipblaslt.so") + ": "), 0u) << text;
}

TEST_F(HipBlas, ThatIsMissingSaysWhatToDo) {
  const std::string text = refusal();
  if (text.empty()) GTEST_SKIP() << "there is one";
  EXPECT_EQ(
      text,
      "no hipBLASLt: libhipblaslt.so: cannot open shared object file: No such file or directory; install it or set "
      "ROCM_PATH");
}

TEST_F(HipBlas, NamesWhatItAnswers) {
  provide("libhipblaslt.so.1", "100202");
  std::vector<std::string> places = blas::Library::places();
  const blas::Library library = blas::Library::open(places);
  EXPECT_NO_THROW(library.check(blas::kSuccess));
  EXPECT_EQ(library.text(static_cast<blas::Status>(7)), "HIPBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_EQ(library.text(static_cast<blas::Status>(99)), "status 99");
  EXPECT_THROW(library.check(static_cast<blas::Status>(7)), worker::GpuError);
}

}  // namespace
}  // namespace tune::hip_blas_test
