#include "model/expression/expression_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

namespace tune {
namespace {

Computed combine_two(Op op, const Computed& left, const Computed& right) {
  if (left.fault) return left;
  if (right.fault) return right;
  Computed result;
  const bool integers = left.cell.tag == Cell::Tag::integer && right.cell.tag == Cell::Tag::integer;
  std::int64_t integer = 0;
  if (integers && apply_integers(op, left.cell.integer, right.cell.integer, integer)) {
    if (is_comparison(op)) {
      result.cell.set(integer != 0);
    } else {
      result.cell.set(integer);
    }
    return result;
  }
  result.cell = left.cell;
  result.fault = apply(op, result.cell, right.cell);
  return result;
}

Computed combine_member(std::span<const Computed* const> operands) {
  std::vector<Cell> elements;
  for (const Computed* operand : operands) {
    if (operand->fault) return *operand;
    elements.push_back(operand->cell);
  }
  Computed result;
  result.cell.set(among(elements[0], std::span(elements).subspan(1)));
  return result;
}

std::string key_of(const Term& term) {
  std::string key = fmt::format("{}.{}.{}.{}", static_cast<int>(term.kind), static_cast<int>(term.op), term.variable,
                                fmt::join(term.operands, ","));
  if (term.kind != Term::Kind::constant) return key;
  const Cell& cell = term.value.cell;
  key += fmt::format(":{}:", static_cast<int>(cell.tag));
  if (term.value.fault) return key + term.value.fault;
  if (cell.tag == Cell::Tag::text) return key + *cell.text;
  return key + fmt::format("{}:{}", cell.integer, cell.tag == Cell::Tag::pair ? cell.second : 0);
}

}  // namespace

Computed combine(const Term& term, std::span<const Computed* const> operands) {
  const Computed& first = *operands[0];
  switch (term.kind) {
    case Term::Kind::unary: {
      Computed result = first;
      if (!result.fault) result.fault = apply(term.op, result.cell);
      return result;
    }
    case Term::Kind::binary:
      return combine_two(term.op, first, *operands[1]);
    case Term::Kind::conjunction:
      return first.is_true() ? *operands[1] : first;
    case Term::Kind::disjunction:
      return first.fault || first.is_true() ? first : *operands[1];
    case Term::Kind::choice:
      if (first.fault) return first;
      return first.is_true() ? *operands[1] : *operands[2];
    case Term::Kind::member:
      return combine_member(operands);
    case Term::Kind::constant:
    case Term::Kind::variable:
      break;
  }
  assert(false);
  return {};
}

/// Turns the instructions of an expression back into terms by running them with terms as values.
class ExpressionGraph::Reader {
 public:
  Reader(ExpressionGraph& terms, const Code& code, std::span<const int> meaning)
      : terms_(terms), code_(code), meaning_(meaning) {}

  int read() {
    read(0, code_.instructions.size());
    assert(stack_.size() == 1);
    return stack_.back();
  }

 private:
  void read(std::size_t at, std::size_t end) {
    while (at < end) at = step(at);
  }

  int take() {
    const int term = stack_.back();
    stack_.pop_back();
    return term;
  }

  /// What the instructions [begin, end) leave on the stack.
  int read_branch(std::size_t begin, std::size_t end) {
    read(begin, end);
    return take();
  }

  void push(Term::Kind kind, Op op, std::vector<int> operands) {
    stack_.push_back(terms_.folded(Term{.kind = kind, .op = op, .operands = std::move(operands), .support = {}}));
  }

  int operand(const Instruction& instruction) {
    const auto index = static_cast<std::size_t>(instruction.index);
    if (instruction.source == OperandSource::slot) return meaning_[index];
    if (instruction.source == OperandSource::constant) return terms_.constant(code_.constants[index]);
    return take();
  }

