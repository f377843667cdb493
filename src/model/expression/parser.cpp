#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/expression/code_writer.h"
#include "model/expression/lexer.h"

namespace tune {
namespace {

constexpr std::array<std::string_view, 6> kKeywords = {"and", "or", "not", "in", "if", "else"};
constexpr int kMaxDepth = 300;  // three for each pair of parentheses

std::optional<Op> find(Syntax syntax, std::string_view text) {
  for (const Operator& one : kOperators)
    if (one.syntax == syntax && one.text == text) return one.op;
  return std::nullopt;
}

std::optional<Op> find_function(std::string_view name) {
  const auto function = find(Syntax::function, name);
  return function ? function : find(Syntax::selection, name);
}

Origin origin_of(const Token& token) { return {token.begin, token.begin, token.end}; }

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", text); }

/// Recursive descent, one function per level of Python's precedence, that writes instructions as it goes.
class Parser {
 public:
  Parser(std::string_view text, const Names& names) : lexer_(text), names_(names), writer_(text) {}
  Code parse();

 private:
  void conditional();
  void disjunction();
  void conjunction();
  void negation();
  void comparison();
  void membership(std::size_t begin);
  int elements();
  /// Parses an operand of a comparison.
  void operand() { infix(static_cast<Syntax>(static_cast<int>(Syntax::comparison) + 1)); }
  void infix(Syntax level);
  void sign();
  void power();
  void subscripts();
  void primary();
  void brackets();
  void name();
  void call(const Token& function);
  [[noreturn]] void fail_unknown(const Token& name) const;

  template <class Operand>
  void short_circuit(std::string_view keyword, Op jump, Operand operand);
  template <class Operand>
  void right_operand(Op op, std::size_t begin, Operand operand);
  void check_arguments(const Token& function, Op op, int count) const;

