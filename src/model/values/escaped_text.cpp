#include "model/values/escaped_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tune {
namespace {

struct CodePoints {
  char32_t first, last;
};

/// Control characters, direction marks, characters without width (except variation selectors), line separators, and
/// tags.
constexpr std::array<CodePoints, 13> kHidden = {{{0x00, 0x1F},
                                                 {0x7F, 0x9F},
                                                 {0xAD, 0xAD},
                                                 {0x61C, 0x61C},
                                                 {0x180E, 0x180E},
                                                 {0x200B, 0x200F},
                                                 {0x2028, 0x202E},
                                                 {0x2060, 0x206F},
                                                 {0xFEFF, 0xFEFF},
                                                 {0xFFF9, 0xFFFB},
                                                 {0xFFFE, 0xFFFF},
                                                 {0x1D173, 0x1D17A},
                                                 {0xE0000, 0xE0FFF}}};

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

std::size_t length_by(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

/// Whether the code point is in its shortest form and not a surrogate.
bool is_proper(char32_t value, std::size_t bytes) {
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  return value >= kLeast[bytes] && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

/// Distinguishes visible characters from those to be escaped, along a text. Joiners (U+200D) and non-joiners (U+200C)
/// are part of the text between characters that are not ASCII, as in Persian, in Hindi and in joined emoji.
class SignReader {
 public:
  /// Whether the text begins with a visible character; `point` is its first code point.
  bool is_sign(std::string_view text, CodePoint point) {
    const bool sign = is_part(text, point);
    behind_sign_ = sign && point.value >= 0x80;
    return sign;
  }

 private:
  bool is_part(std::string_view text, CodePoint point) const {
    if (!point.valid || !is_hidden(point.value)) return point.valid;
    text.remove_prefix(point.bytes);
    if ((point.value != 0x200C && point.value != 0x200D) || !behind_sign_ || text.empty()) return false;
    const CodePoint next = first_code_point(text);
    return next.valid && next.value >= 0x80 && !is_hidden(next.value);
  }

  bool behind_sign_ = false;
};

std::string escaped(std::string_view bytes, CodePoint point) {
  if (!point.valid || point.value < 0x80) return fmt::format("\\x{:02x}", byte_at(bytes, 0));
  return point.value > 0xFFFF ? fmt::format("\\U{:08x}", static_cast<std::uint32_t>(point.value))
                              : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
}

std::string escaped(std::string_view text, bool one_line) {
  std::string result;
  result.reserve(text.size());
  SignReader reader;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const bool sign = reader.is_sign(text, point);
    const bool blank = point.value == '\n' || point.value == '\t';
    if (point.valid && blank && one_line) {
      result += point.value == '\n' ? "\\n" : "\\t";
    } else if (sign || (point.valid && blank)) {
      result += text.substr(0, point.bytes);
    } else {
      result += escaped(text, point);
    }
    text.remove_prefix(point.bytes);
  }
  return result;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  const std::size_t bytes = length_by(lead);
  if (bytes == 1) return {lead, 1, true};
  CodePoint broken{lead, 1, false};
  if (bytes == 0 || bytes > text.size()) return broken;
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return broken;
    value = (value << 6) | (byte_at(text, i) & 0x3F);
  }
  return is_proper(value, bytes) ? CodePoint{value, bytes, true} : broken;
}

bool is_hidden(char32_t code_point) {
  const auto holds = [code_point](const CodePoints& range) {
    return code_point >= range.first && code_point <= range.last;
  };
  return std::ranges::any_of(kHidden, holds);
}

std::size_t find_no_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    if (!point.valid) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

std::string with_escapes(std::string_view text) { return escaped(text, false); }
std::string line_with_escapes(std::string_view text) { return escaped(text, true); }

bool needs_no_escape(std::string_view text) {
  SignReader reader;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!reader.is_sign(text, point)) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

}  // namespace tune