  /// Returns where the next instruction is.
  std::size_t step(std::size_t at) {
    const Instruction& instruction = code_.instructions[at];
    const std::size_t target = at + static_cast<std::size_t>(instruction.index);
    switch (instruction.op) {
      case Op::load:
        stack_.push_back(operand(instruction));
        return at + 1;
      case Op::in_list: {
        const auto first = stack_.end() - instruction.index - 1;
        std::vector<int> operands(first, stack_.end());
        stack_.erase(first, stack_.end());
        push(Term::Kind::member, Op::load, std::move(operands));
        return at + 1;
      }
      case Op::jump_unless: {
        const int condition = take();
        // The branch taken ends with a jump over the other one.
        const std::size_t over = target - 1;
        const std::size_t end = over + static_cast<std::size_t>(code_.instructions[over].index);
        const int then = read_branch(at + 1, over);
        const int otherwise = read_branch(target, end);
        push(Term::Kind::choice, Op::load, {condition, then, otherwise});
        return end;
      }
      case Op::jump_unless_or_drop:
      case Op::jump_if_or_drop: {
        const int left = take();
        const int right = read_branch(at + 1, target);
        const bool both = instruction.op == Op::jump_unless_or_drop;
        push(both ? Term::Kind::conjunction : Term::Kind::disjunction, Op::load, {left, right});
        return target;
      }
      case Op::link: {
        const int right = take();
        const int left = take();
        push(Term::Kind::binary, instruction.comparison, {left, right});
        const int holds = take();
        stack_.push_back(right);
        const int rest = read_branch(at + 1, target);
        push(Term::Kind::conjunction, Op::load, {holds, rest});
        return target;
      }
      default: {
        if (is_unary(instruction.op)) {
          push(Term::Kind::unary, instruction.op, {take()});
          return at + 1;
        }
        const int right = operand(instruction);
        const int left = take();
        push(Term::Kind::binary, instruction.op, {left, right});
        return at + 1;
      }
    }
  }

  ExpressionGraph& terms_;
  const Code& code_;
  std::span<const int> meaning_;
  std::vector<int> stack_;
};

int ExpressionGraph::constant(const Value& value) {
  return intern(Term{.value = {to_cell(value), nullptr}, .operands = {}, .support = {}});
}

int ExpressionGraph::variable(int index) {
  return intern(Term{.kind = Term::Kind::variable, .variable = index, .operands = {}, .support = {index}});
}

int ExpressionGraph::add(const Expression& expression, std::span<const int> meaning) {
  return Reader(*this, expression.code(), meaning).read();
}

int ExpressionGraph::intern(Term term) {
  const auto [known, is_new] = known_.try_emplace(key_of(term), static_cast<int>(terms_.size()));
  if (is_new) terms_.push_back(std::move(term));
  return known->second;
}

/// Replaces a term of constants by a constant, and a branch whose condition is constant by the operand taken.
int ExpressionGraph::folded(Term term) {
  const auto is_constant = [this](int operand) { return (*this)[operand].kind == Term::Kind::constant; };
  const bool branches =
      term.kind == Term::Kind::conjunction || term.kind == Term::Kind::disjunction || term.kind == Term::Kind::choice;
  if (branches && is_constant(term.operands[0])) {
    const Computed& first = (*this)[term.operands[0]].value;
    if (term.kind == Term::Kind::conjunction) return term.operands[first.is_true() ? 1 : 0];
    if (first.fault) return term.operands[0];
    if (term.kind == Term::Kind::disjunction) return term.operands[first.is_true() ? 0 : 1];
    return term.operands[first.is_true() ? 1 : 2];
  }
  std::vector<const Computed*> values;
  for (const int operand : term.operands) {
    const std::vector<int>& support = (*this)[operand].support;
    term.support.insert(term.support.end(), support.begin(), support.end());
    values.push_back(&(*this)[operand].value);
  }
  std::sort(term.support.begin(), term.support.end());
  term.support.erase(std::unique(term.support.begin(), term.support.end()), term.support.end());
  if (!std::all_of(term.operands.begin(), term.operands.end(), is_constant)) return intern(std::move(term));
  const Computed value = combine(term, values);
  return intern(Term{.value = value, .operands = {}, .support = {}});
}

int ExpressionGraph::both(int left, int right) {
  return folded(Term{.kind = Term::Kind::conjunction, .operands = {left, right}, .support = {}});
}

int ExpressionGraph::negation(int term) {
  return folded(Term{.kind = Term::Kind::unary, .op = Op::logical_not, .operands = {term}, .support = {}});
}

std::vector<int> ExpressionGraph::conjuncts(int term) {
  const Term whole = (*this)[term];
  std::vector<int> parts;
  const auto add = [&](int part) {
    const std::vector<int> inner = conjuncts(part);
    parts.insert(parts.end(), inner.begin(), inner.end());
  };
  if (whole.kind == Term::Kind::conjunction) {
    for (const int operand : whole.operands) add(operand);
    return parts;
  }
  if (whole.kind == Term::Kind::unary && whole.op == Op::logical_not) {
    const Term inner = (*this)[whole.operands[0]];
    if (inner.kind == Term::Kind::disjunction) {
      for (const int operand : inner.operands) add(negation(operand));
      return parts;
    }
    if (inner.kind == Term::Kind::unary && inner.op == Op::logical_not) return conjuncts(inner.operands[0]);
  }
  return {term};
}

}  // namespace tune
