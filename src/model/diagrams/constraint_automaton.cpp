#include "model/diagrams/constraint_automaton.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <unordered_map>

namespace tune {
namespace {

constexpr std::size_t kWordBits = 32;
constexpr std::size_t kComputedWords = 5;
/// The cost of bounding one operation, in operations.
constexpr std::size_t kForesight = 32;
/// The cost of storing a state, of storing where a value leads, and of computing whether the last value is accepted.
constexpr std::size_t kMemory = 16, kEntry = 8, kLast = 6;

using Packed = std::array<std::uint32_t, kComputedWords>;

Packed pack(const Computed& outcome) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  if (outcome.fault) return {UINT32_MAX, 0, 0, 0, 0};
  std::uint64_t first = 0;
  static_assert(sizeof(first) == sizeof(outcome.cell.integer));
  if (outcome.cell.tag == Cell::Tag::real) {
    first = std::bit_cast<std::uint64_t>(outcome.cell.real);
  } else if (outcome.cell.tag == Cell::Tag::text) {
    first = reinterpret_cast<std::uint64_t>(outcome.cell.text);
  } else {
    first = static_cast<std::uint64_t>(outcome.cell.integer);
  }
  const bool pair = outcome.cell.tag == Cell::Tag::pair;
  const auto second = pair ? static_cast<std::uint64_t>(outcome.cell.second) : 0;
  return {static_cast<std::uint32_t>(outcome.cell.tag), low(first), high(first), low(second), high(second)};
}

/// The kind of fault is lost, because it does not matter any more.
Computed unpack(const std::uint32_t* words) {
  Computed outcome;
  if (words[0] == UINT32_MAX) {
    outcome.fault = "fault";
    return outcome;
  }
  const std::uint64_t first = words[1] | static_cast<std::uint64_t>(words[2]) << 32;
  outcome.cell.tag = static_cast<Cell::Tag>(words[0]);
  if (outcome.cell.tag == Cell::Tag::real) {
    outcome.cell.real = std::bit_cast<double>(first);
  } else if (outcome.cell.tag == Cell::Tag::text) {
    outcome.cell.text = reinterpret_cast<const std::string*>(first);
  } else {
    outcome.cell.integer = static_cast<std::int64_t>(first);
  }
  outcome.cell.second = static_cast<std::int64_t>(words[3] | static_cast<std::uint64_t>(words[4]) << 32);
  return outcome;
}

std::size_t words_for(std::size_t bits) { return (bits + kWordBits - 1) / kWordBits; }

bool bit_at(const std::uint32_t* words, std::size_t index) {
  return (words[index / kWordBits] >> (index % kWordBits) & 1) != 0;
}

/// `root` and all terms that it consists of, each after its operands.
std::vector<int> parts_of(const ExpressionGraph& terms, int root) {
  std::vector<int> parts = {root};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::vector<int>& operands = terms[parts[i]].operands;
    parts.insert(parts.end(), operands.begin(), operands.end());
    // Without this, a part that is used often would be expanded as often.
    if (parts.size() > 4096) {
      std::sort(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end());
      parts.erase(std::unique(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end()), parts.end());
    }
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

}  // namespace

ConstraintAutomaton::ConstraintAutomaton(const ExpressionGraph& terms, Requirement requirement,
                                         std::span<const int> variables, std::vector<std::vector<Cell>> values,
                                         TableLimits limits)
    : requirement_(requirement), values_(std::move(values)), levels_(variables.size()) {
  for (std::size_t i = values_.size(); i-- > 0;) {
    const std::size_t after = i + 1 < levels_.size() ? levels_[i + 1].rest : 1;
    // An upper bound is enough: nothing larger is ever tabulated.
    levels_[i].rest = std::min<std::size_t>(after * values_[i].size(), std::size_t{1} << 40);
    levels_[i].bounds = Bounds::of(values_[i]);
  }
  table_from_ = levels_.size();
  while (table_from_ > 0 && levels_[table_from_ - 1].rest <= limits.rest) --table_from_;
  if (levels_[0].rest <= limits.whole) table_from_ = 0;
  compile(terms, variables);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const bool table = i >= table_from_;
    levels_[i].states = RowSet(table ? words_for(levels_[i].rest) : kComputedWords * levels_[i].live.size());
  }
  start_ = present_state(0);
}

