#include "model/values/escaped_text.h"

#include <gtest/gtest.h>

namespace tune::escaped_text_test {
namespace {

using namespace std::string_literals;

TEST(Shown, LeavesWhatIsSeenAsItIs) {
  for (const char* text : {"", "plain text", "größer ≤ 大きい 🙂", "C:\\path\\x1b", "❤️ 1️⃣",
                           "می\u200cخواهم", "क्\u200dष", "👩\u200d💻 🏳️\u200d🌈"}) {
    EXPECT_EQ(with_escapes(text), text);
    EXPECT_EQ(line_with_escapes(text), text);
    EXPECT_TRUE(needs_no_escape(text));
  }
}

TEST(Shown, EscapesControls) {
  EXPECT_EQ(with_escapes("\x1b[31m\x07\r\x7f\0"s), "\\x1b[31m\\x07\\x0d\\x7f\\x00");
  EXPECT_EQ(with_escapes("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), "\\u0080\\u009b\\u009f\xc2\xa0");
}

TEST(Shown, KeepsLinesAndTabsApartUnlessOneLineIsAskedFor) {
  EXPECT_EQ(with_escapes("a\n\tb"), "a\n\tb");
  EXPECT_EQ(line_with_escapes("a\n\tb"), "a\\n\\tb");
  EXPECT_FALSE(needs_no_escape("a\nb"));
}

TEST(Shown, EscapesTurnsOfDirectionAndCharactersWithoutWidth) {
  EXPECT_EQ(with_escapes("a\u202eb\u2066c\u200bd\ufeff\u2028"), "a\\u202eb\\u2066c\\u200bd\\ufeff\\u2028");
  EXPECT_EQ(with_escapes("a\u200cb ü\u200d \u200dü \u200d"), "a\\u200cb ü\\u200d \\u200dü \\u200d");
  EXPECT_EQ(with_escapes("ü\u200d\u200dü"), "ü\\u200d\\u200dü") << "of two, neither joins";
  EXPECT_EQ(with_escapes("\U000e0041"), "\\U000e0041");
}

TEST(Shown, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(with_escapes("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(with_escapes("\xc0\x80"), "\\xc0\\x80") << "not the shortest form";
  EXPECT_EQ(with_escapes("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(with_escapes("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(find_no_utf8("gr\xc3\xb6\xc3"), 4u);
  EXPECT_EQ(find_no_utf8("größe"), std::string::npos);
}

}  // namespace
}  // namespace tune::escaped_text_test
