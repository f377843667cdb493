#pragma once
#include <cstddef>
#include <string_view>

#include "model/values/value.h"

namespace tune {

/// A token. `text` is its spelling, for names without the `$`; `value` is the value of a literal.
struct Token {
  enum class Kind { name, literal, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;
  Value value;
};

/// Splits an expression into tokens, one at a time. Keywords are names here; `**`, `//`, `<=` and such are one symbol.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// Throws ExpressionError.
  Token next();

 private:
  Token take(Token::Kind kind, std::size_t length);
  Token name();
  Token number();
  Token quoted();
  Token symbol();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace tune
