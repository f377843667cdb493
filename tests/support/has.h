#pragma once
#include <gtest/gtest.h>

#include <string>

namespace tune::cli {

/// Whether a text has a part; a failure shows both.
inline testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

}  // namespace tune::cli