void ConstraintAutomaton::compile(const ExpressionGraph& terms, std::span<const int> variables) {
  const std::vector<int> parts = parts_of(terms, requirement_.term);
  registers_.resize(parts.size());
  bounds_.resize(parts.size());
  std::unordered_map<int, std::uint32_t> place;
  std::vector<std::size_t> known_from(parts.size(), 0);
  std::vector<std::size_t> needed_until(parts.size(), 0);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Term& term = terms[parts[i]];
    place[parts[i]] = i;
    if (term.kind == Term::Kind::constant) {
      registers_[i] = term.value;
      bounds_[i] = Bounds::of(term.value);
    }
    for (const int variable : term.support) {
      const auto level = std::find(variables.begin(), variables.end(), variable) - variables.begin();
      known_from[i] = std::max(known_from[i], static_cast<std::size_t>(level) + 1);
    }
    if (term.kind == Term::Kind::variable) levels_[known_from[i] - 1].variable = i;
    if (term.operands.empty()) continue;
    TermStep step{&term, i, 0, 0, {}};
    for (const int operand : term.operands) {
      const std::uint32_t from = place.at(operand);
      step.operands.push_back(from);
      needed_until[from] = std::max(needed_until[from], known_from[i]);
    }
    step.first = step.operands.front();
    step.last = step.operands.back();
    levels_[known_from[i] - 1].steps.push_back(std::move(step));
  }
  root_ = place.at(requirement_.term);
  std::size_t steps = 0;
  for (std::size_t level = levels_.size(); level-- > 0;)
    levels_[level].steps_to_end = steps += levels_[level].steps.size();
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (known_from[i] == 0) continue;
    for (std::size_t level = known_from[i]; level < needed_until[i]; ++level) levels_[level].live.push_back(i);
  }
}

const std::uint32_t* ConstraintAutomaton::row(std::size_t level, std::uint32_t state, WorkBudget& budget) {
  assert(state != kRejects && state != kAccepts);
  Level& here = levels_[level];
  const std::size_t count = values_[level].size();
  const std::size_t first = (state - 2) * count;
  if (here.next.size() < first + count) {
    budget.spend(kEntry * (here.states.size() * count - here.next.size()));
    here.next.resize(here.states.size() * count, kUnknown);
  }
  std::uint32_t* const next = here.next.data() + first;
  if (is_table(level) && *next == kUnknown) fill_row(level, state, next);
  return next;
}

std::uint32_t ConstraintAutomaton::follow(std::size_t level, std::uint32_t state, std::size_t value,
                                          WorkBudget& budget) {
  budget.spend(cost(level + 1));
  restore(level, state);
  set(level, value);
  return levels_[level].next[(state - 2) * values_[level].size() + value] = present_state(level + 1);
}

bool ConstraintAutomaton::satisfied_by(std::size_t value) {
  assert(levels_.size() == 1);
  set(0, value);
  return satisfied();
}

/// Whether bounding what remains costs less than reading the values of the next variable would. In long sums of
/// products of few values each, it does not.
bool ConstraintAutomaton::foresees(std::size_t level) const {
  return kForesight * (1 + levels_[level].steps_to_end) <= kMemory * values_[level].size();
}

/// The cost of finding the state before variable `level` is read.
std::size_t ConstraintAutomaton::cost(std::size_t level) const {
  if (level == levels_.size()) return kLast;
  if (level == table_from_) return levels_[level].rest * (1 + levels_[level].steps_to_end);
  const std::size_t foresight = foresees(level) ? kForesight * (1 + levels_[level].steps_to_end) : 0;
  return kMemory * (1 + levels_[level].live.size()) + foresight;
}

/// Restores the registers that a state consists of.
void ConstraintAutomaton::restore(std::size_t level, std::uint32_t state) {
  const Level& here = levels_[level];
  const std::uint32_t* const words = here.states.at(state - 2);
  for (std::size_t i = 0; i < here.live.size(); ++i) registers_[here.live[i]] = unpack(words + kComputedWords * i);
}

/// Assigns the variable and computes every step that has become possible.
void ConstraintAutomaton::set(std::size_t level, std::size_t value) {
  const Level& here = levels_[level];
  registers_[here.variable] = {values_[level][value], nullptr};
  for (const TermStep& step : here.steps)
    if (!run_integers(step)) run(step);
}

/// False if the step is not for two integers. Without this, the published space hotspot_milo takes twice as long.
inline bool ConstraintAutomaton::run_integers(const TermStep& step) {
  if (step.term->kind != Term::Kind::binary) return false;
  const Computed& left = registers_[step.first];
  const Computed& right = registers_[step.last];
  if (left.fault || right.fault) return false;
  if (left.cell.tag != Cell::Tag::integer || right.cell.tag != Cell::Tag::integer) return false;
  std::int64_t result = 0;
  if (!apply_integers(step.term->op, left.cell.integer, right.cell.integer, result)) return false;
  Computed& outcome = registers_[step.result];
  outcome.fault = nullptr;
  if (is_comparison(step.term->op)) {
    outcome.cell.set(result != 0);
  } else {
    outcome.cell.set(result);
  }
  return true;
}

