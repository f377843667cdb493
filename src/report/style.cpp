#include "report/style.h"

#include <fmt/format.h>

#include "model/values/escaped_text.h"

namespace tune::report {
namespace {

constexpr const char* kReset = "\x1b[0m";

std::string_view code_of(Style::Color color) {
  switch (color) {
    case Style::Color::red:
      return "\x1b[31m";
    case Style::Color::yellow:
      return "\x1b[33m";
    case Style::Color::cyan:
      return "\x1b[36m";
    case Style::Color::none:
      break;
  }
  return "";
}

}  // namespace

std::string styled(std::string_view text, Style style, bool colors) {
  std::string result = with_escapes(text);
  if (!colors || text.empty() || (!style.bold && style.color == Style::Color::none)) return result;
  return fmt::format("{}{}{}{}", style.bold ? "\x1b[1m" : "", code_of(style.color), result, kReset);
}

}  // namespace tune::report
