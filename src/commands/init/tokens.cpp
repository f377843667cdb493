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
    const bool was_disabled = is_any(Branch::disabled);
    if (kind == "if" || kind == "ifdef" || kind == "ifndef") {
      conditions_.push_back({});
      begin_branch(directive);
    } else if (!conditions_.empty() && kind == "endif") {
      conditions_.pop_back();
    } else if (!conditions_.empty() && (kind == "else" || kind.starts_with("elif"))) {
      begin_branch(directive);
    }
    if (was_disabled && (is_any(Branch::disabled) || kind == "endif")) result_.directives.pop_back();
  }

  enum class Branch { shown, of_host_code, disabled };
  /// An `#if` that has not ended.
  struct Condition {
    Branch branch = Branch::shown;
    bool is_decided = false;  ///< one of its branches is compiled whatever the build defines, and no later one
  };

  void begin_branch(const Tokens& directive) {
    Condition& condition = conditions_.back();
    const Answer answer = answer_of(directive);
    condition.branch = condition.is_decided || answer == Answer::no ? Branch::disabled
                       : hides_host_code(directive)                 ? Branch::of_host_code
                                                                    : Branch::shown;
    condition.is_decided = condition.is_decided || answer == Answer::yes;
  }

  bool is_any(Branch branch) const {
    return std::ranges::find(conditions_, branch, &Condition::branch) != conditions_.end();
  }

  /// What a condition is whatever the build defines.
  enum class Answer { no, yes, open };
  static Answer answer_of(const Tokens& directive) {
    constexpr std::array<std::string_view, 5> kElsewhere = {"_WIN32", "_WIN64", "_MSC_VER", "__APPLE__", "__MINGW32__"};
    const auto is_elsewhere = [&](std::size_t i) {
      return i < directive.size() && std::ranges::find(kElsewhere, directive[i].text) != kElsewhere.end();
    };
    const std::string& kind = directive[0].text;
    if (kind.ends_with("ndef")) return is_elsewhere(1) ? Answer::yes : Answer::open;
    if (kind.ends_with("def")) return is_elsewhere(1) ? Answer::no : Answer::open;
    if (directive.size() < 2) return Answer::open;
    const std::size_t name = directive[1].is("defined") ? directive.size() > 2 && directive[2].is("(") ? 3 : 2 : 1;
    const std::size_t behind = name == 3 ? 5 : name + 1;
    if (is_elsewhere(name)) return directive.size() == behind ? Answer::no : Answer::open;
    if (directive.size() > 2) return Answer::open;
    return directive[1].is("0") || directive[1].is("false")  ? Answer::no
           : directive[1].is("1") || directive[1].is("true") ? Answer::yes
                                                             : Answer::open;
  }

  static bool hides_host_code(const Tokens& directive) {
    const bool negates = directive[0].text.ends_with("ndef") || (directive.size() > 1 && directive[1].is("!"));
    return negates && std::ranges::any_of(directive, [](const Token& token) {
             return token.is("__CUDACC_RTC__") || token.is("__HIPCC_RTC__") || token.is("__CUDA_ARCH__");
           });
  }

  void add(Token::Kind kind, std::size_t end) {
    const bool is_hidden = is_any(Branch::of_host_code) || is_any(Branch::disabled);
    if (is_hidden && !in_directive_) return skip_to(end);
    Tokens& tokens = in_directive_ ? result_.directives.back() : result_.code;
    tokens.push_back({kind, std::string(text_.substr(at_, end - at_)), line_});
    skip_to(end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true, in_directive_ = false;
  std::vector<Condition> conditions_;  ///< the outermost first
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
