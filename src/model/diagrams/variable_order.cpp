#include "model/diagrams/variable_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tune {
namespace {

/// At most this many moves of a single variable are tried.
constexpr int kMostTrials = 3000;
/// An order that costs less than this is good enough.
constexpr double kCheap = 2000;

/// Estimates how many edges a diagram has.
class SizeEstimate {
 public:
  SizeEstimate(const std::vector<std::size_t>& sizes, const std::vector<std::vector<int>>& supports)
      : supports_(supports), of_variable_(sizes.size()) {
    for (const std::size_t size : sizes)
      bits_.push_back(std::log2(static_cast<double>(std::max<std::size_t>(size, 1))));
    for (std::size_t c = 0; c < supports.size(); ++c)
      for (const int variable : supports[c]) of_variable_[static_cast<std::size_t>(variable)].push_back(c);
    clear();
  }

  void clear() {
    bound_.assign(bits_.size(), 0);
    states_.clear();
    for (const std::vector<int>& support : supports_) {
      State state;
      state.unbound = support.size();
      for (const int variable : support) state.rest += bits_[static_cast<std::size_t>(variable)];
      states_.push_back(state);
    }
  }

  void bind(int variable, bool back = false) {
    const auto index = static_cast<std::size_t>(variable);
    bound_[index] = back ? 0 : 1;
    const double bits = back ? -bits_[index] : bits_[index];
    for (const std::size_t c : of_variable_[index]) {
      states_[c].unbound += back ? std::size_t{1} : std::size_t(-1);
      states_[c].rest -= bits;
      states_[c].begun += bits;
    }
  }

  /// log2 of the number of nodes after the variables that are bound.
  double nodes() const {
    double by_states = 0;
    double by_values = 0;
    for (const State& state : states_) {
      if (!state.open()) continue;
      by_states += std::min(state.begun, state.rest < 10 ? std::exp2(state.rest) : state.begun);
    }
    for (std::size_t v = 0; v < bits_.size(); ++v) {
      const auto open = [&](std::size_t c) { return states_[c].unbound > 0; };
      if (bound_[v] && std::any_of(of_variable_[v].begin(), of_variable_[v].end(), open)) by_values += bits_[v];
    }
    return std::min(by_states, by_values);
  }

  double bits(int variable) const { return bits_[static_cast<std::size_t>(variable)]; }

  double cost(const std::vector<int>& order) {
    clear();
    double edges = 0;
    for (const int variable : order) {
      edges += std::exp2(nodes() + bits(variable));
      bind(variable);
    }
    return edges;
  }

 private:
  struct State {
    std::size_t unbound = 0;
    double rest = 0;   ///< log2 of the number of assignments that remain
    double begun = 0;  ///< log2 of the number of assignments so far
    bool open() const { return begun > 0 && unbound > 0; }
  };
  const std::vector<std::vector<int>>& supports_;
  std::vector<std::vector<std::size_t>> of_variable_;
  std::vector<double> bits_;
  std::vector<char> bound_;
  std::vector<State> states_;
};

/// Binds, at each step, the variable that leaves the fewest nodes.
std::vector<int> greedy(SizeEstimate& estimate, std::size_t count, int first) {
  estimate.clear();
  std::vector<int> order = {first};
  estimate.bind(first);
  std::vector<int> left(count);
  std::iota(left.begin(), left.end(), 0);
  std::erase(left, first);
  while (!left.empty()) {
    double least = std::numeric_limits<double>::infinity();
    int best = left.front();
    for (const int variable : left) {
      estimate.bind(variable);
      const double nodes = estimate.nodes();
      estimate.bind(variable, true);
      if (nodes < least - 1e-9) {
        least = nodes;
        best = variable;
      }
    }
    estimate.bind(best);
    order.push_back(best);
    std::erase(left, best);
  }
  return order;
}

/// Moves single variables as long as this lowers the cost.
void improve(SizeEstimate& estimate, std::vector<int>& order, double& cost) {
  int trials = 0;
  for (bool better = true; better && cost > kCheap;) {
    better = false;
    for (std::size_t from = 0; from < order.size(); ++from) {
      for (std::size_t to = 0; to < order.size(); ++to) {
        if (from == to) continue;
        if (++trials > kMostTrials) return;
        std::vector<int> moved = order;
        moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(from));
        moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(to), order[from]);
        const double moved_cost = estimate.cost(moved);
        if (moved_cost >= 0.999 * cost) continue;
        order = std::move(moved);
        cost = moved_cost;
        better = true;
      }
    }
  }
}

}  // namespace

std::vector<int> order_variables(const std::vector<std::size_t>& sizes, const std::vector<std::vector<int>>& supports) {
  std::vector<int> natural(sizes.size());
  std::iota(natural.begin(), natural.end(), 0);
  SizeEstimate estimate(sizes, supports);
  const double natural_cost = estimate.cost(natural);
  if (natural_cost <= kCheap) return natural;
  std::vector<int> best = natural;
  double least = natural_cost;
  const std::size_t starts = std::min<std::size_t>(sizes.size(), 24);
  for (std::size_t first = 0; first < starts; ++first) {
    const std::vector<int> order = greedy(estimate, sizes.size(), static_cast<int>(first));
    const double cost = estimate.cost(order);
    if (cost >= least) continue;
    least = cost;
    best = order;
  }
  improve(estimate, best, least);
  return least < natural_cost / 2 ? best : natural;
}

}  // namespace tune
