#include "model/values/text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tune::text_test {
namespace {

TEST(Text, IsANumberFromItsFirstToItsLastCharacter) {
  EXPECT_EQ(number_from<int>("-12"), -12);
  EXPECT_EQ(number_from<double>("2.5e1"), 25);
  for (const char* text : {"", " 1", "1 ", "1x", "0x1", "1.5", "3000000000"})
    EXPECT_EQ(number_from<std::int32_t>(text), std::nullopt) << text;
}

TEST(Text, LosesBlanksAtItsEndsOnly) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsAnIdentifierAsInC) {
  for (const char* text : {"a", "_", "A1_b"}) EXPECT_TRUE(is_identifier(text)) << text;
  for (const char* text : {"", "1a", "a-b", "a b", "\xc3\xa4"}) EXPECT_FALSE(is_identifier(text)) << text;
}

TEST(Text, OfACountIsInThePluralUnlessItIsOne) {
  EXPECT_EQ(plural(1, "spec"), "1 spec");
  EXPECT_EQ(plural(std::size_t{0}, "spec"), "0 specs");
  EXPECT_EQ(plural(2, "binary", "binaries"), "2 binaries");
  EXPECT_EQ(plural(1, "binary", "binaries"), "1 binary");
}

TEST(Text, InLowerCaseKeepsWhatIsNoLetterOfAscii) { EXPECT_EQ(lower_case("GEMM_1 \xc3\x84"), "gemm_1 \xc3\x84"); }

}  // namespace
}  // namespace tune::text_test
