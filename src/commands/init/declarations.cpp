#include "commands/init/declarations.h"

#include <string_view>

#include "commands/init/names_and_types.h"

namespace tune::commands {
namespace {

class Declarations {
 public:
  Declarations(const Tokens& tokens, DeclaredNames& names) : tokens_(&tokens), names_(&names) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!at(i).is_word()) continue;
      if (at(i).is("enum")) add_enumerators(i);
      if (at(i).is("enum") || at(i).is("struct") || at(i).is("union") || at(i).is("class")) add_variables_behind(i);
      if (at(i).is("goto")) names.insert(at(i + 1).text);
      if (at(i).is("template")) add_last_words(i + 1, "<");
      if (at(i).is("auto")) add_binding(i);
      if (is_introduced(i) || is_reference_to_array(i)) names.insert(at(i).text);
      if (at(i + 1).is("(")) add_parameters(i + 1);
      add_declaration(i);
    }
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token kNone;
    return i < tokens_->size() ? (*tokens_)[i] : kNone;
  }

  bool is_introduced(std::size_t i) const {
    if (i == 0) return false;
    const Token& before = at(i - 1);
    if (before.is(")")) {  // struct alignas(16) Name
      const std::size_t open = opening(*tokens_, i - 1);
      return open > 1 && (at(open - 1).is("alignas") || at(open - 1).is("__align__")) && at(i + 1).is("{");
    }
    if (before.is("namespace") || before.is("using")) return true;
    const bool is_typedef = at(i + 1).is(";") && [&] {
      for (std::size_t j = i; j-- > 0 && !at(j).is(";") && !at(j).is("}");)
        if (at(j).is("typedef")) return true;
      return false;
    }();
    return is_typedef || before.is("struct") || before.is("class") || before.is("union") || before.is("enum") ||
           before.is("typename");
  }

  /// `float (&sums)[4]`
  bool is_reference_to_array(std::size_t i) const {
    return i >= 2 && (at(i - 1).is("&") || at(i - 1).is("*")) && at(i - 2).is("(") && at(i + 1).is(")") &&
           (at(i + 2).is("[") || at(i + 2).is("("));
  }

  /// `union { int i; float f; } u, v[2];`
  void add_variables_behind(std::size_t i) {
    const auto ends = [](const Token& token) {
      return token.is("{") || token.is(";") || token.is("(") || token.is(")") || token.is("=");
    };
    while (i < tokens_->size() && !ends(at(i))) ++i;
    if (!at(i).is("{")) return;
    std::size_t name = closing(*tokens_, i) + 1;
    while (at(name).is("*")) ++name;
    if (add_name(name)) add_list(name);
  }

  void add_enumerators(std::size_t i) {
    while (i < tokens_->size() && !at(i).is("{") && !at(i).is(";")) ++i;
    if (!at(i).is("{")) return;
    const std::size_t end = closing(*tokens_, i);
    for (std::size_t j = i + 1; j < end; ++j)
      if (at(j).is_word() && (at(j - 1).is("{") || at(j - 1).is(","))) names_->insert(at(j).text);
  }

  void add_binding(std::size_t i) {
    ++i;
    while (at(i).is("&") || at(i).is("&&")) ++i;
    if (!at(i).is("[")) return;
    const std::size_t end = closing(*tokens_, i);
    for (std::size_t j = i; j < end; ++j)
      if (at(j).is_word()) names_->insert(at(j).text);
  }

  /// The last word of each entry of a list in angle brackets.
  void add_last_words(std::size_t open, std::string_view bracket) {
    if (!at(open).is(bracket)) return;
    int depth = 0;
    bool has_value = false;
    for (std::size_t i = open; i < tokens_->size() && !at(i).is("{") && !at(i).is(";"); ++i) {
      if (at(i).is("<")) ++depth;
      const bool ends = at(i).is(">") && --depth == 0;
      if (at(i).is("=")) has_value = true;
      const bool is_last = at(i + 1).is(",") || at(i + 1).is("=") || at(i + 1).is(">");
      if (at(i).is_word() && is_last && !has_value) names_->insert(at(i).text);
      if (at(i).is(",")) has_value = false;
      if (ends) return;
    }
  }

  /// Of a member in a constructor: `Row(int n) : size(n * VEC) {`.
  bool is_initializer(std::size_t open) const {
    if (open < 3) return false;
    const Token& before = at(open - 3);
    const bool is_access = before.is("public") || before.is("private") || before.is("protected");
    return at(open - 2).is(",") || (at(open - 2).is(":") && !is_access);
  }

  /// Of a function or lambda that is defined: `(T* x, int n) {`.
  void add_parameters(std::size_t open) {
    const std::size_t close = closing(*tokens_, open);
    const bool defined = at(close + 1).is("{") || (at(close + 1).is("const") && at(close + 2).is("{")) ||
                         at(close + 1).is("->") || (at(close + 1).is("mutable"));
    const bool control = open > 0 && cannot_be_type(at(open - 1).text);
    if (!defined || control || is_initializer(open)) return;
    for (std::size_t i = open + 1; i < close; ++i)
      if (at(i).is_word() && !is_keyword(at(i).text) && (at(i + 1).is(",") || i + 1 == close || at(i + 1).is("=")))
        names_->insert(at(i).text);
  }

  std::size_t after_angles(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i; j < tokens_->size(); ++j) {
      if (at(j).is("<")) ++depth;
      if (at(j).is(">") && --depth == 0) return j + 1;
      if (at(j).is(";") || at(j).is("{") || at(j).is("&&") || at(j).is("||")) break;
    }
    return i;
  }

  void add_declaration(std::size_t begin) {
    if (begin > 0 && (at(begin - 1).is(".") || at(begin - 1).is("->") || at(begin - 1).is("::"))) return;
    std::size_t i = begin;
    while (is_qualifier(at(i).text)) ++i;
    const bool qualified = i > begin;
    if (!at(i).is_word() || cannot_be_type(at(i).text)) return;
    const bool known = is_known_type(at(i).text);
    ++i;
    while (is_built_in_type(at(i).text) || (at(i).is("::") && at(i + 1).is_word())) i += at(i).is("::") ? 2 : 1;
    if (at(i).is("<")) i = after_angles(i);
    while (at(i).is("::") && at(i + 1).is_word()) i += 2;
    bool is_pointer = false;
    for (; at(i).is("*") || at(i).is("&") || at(i).is("&&") || is_qualifier(at(i).text); ++i)
      is_pointer = is_pointer || !at(i).is_word();
    const bool begins = begin == 0 || at(begin - 1).is(";") || at(begin - 1).is("{") || at(begin - 1).is("}");
    const bool is_clear = known || qualified || begins || at(i + 1).is(":") || at(i + 1).is("=");
    if (is_pointer && !is_clear) return;  // it may be a product
    if (!add_name(i)) return;
    add_list(i);
  }

  bool add_name(std::size_t i) {
    if (!at(i).is_word() || is_keyword(at(i).text)) return false;
    for (const std::string_view next : {"=", ";", ",", ")", "[", "{", ":", "("})
      if (at(i + 1).is(next)) {
        names_->insert(at(i).text);
        return true;
      }
    return false;
  }

  /// What follows the first name: `a = 1, *b, c[N];`
  void add_list(std::size_t i) {
    for (; i < tokens_->size() && !at(i).is(";") && !at(i).is(")") && !at(i).is("}"); ++i) {
      if (at(i).is("(") || at(i).is("[") || at(i).is("{")) {
        const bool is_function = at(i).is("(") && at(closing(*tokens_, i) + 1).is("{");
        i = closing(*tokens_, i);
        if (is_function) return;
      }
      if (!at(i).is(",")) continue;
      while (at(i + 1).is("*") || at(i + 1).is("&")) ++i;
      add_name(i + 1);
    }
  }

  const Tokens* tokens_;
  DeclaredNames* names_;
};

}  // namespace

void add_declared(const Tokens& code, DeclaredNames& names) { Declarations(code, names); }

}  // namespace tune::commands
