#include "model/diagrams/decision_diagram.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tune {

/// Builds one layer after the other. A node stands for the states of all automata that have read some of their
/// variables and not yet all of them.
class DecisionDiagram::Builder {
 public:
  Builder(DecisionDiagram& diagram, std::vector<ScopedAutomaton> automata, const Limits& limits)
      : diagram_(diagram), automata_(std::move(automata)), edges_left_(limits.edges), budget_(limits.budget) {}

  /// False if there are too many edges. Throws WorkBudget::Exhausted.
  bool build() {
    for (const ScopedAutomaton& scoped : automata_)
      if (scoped.automaton.start() == ConstraintAutomaton::kRejects) return true;
    nodes_.intern(nullptr);
    for (std::size_t level = 0; level < diagram_.variables_.size(); ++level)
      if (!add_layer(level)) return false;
    return true;
  }

 private:
  /// What an automaton whose scope includes the variable of the present layer does there.
  struct Transition {
    ScopedAutomaton* scoped;
    std::size_t level;    ///< which of the automaton's own levels this is
    std::ptrdiff_t from;  ///< where its state stands among those of a node; -1: this is its first variable
    std::ptrdiff_t to;    ///< the same for a node of the next layer; -1: this is its last variable
    std::uint32_t state;
    const std::uint32_t* next;  ///< the states after each value
  };
  struct Carried {
    std::size_t from, to;
  };

  void plan(std::size_t level) {
    transitions_.clear();
    carried_.clear();
    std::vector<ScopedAutomaton*> open;
    for (ScopedAutomaton& scoped : automata_) {
      const auto here = std::find(scoped.scope.begin(), scoped.scope.end(), level);
      const auto was = std::find(open_.begin(), open_.end(), &scoped);
      const std::ptrdiff_t from = was == open_.end() ? -1 : was - open_.begin();
      const bool stays_open = scoped.scope.front() <= level && scoped.scope.back() > level;
      const auto to = stays_open ? static_cast<std::ptrdiff_t>(open.size()) : -1;
      if (here != scoped.scope.end()) {
        transitions_.push_back({&scoped, static_cast<std::size_t>(here - scoped.scope.begin()), from, to, 0, nullptr});
      } else if (stays_open) {
        carried_.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to)});
      }
      if (stays_open) open.push_back(&scoped);
    }
    open_ = std::move(open);
    // The cheap ones come first: where one of them rejects, the others need not be asked.
    const auto cheap = [](const Transition& transition) {
      return transition.scoped->automaton.is_table(transition.level);
    };
    std::stable_partition(transitions_.begin(), transitions_.end(), cheap);
  }

  bool add_layer(std::size_t level) {
    plan(level);
    RowSet next(open_.size());
    Layer layer;
    const std::vector<std::uint32_t>& digits = diagram_.variables_[level].digits;
    row_.resize(open_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      const std::uint32_t* const states = nodes_.at(node);
      for (const Carried& carried : carried_) row_[carried.to] = states[carried.from];
      for (Transition& transition : transitions_)
        start(transition, transition.from < 0 ? transition.scoped->automaton.start() : states[transition.from]);
      const std::size_t first_edge = layer.edges.size();
      budget_.spend(digits.size() / 8 + 1);
      for (std::uint32_t value = 0; value < digits.size(); ++value) {
        if (!step(value)) continue;
        const std::uint32_t to = next.intern(row_.data());
        if (layer.edges.size() > first_edge && extends(layer.edges.back(), value, to)) {
          ++layer.edges.back().count;
        } else {
          layer.edges.push_back({value, 1, to});
        }
      }
      layer.begin.push_back(static_cast<std::uint32_t>(layer.edges.size()));
      if (layer.edges.size() > edges_left_) return false;
    }
    edges_left_ -= layer.edges.size();
    diagram_.layers_.push_back(std::move(layer));
    nodes_ = std::move(next);
    return true;
  }

  static bool extends(const Edge& edge, std::uint32_t value, std::uint32_t node) {
    return edge.node == node && edge.first + edge.count == value;
  }

  void start(Transition& transition, std::uint32_t state) {
    transition.state = state;
    if (state == ConstraintAutomaton::kAccepts) return;
    transition.next = transition.scoped->automaton.row(transition.level, state, budget_);
  }

  /// Writes the states after a value; false if an automaton rejects it.
  bool step(std::uint32_t value) {
    for (const Transition& transition : transitions_) {
      const std::uint32_t state = state_after(transition, value);
      if (state == ConstraintAutomaton::kRejects) return false;
      if (transition.to >= 0) row_[static_cast<std::size_t>(transition.to)] = state;
    }
    return true;
  }

  std::uint32_t state_after(const Transition& transition, std::uint32_t value) {
    if (transition.state == ConstraintAutomaton::kAccepts) return ConstraintAutomaton::kAccepts;
    const std::uint32_t state = transition.next[value];
    if (state != ConstraintAutomaton::kUnknown) return state;
    return transition.scoped->automaton.follow(transition.level, transition.state, value, budget_);
  }

  DecisionDiagram& diagram_;
  std::vector<ScopedAutomaton> automata_;
  std::size_t edges_left_;
  WorkBudget budget_;
  std::vector<ScopedAutomaton*> open_;  ///< the automata whose states make up a node of the present layer
  RowSet nodes_;
  std::vector<Transition> transitions_;
  std::vector<Carried> carried_;
  std::vector<std::uint32_t> row_;
};

