#include "model/constraints/branch_and_prune.h"

#include <algorithm>
#include <numeric>

namespace tune {
namespace {

/// An attempt that takes more operations than this starts again elsewhere; each new attempt may take twice as many.
constexpr std::int64_t kFirstAttempt = 1 << 13;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool are_numbers_of_one_kind(const std::vector<Cell>& cells) {
  return std::ranges::all_of(cells,
                             [&](const Cell& cell) { return cell.is_number() && cell.tag == cells.front().tag; });
}

}  // namespace

struct BranchAndPrune::Attempt {
  Random& random;
  WorkBudget budget;
  std::vector<Bounds> bounds = {};  ///< of the terms
  std::optional<Space::Point> found = {};
};

BranchAndPrune::BranchAndPrune(const Space& space, std::uint32_t mapping, Domains domains)
    : space_(&space), mapping_(mapping), digits_(std::move(domains)) {
  const std::vector<Parameter>& parameters = space.mappings()[mapping].parameters;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const auto cell = [&](std::uint32_t digit) { return to_cell(parameters[i].values[digit]); };
    std::vector<Cell>& cells = cells_.emplace_back();
    for (const std::uint32_t digit : digits_[i]) cells.push_back(cell(digit));
    ascending_.push_back(are_numbers_of_one_kind(cells));
    if (!ascending_.back()) continue;
    const auto less = [](const Cell& a, const Cell& b) {
      bool result = false;
      compare(Comparison::less, a, b, result);
      return result;
    };
    std::ranges::stable_sort(digits_[i], less, cell);
    std::ranges::stable_sort(cells, less);
  }
  read_terms();
}

void BranchAndPrune::read_terms() {
  const Space::Mapping& mapping = space_->mappings()[mapping_];
  std::vector<int> meaning;
  for (const Value& value : space_->fixed()) meaning.push_back(terms_.constant(value));
  for (std::size_t i = 0; i < mapping.parameters.size(); ++i)
    meaning[index(*space_->names().find(mapping.parameters[i].name))] = terms_.variable(static_cast<int>(i));
  std::vector<char> is_bound(mapping.parameters.size());
  for (const Derived& derived : mapping.derived) {
    const int term = terms_.add(derived.expression, meaning);
    meaning[index(*space_->names().find(derived.name))] = term;
    for (const int parameter : terms_[term].support) is_bound[index(parameter)] = 1;
  }
  for (const Constraint& constraint : mapping.constraints)
    std::ranges::copy(terms_.conjuncts(terms_.add(constraint.expression, meaning)), std::back_inserter(requirements_));
  std::vector<int> open = requirements_;
  while (!open.empty()) {
    const int term = open.back();
    open.pop_back();
    if (std::ranges::find(parts_, term) != parts_.end()) continue;
    parts_.push_back(term);
    const Term& part = terms_[term];
    open.insert(open.end(), part.operands.begin(), part.operands.end());
    for (const int parameter : part.support) is_bound[index(parameter)] = 1;
  }
  std::ranges::sort(parts_);
  for (std::size_t i = 0; i < is_bound.size(); ++i)
    if (is_bound[i]) order_.push_back(i);
}

Bounds BranchAndPrune::bounds_of(std::size_t parameter, Range range) const {
  const std::span<const Cell> cells = std::span(cells_[parameter]).subspan(range.first, range.count);
  if (!ascending_[parameter]) return Bounds::of(cells);
  const Cell ends[] = {cells.front(), cells.back()};
  return Bounds::of(ends);
}

/// Whether interval bounds leave room for the constraints to hold somewhere in the box.
bool BranchAndPrune::may_hold(const Box& box, std::vector<Bounds>& bounds) const {
  std::vector<const Bounds*> operands;
  for (const int part : parts_) {
    const Term& term = terms_[part];
    if (bounds.size() <= index(part)) bounds.resize(index(part) + 1);
    if (term.kind == Term::Kind::constant) {
      bounds[index(part)] = Bounds::of(term.value);
    } else if (term.kind == Term::Kind::variable) {
      bounds[index(part)] = bounds_of(index(term.variable), box[index(term.variable)]);
    } else {
      operands.clear();
      for (const int operand : term.operands) operands.push_back(&bounds[index(operand)]);
      bounds[index(part)] = bound(term, operands);
    }
  }
  return std::ranges::none_of(requirements_,
                              [&](int requirement) { return bounds[index(requirement)].truth() == false; });
}

Space::Point BranchAndPrune::point_of(const Box& box, Random& random) const {
  Space::Point point{mapping_, {}};
  for (std::size_t i = 0; i < box.size(); ++i)
    point.digits.push_back(digits_[i][box[i].first + random.below(box[i].count)]);
  return point;
}

bool BranchAndPrune::search(Box& box, Attempt& attempt) const {
  attempt.budget.spend(parts_.size() + 1);
  if (!may_hold(box, attempt.bounds)) return false;
  const auto split = std::ranges::find_if(order_, [&](std::size_t parameter) { return box[parameter].count > 1; });
  if (split == order_.end()) {
    Space::Point point = point_of(box, attempt.random);
    const Spec spec = space_->spec(point);
    if (!std::holds_alternative<Spec>(space_->at(spec.params))) return false;
    attempt.found = std::move(point);
    return true;
  }
  const Range whole = box[*split];
  const std::size_t half = whole.count / 2;
  const bool lower_first = attempt.random.below(whole.count) < half;
  for (const bool lower : {lower_first, !lower_first}) {
    box[*split] = lower ? Range{whole.first, half} : Range{whole.first + half, whole.count - half};
    if (search(box, attempt)) return true;
  }
  box[*split] = whole;
  return false;
}

std::optional<Space::Point> BranchAndPrune::find(Random& random, WorkBudget& budget) {
  Box all;
  for (const auto& digits : digits_) all.push_back({0, digits.size()});
  if (std::ranges::any_of(all, [](const Range& range) { return range.count == 0; })) return std::nullopt;
  for (std::int64_t limit = kFirstAttempt;; limit *= 2) {
    Attempt attempt{random, {limit}};
    Box box = all;
    try {
      search(box, attempt);
      budget.spend(static_cast<std::size_t>(limit - attempt.budget.left));
      return std::move(attempt.found);
    } catch (const WorkBudget::Exhausted&) {
      budget.spend(static_cast<std::size_t>(limit));
      shuffle(order_, random);
    }
  }
}

}  // namespace tune
