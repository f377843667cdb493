#include "cli/texts/completion.h"

#include <gtest/gtest.h>

namespace tune::cli::completion_test {
namespace {

OptionText option(const std::vector<std::string>& names, const std::string& value, const std::string& help) {
  OptionText option;
  option.names = names;
  option.value = value;
  option.help = help;
  return option;
}

OptionText argument(const std::string& value, const std::vector<std::string>& endings) {
  OptionText option;
  option.argument = option.value = value;
  option.endings = endings;
  return option;
}

/// tune with the commands convert, cache and agent.
CommandText program() {
  CommandText tune{"tune", "", true, {}, {}};
  tune.options = {argument("FILE", {"yaml", "yml"}),         option({"--quiet", "-q"}, "", "No progress"),
                  option({"--state"}, "a|b", "How"),         option({"--output", "--out", "-o"}, "PREFIX", "Where"),
                  option({"--device-file"}, "FILE", "From"), option({"--keep"}, "DIR", "There"),
                  option({"--top"}, "N", "So many")};
  tune.options[0].names = {"--yaml"};
  tune.options[0].repeats = true;
  tune.options[0].help = "Tuning file";
  tune.options[2].choices = {"a", "b"};
  tune.options[4].endings = {"yaml"};
  tune.commands = {
      {"convert", "Write a run", false, {}, {}}, {"cache", "Look", false, {}, {}}, {"agent", "", false, {}, {}}};
  tune.commands[0].options = {argument("IN", {}), option({"--to"}, "x|y", "The format"), argument("OUT", {})};
  tune.commands[0].options[0].value = tune.commands[0].options[2].value = "FILE";
  tune.commands[0].options[0].endings = {"json"};
  tune.commands[0].options[1].choices = {"x", "y"};
  tune.commands[1].options = {argument("info|clear", {})};
  tune.commands[1].options[0].choices = {"info", "clear"};
  tune.commands[2].options = {option({"--connect"}, "HOST", "Whom"), option({"--help", "-h"}, "", "This")};
  return tune;
}

std::string offered(const std::vector<std::string>& words) { return completions(program(), words); }

const std::string kFirst = "files 0 yaml yml\nTuning file\nconvert\tWrite a run\ncache\tLook\nagent\n";
const std::string kOptions =
    "words 0\n\n--yaml\tTuning file\n--quiet\tNo progress\n-q\tNo progress\n--state\tHow\n--output\tWhere\n-o\tWhere\n"
    "--device-file\tFrom\n--keep\tThere\n--top\tSo many\n";

TEST(Completion, TheFirstArgumentIsACommandOrAFile) {
  EXPECT_EQ(offered({""}), kFirst);
  EXPECT_EQ(offered({"co"}), kFirst) << "shells compare in ways of their own";
  EXPECT_EQ(offered({}), kFirst);
  EXPECT_EQ(offered({"-q", "--top", "5", ""}), kFirst);
  EXPECT_EQ(offered({"a.yaml", ""}), "files 0 yaml yml\nTuning file\n");
}

TEST(Completion, OptionsHaveTheirFirstNameAndTheLetter) {
  for (const char* word : {"-", "--", "--q", "-o", "--no-such=", "-x1", "--quiet=", "-qv"})
    EXPECT_EQ(offered({word}), kOptions) << word;
  EXPECT_EQ(offered({"agent", "-"}), "words 0\n\n--connect\tWhom\n--help\tThis\n-h\tThis\n");
}

TEST(Completion, ValuesAreWordsFilesOrTheUsers) {
  EXPECT_EQ(offered({"--state", ""}), "words 0\nHow\na\tHow\nb\tHow\n");
  EXPECT_EQ(offered({"--out", ""}), "any 0\nWhere\n");
  EXPECT_EQ(offered({"-o", "-"}), "any 0\nWhere\n");
  EXPECT_EQ(offered({"--keep", ""}), "folders 0\nThere\n");
  EXPECT_EQ(offered({"--top", "1"}), "words 0\nSo many\n");
  EXPECT_EQ(offered({"--yaml", ""}), "files 0 yaml yml\nTuning file\n");
  const std::string devices = offered({"--device-file", ""});
  EXPECT_TRUE(devices.starts_with("files 0 yaml\nFrom\na100\tFrom\nh100\tFrom\n")) << devices;
}

TEST(Completion, AValueMayBeInTheWordOfItsOption) {
  EXPECT_EQ(offered({"--state=a"}), "words 8\nHow\na\tHow\nb\tHow\n");
  EXPECT_EQ(offered({"-obest"}), "any 2\nWhere\n");
  EXPECT_EQ(offered({"--state=a", "-q", ""}), kFirst);
  EXPECT_EQ(offered({"convert", "--to="}), "words 5\nThe format\nx\tThe format\ny\tThe format\n");
}

TEST(Completion, BashMakesThreeWordsOfAnOptionAndItsValue) {
  EXPECT_EQ(offered({"--state", "="}), "words 0\nHow\na\tHow\nb\tHow\n");
  EXPECT_EQ(offered({"--state", "=", "a"}), "words 0\nHow\na\tHow\nb\tHow\n");
  EXPECT_EQ(offered({"--state", "=", "a", "-"}), kOptions);
}

TEST(Completion, ArgumentsOfACommandAreCompletedByTheirPlace) {
  EXPECT_EQ(offered({"convert", ""}), "files 0 json\n\n");
  EXPECT_EQ(offered({"convert", "--to", "x", ""}), "files 0 json\n\n");
  EXPECT_EQ(offered({"convert", "a.json", ""}), "any 0\n\n");
  EXPECT_EQ(offered({"convert", "a.json", "b", ""}), "words 0\n\n--to\tThe format\n") << "no more is taken";
  EXPECT_EQ(offered({"cache", "i"}), "words 0\n\ninfo\nclear\n");
  EXPECT_EQ(offered({"agent", ""}), offered({"agent", "-"})) << "it takes nothing else";
}

TEST(Completion, ACommandIsTheFirstArgument) {
  EXPECT_EQ(offered({"--top", "cache", "-q", "cache", ""}), "words 0\n\ninfo\nclear\n");
  EXPECT_EQ(offered({"a.yaml", "cache", ""}), "files 0 yaml yml\nTuning file\n");
  EXPECT_EQ(offered({"cache", "convert", ""}), "words 0\n\n") << "this is what it was to do";
}

TEST(Completion, BehindDashesIsAnotherCommand) {
  EXPECT_EQ(offered({"--", ""}), "command 0\n\n");
  EXPECT_EQ(offered({"-q", "--", "xz", "--sta"}), "command 0\n\n");
}

TEST(Completion, AnyWordsAreAnswered) {
  for (const char* word : {"=", "-=", "--=", "-", "\t", "\n", "__complete", "\xff"})
    for (const char* before : {"=", "--", "-", "", "--state", "convert"})
      EXPECT_TRUE(offered({before, word}).ends_with('\n')) << before << ' ' << word;
}

}  // namespace
}  // namespace tune::cli::completion_test