void ConstraintAutomaton::run(const TermStep& step) {
  operands_.clear();
  for (const std::uint32_t operand : step.operands) operands_.push_back(&registers_[operand]);
  registers_[step.result] = combine(*step.term, operands_);
}

bool ConstraintAutomaton::satisfied() const {
  return requirement_.must_be_true ? registers_[root_].is_true() : registers_[root_].fault == nullptr;
}

/// The state that the registers represent before variable `level` is read.
std::uint32_t ConstraintAutomaton::present_state(std::size_t level) {
  if (level == levels_.size()) return satisfied() ? kAccepts : kRejects;
  if (level == table_from_) {
    row_.assign(words_for(levels_[level].rest), 0);
    bits_ = 0;
    tabulate(level);
    return intern(level, row_.data());
  }
  if (const auto met = foresees(level) ? foresee(level) : std::nullopt) return *met ? kAccepts : kRejects;
  row_.clear();
  for (const std::uint32_t live : levels_[level].live) {
    const Packed packed = pack(registers_[live]);
    row_.insert(row_.end(), packed.begin(), packed.end());
  }
  return levels_[level].states.intern(row_.data()) + 2;
}

/// Whether the requirement will be met whatever values follow, if interval bounds decide it.
std::optional<bool> ConstraintAutomaton::foresee(std::size_t level) {
  know_bounds(level);
  for (std::size_t later = level; later < levels_.size(); ++later) bound_steps(later);
  return foreseen();
}

/// Sets the bounds of what the registers hold.
void ConstraintAutomaton::know_bounds(std::size_t level) {
  for (const std::uint32_t live : levels_[level].live) bounds_[live] = Bounds::of(registers_[live]);
}

/// Sets the bounds of what the steps of this level will compute.
void ConstraintAutomaton::bound_steps(std::size_t level) {
  const Level& here = levels_[level];
  bounds_[here.variable] = here.bounds;
  for (const TermStep& step : here.steps) {
    bounds_operands_.clear();
    for (const std::uint32_t operand : step.operands) bounds_operands_.push_back(&bounds_[operand]);
    bounds_[step.result] = bound(*step.term, bounds_operands_);
  }
}

std::optional<bool> ConstraintAutomaton::foreseen() const {
  const Bounds& root = bounds_[root_];
  if (!requirement_.must_be_true) return root.may_fail ? std::nullopt : std::optional(true);
  const auto truth = root.truth();
  return truth == true && root.may_fail ? std::nullopt : truth;
}

/// Appends whether the requirement is met, for all values of this and the later variables.
void ConstraintAutomaton::tabulate(std::size_t level) {
  for (std::size_t value = 0; value < values_[level].size(); ++value) {
    set(level, value);
    if (level + 1 < levels_.size()) {
      tabulate(level + 1);
    } else {
      add_bit(satisfied());
    }
  }
}

void ConstraintAutomaton::add_bit(bool met) {
  if (met) row_[bits_ / kWordBits] |= 1U << bits_ % kWordBits;
  ++bits_;
}

/// The state of a truth table.
std::uint32_t ConstraintAutomaton::intern(std::size_t level, const std::uint32_t* row) {
  std::size_t set_bits = 0;
  for (std::size_t i = 0; i < words_for(levels_[level].rest); ++i)
    set_bits += static_cast<std::size_t>(std::popcount(row[i]));
  if (set_bits == 0) return kRejects;
  if (set_bits == levels_[level].rest) return kAccepts;
  return levels_[level].states.intern(row) + 2;
}

/// The truth table after a value is a slice of the one before it.
void ConstraintAutomaton::fill_row(std::size_t level, std::uint32_t state, std::uint32_t* next) {
  const bool last = level + 1 == levels_.size();
  const std::size_t bits = last ? 1 : levels_[level + 1].rest;
  for (std::size_t value = 0; value < values_[level].size(); ++value) {
    const std::uint32_t* const table = levels_[level].states.at(state - 2);
    if (last) {
      next[value] = bit_at(table, value) ? kAccepts : kRejects;
      continue;
    }
    row_.assign(words_for(bits), 0);
    for (std::size_t i = 0; i < bits; ++i)
      if (bit_at(table, value * bits + i)) row_[i / kWordBits] |= 1U << i % kWordBits;
    next[value] = intern(level + 1, row_.data());
  }
}

}  // namespace tune
