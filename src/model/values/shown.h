#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tune {

/// What a terminal or a log shows of a text that others wrote: names, values, paths, compilers' and programs' output.
/// Characters that are no signs but act on the terminal or hide themselves are escaped: controls (`\x1b`, `\u009b`),
/// marks that turn the direction of writing, characters without width (`\u200b`), and bytes that are no UTF-8 (`\xff`).
/// Files get texts as they are, quoted as their format demands.

/// Lines stay lines and tabs stay tabs.
std::string shown(std::string_view text);
/// One line: line breaks (`\n`) and tabs (`\t`) are escaped too.
std::string shown_line(std::string_view text);
/// Whether shown_line would leave it as it is.
bool is_shown_as_it_is(std::string_view text);

/// A code point of a text and the bytes that it takes; of bytes that are no UTF-8 each is taken for itself.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
/// Precondition: the text is not empty.
CodePoint first_code_point(std::string_view text);
/// Whether it acts on a terminal, or is not seen there.
bool is_hidden(char32_t code_point);
/// Where the first byte stands that is no UTF-8; npos if all is.
std::size_t find_no_utf8(std::string_view text);

}  // namespace tune
