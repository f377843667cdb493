#include "commands/init/epilogues.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tune::commands {
namespace {

/// Macros that follow from the problem's being plain.
using Known = std::map<std::string, bool>;

/// Whether a plain product never defines this macro.
bool is_of_no_plain_product(const std::string& macro) {
  return macro.starts_with("epilogue_") || macro.starts_with("scale_a_") || macro.starts_with("scale_b_") ||
         macro == "groups_contiguous" || macro == "groups_masked";
}

/// The value of `!defined(epilogue_relu) && (A || B)` and the like; nullopt: it depends on other macros.
class Condition {
 public:
  Condition(const Tokens& tokens, std::size_t begin, const Known& known)
      : tokens_(&tokens), at_(begin), known_(&known) {}

  std::optional<bool> value() {
    const auto found = any();
    return at_ == tokens_->size() ? found : std::nullopt;
  }

 private:
  static bool is_sign_between(const Token& token) { return token.is("||") || token.is("&&") || token.is(")"); }

  bool take(std::string_view text) {
    const bool is_next = at_ < tokens_->size() && (*tokens_)[at_].is(text);
    at_ += is_next ? 1 : 0;
    return is_next;
  }

  std::optional<bool> any() {
    return joined("||", true, [this] { return all(); });
  }
  std::optional<bool> all() {
    return joined("&&", false, [this] { return one(); });
  }

  /// `decisive`: what makes the whole so, whatever the other operands are.
  template <typename Operand>
  std::optional<bool> joined(std::string_view sign, bool decisive, Operand operand) {
    std::optional<bool> whole = operand();
    while (take(sign)) {
      const auto next = operand();
      if (whole != decisive && (next == decisive || !next)) whole = next;
    }
    return whole;
  }

  std::optional<bool> one() {
    if (take("!")) {
      const auto value = one();
      return value ? std::optional(!*value) : std::nullopt;
    }
    if (take("(")) {
      const auto value = any();
      return take(")") ? value : std::nullopt;
    }
    const bool asks = take("defined"), bracket = asks && take("(");
    if (at_ == tokens_->size()) return std::nullopt;
    const std::string& name = (*tokens_)[at_++].text;
    if (bracket && !take(")")) return std::nullopt;
    bool is_operand = false;  // of a comparison or a sum
    for (; at_ < tokens_->size() && !is_sign_between((*tokens_)[at_]); ++at_) is_operand = true;
    if (is_operand) return std::nullopt;
    if (is_of_no_plain_product(name)) return false;
    const auto found = known_->find(name);
    if (found == known_->end()) return std::nullopt;
    return asks || found->second;
  }

  const Tokens* tokens_;
  std::size_t at_;
  const Known* known_;
};

class PlainSource {
 public:
  PlainSource(SourceText& text, Known& known) : text_(&text), known_(&known) {}

  void reduce() {
    std::vector<Tokens> kept;
    for (Tokens& directive : text_->directives)
      if (!directive.empty() && stays(directive)) kept.push_back(std::move(directive));
    text_->directives = std::move(kept);
    std::erase_if(text_->code, [this](const Token& token) {
      return std::ranges::any_of(
          left_out_, [&](const auto& lines) { return lines.first < token.line && token.line < lines.second; });
    });
  }

 private:
  struct Open {
    bool is_known = false;  ///< the condition, and so which branch is compiled
    bool taken = false;     ///< one branch was compiled
    bool compiled = true;   ///< the present one is
  };

  bool compiled() const { return std::ranges::all_of(open_, &Open::compiled); }

  /// Whether the directive remains one; notes what it begins or ends.
  bool stays(Tokens& directive) {
    const bool before = compiled();
    const bool result = follow(directive, before);
    if (before && !compiled()) begin_ = directive[0].line;
    if (!before && compiled()) left_out_.emplace_back(begin_, directive[0].line);
    return result;
  }

  bool follow(Tokens& directive, bool is_compiled) {
    const std::string& kind = directive[0].text;
    if (kind == "if" || kind == "ifdef" || kind == "ifndef") {
      const auto value = kind == "if" ? Condition(directive, 1, *known_).value() : defined(directive, kind == "ifndef");
      open_.push_back({value.has_value(), value.value_or(false), value.value_or(true)});
      return is_compiled && !value;
    }
    if (open_.empty() || (!kind.starts_with("el") && kind != "endif")) {
      if (is_compiled && kind == "define") note(directive);
      return is_compiled;
    }
    Open& innermost = open_.back();
    if (kind == "endif") {
      const bool was_known = innermost.is_known;
      open_.pop_back();
      return !was_known && compiled();
    }
    if (!innermost.is_known) return is_compiled;
    const auto value = kind == "else" ? true : Condition(directive, 1, *known_).value();
    if (!innermost.taken && !value) {  // the conditions before it do not hold, and this one is not known
      directive[0].text = "if";
      innermost = {};
      return compiled();
    }
    innermost.compiled = !innermost.taken && value.value_or(false);
    innermost.taken = innermost.taken || innermost.compiled;
    return false;
  }

  std::optional<bool> defined(const Tokens& directive, bool negated) const {
    const bool is_known = directive.size() > 1 && is_of_no_plain_product(directive[1].text);
    return is_known ? std::optional(negated) : std::nullopt;
  }

  /// `#define HAS_BIAS 0` in a branch that is compiled because there is no epilogue.
  void note(const Tokens& directive) {
    const bool in_known = std::ranges::any_of(open_, &Open::is_known);
    const bool is_flag = directive.size() == 3 && (directive[2].is("0") || directive[2].is("1"));
    if (in_known && is_flag) known_->insert_or_assign(directive[1].text, directive[2].is("1"));
  }

  SourceText* text_;
  Known* known_;
  std::vector<Open> open_;
  int begin_ = 0;
  std::vector<std::pair<int, int>> left_out_;  ///< the lines before and after
};

}  // namespace

void leave_out_epilogues(std::vector<SourceText>& sources) {
  Known known;
  std::size_t before = 0;
  do {  // what one defines, another may ask for that was read before it
    before = known.size();
    for (SourceText& source : sources) PlainSource(source, known).reduce();
  } while (known.size() > before);
}

}  // namespace tune::commands
