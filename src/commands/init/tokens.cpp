#include "commands/init/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tune::commands {
namespace {

bool begins_word(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool continues_word(char c) { return begins_word(c) || is_digit(c); }

/// The signs of more than one character that are told from their parts. `>>` is none: it may close two templates.
constexpr std::array<std::string_view, 21> kLongSigns = {"<<<", ">>>", "<<=", ">>=", "...", "::", "->",
                                                         "++",  "--",  "<=",  ">=",  "==",  "!=", "&&",
                                                         "||",  "+=",  "-=",  "*=",  "/=",  "##", "<<"};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  SourceText read() {
    while (at_ < text_.size()) step();
    return std::move(result_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
      in_directive_ = false;
      begins_line_ = true;
    } else if (rest().starts_with("\\\n") || rest().starts_with("\\\r\n")) {
      at_ += text_[at_ + 1] == '\r' ? 3 : 2;
      ++line_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (rest().starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest().starts_with("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      skip_to(end == std::string_view::npos ? text_.size() : end + 2);
    } else if (c == '#' && begins_line_) {
      ++at_;
      in_directive_ = true;
      begins_line_ = false;
      result_.directives.emplace_back();
    } else {
      begins_line_ = false;
      add_token();
    }
  }

  void skip_to(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void add_token() {
    const char c = text_[at_];
    if (begins_word(c)) return add(Token::Kind::word, word_end());
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return add(Token::Kind::number, number_end());
    if (c == '"' || c == '\'') return add(Token::Kind::text, text_end(c));
    for (const std::string_view sign : kLongSigns)
      if (rest().starts_with(sign)) return add(Token::Kind::sign, at_ + sign.size());
    add(Token::Kind::sign, at_ + 1);
  }

  std::size_t word_end() const {
    std::size_t end = at_;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    return end;
  }

  std::size_t number_end() const {
    std::size_t end = at_;
    while (end < text_.size() && (continues_word(text_[end]) || text_[end] == '.' || text_[end] == '\'' ||
                                  ((text_[end] == '+' || text_[end] == '-') && is_exponent(text_[end - 1]))))
      ++end;
    return end;
  }

  /// Of a decimal number: in 0x1e+1 the sign adds.
  bool is_exponent(char c) const { return (c == 'e' || c == 'E') && !rest().starts_with("0x"); }

  std::size_t text_end(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text_.size());
  }

  void add(Token::Kind kind, std::size_t end) {
    Tokens& tokens = in_directive_ ? result_.directives.back() : result_.code;
    tokens.push_back({kind, std::string(text_.substr(at_, end - at_)), line_});
    skip_to(end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true, in_directive_ = false;
  SourceText result_;
};

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

}  // namespace

SourceText read_tokens(std::string_view text) { return Reader(text).read(); }

std::size_t closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::text) continue;
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i]) && --depth == 0) return i;
  }
  return tokens.size();
}

std::size_t opening(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (tokens[i].kind == Token::Kind::text) continue;
    if (closes(tokens[i])) ++depth;
    if (opens(tokens[i]) && --depth == 0) return i;
  }
  return 0;
}

}  // namespace tune::commands
