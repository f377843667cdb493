#include "model/constraints/contradiction.h"

#include "model/diagrams/diagram_product.h"

namespace tune {
namespace {

/// A space can be large without the constraints that keep it small; then a constraint is kept without proof.
constexpr std::size_t kMostEdges = 2'000'000;
/// For all combinations of constraints together.
constexpr std::int64_t kBudget = std::int64_t{1} << 29;

enum class Left { none, some, unknown };

Left left_by(const Space& space, const Space::Mapping& mapping, const Domains& domains, const std::vector<char>& used) {
  const auto budget = kBudget / static_cast<std::int64_t>(used.size() + 1);
  const DecisionDiagram::Limits limits = {.edges = kMostEdges, .budget = {budget}};
  try {
    return DiagramProduct(space, mapping, domains, &used, {.diagram = limits, .tables = {}}).size() == 0 ? Left::none
                                                                                                         : Left::some;
  } catch (const DiagramProduct::TooLarge&) {
    return Left::unknown;
  }
}

}  // namespace

std::vector<Contradiction> contradictions(const Space& space, const std::vector<Restriction>& restrictions) {
  std::vector<Contradiction> found;
  for (const Space::Mapping& mapping : space.mappings()) {
    if (!has_names(mapping, restrictions)) continue;
    const Domains domains = domains_of(mapping, restrictions);
    std::vector<char> used(mapping.derived.size() + mapping.constraints.size(), 1);
    if (left_by(space, mapping, domains, used) != Left::none) continue;
    Contradiction contradiction;
    for (char& one : used) {
      one = 0;
      const Left left = left_by(space, mapping, domains, used);
      one = left == Left::none ? 0 : 1;
      contradiction.minimal = contradiction.minimal && left != Left::unknown;
    }
    for (std::size_t i = 0; i < mapping.derived.size(); ++i)
      if (used[i]) contradiction.derived.push_back(&mapping.derived[i]);
    for (std::size_t i = 0; i < mapping.constraints.size(); ++i)
      if (used[mapping.derived.size() + i]) contradiction.constraints.push_back(&mapping.constraints[i]);
    found.push_back(std::move(contradiction));
  }
  return found;
}

}  // namespace tune
