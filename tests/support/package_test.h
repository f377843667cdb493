#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

using Words = std::vector<std::string>;

/// Makes packages of what is tuned in a folder, and builds them as users do.
class PackageTest : public testing::Test {
 protected:
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  }
  Result pack(const std::string& folder, int code = 0, const Words& more = {}) const {
    Words words = {"package", "db.yaml", "--yaml", "k.yaml", "-o", folder};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words, code);
  }
  /// What a command of the shell prints in an environment without tune and HOME, with `code N` at its end. What CMake
  /// builds is not optimized there, which would take most of the compiler's time.
  std::string shell(const std::string& command) const {
    const std::string script = sandbox_.write("command.sh", command + "\n").string();
    const std::string line =
        "cd '" + sandbox_.folder().string() +
        "' && env -i PATH=/usr/bin:/bin HOME=/nonexistent CMAKE_BUILD_TYPE=None CMAKE_GENERATOR=Ninja sh '" + script +
        "' > said 2>&1";
    const int status = std::system(line.c_str());
    return sandbox_.read("said") + "code " + std::to_string(WEXITSTATUS(status));
  }
  /// What the test of the package in `folder` says, which is configured once and built again where it was changed.
  std::string selftest(const std::string& folder) const {
    return shell("{ { [ -e build ] || cmake -S " + folder +
                 " -B build; } && cmake --build build --target selftest; } > log 2>&1 || cat log; build/selftest");
  }

  Sandbox sandbox_;
};

}  // namespace tune::cli
