#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/expression/expression.h"
#include "model/values/value.h"

/// The grid of a tuning problem: parameters, derived values and constraints, and the points and specs they span.
namespace tune {

/// Which arithmetic between the values of a parameter is meaningful; this decides which steps a search takes.
enum class Kind { categorical, ordinal, interval, ratio };
inline constexpr std::array<std::string_view, 4> kKinds = {"categorical", "ordinal", "interval", "ratio"};

/// One axis of the grid. `name` is without the `$` that marks a run-time parameter, which is not part of the build.
struct Parameter {
  std::string name;
  bool run_time = false;
  Kind kind = Kind::ordinal;
  std::vector<Value> values;
};

/// The parameter of this name; null: there is none.
const Parameter* find_parameter(std::span<const Parameter> parameters, std::string_view name);
/// Whether it has nothing but pairs.
bool has_pairs(const Parameter& parameter);

/// A name computed from parameters (`let:`).
struct Derived {
  std::string name;
  Expression expression;
};

struct Constraint {
  Expression expression;
  std::string reason;      ///< `because`, the trailing comment, or the expression itself
  std::string place = {};  ///< `gemm.yaml:14`; empty: not from a file
};

/// Whether two values are equal as in Python: 1 equals 1.0, and a text never equals a number.
bool same(const Value& a, const Value& b);

/// A parameter with the value chosen for it.
struct Setting {
  std::string name;
  Value value;
  bool run_time = false;
  bool operator==(const Setting&) const = default;
};

/// One point of the grid. `mesh_idx` is its 0-based row-major index in the full product before pruning, last key
/// fastest; -1 for a point outside the grid (a baseline).
struct Spec {
  std::int64_t mesh_idx = -1;
  std::vector<Setting> params;

  /// Null if there is none. `place`: where it may be, so that thousands are found quickly.
  const Value* find(std::string_view name, std::size_t place = 0) const;
};

/// Whether the spec has all these values.
bool holds(const Spec& spec, std::span<const Setting> settings);

/// Why a point is not a valid spec: the first constraint that it violates.
struct Rejection {
  std::string reason;
  Spec point;
};

/// The grid: a union of products, pruned by constraints. It knows indices and validity; it builds and runs nothing.
class Space {
 public:
  /// One mapping of `params:`; its points are the product of its parameters, last one fastest.
  struct Mapping {
    std::vector<Parameter> parameters;
    std::vector<Derived> derived;         ///< in order; those whose names this mapping lacks are left out
    std::vector<Constraint> constraints;  ///< in order; likewise
  };

  /// A point as indices: which mapping of the union, and the index of each of its parameters' values.
  struct Point {
    std::uint32_t mapping = 0;
    std::vector<std::uint32_t> digits;
    auto operator<=>(const Point&) const = default;
  };

  Space() = default;
  /// `fixed` holds the value of every slot that does not depend on the point (problem sizes, device).
  Space(Names names, std::vector<Value> fixed, std::vector<Mapping> mappings);

  const Names& names() const { return names_; }
  /// The value of every slot that does not depend on the point; of the others anything.
  std::span<const Value> fixed() const { return fixed_; }
  std::span<const Mapping> mappings() const { return mappings_; }

  /// The number of points of the full product; nullopt if that is more than 2^63 - 1.
  std::optional<std::int64_t> product_size() const { return product_size_; }

  /// The point with this index: a spec, or what rejects the point. Precondition: 0 <= mesh_idx < product size (if that
  /// is known).
  std::variant<Spec, Rejection> at(std::int64_t mesh_idx) const;

  /// The point with these settings; its mesh_idx is -1 if it is not in the grid. Constraints reject it like any other.
  /// Settings must name every parameter of one mapping; throws std::invalid_argument naming a missing or unknown one.
  std::variant<Spec, Rejection> at(std::span<const Setting> settings) const;

  /// The point as a spec, whether or not the constraints hold; mesh_idx is -1 if the index is more than 2^63 - 1.
  Spec spec(const Point& point) const;

  /// Where a spec stands in the grid, by its mesh_idx, or by its settings if that is -1 (the first mapping that has
  /// them); nullopt if it is outside.
  std::optional<Point> point(const Spec& spec) const;

  /// The values of every slot at a spec, derived ones included: what launch, args and metrics are evaluated over.
  std::vector<Value> environment(const Spec& spec) const;

  /// The derived values of a spec, in order: the kernel sees them as definitions too. One that depends on a run-time
  /// parameter is a run-time value itself.
  std::vector<Setting> derived(const Spec& spec) const;

 private:
  friend class GridScan;

  /// A derived value or a constraint, in the order of evaluation.
  struct Step {
    Expression expression;
    int slot = -1;   ///< of a derived value; -1: a constraint
    int depth = -1;  ///< the last parameter it depends on; -1: none
    int reach = -1;  ///< the same for all steps up to this one
    bool run_time = false;
    std::string reason;

    /// Whether the point is not rejected here; a derived value is written to its slot.
    bool passes(std::vector<Value>& slots, EvalFailure& failure) const;
    std::string rejection(const EvalFailure& failure, std::span<const Value> slots) const;
  };
  /// A mapping, made ready for evaluation.
  struct Grid {
    std::vector<int> slots;  ///< one per parameter
    std::vector<Step> steps;
    /// strides[i]: points that share the first i parameters, strides[0]: all of them; nullopt: more than 2^63 - 1.
    std::vector<std::optional<std::int64_t>> strides;
  };

  Grid make_grid(const Mapping& mapping);
  std::vector<Step> make_steps(const Mapping& mapping, const Grid& grid) const;
  Spec make_spec(const Point& point, std::int64_t mesh_idx) const;
  Point point_at(std::int64_t mesh_idx) const;
  std::optional<std::size_t> mapping_of(std::span<const Setting> settings, std::size_t first) const;
  std::variant<Spec, Rejection> checked(std::size_t mapping, Spec spec) const;
  std::int64_t mesh_idx_of(const Point& point) const;
  std::vector<Value> slots_of(const Spec& spec) const;

  Names names_;
  std::vector<Value> fixed_;
  std::vector<Mapping> mappings_;
  std::vector<Grid> grids_;  ///< one per mapping
  std::optional<std::int64_t> product_size_ = 0;
};

/// The names of the parameters of all mappings, each once.
std::vector<std::string> parameter_names(const Space& space);

}  // namespace tune
