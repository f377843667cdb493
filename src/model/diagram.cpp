#include "model/diagram.h"

#include <algorithm>
#include <cassert>

namespace tune {

/// Goes from layer to layer. A node is the states of all conditions that are begun and not yet decided.
class Diagram::Builder {
 public:
  Builder(Diagram& diagram, std::vector<Bond> bonds, std::size_t most_edges)
      : diagram_(diagram), bonds_(std::move(bonds)), edges_left_(most_edges) {}

  /// False if there are too many edges.
  bool build() {
    for (const Bond& bond : bonds_)
      if (bond.condition.start() == Condition::kFails) return true;
    nodes_.intern(nullptr);
    for (std::size_t level = 0; level < diagram_.variables_.size(); ++level)
      if (!add_layer(level)) return false;
    return true;
  }

 private:
  /// A condition on the variable of the present layer.
  struct Mover {
    Bond* bond;
    std::size_t place;    ///< which of the condition's own levels this is
    std::ptrdiff_t from;  ///< where its state is among those of a node; -1: it begins here
    std::ptrdiff_t to;    ///< and of the next layer's; -1: it ends here
    std::uint32_t state;
    const std::uint32_t* next;
  };
  struct Carried {
    std::size_t from, to;
  };

  void plan(std::size_t level) {
    movers_.clear();
    carried_.clear();
    std::vector<Bond*> open;
    for (Bond& bond : bonds_) {
      const auto here = std::find(bond.levels.begin(), bond.levels.end(), level);
      const auto was = std::find(open_.begin(), open_.end(), &bond);
      const std::ptrdiff_t from = was == open_.end() ? -1 : was - open_.begin();
      const bool stays_open = bond.levels.front() <= level && bond.levels.back() > level;
      const auto to = stays_open ? static_cast<std::ptrdiff_t>(open.size()) : -1;
      if (here != bond.levels.end()) {
        movers_.push_back({&bond, static_cast<std::size_t>(here - bond.levels.begin()), from, to, 0, nullptr});
      } else if (stays_open) {
        carried_.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to)});
      }
      if (stays_open) open.push_back(&bond);
    }
    open_ = std::move(open);
    // What is cheap to know comes first: where that fails the rest need not be known.
    const auto cheap = [](const Mover& mover) { return mover.bond->condition.is_table(mover.place); };
    std::stable_partition(movers_.begin(), movers_.end(), cheap);
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
      for (Mover& mover : movers_) {
        Condition& condition = mover.bond->condition;
        mover.state = mover.from < 0 ? condition.start() : states[mover.from];
        mover.next = condition.row(mover.place, mover.state);
      }
      for (std::size_t i = 0; i < digits.size(); ++i)
        if (move(i)) layer.edges.push_back({digits[i], next.intern(row_.data())});
      layer.begin.push_back(static_cast<std::uint32_t>(layer.edges.size()));
      if (layer.edges.size() > edges_left_) return false;
    }
    edges_left_ -= layer.edges.size();
    diagram_.layers_.push_back(std::move(layer));
    nodes_ = std::move(next);
    return true;
  }

  /// Writes the states after a value; false if a condition fails.
  bool move(std::size_t value) {
    for (const Mover& mover : movers_) {
      std::uint32_t state = mover.next[value];
      if (state == Condition::kUnknown) state = mover.bond->condition.follow(mover.place, mover.state, value);
      if (state == Condition::kFails) return false;
      if (mover.to >= 0) row_[static_cast<std::size_t>(mover.to)] = state;
    }
    return true;
  }

  Diagram& diagram_;
  std::vector<Bond> bonds_;
  std::size_t edges_left_;
  std::vector<Bond*> open_;  ///< whose states a node of the present layer is made of
  RowSet nodes_;
  std::vector<Mover> movers_;
  std::vector<Carried> carried_;
  std::vector<std::uint32_t> row_;
};

std::optional<Diagram> Diagram::build(std::vector<Variable> variables, std::vector<Bond> bonds,
                                      std::size_t most_edges) {
  Diagram diagram;
  diagram.variables_ = std::move(variables);
  if (!Builder(diagram, std::move(bonds), most_edges).build() || !diagram.count()) return std::nullopt;
  return diagram;
}

/// Counts the paths from each node, last layer first. False if they are more than 2^63 - 1.
bool Diagram::count() {
  if (layers_.size() < variables_.size()) return true;
  std::vector<std::int64_t> paths = {1};
  for (std::size_t level = layers_.size(); level-- > 0;) {
    std::vector<std::int64_t> above;
    if (!keep_live(layers_[level], paths, above)) return false;
    paths = std::move(above);
  }
  size_ = paths[0];
  return true;
}

/// Drops the edges that lead nowhere, and numbers the paths through the others.
bool Diagram::keep_live(Layer& layer, std::span<const std::int64_t> below, std::vector<std::int64_t>& paths) {
  std::uint32_t kept = 0;
  std::uint32_t from = 0;
  layer.before.reserve(layer.edges.size());
  for (std::size_t node = 0; node + 1 < layer.begin.size(); ++node) {
    const std::uint32_t end = layer.begin[node + 1];
    std::int64_t sum = 0;
    for (; from < end; ++from) {
      const std::int64_t through = below[layer.edges[from].node];
      if (through == 0) continue;
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

void Diagram::at(std::int64_t index, std::span<std::uint32_t> digits) const {
  assert(index >= 0 && index < size_);
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < layers_.size(); ++level) {
    const Layer& layer = layers_[level];
    const auto first = layer.before.begin() + layer.begin[node];
    const auto last = layer.before.begin() + layer.begin[node + 1];
    const auto taken = std::upper_bound(first, last, index) - 1;
    index -= *taken;
    const Edge& edge = layer.edges[static_cast<std::size_t>(taken - layer.before.begin())];
    digits[variables_[level].parameter] = edge.digit;
    node = edge.node;
  }
}

std::optional<std::int64_t> Diagram::index_of(std::span<const std::uint32_t> digits) const {
  if (size_ == 0) return std::nullopt;
  std::int64_t index = 0;
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < layers_.size(); ++level) {
    const Layer& layer = layers_[level];
    const std::uint32_t wanted = digits[variables_[level].parameter];
    const auto first = layer.edges.begin() + layer.begin[node];
    const auto last = layer.edges.begin() + layer.begin[node + 1];
    const auto edge = std::lower_bound(first, last, wanted, [](const Edge& e, std::uint32_t d) { return e.digit < d; });
    if (edge == last || edge->digit != wanted) return std::nullopt;
    index += layer.before[static_cast<std::size_t>(edge - layer.edges.begin())];
    node = edge->node;
  }
  return index;
}

}  // namespace tune
