#include <algorithm>
#include <cmath>
#include <limits>

#include "database/slowdowns.h"
#include "model/settings.h"

namespace tune::database {
namespace {

constexpr double kNotTimed = 10;      // the slowdown that is assumed where none is known
constexpr double kLeastGain = 0.001;  // in weighted slowdowns, for which a split is made

class TreeGrower {
 public:
  TreeGrower(const Slowdowns& table, const std::vector<std::size_t>& chosen) : table_(&table), chosen_(&chosen) {}

  std::vector<SizeRule::Node> grow(const SizeIndices& sizes) {
    add(sizes);
    return std::move(nodes_);
  }

 private:
  struct Leaf {
    std::size_t use = 0;
    double cost = std::numeric_limits<double>::infinity();
  };
  struct Split {
    std::string size;
    std::int64_t most = 0;
    double cost = std::numeric_limits<double>::infinity();
  };

  Leaf leaf_of(const SizeIndices& sizes) const {
    Leaf best;
    for (std::size_t use = 0; use < chosen_->size(); ++use) {
      double cost = 0;
      for (const std::size_t size : sizes)
        cost += table_->weights[size] * std::min(table_->of[size][(*chosen_)[use]], kNotTimed);
      if (cost < best.cost) best = {use, cost};
    }
    return best;
  }

  std::pair<SizeIndices, SizeIndices> divided(const SizeIndices& sizes, const Split& split) const {
    SizeIndices below, above;
    for (const std::size_t size : sizes)
      (size_of(table_->sizes[size], split.size).value_or(1) <= split.most ? below : above).push_back(size);
    return {below, above};
  }

  /// Between two neighbouring values lies the one of which both differ by the same factor.
  Split best_split(const SizeIndices& sizes) const {
    Split best;
    for (const auto& [name, ignored] : table_->sizes[sizes.front()]) {
      std::vector<std::int64_t> values;
      for (const std::size_t size : sizes) values.push_back(size_of(table_->sizes[size], name).value_or(1));
      std::ranges::sort(values);
      for (std::size_t i = 1; i < values.size(); ++i) {
        if (values[i] == values[i - 1]) continue;
        const double middle = std::sqrt(static_cast<double>(values[i - 1])) * std::sqrt(static_cast<double>(values[i]));
        Split split{name, std::clamp(static_cast<std::int64_t>(middle), values[i - 1], values[i] - 1), 0};
        const auto [below, above] = divided(sizes, split);
        split.cost = leaf_of(below).cost + leaf_of(above).cost;
        if (split.cost < best.cost) best = split;
      }
    }
    return best;
  }

  std::size_t add(const SizeIndices& sizes) {
    const std::size_t index = nodes_.size();
    nodes_.emplace_back();
    const Leaf leaf = leaf_of(sizes);
    const Split split = best_split(sizes);
    double weight = 0;
    for (const std::size_t size : sizes) weight += table_->weights[size];
    SizeRule::Node node;
    node.use = leaf.use;
    if (leaf.cost - split.cost > kLeastGain * weight) {
      const auto [below, above] = divided(sizes, split);
      node = {split.size, split.most, add(below), 0, 0};
      node.above = add(above);
    }
    nodes_[index] = std::move(node);
    return index;
  }

  const Slowdowns* table_;
  const std::vector<std::size_t>* chosen_;
  std::vector<SizeRule::Node> nodes_;
};

}  // namespace

double slowdown_of(const Slowdowns& table, std::size_t size, const std::vector<Setting>& params) {
  const auto has_params = [&](const Configuration& each) { return to_text(each.params) == to_text(params); };
  const auto found = std::ranges::find_if(table.configurations, has_params);
  if (found == table.configurations.end()) return kUnknownSlowdown;
  return table.of[size][static_cast<std::size_t>(found - table.configurations.begin())];
}

std::vector<SizeRule::Node> grow_tree(const Slowdowns& table, const SizeIndices& sizes,
                                      const std::vector<std::size_t>& chosen) {
  return TreeGrower(table, chosen).grow(sizes);
}

SizeRule make_rule(const Slowdowns& table, const Cover& cover) {
  SizeRule rule;
  for (const std::size_t each : cover.chosen) rule.configurations.push_back(table.configurations[each]);
  for (std::size_t size = 0; size < table.sizes.size(); ++size) {
    const std::size_t use = fastest_for(table, size, cover.chosen);
    rule.slowdown = std::max(rule.slowdown, table.of[size][use]);
    rule.table[table.sizes[size]] =
        static_cast<std::size_t>(std::ranges::find(cover.chosen, use) - cover.chosen.begin());
  }
  rule.tree = grow_tree(table, all_sizes(table), cover.chosen);
  return rule;
}

std::vector<double> left_out_slowdowns(const Slowdowns& table, double limit) {
  std::vector<double> slowdowns;
  if (table.sizes.size() < 2) return slowdowns;
  for (std::size_t out = 0; out < table.sizes.size(); ++out) {
    SizeIndices others = all_sizes(table);
    std::erase(others, out);
    const Cover cover = find_cover(table, others, limit);
    SizeRule rule;
    for (const std::size_t each : cover.chosen) rule.configurations.push_back(table.configurations[each]);
    rule.tree = grow_tree(table, others, cover.chosen);
    const auto* choice = configuration_for(rule, table.sizes[out]).first;
    slowdowns.push_back(table.of[out][cover.chosen[static_cast<std::size_t>(choice - rule.configurations.data())]]);
  }
  return slowdowns;
}

}  // namespace tune::database
