#include "config/reader/command/shell_text.h"

#include <gtest/gtest.h>

#include <string>

namespace tune::shell_text_test {
namespace {

/// How the shell reads the `@` of a command.
config::Standing standing_of(const std::string& command) { return config::standings(command).at(command.find('@')); }

TEST(ShellText, KnowsWordsOutsideOfQuotes) {
  for (const char* command : {"run @",
                              "'a b' @",
                              "\"it's\" @",
                              "x=$(run @)",
                              "\"$(run @)\"",
                              "a\\\"b @",
                              "(run @)",
                              "run >@",
                              "echo $((1 + 2)) @",
                              "echo ${X} @",
                              "echo a#b @",
                              "# done\nrun @",
                              "cat <<E\nbody\nE\nrun @",
                              "cat <<-E\n\tbody\n\tE\nrun @",
                              "echo `date` @",
                              "eval a; run @",
                              "evaluate @",
                              "echo \"$(echo \"a\")\" @",
                              "echo <<<a @",
                              "\"$(echo 'a' @)\"",
                              "echo `it's` @",
                              "echo `date`# @"})
    EXPECT_EQ(standing_of(command), config::Standing::word) << command;
}

TEST(ShellText, KnowsQuotes) {
  for (const char* command : {"run '@'", "run 'a\"@'", "run \"$(echo ' @ ')\"", "run \"$(x \"$(y '@')\")\"",
                              "run `date`# '\n@ '", "run `'` '` @ '", "run $'@'", "run $'\\'@"})
    EXPECT_EQ(standing_of(command), config::Standing::single_quotes) << command;
  for (const char* command :
       {"run \"@\"", "run \"it's @\"", "run \"'$(x 'y')@'\"", "run \"\\\"@\"", "run \"$(date)@\"", "run \"${X}@\""})
    EXPECT_EQ(standing_of(command), config::Standing::double_quotes) << command;
  for (const char* command : {"run `echo @`", "run \"`echo @`\"", "run `echo \"@\"`", "run `# `\n echo `@`"})
    EXPECT_EQ(standing_of(command), config::Standing::backquotes) << command;
}

TEST(ShellText, KnowsWhatElseTheShellReadsInItsOwnWay) {
  EXPECT_EQ(standing_of("run \\@"), config::Standing::escaped);
  EXPECT_EQ(standing_of("run \\\\@"), config::Standing::word) << "the backslash itself is escaped";
  EXPECT_EQ(standing_of("run ${X:-@}"), config::Standing::expansion);
  EXPECT_EQ(standing_of("run \"${X:-'@'}\""), config::Standing::expansion);
  EXPECT_EQ(standing_of("run $((1 + @))"), config::Standing::expansion);
  EXPECT_EQ(standing_of("run # @"), config::Standing::comment);
  EXPECT_EQ(standing_of("cat <<'E' | run\na @\nE\n"), config::Standing::here_document);
  EXPECT_EQ(standing_of("cat <<E\n@"), config::Standing::here_document);
  EXPECT_EQ(standing_of("eval run @"), config::Standing::evaluated);
}

TEST(ShellText, ReadsWhatNeverEnds) {
  for (const char* command : {"", "'", "\"", "`", "$(", "${", "$((", "\\", "<<", "cat <<", ")", "))", "}", "$'\\'"})
    EXPECT_EQ(config::standings(command).size(), std::string(command).size()) << command;
}

}  // namespace
}  // namespace tune::shell_text_test
