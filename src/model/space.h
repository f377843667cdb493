#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/expression.h"
#include "model/value.h"

namespace tune {

/// What arithmetic between a parameter's values means, which is what a search may do with it.
enum class Kind { categorical, ordinal, interval, ratio };

/// One axis of the grid. `name` has no `$`; `run_time` says that it had one (it is not part of the build).
struct Parameter {
  std::string name;
  bool run_time = false;
  Kind kind = Kind::ordinal;
  std::vector<Value> values;
};

/// A name computed from parameters (`let:`).
struct Derived {
  std::string name;
  Expression expression;
};

struct Constraint {
  Expression expression;
  std::string reason;  ///< `because`, the trailing comment, or the expression itself
};

/// One chosen value.
struct Setting {
  std::string name;
  Value value;
  bool run_time = false;
};

/// One point of the grid. `mesh_idx` is its 0-based row-major index in the full product before pruning, last key
/// fastest; -1 for a point outside the grid (a baseline).
struct Spec {
  std::int64_t mesh_idx = -1;
  std::vector<Setting> params;

  const Value* find(std::string_view name) const;
};

/// Why a point is not a spec: the first constraint it fails.
struct Rejection {
  std::string reason;
};

/// The grid: a union of products, pruned by constraints. Knows indices and validity; builds and runs nothing.
class Space {
 public:
  /// One mapping of `params:`; its points are the product of its parameters, last one fastest.
  struct Mapping {
    std::vector<Parameter> parameters;
    std::vector<Derived> derived;         ///< in order; those whose names this mapping lacks are left out
    std::vector<Constraint> constraints;  ///< in order; likewise
  };

  Space() = default;
  /// `fixed` holds the value of every slot that does not depend on the point (problem sizes, device).
  Space(Names names, std::vector<Value> fixed, std::vector<Mapping> mappings);

  const Names& names() const { return names_; }
  std::span<const Mapping> mappings() const { return mappings_; }

  /// Points of the full product; nullopt if that is more than 2^63 - 1.
  std::optional<std::int64_t> product_size() const { return product_size_; }

  /// The point with this index: a spec, or what rejects it. Precondition: 0 <= mesh_idx < product size (if that is
  /// known).
  std::variant<Spec, Rejection> at(std::int64_t mesh_idx) const;

  /// The point of these settings: its mesh_idx if it is in the grid, else -1; rejected by the constraints as any other.
  /// Settings must name every parameter of one mapping; throws std::invalid_argument naming a missing or unknown one.
  std::variant<Spec, Rejection> at(std::span<const Setting> settings) const;

  /// The values of every slot at a spec, derived ones included: what launch, args and metrics are evaluated over.
  std::vector<Value> environment(const Spec& spec) const;

  /// The derived values of a spec, in order: the kernel sees them as definitions too.
  std::vector<Setting> derived(const Spec& spec) const;

 private:
  Names names_;
  std::vector<Value> fixed_;
  std::vector<Mapping> mappings_;
  std::optional<std::int64_t> product_size_ = 0;
};

/// The valid specs in mesh order, and what pruned the others: one count per reason, in order of first appearance.
class Walk {
 public:
  struct Pruned {
    std::string reason;
    std::int64_t count = 0;
    std::int64_t first_mesh_idx = 0;
  };

  explicit Walk(const Space& space) : space_(&space) {}
  std::optional<Spec> next();
  /// The last mesh_idx looked at plus one.
  std::int64_t position() const { return position_; }
  const std::vector<Pruned>& pruned() const { return pruned_; }

 private:
  const Space* space_;
  std::int64_t position_ = 0;
  std::vector<Pruned> pruned_;
};

}  // namespace tune
