#include "commands/init/epilogues.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tune::commands::epilogues_test {
namespace {

/// What is left of the code of the first source.
std::string code_left(std::vector<std::string> texts) {
  std::vector<SourceText> sources;
  for (const std::string& text : texts) sources.push_back(read_tokens(text));
  leave_out_epilogues(sources);
  std::string code;
  for (const Token& token : sources[0].code) code += token.text + " ";
  return code;
}

TEST(Epilogues, AreLeftOutOfAPlainProduct) {
  EXPECT_EQ(code_left({"a\n#ifdef epilogue_relu\nb\n#else\nc\n#endif\nd\n"}), "a c d ");
  EXPECT_EQ(code_left({"#ifndef epilogue_relu\na\n#endif\n"}), "a ");
  EXPECT_EQ(code_left({"#if !defined(epilogue_relu) && !defined epilogue_silu\na\n#endif\n"}), "a ");
  EXPECT_EQ(code_left({"#if defined(epilogue_relu)\na\n#elif defined(epilogue_silu)\nb\n#else\nc\n#endif\n"}), "c ");
  EXPECT_EQ(code_left({"#if scale_a_row || groups_contiguous || groups_masked\na\n#else\nb\n#endif\n"}), "b ");
  EXPECT_EQ(code_left({"#ifdef epilogue_relu\n#if N > 1\na\n#else\nb\n#endif\n#endif\nc\n"}), "c ");
}

TEST(Epilogues, DecideWhatIsDefinedByThemInAnySource) {
  const std::string header = "#if defined(epilogue_bias_row)\n#define HAS_BIAS 1\n#else\n#define HAS_BIAS 0\n#endif\n";
  EXPECT_EQ(code_left({"a\n#if HAS_BIAS\nb\n#endif\n", header}), "a ");
  EXPECT_EQ(code_left({"#if HAS_BIAS && (N % 32 != 0 || M)\na\n#endif\n", header}), "");
  EXPECT_EQ(code_left({"#if HAS_BIAS || N\na\n#endif\n", header}), "a ") << "N may be defined";
}

TEST(Epilogues, LeaveOtherConditionsAlone) {
  std::vector<SourceText> sources = {
      read_tokens("#ifdef epilogue_relu\na\n#elif N > 1\nb\n#else\nc\n#endif\n#ifndef N\n#define N 4\n#endif\n")};
  leave_out_epilogues(sources);
  ASSERT_EQ(sources[0].directives.size(), 6U);
  EXPECT_TRUE(sources[0].directives[0][0].is("if")) << "the #elif is the first condition now";
  EXPECT_TRUE(sources[0].directives[3][0].is("ifndef"));
  EXPECT_EQ(code_left({"#if N\na\n#else\nb\n#endif\n"}), "a b ");
}

}  // namespace
}  // namespace tune::commands::epilogues_test
