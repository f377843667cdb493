#include "model/diagrams/diagram_product.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "model/diagrams/variable_order.h"

namespace tune {
namespace {

/// A mapping's constraints and derived values as requirements on its parameters.
class Analysis {
 public:
  Analysis(const Space& space, const Space::Mapping& mapping, Domains domains, const std::vector<char>* used,
           const DiagramProduct::Limits& limits)
      : mapping_(mapping), domains_(std::move(domains)), limits_(limits) {
    define_slots(space);
    add_steps(space, used);
    simplify();
  }

  /// Whether it is known that no point is valid.
  bool is_empty() const {
    return impossible_ || std::ranges::any_of(domains_, [](const auto& domain) { return domain.empty(); });
  }

  /// The parameters in groups that no requirement connects, ordered by their first parameters.
  std::vector<std::vector<int>> groups() const {
    std::vector<int> head(domains_.size());
    std::iota(head.begin(), head.end(), 0);
    const auto find = [&](int v) {
      while (head[index(v)] != v) v = head[index(v)] = head[index(head[index(v)])];
      return v;
    };
    for (const Requirement& requirement : requirements_)
      for (const int variable : terms_[requirement.term].support) {
        const int a = find(variable), b = find(terms_[requirement.term].support[0]);
        head[index(std::max(a, b))] = std::min(a, b);
      }
    std::map<int, std::vector<int>> groups;
    for (int v = 0; v < static_cast<int>(domains_.size()); ++v) groups[find(v)].push_back(v);
    std::vector<std::vector<int>> lists;
    for (auto& [first, group] : groups) lists.push_back(std::move(group));
    return lists;
  }

  /// The order that is estimated to be good is tried first. Estimates do not know that a sum takes few values, so the
  /// order in which the constraints name the parameters comes second: for sums of products it is the better one.
  std::optional<DecisionDiagram> diagram(const std::vector<int>& group) const {
    std::vector<const Requirement*> requirements;
    for (const Requirement& requirement : requirements_)
      if (std::ranges::binary_search(group, terms_[requirement.term].support[0])) requirements.push_back(&requirement);
    const std::vector<int> estimated = ordered(group, requirements);
    if (auto built = diagram(estimated, requirements)) return built;
    const std::vector<int> named = as_named(requirements);
    return named != estimated ? diagram(named, requirements) : std::nullopt;
  }

 private:
  static std::size_t index(int variable) { return static_cast<std::size_t>(variable); }

  std::optional<DecisionDiagram> diagram(const std::vector<int>& order,
                                         const std::vector<const Requirement*>& requirements) const {
    std::vector<Variable> variables;
    for (const int v : order) variables.push_back({static_cast<std::uint32_t>(v), domains_[index(v)]});
    std::vector<ScopedAutomaton> automata;
    for (const Requirement* requirement : requirements) automata.push_back(scoped(*requirement, order));
    return DecisionDiagram::build(std::move(variables), std::move(automata), limits_.diagram);
  }

  void define_slots(const Space& space) {
    const std::span<const Value> fixed = space.fixed();
    meaning_.resize(fixed.size());
    for (std::size_t slot = 0; slot < fixed.size(); ++slot) meaning_[slot] = terms_.constant(fixed[slot]);
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const Parameter& parameter = mapping_.parameters[i];
      const bool single = domains_[i].size() == 1;
      meaning_[index(*space.names().find(parameter.name))] =
          single ? terms_.constant(parameter.values[domains_[i][0]]) : terms_.variable(static_cast<int>(i));
    }
  }

  void add_steps(const Space& space, const std::vector<char>* used) {
    std::size_t step = 0;
    const auto is_used = [&] { return used == nullptr || (*used)[step] != 0; };
    for (const Derived& derived : mapping_.derived) {
      const int term = terms_.add(derived.expression, meaning_);
      meaning_[index(*space.names().find(derived.name))] = term;
      if (is_used()) add({term, false});
      ++step;
    }
    std::map<std::vector<int>, int> by_support;
    for (const Constraint& constraint : mapping_.constraints) {
      const int whole = terms_.add(constraint.expression, meaning_);
      if (is_used()) {
        for (const int term : terms_.conjuncts(whole)) {
          // Constraints on the same parameters are decided together.
          const auto [known, is_new] = by_support.try_emplace(terms_[term].support, term);
          if (!is_new && known->second != term) known->second = terms_.both(known->second, term);
        }
      }
      ++step;
    }
    for (const auto& [support, term] : by_support) add({term, true});
  }

  void add(Requirement requirement) {
    const Term& term = terms_[requirement.term];
    if (term.kind != Term::Kind::constant) {
      requirements_.push_back(requirement);
    } else if (requirement.must_be_true ? !term.value.is_true() : term.value.fault != nullptr) {
      impossible_ = true;
    }
  }

  /// Applies the requirements on one parameter to its values, and drops those that always hold.
  void simplify() {
    std::erase_if(requirements_, [&](const Requirement& requirement) {
      const std::vector<int>& support = terms_[requirement.term].support;
      if (support.size() == 1) restrict(requirement, support[0]);
      return support.size() == 1;
    });
    if (is_empty()) return;
    std::erase_if(requirements_, [&](const Requirement& requirement) {
      const std::uint32_t start = automaton(requirement, terms_[requirement.term].support).start();
      impossible_ = impossible_ || start == ConstraintAutomaton::kRejects;
      return start == ConstraintAutomaton::kAccepts;
    });
  }

