#include "commands/init/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

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
      if (std::exchange(in_directive_, false)) skip_hidden_code();
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
    if (rest().starts_with("R\"")) return add(Token::Kind::text, raw_text_end());
    if (begins_word(c)) return add(Token::Kind::word, word_end());
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return add(Token::Kind::number, number_end());
    if (c == '"' || c == '\'') return add(Token::Kind::text, text_end(c));
    for (const std::string_view sign : kLongSigns)
      if (rest().starts_with(sign)) return add(Token::Kind::sign, at_ + sign.size());
    add(Token::Kind::sign, at_ + 1);
  }

  /// `R"delimiter( ... )delimiter"`
  std::size_t raw_text_end() const {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - std::min(open, at_ + 2))) + "\"";
    const std::size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : end + close.size();
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

  /// Notes whether what follows a directive is hidden from the compilers of kernels.
  void skip_hidden_code() {
    const Tokens directive = result_.directives.back();
    if (directive.empty()) return;
    const std::string& kind = directive[0].text;
    const bool begins = kind == "ifdef" || kind == "ifndef" || kind == "if";
    const bool goes_on = kind == "else" || kind == "elif", ends = kind == "endif";
    if (is_disabled_ && (hidden_depth_ > 1 || !(goes_on || ends))) result_.directives.pop_back();
    if (begins) begin_condition(directive);
    if (goes_on && hidden_depth_ <= 1 && !holds_.empty())
      hide(holds_.back() || (kind == "elif" && answer_of(directive) == Answer::no));
    if (!ends || holds_.empty()) return;
    holds_.pop_back();
    if (hidden_depth_ > 0 && --hidden_depth_ == 0) is_disabled_ = false;
  }

  void begin_condition(const Tokens& directive) {
    const Answer answer = answer_of(directive);
    holds_.push_back(answer == Answer::yes);
    if (hidden_depth_ > 0) {
      ++hidden_depth_;
    } else if (answer == Answer::no) {
      hide(true);
    } else if (hides_host_code(directive)) {
      hidden_depth_ = 1;
    }
  }

  /// Hides a branch that no build has, with its directives, or ends that.
  void hide(bool disabled) {
    is_disabled_ = disabled;
    hidden_depth_ = disabled ? 1 : 0;
  }

  /// What a condition is whatever the build defines.
  enum class Answer { no, yes, open };
  static Answer answer_of(const Tokens& directive) {
    constexpr std::array<std::string_view, 5> kElsewhere = {"_WIN32", "_WIN64", "_MSC_VER", "__APPLE__", "__MINGW32__"};
    const auto is_elsewhere = [&](std::size_t i) {
      return i < directive.size() && std::ranges::find(kElsewhere, directive[i].text) != kElsewhere.end();
    };
    if (directive[0].is("ifdef")) return is_elsewhere(1) ? Answer::no : Answer::open;
    if (directive[0].is("ifndef") || directive.size() < 2) return is_elsewhere(1) ? Answer::yes : Answer::open;
    const std::size_t name = directive[1].is("defined") ? directive.size() > 2 && directive[2].is("(") ? 3 : 2 : 1;
    const std::size_t behind = name == 3 ? 5 : name + 1;
    if (is_elsewhere(name)) return directive.size() == behind ? Answer::no : Answer::open;
    if (directive.size() > 2) return Answer::open;
    return directive[1].is("0") || directive[1].is("false")  ? Answer::no
           : directive[1].is("1") || directive[1].is("true") ? Answer::yes
                                                             : Answer::open;
  }

  static bool hides_host_code(const Tokens& directive) {
    const bool negates = directive[0].is("ifndef") || (directive.size() > 1 && directive[1].is("!"));
    return negates && std::ranges::any_of(directive, [](const Token& token) {
             return token.is("__CUDACC_RTC__") || token.is("__HIPCC_RTC__") || token.is("__CUDA_ARCH__");
           });
  }

  void add(Token::Kind kind, std::size_t end) {
    if (hidden_depth_ > 0 && !in_directive_) return skip_to(end);
    Tokens& tokens = in_directive_ ? result_.directives.back() : result_.code;
    tokens.push_back({kind, std::string(text_.substr(at_, end - at_)), line_});
    skip_to(end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true, in_directive_ = false;
  int hidden_depth_ = 0;      ///< of conditions, within what is hidden
  bool is_disabled_ = false;  ///< what is hidden is so from all compilers
  std::vector<bool> holds_;   ///< of each open condition, whether its first branch is the one that is compiled
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
