#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tune {

/// How texts that others wrote are shown on a terminal or in a log: names, values, paths, the output of compilers and
/// programs. Characters that would act on the terminal or be invisible are escaped: control characters (`\x1b`,
/// `\u009b`), marks that change the direction of writing, characters without width (`\u200b`), and bytes that are not
/// valid UTF-8 (`\xff`). Files receive the texts unchanged, quoted as the file format demands.

/// Keeps line breaks and tabs.
std::string with_escapes(std::string_view text);
/// Escapes line breaks (`\n`) and tabs (`\t`) too, so that the result is one line.
std::string line_with_escapes(std::string_view text);
/// Whether shown_line returns the text unchanged.
bool needs_no_escape(std::string_view text);

/// A code point of a text and how many bytes it takes. A byte that is not valid UTF-8 counts as one of its own.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
/// Precondition: the text is not empty.
CodePoint first_code_point(std::string_view text);
/// Whether the character acts on a terminal or is invisible there.
bool is_hidden(char32_t code_point);
/// The position of the first byte that is not valid UTF-8; npos if there is none.
std::size_t find_no_utf8(std::string_view text);

}  // namespace tune