  bool at(std::string_view text) const { return token_.text == text; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  void advance();
  [[noreturn]] void fail_expected(const std::string& what) const;

  void emit_unary(Op op, std::size_t begin) { writer_.emit({op}, {begin, begin, last_end_}, 0); }

  /// Counts the nesting depth during its lifetime, so that no text can exhaust the stack.
  struct Nesting {
    explicit Nesting(Parser& parser) : depth(parser.depth_) {
      if (depth == kMaxDepth) throw ExpressionError(parser.token_.begin, "nested too deeply");
      ++depth;
    }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth;
  };

  Lexer lexer_;
  const Names& names_;
  CodeWriter writer_;
  Token token_;
  std::size_t last_end_ = 0;  // of the token before token_
  int depth_ = 0;
};

Code Parser::parse() {
  advance();
  conditional();
  if (token_.kind != Token::Kind::end) fail_expected("an operator");
  return writer_.finish();
}

/// `a if condition else b`: the condition comes second in the text and first in the code.
void Parser::conditional() {
  const Nesting nesting(*this);
  const std::size_t start = writer_.size();
  disjunction();
  if (!accept("if")) return;
  const std::size_t middle = writer_.size();
  writer_.begin_swap();
  disjunction();
  expect("else");
  writer_.emit_jump(Op::jump_unless, -1);
  const std::size_t condition = start + writer_.size() - middle - 1;
  writer_.swap(start, middle);
  const std::size_t jump = writer_.emit_jump(Op::jump, 0);
  writer_.land(condition);
  conditional();
  writer_.land(jump);
}

template <class Operand>
void Parser::short_circuit(std::string_view keyword, Op jump, Operand operand) {
  std::vector<std::size_t> jumps;
  operand();
  while (accept(keyword)) {
    jumps.push_back(writer_.emit_jump(jump, -1));
    operand();
  }
  for (const std::size_t from : jumps) writer_.land(from);
}

void Parser::disjunction() {
  short_circuit("or", Op::jump_if_or_drop, [this] { conjunction(); });
}

void Parser::conjunction() {
  short_circuit("and", Op::jump_unless_or_drop, [this] { negation(); });
}

void Parser::negation() {
  const Nesting nesting(*this);
  const std::size_t begin = token_.begin;
  if (!accept("not")) return comparison();
  negation();
  emit_unary(Op::logical_not, begin);
}

/// `a < b < c` is `a < b and b < c` with b computed once.
void Parser::comparison() {
  std::size_t begin = token_.begin;
  operand();
  if (at("in") || at("not")) return membership(begin);
  std::vector<std::size_t> links;
  for (auto op = find(Syntax::comparison, token_.text); op;) {
    advance();
    const std::size_t right = token_.begin;
    const std::size_t right_code = writer_.size();
    operand();
    const Origin origin{begin, right, last_end_};
    const auto next = find(Syntax::comparison, token_.text);
    if (next) {
      links.push_back(writer_.emit({.op = Op::link, .comparison = *op}, origin, -1));
    } else {
      writer_.emit_binary(*op, origin, right_code);
    }
    op = next;
    begin = right;
  }
  if (at("in") || at("not")) throw ExpressionError(token_.begin, "a comparison with 'in' needs parentheses");
  for (const std::size_t link : links) writer_.land(link);
}

/// Parses `in` or `not in` and what follows. Unlike Python, it does not chain them with other comparisons.
void Parser::membership(std::size_t begin) {
  const bool negated = accept("not");
  expect("in");
  const std::size_t right = token_.begin;
  const std::size_t right_code = writer_.size();
  if (at("[") || at("(")) {
    const int count = elements();
    if (count >= 0) writer_.emit({.op = Op::in_list, .index = count}, {begin, right, last_end_}, -count);
    if (count < 0) writer_.emit_binary(Op::contains, {begin, right, last_end_}, right_code);
  } else {
    operand();
    writer_.emit_binary(Op::contains, {begin, right, last_end_}, right_code);
  }
  if (negated) emit_unary(Op::logical_not, begin);
  if (at("in") || at("not") || find(Syntax::comparison, token_.text)) {
    throw ExpressionError(token_.begin, "a comparison after 'in' needs parentheses");
  }
}

/// Parses a list or tuple and returns the number of elements; -1 if it is one value in parentheses.
int Parser::elements() {
  const bool square = at("[");
  const std::string_view close = square ? "]" : ")";
  advance();
  int count = 0;
  while (!at(close)) {
    conditional();
    ++count;
    if (accept(",")) continue;
    if (!at(close)) fail_expected(fmt::format("',' or '{}'", close));
    if (!square && count == 1) count = -1;
    break;
  }
  expect(close);
  return count;
}

/// Reads the right operand of `op`, whose left operand starts at `begin`.
template <class Operand>
void Parser::right_operand(Op op, std::size_t begin, Operand operand) {
  const std::size_t right = token_.begin;
  const std::size_t right_code = writer_.size();
  operand();
  writer_.emit_binary(op, {begin, right, last_end_}, right_code);
}

/// Parses the left-associative operators of two operands from this level on.
void Parser::infix(Syntax level) {
  if (level == Syntax::sign) return sign();
  const auto tighter = static_cast<Syntax>(static_cast<int>(level) + 1);
  const std::size_t begin = token_.begin;
  infix(tighter);
  while (const auto op = find(level, token_.text)) {
    advance();
    right_operand(*op, begin, [&] { infix(tighter); });
  }
}

void Parser::sign() {
  const Nesting nesting(*this);
  const std::size_t begin = token_.begin;
  const std::size_t operand = writer_.size();
  const auto op = find(Syntax::sign, token_.text);
  if (!op) return power();
  advance();
  sign();
  if (*op == Op::negate && writer_.negate_literal(operand)) return;
  emit_unary(*op, begin);
}

/// `**` binds tighter than a sign on its left and looser than one on its right.
void Parser::power() {
  const std::size_t begin = token_.begin;
  subscripts();
  const auto op = find(Syntax::power, token_.text);
  if (!op) return;
  advance();
  right_operand(*op, begin, [this] { sign(); });
}

void Parser::subscripts() {
  const std::size_t begin = token_.begin;
  primary();
  while (accept("[")) {
    right_operand(Op::subscript, begin, [this] { conditional(); });
    expect("]");
  }
}

void Parser::primary() {
  if (token_.kind == Token::Kind::name) return name();
  if (at("(") || at("[")) return brackets();
  if (token_.kind != Token::Kind::literal) fail_expected("a value");
  writer_.emit_constant(token_.value, origin_of(token_));
  advance();
}

/// One value in parentheses, or a pair.
void Parser::brackets() {
  const std::size_t begin = token_.begin;
  const bool square = at("[");
  advance();
  conditional();
  if (!square && accept(")")) return;
  if (!at(",")) fail_expected(square ? "','" : "')'");
  advance();
  right_operand(Op::make_pair, begin, [this] { conditional(); });
  if (at(",")) throw ExpressionError(begin, "a list of more than two can only stand after 'in'");
  expect(square ? "]" : ")");
}

void Parser::name() {
  const Token token = token_;
  if (std::find(kKeywords.begin(), kKeywords.end(), token.text) != kKeywords.end()) fail_expected("a value");
  advance();
  if (at("(")) return call(token);
  if (token.text == "True" || token.text == "False") {
    return writer_.emit_constant(Bool{token.text == "True"}, origin_of(token));
  }
  const auto slot = names_.find(token.text);
  if (!slot) fail_unknown(token);
  writer_.emit_name(*slot, token.text, origin_of(token));
}

void Parser::fail_unknown(const Token& name) const {
  const std::array<std::string, 2> literals = {"True", "False"};
  const std::string nearest = names_.nearest(name.text);
  const std::string hint =
      nearest.empty() ? did_you_mean(name.text, literals) : fmt::format(", did you mean '{}'?", nearest);
  throw UnknownName(name.begin, std::string(name.text), hint);
}

void Parser::call(const Token& function) {
  const auto op = find_function(function.text);
  if (!op) {
    std::vector<std::string> names;
    for (const Operator& one : kOperators)
      if (find_function(one.text)) names.emplace_back(one.text);
    const std::string nearest = did_you_mean(function.text, names);
    throw ExpressionError(function.begin, fmt::format("unknown function '{}'", function.text),
                          nearest.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : nearest);
  }
  advance();
  const std::size_t begin = token_.begin;
  conditional();
  int count = 1;
  while (accept(",")) {
    ++count;
    const std::size_t right = token_.begin, right_code = writer_.size();
    conditional();
    const bool last = accept(")");  // so that the whole call is what a failure quotes
    writer_.emit_binary(*op, {function.begin, right, last_end_}, right_code);
    if (last) return check_arguments(function, *op, count);
  }
  expect(")");
  if (is_unary(*op) && count == 1) return emit_unary(*op, begin);
  check_arguments(function, *op, count);
}

void Parser::check_arguments(const Token& function, Op op, int count) const {
  const auto require = [&](bool holds, const char* text) {
    if (!holds) throw ExpressionError(function.begin, in_quotes(function.text) + text);
  };
  if (is_unary(op)) {
    require(count == 1, " takes one argument");
  } else if (operator_of(op).syntax == Syntax::function) {
    require(count == 2, " takes two arguments");
  } else {
    require(count >= 2, " takes two arguments or more");
  }
}

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view text) {
  if (!accept(text)) fail_expected(in_quotes(text));
}

void Parser::advance() {
  last_end_ = token_.end;
  token_ = lexer_.next();
}

void Parser::fail_expected(const std::string& what) const {
  const bool end = token_.kind == Token::Kind::end;
  throw ExpressionError(token_.begin, fmt::format("expected {} before {}", what, end ? "end" : in_quotes(token_.text)));
}

}  // namespace

Code parse_expression(std::string_view text, const Names& names) { return Parser(text, names).parse(); }

}  // namespace tune
