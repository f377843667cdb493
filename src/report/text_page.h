#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "report/failure_summary.h"
#include "report/shown_text.h"

namespace tune::report {

/// What a command prints, line by line; on a terminal no line is longer than that is wide, except for those that are to
/// be copied. Hidden characters are escaped.
class TextPage {
 public:
  /// `width`: columns of the terminal; 0: not a terminal.
  TextPage(int width, bool colors) : width_(static_cast<std::size_t>(width)), colors_(colors) {}

  /// A row of a table, which is cut where it does not fit.
  void row(std::string_view line, Style style = kPlainStyle);
  /// Lines that are broken at spaces; `indent`: where they go on.
  void prose(std::string_view lines, std::size_t indent = 2, Style style = kPlainStyle);
  /// A line that stays in one piece, such as a command to be copied.
  void whole(std::string_view line, Style style = kPlainStyle);
  /// A command behind its label, or where that is too wide on a line of its own.
  void command(const std::string& label, const std::string& words);
  void rule();
  void losses(const LossLines& lines);

  const std::string& text() const { return text_; }

 private:
  std::size_t width_;
  bool colors_;
  std::string text_;
};

}  // namespace tune::report
