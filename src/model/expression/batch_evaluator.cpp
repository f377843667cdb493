#include "model/expression/batch_evaluator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tune {
namespace {

using Tag = Cell::Tag;

/// The kind of a step's result; nullopt if it is not always an integer or always a boolean.
std::optional<Tag> tag_of(const Term& term, std::span<const std::optional<Tag>> operands) {
  const auto is_integer = [](const std::optional<Tag>& tag) { return tag == Tag::integer; };
  if (!std::ranges::all_of(operands, [](const auto& tag) { return tag.has_value(); })) return std::nullopt;
  const bool integers = std::ranges::all_of(operands, is_integer);
  switch (term.kind) {
    case Term::Kind::unary:
      if (term.op == Op::logical_not) return Tag::boolean;
      return integers && term.op == Op::negate ? std::optional(Tag::integer) : std::nullopt;
    case Term::Kind::binary:
      if (is_comparison(term.op)) return Tag::boolean;
      return integers && operator_of(term.op).on_integers != integers::none ? std::optional(Tag::integer)
                                                                            : std::nullopt;
    case Term::Kind::conjunction:
    case Term::Kind::disjunction:
      return operands[0] == operands[1] ? operands[0] : std::nullopt;
    case Term::Kind::choice:
      return operands[1] == operands[2] ? operands[1] : std::nullopt;
    case Term::Kind::member:
      return Tag::boolean;
    case Term::Kind::constant:
    case Term::Kind::variable:
      break;
  }
  return std::nullopt;
}

std::optional<Tag> tag_of(const Computed& computed) {
  const bool simple = !computed.fault && computed.cell.is_integral();
  return simple ? std::optional(computed.cell.tag) : std::nullopt;
}

using Loop = bool (*)(const std::int64_t* a, const std::int64_t* b, std::int64_t* result, std::size_t count);

/// Each operator has its own loop, so that the compiler can vectorise it.
template <std::size_t row>
bool apply_to_all(const std::int64_t* a, const std::int64_t* b, std::int64_t* result, std::size_t count) {
  constexpr auto on_integers = kOperators[row].on_integers;
  bool fine = true;
  for (std::size_t i = 0; i < count; ++i) fine &= on_integers(a[i], b[i], result[i]);
  return fine;
}

template <std::size_t... rows>
constexpr std::array<Loop, sizeof...(rows)> loops_of(std::index_sequence<rows...>) {
  return {apply_to_all<rows>...};
}

constexpr auto kLoops = loops_of(std::make_index_sequence<std::size(kOperators)>());

}  // namespace

std::optional<BatchEvaluator> BatchEvaluator::make(std::span<const Computed> samples,
                                                   std::span<const TermStep* const> steps,
                                                   std::span<const Variable> variables, std::uint32_t root,
                                                   std::size_t most) {
  BatchEvaluator made;
  made.root_ = root;
  made.columns_.resize(samples.size());
  if (!made.lay_out(variables)) return std::nullopt;
  std::vector<std::optional<Tag>> tags;
  for (const Computed& sample : samples) tags.push_back(tag_of(sample));
  for (const TermStep* step : steps) {
    std::vector<std::optional<Tag>> operands;
    for (const std::uint32_t operand : step->operands) operands.push_back(tags[operand]);
    tags[step->result] = tag_of(*step->term, operands);
    const auto varies = [&](std::uint32_t place) { return !made.columns_[place].empty() && !made.is_fixed(place); };
    if (!std::ranges::any_of(step->operands, varies)) continue;
    if (!tags[step->result]) return std::nullopt;
    made.columns_[step->result].resize(most);
    made.steps_.push_back(step);
    for (const std::uint32_t operand : step->operands) {
      if (!made.columns_[operand].empty()) continue;
      made.columns_[operand].resize(most);
      made.fixed_.push_back(operand);
    }
  }
  if (made.columns_[root].empty()) return std::nullopt;
  for (const auto& tag : tags) made.tags_.push_back(tag.value_or(Tag::text));
  for (const Column& column : made.columns_) made.starts_.push_back(column.data());
  return made;
}

/// False if the values of a variable are neither all integers nor all booleans.
bool BatchEvaluator::lay_out(std::span<const Variable> variables) {
  std::size_t points = 1;
  for (const Variable& variable : variables) points *= variable.values.size();
  std::size_t repeat = points;
  for (const Variable& variable : variables) {
    const auto fits = [&](const Cell& value) { return value.is_integral() && value.tag == variable.values[0].tag; };
    if (!std::ranges::all_of(variable.values, fits)) return false;
    repeat /= variable.values.size();
    Column& column = columns_[variable.place];
    column.reserve(points);
    while (column.size() < points)
      for (const Cell& value : variable.values) column.insert(column.end(), repeat, value.integer);
    variables_.push_back(variable.place);
  }
  return true;
}

bool BatchEvaluator::is_fixed(std::uint32_t place) const { return std::ranges::find(fixed_, place) != fixed_.end(); }

const std::int64_t* BatchEvaluator::truths(std::size_t first, std::size_t count, std::span<const Computed> registers) {
  for (const std::uint32_t place : variables_) starts_[place] = columns_[place].data() + first;
  for (const std::uint32_t place : fixed_) {
    const Computed& value = registers[place];
    if (value.fault || value.cell.tag != tags_[place]) return nullptr;
    std::fill_n(columns_[place].begin(), count, value.cell.integer);
  }
  for (const TermStep* step : steps_)
    if (!compute(*step, count)) return nullptr;
  return column(root_);
}

bool BatchEvaluator::compute(const TermStep& step, std::size_t count) {
  std::int64_t* const result = columns_[step.result].data();
  const std::int64_t* const a = column(step.first);
  const std::int64_t* const b = column(step.last);
  switch (step.term->kind) {
    case Term::Kind::binary:
      return kLoops[static_cast<std::size_t>(step.term->op)](a, b, result, count);
    case Term::Kind::conjunction:
      for (std::size_t i = 0; i < count; ++i) result[i] = a[i] != 0 ? b[i] : a[i];
      return true;
    case Term::Kind::disjunction:
      for (std::size_t i = 0; i < count; ++i) result[i] = a[i] != 0 ? a[i] : b[i];
      return true;
    case Term::Kind::choice: {
      const std::int64_t* const then = column(step.operands[1]);
      for (std::size_t i = 0; i < count; ++i) result[i] = a[i] != 0 ? then[i] : b[i];
      return true;
    }
    case Term::Kind::member:
      std::fill_n(result, count, 0);
      for (std::size_t k = 1; k < step.operands.size(); ++k) {
        const std::int64_t* const element = column(step.operands[k]);
        for (std::size_t i = 0; i < count; ++i) result[i] |= a[i] == element[i] ? 1 : 0;
      }
      return true;
    case Term::Kind::unary: {
      bool fine = true;
      for (std::size_t i = 0; i < count; ++i) {
        if (step.term->op == Op::logical_not) {
          result[i] = a[i] == 0 ? 1 : 0;
        } else {
          fine &= !__builtin_sub_overflow(std::int64_t{0}, a[i], &result[i]);
        }
      }
      return fine;
    }
    case Term::Kind::constant:
    case Term::Kind::variable:
      break;
  }
  return false;
}

}  // namespace tune
