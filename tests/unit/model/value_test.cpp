#include "model/values/value.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tune::value_test {
namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

Value integer(std::int64_t value) { return value; }
Value text(const char* value) { return std::string(value); }

std::string defines_text(const Value& value) {
  std::string joined;
  for (const Define& define : to_defines("P", value)) joined += define.name + "=" + define.value + ";";
  return joined;
}

TEST(Value, ReadsIntegersOfBothSignsAndInHexadecimal) {
  EXPECT_EQ(parse_value("0"), integer(0));
  EXPECT_EQ(parse_value("128"), integer(128));
  EXPECT_EQ(parse_value("+5"), integer(5));
  EXPECT_EQ(parse_value("-7"), integer(-7));
  EXPECT_EQ(parse_value("0x1F"), integer(31));
  EXPECT_EQ(parse_value("-0X10"), integer(-16));
  EXPECT_EQ(parse_value("9223372036854775807"), integer(kLargest));
  EXPECT_EQ(parse_value("-9223372036854775808"), integer(kSmallest));
}

TEST(Value, KeepsAsTextWhatIsNotSurelyAnInteger) {
  for (const char* plain : {"9223372036854775808", "-9223372036854775809", "0x8000000000000000", "010", "1_000", "0x",
                            "0o17", "12abc", "64x64x64", "-", "+", "--1", "+-1", "1 2", "", " 1"}) {
    EXPECT_EQ(parse_value(plain), text(plain)) << plain;
  }
}

TEST(Value, ReadsFloats) {
  EXPECT_EQ(parse_value("0.5"), Value(0.5));
  EXPECT_EQ(parse_value(".5"), Value(0.5));
  EXPECT_EQ(parse_value("-.5"), Value(-0.5));
  EXPECT_EQ(parse_value("1."), Value(1.0));
  EXPECT_EQ(parse_value("1e-3"), Value(0.001));
  EXPECT_EQ(parse_value("+2.5E+2"), Value(250.0));
}

TEST(Value, KeepsInfinitiesAndNansAsText) {
  for (const char* plain : {"inf", "-inf", "nan", "NaN", ".inf", ".nan", "infinity", "1e999", "1e", "e1", "."}) {
    EXPECT_EQ(parse_value(plain), text(plain)) << plain;
  }
}

TEST(Value, ReadsBooleansAndRemembersTheirSpelling) {
  for (const char* plain : {"true", "false", "True", "False"}) EXPECT_EQ(to_text(parse_value(plain)), plain);
  EXPECT_EQ(parse_value("TRUE"), Value(Bool{true}));
  EXPECT_EQ(parse_value("FALSE"), Value(Bool{false}));
  EXPECT_EQ(parse_value("yes"), text("yes"));
  EXPECT_EQ(parse_value("tRUE"), text("tRUE"));
}

TEST(Value, PrintsFloatsSoThatTheyReadBackTheSame) {
  EXPECT_EQ(to_text(1.0), "1.0");
  EXPECT_EQ(to_text(-3.0), "-3.0");
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(1e300), "1e+300");
  for (const double number : {1.0 / 3, 1e-310, 123456789012345680.0, 5e-324, -0.0}) {
    EXPECT_EQ(parse_value(to_text(number)), Value(number)) << number;
  }
}

TEST(Value, PrintsPairsAsYamlLists) { EXPECT_EQ(to_text(Pair{2, -1}), "[2, -1]"); }

TEST(Value, QuotesTextThatYamlWouldReadAsSomethingElse) {
  for (const char* word :
       {"128", "0.5",   "1e5",  "True", "TRUE", "no",         "On",       "y",   "null", "~",    "",    " a",  "a ",
        "010", "1_000", "0x10", "0o17", "0b11", "2001-12-14", "12:30:45", "- a", "a: b", "a #b", "[1]", "{a}", "*a",
        "&a",  "!a",    "a,b",  ".inf", "-x",   "?",          "%a",       "@a",  "`a`",  "=",    "<<"}) {
    EXPECT_EQ(to_yaml(text(word)), fmt::format("'{}'", word));
  }
}

TEST(Value, LeavesHarmlessTextPlain) {
  for (const char* word : {"row", "DType.float16", "64x64x64", "col_major", "/dev/null", "a-b", "row major"}) {
    EXPECT_EQ(to_yaml(text(word)), word);
  }
}

TEST(Value, EscapesQuotesAndControlCharacters) {
  EXPECT_EQ(to_yaml(text("it's")), "'it''s'");
  EXPECT_EQ(to_yaml(text("a\nb\"\\")), "\"a\\x0ab\\\"\\\\\"");
}

TEST(Value, WritesOtherKindsToYamlAsTheyAre) {
  EXPECT_EQ(to_yaml(integer(-4)), "-4");
  EXPECT_EQ(to_yaml(Bool{true, true}), "true");
  EXPECT_EQ(to_yaml(Pair{1, 2}), "[1, 2]");
}

TEST(Value, DefinesIntegersWithNegativeOnesInParentheses) {
  EXPECT_EQ(defines_text(integer(128)), "P=128;");
  EXPECT_EQ(defines_text(integer(-1)), "P=(-1);");
  EXPECT_EQ(defines_text(-0.5), "P=(-0.5);");
}

TEST(Value, DefinesTheSmallestIntegerWithoutALiteralThatIsTooLarge) {
  EXPECT_EQ(defines_text(integer(kSmallest)), "P=(-9223372036854775807-1);");
}

TEST(Value, DefinesBooleansAsOneAndZero) {
  EXPECT_EQ(defines_text(Bool{true, true}), "P=1;");
  EXPECT_EQ(defines_text(Bool{false}), "P=0;");
}

TEST(Value, DefinesBothPartsOfAPair) { EXPECT_EQ(defines_text(Pair{2, -1}), "P_0=2;P_1=(-1);"); }

TEST(Value, DefinesTextVerbatimAndByNameIfItIsAnIdentifier) {
  EXPECT_EQ(defines_text(text("row")), "P=row;P_row=1;");
  EXPECT_EQ(defines_text(text("DType.float16")), "P=DType.float16;");
  EXPECT_EQ(defines_text(text("2d")), "P=2d;");
}

}  // namespace
}  // namespace tune::value_test
