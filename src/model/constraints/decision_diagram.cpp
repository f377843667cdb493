#include "model/constraints/decision_diagram.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tune {

/// Goes from layer to layer. A node is the states of all conditions that are begun and not yet decided.
class Diagram::Builder {
 public:
  Builder(Diagram& diagram, std::vector<Bond> bonds, const Limits& limits)
      : diagram_(diagram), bonds_(std::move(bonds)), edges_left_(limits.edges), effort_(limits.effort) {}

  /// False if there are too many edges. Throws Effort::Exhausted.
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
    const std::uint32_t* next;  ///< states after each value, or
    const Condition::Run* run;  ///< after those of the present run and of later ones
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
        movers_.push_back({&bond, static_cast<std::size_t>(here - bond.levels.begin()), from, to, 0, nullptr, nullptr});
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
      for (Mover& mover : movers_) start(mover, mover.from < 0 ? mover.bond->condition.start() : states[mover.from]);
      const std::size_t first_edge = layer.edges.size();
      effort_.spend(digits.size() / 8 + 1);
      for (std::uint32_t value = 0, end = 0; value < digits.size(); value = end) {
        end = static_cast<std::uint32_t>(digits.size());
        if (!move(value, end)) continue;
        const std::uint32_t to = next.intern(row_.data());
        if (layer.edges.size() > first_edge && extends(layer.edges.back(), value, to)) {
          layer.edges.back().count += end - value;
        } else {
          layer.edges.push_back({value, end - value, to});
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

  void start(Mover& mover, std::uint32_t state) {
    mover.state = state;
    if (state == Condition::kHolds) return;
    Condition& condition = mover.bond->condition;
    if (condition.is_wide(mover.place)) {
      mover.run = condition.runs(mover.place, state, effort_).data();
    } else {
      mover.next = condition.row(mover.place, state, effort_);
    }
  }

  /// Writes the states after a value; false if a condition fails. `end` is lowered to where that may change.
  bool move(std::uint32_t value, std::uint32_t& end) {
    for (Mover& mover : movers_) {
      const std::uint32_t state = state_after(mover, value, end);
      if (state == Condition::kFails) return false;
      if (mover.to >= 0) row_[static_cast<std::size_t>(mover.to)] = state;
    }
    return true;
  }

  std::uint32_t state_after(Mover& mover, std::uint32_t value, std::uint32_t& end) {
    if (mover.state == Condition::kHolds) return Condition::kHolds;
    Condition& condition = mover.bond->condition;
    if (condition.is_wide(mover.place)) {
      while (mover.run->end <= value) ++mover.run;
      end = mover.run->state == Condition::kFails ? mover.run->end : std::min(end, mover.run->end);
      return mover.run->state;
    }
    end = value + 1;
    const std::uint32_t state = mover.next[value];
    return state == Condition::kUnknown ? condition.follow(mover.place, mover.state, value, effort_) : state;
  }

  Diagram& diagram_;
  std::vector<Bond> bonds_;
  std::size_t edges_left_;
  Effort effort_;
  std::vector<Bond*> open_;  ///< whose states a node of the present layer is made of
  RowSet nodes_;
  std::vector<Mover> movers_;
  std::vector<Carried> carried_;
  std::vector<std::uint32_t> row_;
};

std::optional<Diagram> Diagram::build(std::vector<Variable> variables, std::vector<Bond> bonds,
                                      const Limits& limits) try {
  Diagram diagram;
  diagram.variables_ = std::move(variables);
  if (!Builder(diagram, std::move(bonds), limits).build() || !diagram.count()) return std::nullopt;
  return diagram;
} catch (const Effort::Exhausted&) {
  return std::nullopt;
}

/// Counts the paths from each node, last layer first. False if they are more than 2^63 - 1.
bool Diagram::count() {
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
bool Diagram::keep_live(Layer& layer, std::span<const std::int64_t> below, std::vector<std::int64_t>& paths) {
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
    const std::int64_t step = index / layer.paths[edge.node];
    index %= layer.paths[edge.node];
    const Variable& variable = variables_[level];
    digits[variable.parameter] = variable.digits[edge.first + static_cast<std::size_t>(step)];
    node = edge.node;
  }
}

std::optional<std::int64_t> Diagram::index_of(std::span<const std::uint32_t> digits) const {
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
