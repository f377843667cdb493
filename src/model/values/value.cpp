#include "model/values/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "model/values/escaped_text.h"
#include "model/values/text.h"

namespace tune {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <class Number, class... Format>
std::optional<Number> read_all(std::string_view digits, Format... format) {
  Number number{};
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, format...);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// `digits` has no sign. Leading zeros mean octal to some readers and decimal to others, so they are not an integer.
std::optional<std::int64_t> parse_integer(std::string_view digits, bool negative) {
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (!hexadecimal && digits.size() > 1 && digits[0] == '0') return std::nullopt;
  const auto magnitude = hexadecimal ? read_all<std::uint64_t>(digits.substr(2), 16) : read_all<std::uint64_t>(digits);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (!magnitude || *magnitude > kLargest + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -*magnitude : *magnitude);
}

/// `digits` has no sign. Only texts with a point or an exponent are reals, so that a huge integer stays a text.
std::optional<double> parse_float(std::string_view digits, bool negative) {
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;
  if (digits.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  const auto magnitude = read_all<double>(digits, std::chars_format::general);
  if (!magnitude) return std::nullopt;
  return negative ? -*magnitude : *magnitude;
}

std::optional<Bool> parse_bool(std::string_view text) {
  if (text == "true" || text == "false") return Bool{text == "true", true};
  if (text == "True" || text == "TRUE") return Bool{true};
  if (text == "False" || text == "FALSE") return Bool{false};
  return std::nullopt;
}

std::string text_of(double number) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string text(buffer.data(), end);
  const bool looks_like_integer = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_like_integer ? text + ".0" : text;
}

/// Words that readers of YAML 1.1 or 1.2 take for null or a boolean.
bool is_reserved_word(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                             "on",   "off",  "y",     "n"};
  return std::find(kWords.begin(), kWords.end(), lower_case(text)) != kWords.end();
}

/// Whether every YAML reader takes the plain scalar for a text, in block and in flow context. In doubt it is false.
bool is_plain(std::string_view text) {
  if (text.empty() || text.back() == ' ' || is_reserved_word(text)) return false;
  const auto harmless = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_./+-* ").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), harmless)) return false;
  if (is_letter(text[0]) || text[0] == '_' || text[0] == '/') return true;
  const bool other_base = text[0] == '0' && text.size() > 1 && is_letter(text[1]);
  return is_digit(text[0]) && !other_base && std::any_of(text.begin(), text.end(), is_letter) &&
         std::holds_alternative<std::string>(parse_value(text));
}

std::string shown_control(char32_t control) { return fmt::format("\\x{:02x}", static_cast<unsigned>(control)); }

/// Quotes as YAML does: escapes are allowed in double quotes only, where they mean the same as in shown texts.
std::string quoted(const std::string& text) {
  std::string out;
  if (needs_no_escape(text)) {
    for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
    return fmt::format("'{}'", out);
  }
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = first_code_point(rest);
    const std::string_view bytes = rest.substr(0, point.bytes);
    if (point.valid && is_hidden(point.value)) {
      out += point.value < 0x80 ? shown_control(point.value) : line_with_escapes(bytes);
    } else {
      out += bytes == "\"" || bytes == "\\" ? '\\' + std::string(bytes) : std::string(bytes);
    }
    rest.remove_prefix(point.bytes);
  }
  return '"' + out + '"';
}

std::string parenthesized_if_negative(const std::string& number) {
  return number[0] == '-' ? fmt::format("({})", number) : number;
}

std::string define_text(std::int64_t integer) {
  // C++ has no negative literals, and the magnitude of the smallest integer does not fit.
  if (integer == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807-1)";
  return parenthesized_if_negative(std::to_string(integer));
}

struct ToText {
  std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
  std::string operator()(double number) const { return text_of(number); }
  std::string operator()(Bool boolean) const {
    if (boolean.lower_case) return boolean.value ? "true" : "false";
    return boolean.value ? "True" : "False";
  }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(Pair pair) const { return fmt::format("[{}, {}]", pair.first, pair.second); }
};

struct ToDefines {
  const std::string& name;

  std::vector<Define> operator()(std::int64_t integer) const { return {{name, define_text(integer)}}; }
  std::vector<Define> operator()(double number) const { return {{name, parenthesized_if_negative(text_of(number))}}; }
  std::vector<Define> operator()(Bool boolean) const { return {{name, boolean.value ? "1" : "0"}}; }
  std::vector<Define> operator()(const std::string& text) const {
    std::vector<Define> defines{{name, text}};
    if (is_identifier(text)) defines.push_back({name + "_" + text, "1"});
    return defines;
  }
  std::vector<Define> operator()(Pair pair) const {
    return {{name + "_0", define_text(pair.first)}, {name + "_1", define_text(pair.second)}};
  }
};

}  // namespace

Value parse_value(std::string_view plain) {
  const bool negative = plain.starts_with('-');
  const std::string_view digits = negative || plain.starts_with('+') ? plain.substr(1) : plain;
  if (const auto integer = parse_integer(digits, negative)) return *integer;
  if (const auto number = parse_float(digits, negative)) return *number;
  if (const auto boolean = parse_bool(plain)) return *boolean;
  return std::string(plain);
}

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::string to_text(const Value& value) { return std::visit(ToText{}, value); }

std::string to_yaml(const Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text && !is_plain(*text) ? quoted(*text) : to_text(value);
}

std::vector<Define> to_defines(const std::string& name, const Value& value) {
  return std::visit(ToDefines{name}, value);
}

}  // namespace tune
