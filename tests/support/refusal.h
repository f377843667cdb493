#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

/// What `tune` says on stderr when it refuses these arguments: with this exit code, with nothing on stdout, and without
/// a new file.
inline std::string refusal(const Sandbox& sandbox, const std::vector<std::string>& arguments, int code = 2) {
  const std::vector<std::string> before = sandbox.files();
  const Result result = sandbox.tune(arguments);
  EXPECT_EQ(result.code, code) << testing::PrintToString(arguments) << '\n' << result.err;
  EXPECT_EQ(result.out, "") << testing::PrintToString(arguments);
  EXPECT_EQ(sandbox.files(), before) << testing::PrintToString(arguments);
  return result.err;
}

}  // namespace tune::cli
