#include "model/expression/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/expression/expression.h"
#include "model/expression/operators.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"

namespace tune {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return is_of_identifier(c) && !is_decimal_digit(c); }

/// Operators of other languages, and what to write instead.
std::string advice(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kForeign = {
      {{"&&", "and"},
       {"||", "or"},
       {"!", "not"},
       {"=<", "<="},
       {"=>", ">="},
       {"=", "=="},
       {"<>", "!="},
       {"^", "**"},
       {"?", "a if condition else b"}}};
  for (const auto& [foreign, ours] : kForeign) {
    if (text.starts_with(foreign)) return fmt::format("unexpected '{}', use '{}'", foreign, ours);
  }
  return fmt::format("unexpected character '{}'", text.substr(0, first_code_point(text).bytes));
}

}  // namespace

Token Lexer::next() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  if (at_ == text_.size()) return take(Token::Kind::end, 0);
  const char c = text_[at_];
  const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (starts_name(c) || (c == '$' && starts_name(following))) return name();
  if (is_decimal_digit(c) || (c == '.' && is_decimal_digit(following))) return number();
  if (c == '\'' || c == '"') return quoted();
  return symbol();
}

Token Lexer::take(Token::Kind kind, std::size_t length) {
  Token token{kind, text_.substr(at_, length), at_, at_ + length, {}};
  at_ += length;
  return token;
}

/// A `$` in front is allowed and means nothing; a dot joins only names.
Token Lexer::name() {
  std::size_t end = at_ + 1;
  while (end < text_.size() && (is_of_identifier(text_[end]) ||
                                (text_[end] == '.' && end + 1 < text_.size() && starts_name(text_[end + 1])))) {
    ++end;
  }
  Token token = take(Token::Kind::name, end - at_);
  if (token.text[0] == '$') token.text.remove_prefix(1);
  return token;
}

Token Lexer::number() {
  std::size_t end = at_;
  while (end < text_.size()) {
    const bool exponent_sign = (text_[end] == '+' || text_[end] == '-') && (text_[end - 1] | 0x20) == 'e' &&
                               !text_.substr(at_).starts_with("0x");
    if (!is_of_identifier(text_[end]) && text_[end] != '.' && !exponent_sign) break;
    ++end;
  }
  Token token = take(Token::Kind::literal, end - at_);
  token.value = parse_value(token.text);
  if (!std::holds_alternative<std::string>(token.value)) return token;
  if (std::all_of(token.text.begin(), token.text.end(), is_decimal_digit) && token.text[0] != '0') {
    throw ExpressionError(token.begin, fmt::format("{} does not fit 64 bits", token.text));
  }
  throw ExpressionError(token.begin, fmt::format("'{}' is not a number", token.text));
}

Token Lexer::quoted() {
  std::string content;
  for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
    if (text_[end] == text_[at_]) {
      Token token = take(Token::Kind::literal, end + 1 - at_);
      token.value = std::move(content);
      return token;
    }
    if (text_[end] == '\\') {
      ++end;
      if (end == text_.size() || std::string_view("\\'\"").find(text_[end]) == std::string_view::npos) {
        throw ExpressionError(end - 1, "a backslash can only stand before a quote or a backslash");
      }
    }
    content += text_[end];
  }
  throw ExpressionError(at_, fmt::format("expected {} before end", text_[at_]));
}

/// The longest symbol is taken: `**` is not two `*`.
Token Lexer::symbol() {
  const std::string_view rest = text_.substr(at_);
  std::size_t length = std::string_view("()[],").find(rest[0]) == std::string_view::npos ? 0 : 1;
  for (const Operator& one : kOperators)
    if (!starts_name(one.text[0]) && rest.starts_with(one.text)) length = std::max(length, one.text.size());
  if (length == 0 || rest.starts_with("<>")) throw ExpressionError(at_, advice(rest));
  return take(Token::Kind::symbol, length);
}

}  // namespace tune
