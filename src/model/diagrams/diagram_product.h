#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/diagrams/decision_diagram.h"
#include "model/restriction.h"
#include "model/space.h"
#include "model/values/natural.h"

namespace tune {

/// Which values a mapping's parameters may have, as indices: one ascending list per parameter.
using Domains = std::vector<std::vector<std::uint32_t>>;

/// The values that the restrictions admit.
Domains domains_of(const Space::Mapping& mapping, const std::vector<Restriction>& restrictions);
/// Whether the mapping has all restricted parameters.
bool has_names(const Space::Mapping& mapping, const std::vector<Restriction>& restrictions);

/// The valid points of one mapping: the product of one decision diagram for each group of parameters that no constraint
/// connects with another group. Points are numbered group by group, the last one fastest.
class DiagramProduct {
 public:
  struct Limits {
    DecisionDiagram::Limits diagram = {};  ///< per group; beyond them TooLarge is thrown
    TableLimits tables = {};
  };

  /// If `used` is given, only the derived values and, after them, the constraints for which it is true are taken.
  /// Throws TooLarge.
  DiagramProduct(const Space& space, const Space::Mapping& mapping, Domains domains, const std::vector<char>* used,
                 const Limits& limits);
  DiagramProduct(const Space& space, const Space::Mapping& mapping, Domains domains)
      : DiagramProduct(space, mapping, std::move(domains), nullptr, Limits()) {}

  /// The diagram of these parameters would exceed the limits.
  struct TooLarge {
    std::vector<std::string> parameters;
  };

  /// Saturates at 2^63 - 1.
  std::int64_t size() const { return size_; }
  Natural exact_size() const;
  void at(std::int64_t index, std::span<std::uint32_t> digits) const;
  std::optional<std::int64_t> index_of(std::span<const std::uint32_t> digits) const;

 private:
  std::vector<DecisionDiagram> groups_;
  std::int64_t size_ = 1;
};

}  // namespace tune
