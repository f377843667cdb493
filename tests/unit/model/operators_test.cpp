#include "model/expression/operators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "model/diagrams/interval_bounds.h"

/// Every row of the table of operators: what these tests say of the rows holds for one that is added, too.
namespace tune::operators_test {
namespace {

const std::vector<std::int64_t> kIntegers = {
    std::numeric_limits<std::int64_t>::min(), -1'000'000'007, -8, -3, -2, -1, 0, 1, 2, 3, 7, 64, 1'000'000'007,
    std::numeric_limits<std::int64_t>::max()};

std::string text_of(const Computed& computed) {
  return computed.fault ? computed.fault : to_text(to_value(computed.cell));
}

Computed result_of(Op op, const Cell& left, const Cell& right) {
  Computed result{left, nullptr};
  result.fault = is_unary(op) ? apply(op, result.cell) : apply(op, result.cell, right);
  return result;
}

TEST(Operators, FastWayOfIntegersAgreesWithTheGeneralOne) {
  for (const Operator& row : kOperators) {
    for (const std::int64_t a : kIntegers)
      for (const std::int64_t b : kIntegers) {
        std::int64_t fast = 0;
        if (!apply_integers(row.op, a, b, fast)) continue;
        const Computed general = result_of(row.op, to_cell(a), to_cell(b));
        ASSERT_EQ(general.fault, nullptr) << row.text;
        EXPECT_EQ(general.cell.integer, fast) << a << ' ' << row.text << ' ' << b;
        EXPECT_EQ(general.cell.tag, is_comparison(row.op) ? Cell::Tag::boolean : Cell::Tag::integer) << row.text;
      }
  }
}

/// Whether the bounds of the result hold what comes of each of the operands' values.
void expect_bounded(const Operator& row, const std::vector<Cell>& lefts, const std::vector<Cell>& rights) {
  const Term term{
      .kind = is_unary(row.op) ? Term::Kind::unary : Term::Kind::binary, .op = row.op, .operands = {}, .support = {}};
  const Bounds left = Bounds::of(lefts), right = Bounds::of(rights);
  const Bounds* const operands[] = {&left, &right};
  const Bounds bounds = bound(term, operands);
  for (const Cell& a : lefts)
    for (const Cell& b : rights) {
      const Computed result = result_of(row.op, a, b);
      const std::string what =
          fmt::format("{} {} {} is {}", text_of({a, nullptr}), row.text, text_of({b, nullptr}), text_of(result));
      EXPECT_TRUE(bounds.may_fail || !result.fault) << what;
      if (!bounds.range || result.fault) continue;
      bool above = false, below = false;
      compare(Comparison::greater_equal, result.cell, bounds.range->first, above);
      compare(Comparison::less_equal, result.cell, bounds.range->second, below);
      EXPECT_TRUE(above && below && result.cell.tag == bounds.range->first.tag) << what;
    }
}

TEST(Operators, BoundsHoldEveryResult) {
  std::vector<std::vector<Cell>> ranges;
  for (const std::vector<std::int64_t>& values : {std::vector<std::int64_t>{-5, -3, -1},
                                                  {-2, 0, 3},
                                                  {0, 1},
                                                  {5, 6, 9},
                                                  {64},
                                                  {INT64_MAX - 1, INT64_MAX},
                                                  {INT64_MIN, -1}}) {
    std::vector<Cell>& integers = ranges.emplace_back();
    std::vector<Cell> reals;
    for (const std::int64_t value : values) {
      integers.push_back(to_cell(value));
      reals.push_back(to_cell(static_cast<double>(value) / 4));
    }
    ranges.push_back(std::move(reals));
  }
  ranges.push_back({to_cell(Bool{false}), to_cell(Bool{true})});
  for (const Operator& row : kOperators)
    for (const std::vector<Cell>& left : ranges)
      for (const std::vector<Cell>& right : ranges) expect_bounded(row, left, right);
}

std::string written(const Operator& row) {
  const std::string text(row.text);
  const bool call = row.syntax == Syntax::function || row.syntax == Syntax::selection;
  if (call) return text + (is_unary(row.op) ? "(A)" : "(A, B)");
  return is_unary(row.op) ? text + "A" : "A " + text + " B";
}

TEST(Operators, AreParsedAsTheTableSays) {
  Names names;
  names.declare("A");
  names.declare("B");
  for (const Operator& row : kOperators) {
    if (row.syntax == Syntax::grammar) continue;
    for (const std::int64_t a : kIntegers) {
      const std::vector<Value> slots = {a, std::int64_t{3}};
      const Computed wanted = result_of(row.op, to_cell(slots[0]), to_cell(slots[1]));
      EvalFailure failure;
      const Value value = Expression::parse(written(row), names).evaluate(slots, failure);
      EXPECT_EQ(failure ? failure.what : to_text(value), text_of(wanted)) << written(row) << " for " << a;
    }
  }
}

}  // namespace
}  // namespace tune::operators_test