std::optional<DecisionDiagram> DecisionDiagram::build(std::vector<Variable> variables,
                                                      std::vector<ScopedAutomaton> automata, const Limits& limits) try {
  DecisionDiagram diagram;
  diagram.variables_ = std::move(variables);
  if (!Builder(diagram, std::move(automata), limits).build() || !diagram.count()) return std::nullopt;
  return diagram;
} catch (const WorkBudget::Exhausted&) {
  return std::nullopt;
}

/// Counts the paths from each node, starting with the last layer. False if there are more than 2^63 - 1.
bool DecisionDiagram::count() {
  if (layers_.size() < variables_.size()) return true;
  std::vector<std::int64_t> paths = {1};
  for (std::size_t level = layers_.size(); level-- > 0;) {
    std::vector<std::int64_t> above;
    if (!keep_live(layers_[level], paths, above)) return false;
    layers_[level].paths = std::exchange(paths, std::move(above));
  }
  size_ = paths[0];
  return true;
}

/// Drops the edges that lead nowhere, and numbers the paths through the others.
bool DecisionDiagram::keep_live(Layer& layer, std::span<const std::int64_t> below, std::vector<std::int64_t>& paths) {
  std::uint32_t kept = 0;
  std::uint32_t from = 0;
  layer.before.reserve(layer.edges.size());
  for (std::size_t node = 0; node + 1 < layer.begin.size(); ++node) {
    const std::uint32_t end = layer.begin[node + 1];
    std::int64_t sum = 0;
    for (; from < end; ++from) {
      std::int64_t through = below[layer.edges[from].node];
      if (through == 0) continue;
      if (__builtin_mul_overflow(through, std::int64_t{layer.edges[from].count}, &through)) return false;
      layer.edges[kept++] = layer.edges[from];
      layer.before.push_back(sum);
      if (__builtin_add_overflow(sum, through, &sum)) return false;
    }
    layer.begin[node + 1] = kept;
    paths.push_back(sum);
  }
  layer.edges.resize(kept);
  return true;
}

void DecisionDiagram::at(std::int64_t index, std::span<std::uint32_t> digits) const {
  assert(index >= 0 && index < size_);
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < layers_.size(); ++level) {
    const Layer& layer = layers_[level];
    const auto first = layer.before.begin() + layer.begin[node];
    const auto last = layer.before.begin() + layer.begin[node + 1];
    const auto taken = std::upper_bound(first, last, index) - 1;
    index -= *taken;
    const Edge& edge = layer.edges[static_cast<std::size_t>(taken - layer.before.begin())];
    const std::int64_t step = index / layer.paths[edge.node];
    index %= layer.paths[edge.node];
    const Variable& variable = variables_[level];
    digits[variable.parameter] = variable.digits[edge.first + static_cast<std::size_t>(step)];
    node = edge.node;
  }
}

std::optional<std::int64_t> DecisionDiagram::index_of(std::span<const std::uint32_t> digits) const {
  if (size_ == 0) return std::nullopt;
  std::int64_t index = 0;
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < layers_.size(); ++level) {
    const Layer& layer = layers_[level];
    const std::vector<std::uint32_t>& values = variables_[level].digits;
    const auto found = std::ranges::lower_bound(values, digits[variables_[level].parameter]);
    if (found == values.end() || *found != digits[variables_[level].parameter]) return std::nullopt;
    const auto wanted = static_cast<std::uint32_t>(found - values.begin());
    const auto first = layer.edges.begin() + layer.begin[node];
    const auto last = layer.edges.begin() + layer.begin[node + 1];
    const auto after =
        std::upper_bound(first, last, wanted, [](std::uint32_t v, const Edge& e) { return v < e.first; });
    if (after == first) return std::nullopt;
    const auto edge = after - 1;
    if (wanted - edge->first >= edge->count) return std::nullopt;
    const std::int64_t step = wanted - edge->first;
    index += layer.before[static_cast<std::size_t>(edge - layer.edges.begin())] + step * layer.paths[edge->node];
    node = edge->node;
  }
  return index;
}

}  // namespace tune
