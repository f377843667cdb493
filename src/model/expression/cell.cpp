#include "model/expression/cell.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace tune {
namespace {

struct SetCell {
  Cell& cell;
  void operator()(std::int64_t integer) const { cell.set(integer); }
  void operator()(double real) const { cell.set(real); }
  void operator()(Bool boolean) const { cell.set(boolean.value); }
  void operator()(const std::string& text) const { cell.set(&text); }
  void operator()(Pair pair) const { cell.set(pair); }
};

/// Compares exact values: converting an integer beyond 2^53 would round it.
std::partial_ordering order(std::int64_t integer, double real) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= kTwoTo63) return std::partial_ordering::less;
  if (real < -kTwoTo63) return std::partial_ordering::greater;
  const auto whole = static_cast<std::int64_t>(real);
  if (integer != whole) return integer <=> whole;
  return static_cast<double>(whole) <=> real;
}

std::partial_ordering flipped(std::partial_ordering order) { return 0 <=> order; }

/// Precondition: both are numbers.
std::partial_ordering order_of_numbers(const Cell& left, const Cell& right) {
  if (left.is_integral()) return right.is_integral() ? left.integer <=> right.integer : order(left.integer, right.real);
  return right.is_integral() ? flipped(order(right.integer, left.real)) : left.real <=> right.real;
}

bool satisfies(Comparison comparison, std::partial_ordering order) {
  switch (comparison) {
    case Comparison::less:
      return order < 0;
    case Comparison::less_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_equal:
      return order >= 0;
    case Comparison::equal:
      return order == 0;
    case Comparison::not_equal:
      return order != 0;
  }
  return false;
}

}  // namespace

Cell to_cell(const Value& value) {
  Cell cell{};
  std::visit(SetCell{cell}, value);
  return cell;
}

Value to_value(const Cell& cell) {
  switch (cell.tag) {
    case Cell::Tag::integer:
      return cell.integer;
    case Cell::Tag::real:
      return cell.real;
    case Cell::Tag::boolean:
      return Bool{cell.integer != 0};
    case Cell::Tag::text:
      return *cell.text;
    case Cell::Tag::pair:
      return Pair{cell.integer, cell.second};
  }
  return {};
}

Fault not_a_number(const Cell& cell) {
  if (cell.tag == Cell::Tag::text) return "a text is not a number";
  if (cell.tag == Cell::Tag::pair) return "a pair is not a number";
  return nullptr;
}

Fault compare(Comparison comparison, const Cell& left, const Cell& right, bool& result) {
  if (left.is_number() && right.is_number()) {
    result = satisfies(comparison, order_of_numbers(left, right));
  } else if (left.tag == Cell::Tag::text && right.tag == Cell::Tag::text) {
    result = satisfies(comparison, *left.text <=> *right.text);
  } else if (left.tag == Cell::Tag::pair && right.tag == Cell::Tag::pair) {
    const auto first = left.integer <=> right.integer;
    result = satisfies(comparison, first != 0 ? first : left.second <=> right.second);
  } else if (comparison == Comparison::equal || comparison == Comparison::not_equal) {
    result = comparison == Comparison::not_equal;
  } else {
    const Fault fault = not_a_number(left);
    return fault ? fault : not_a_number(right);
  }
  return nullptr;
}

Fault contains(const Cell& left, const Cell& right, bool& result) {
  if (right.tag == Cell::Tag::pair) {
    const auto is_left = [&left](std::int64_t integer) {
      return left.is_number() && order_of_numbers(left, to_cell(integer)) == 0;
    };
    result = is_left(right.integer) || is_left(right.second);
    return nullptr;
  }
  if (right.tag != Cell::Tag::text) return "'in' needs a list, a pair or a text, which a number is not";
  if (left.tag != Cell::Tag::text) return "only a text can be in a text";
  result = right.text->find(*left.text) != std::string::npos;
  return nullptr;
}

bool among(const Cell& wanted, std::span<const Cell> elements) {
  return std::any_of(elements.begin(), elements.end(), [&](const Cell& element) {
    bool same = false;
    return !compare(Comparison::equal, wanted, element, same) && same;
  });
}

}  // namespace tune
