#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/node.h"
#include "model/backend.h"
#include "model/expression/expression.h"
#include "model/space.h"

namespace tune::config {

/// The names of one tuning file: some are valid for the whole run, some only in some mappings of the union, and some
/// not here at all (a property of another backend). Reads expressions over them, and reports unknown names.
class SymbolTable {
 public:
  explicit SymbolTable(Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

  /// A name with one value for the whole run.
  void add_constant(const std::string& name, Value value);
  /// Adds the names `device.*`: those of `chosen` are known, those that only `others` have are known nowhere.
  void add_device(Backend chosen, std::span<const Backend> others);
  /// A mapping of `params:`; the returned index stands for it below.
  std::size_t add_mapping(const Place& place, std::span<const Parameter> parameters);
  /// A name that mapping `mapping` knows.
  void add_to_mapping(std::size_t mapping, const std::string& name);
  /// A name whose value is known only after the spec has been chosen: a property of its build, or a measured figure.
  void add_result(const std::string& name) { declare(name, Known::result); }
  /// A name that exists only for another backend's builds.
  void add_elsewhere(const std::string& name) { names_.declare(name); }

  bool declares(std::string_view name) const { return names_.find(name).has_value(); }
  const Names& names() const { return names_; }
  std::size_t mappings() const { return mappings_.size(); }

  /// Returns nullopt, and reports why, if the node is not a text or not an expression, or has an undeclared name.
  /// `what` is what the message calls the expression, such as `constraint` in `unknown name 'x' in constraint 'x > 1'`.
  std::optional<Expression> read(const Node& node, std::string_view what);
  /// Does what `read` does, and also reports a name that some mapping lacks.
  std::optional<Expression> read_for_all(const Node& node, std::string_view what);
  /// Does what `read` does, and also reports a name that depends on the point.
  std::optional<Expression> read_fixed(const Node& node, std::string_view what);
  /// The value of an expression over constants only.
  std::optional<double> read_constant_number(const Node& node, std::string_view what);
  std::optional<std::int64_t> read_constant_integer(const Node& node, std::string_view what);

  /// Whether a mapping knows every name of an expression.
  bool known_in(std::size_t mapping, const Expression& expression) const;
  /// Whether an expression uses a name that only another backend has.
  bool only_elsewhere(const Expression& expression) const;

  /// The `device.*` slots that expressions read so far use.
  const std::vector<int>& used_device_slots() const { return used_device_slots_; }
  /// The values of the constants by slot, up to the names declared so far; other slots hold 0.
  const std::vector<Value>& values() const { return values_; }

 private:
  enum class Known { nowhere, constant, device, point, result };
  struct Mapping {
    Place place;
    std::vector<bool> knows;  // by slot
  };

  int declare(const std::string& name, Known known);
  Known known(int slot) const;
  bool knows(const Mapping& mapping, int slot) const;
  template <typename Number>
  std::optional<Number> read_constant(const Node& node, std::string_view what,
                                      Number (Expression::*value_of)(std::span<const Value>, EvalFailure&) const);

  Diagnostics* diagnostics_;
  Names names_;
  std::vector<Known> known_;
  std::vector<Value> values_;
  std::vector<Mapping> mappings_;
  std::vector<int> used_device_slots_;
};

}  // namespace tune::config