  void restrict(const Requirement& requirement, int variable) {
    ConstraintAutomaton alone = automaton(requirement, {variable});
    if (alone.start() == ConstraintAutomaton::kAccepts) return;
    std::vector<std::uint32_t>& domain = domains_[index(variable)];
    std::vector<std::uint32_t> kept;
    if (alone.start() != ConstraintAutomaton::kRejects) {
      for (std::size_t i = 0; i < domain.size(); ++i)
        if (alone.satisfied_by(i)) kept.push_back(domain[i]);
    }
    domain = std::move(kept);
  }

  ConstraintAutomaton automaton(const Requirement& requirement, const std::vector<int>& variables) const {
    std::vector<std::vector<Cell>> values;
    for (const int variable : variables) values.push_back(cells(variable));
    return {terms_, requirement, variables, std::move(values), limits_.tables};
  }

  std::vector<Cell> cells(int variable) const {
    std::vector<Cell> cells;
    for (const std::uint32_t digit : domains_[index(variable)])
      cells.push_back(to_cell(mapping_.parameters[index(variable)].values[digit]));
    return cells;
  }

  std::vector<int> ordered(const std::vector<int>& group, const std::vector<const Requirement*>& requirements) const {
    std::vector<std::size_t> sizes;
    for (const int v : group) sizes.push_back(domains_[index(v)].size());
    std::vector<std::vector<int>> supports;
    for (const Requirement* requirement : requirements) {
      std::vector<int>& support = supports.emplace_back();
      for (const int v : terms_[requirement->term].support)
        support.push_back(static_cast<int>(std::ranges::lower_bound(group, v) - group.begin()));
    }
    std::vector<int> order;
    for (const int place : order_variables(sizes, supports)) order.push_back(group[index(place)]);
    return order;
  }

  std::vector<int> as_named(const std::vector<const Requirement*>& requirements) const {
    std::vector<int> order, open;
    std::set<int> seen;
    for (const Requirement* requirement : requirements) {
      open.push_back(requirement->term);
      while (!open.empty()) {
        const Term& term = terms_[open.back()];
        const bool is_new = seen.insert(open.back()).second;
        open.pop_back();
        if (!is_new) continue;
        if (term.kind == Term::Kind::variable) order.push_back(term.variable);
        open.insert(open.end(), term.operands.rbegin(), term.operands.rend());
      }
    }
    return order;
  }

  ScopedAutomaton scoped(const Requirement& requirement, const std::vector<int>& order) const {
    std::vector<int> variables;
    std::vector<std::size_t> levels;
    for (std::size_t level = 0; level < order.size(); ++level) {
      if (!std::ranges::binary_search(terms_[requirement.term].support, order[level])) continue;
      variables.push_back(order[level]);
      levels.push_back(level);
    }
    return {automaton(requirement, variables), std::move(levels)};
  }

  const Space::Mapping& mapping_;
  Domains domains_;
  DiagramProduct::Limits limits_;
  ExpressionGraph terms_;
  std::vector<int> meaning_;  ///< the term of each slot
  std::vector<Requirement> requirements_;
  bool impossible_ = false;
};

}  // namespace

Domains domains_of(const Space::Mapping& mapping, const std::vector<Restriction>& restrictions) {
  Domains domains;
  for (const Parameter& parameter : mapping.parameters) {
    std::vector<std::uint32_t>& domain = domains.emplace_back();
    for (std::uint32_t digit = 0; digit < parameter.values.size(); ++digit) {
      const auto admits = [&](const Restriction& restriction) {
        return restriction.name != parameter.name || restriction.admits(parameter.values[digit]);
      };
      if (std::ranges::all_of(restrictions, admits)) domain.push_back(digit);
    }
  }
  return domains;
}

bool has_names(const Space::Mapping& mapping, const std::vector<Restriction>& restrictions) {
  return std::ranges::all_of(restrictions, [&](const Restriction& restriction) {
    return std::ranges::any_of(mapping.parameters, [&](const Parameter& p) { return p.name == restriction.name; });
  });
}

DiagramProduct::DiagramProduct(const Space& space, const Space::Mapping& mapping, Domains domains,
                               const std::vector<char>* used, const Limits& limits) {
  const Analysis analysis(space, mapping, std::move(domains), used, limits);
  if (analysis.is_empty()) {
    size_ = 0;
    return;
  }
  for (const std::vector<int>& group : analysis.groups()) {
    auto diagram = analysis.diagram(group);
    if (!diagram) {
      TooLarge error;
      for (const int v : group) error.parameters.push_back(mapping.parameters[static_cast<std::size_t>(v)].name);
      throw error;
    }
    if (__builtin_mul_overflow(size_, diagram->size(), &size_)) size_ = std::numeric_limits<std::int64_t>::max();
    groups_.push_back(std::move(*diagram));
    if (groups_.back().size() == 0) size_ = 0;
    if (size_ == 0) return;
  }
}

Natural DiagramProduct::exact_size() const {
  Natural size(size_ == 0 ? 0 : 1);
  for (const DecisionDiagram& group : groups_) size *= Natural(group.size());
  return size;
}

void DiagramProduct::at(std::int64_t index, std::span<std::uint32_t> digits) const {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    group->at(index % group->size(), digits);
    index /= group->size();
  }
}

std::optional<std::int64_t> DiagramProduct::index_of(std::span<const std::uint32_t> digits) const {
  if (size_ == 0) return std::nullopt;
  std::int64_t index = 0;
  for (const DecisionDiagram& group : groups_) {
    const auto within = group.index_of(digits);
    if (!within) return std::nullopt;
    index = index * group.size() + *within;
  }
  return index;
}

}  // namespace tune
