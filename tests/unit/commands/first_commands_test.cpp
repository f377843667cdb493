// The first commands of other tools, as docs/coming-from.md has them.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "commands/commands.h"
#include "model/values/error.h"

namespace tune::first_commands_test {
namespace {

using Words = std::vector<std::string>;

/// A row of the table: the lines of the other tool, and what stands for them.
struct Row {
  Words lines;
  std::string here;
  Words commands;  ///< of `here`: those that begin with the program's name
};

/// What stands between backquotes.
Words in_backquotes(const std::string& text) {
  static const std::regex kQuoted("`([^`]*)`");
  Words all;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), kQuoted); match != std::sregex_iterator(); ++match)
    all.push_back((*match)[1]);
  return all;
}

Words words_of(const std::string& line) {
  std::istringstream text(line);
  return {std::istream_iterator<std::string>(text), {}};
}

std::vector<Row> rows() {
  std::ifstream page(TUNE_SOURCE_DIR "/docs/coming-from.md");
  std::vector<Row> rows;
  bool in_section = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) in_section = line == "## Their first commands";
    static const std::regex kRow("\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|");
    std::smatch cells;
    if (!in_section || !std::regex_match(line, cells, kRow) || cells[1] == "tool") continue;
    Row row{in_backquotes(cells[2]), cells[3], {}};
    if (row.here.starts_with("`tune ")) row.commands = {in_backquotes(row.here).front()};
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Without what starts the program: `python tune_gemm.py`, `ktdashboard`.
Words arguments_of(const std::string& line) {
  static const std::regex kProgram(
      "(python |\\$MODULAR_PYTHON )?(tune_gemm\\.py|tune\\.py|ktdashboard|tune report|tune) ?");
  std::smatch program;
  if (!std::regex_search(line, program, kProgram, std::regex_constants::match_continuous)) return {line};
  return words_of(program.suffix());
}

// Nothing is run; what clashes is refused.
TEST(FirstCommands, AreUnderstoodHere) {
  int commands = 0;
  for (const Row& row : rows())
    for (const std::string& command : row.commands) {
      ++commands;
      const Words words = words_of(command);
      std::vector<const char*> argv;
      for (const std::string& word : words) argv.push_back(word.c_str());
      EXPECT_NO_THROW({
        EXPECT_TRUE(commands::read_command_line(static_cast<int>(argv.size()), argv.data()).has_value()) << command;
      }) << command;
    }
  EXPECT_EQ(commands, 10);
}

TEST(FirstCommands, OfAToolHaveTheSameWordsHere) {
  int same = 0;
  for (const Row& row : rows()) {
    if (row.lines.size() != 1 || row.commands.empty()) continue;
    if (row.lines.front().starts_with("python tuning_")) continue;  // a script, whose settings are not on its line
    EXPECT_EQ(arguments_of(row.lines.front()), arguments_of(row.commands.front()));
    ++same;
  }
  EXPECT_EQ(same, 8);
}

TEST(FirstCommands, ThatStandForNothingHereHaveAReason) {
  int without = 0;
  for (const Row& row : rows()) {
    if (!row.commands.empty()) continue;
    EXPECT_TRUE(row.here.ends_with('.')) << row.here << ": no sentence";
    const bool says_what = row.here.starts_with("Nothing: ") || row.here.starts_with("The same. ") ||
                           row.here.find("](") != std::string::npos || row.here.find("`--") != std::string::npos;
    EXPECT_TRUE(says_what) << row.here << ": neither why nothing is needed, nor a page or an option that does it";
    ++without;
  }
  EXPECT_EQ(without, 8);
}

}  // namespace
}  // namespace tune::first_commands_test
