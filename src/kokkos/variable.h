#pragma once
#include <string>
#include <vector>

#include "model/space.h"
#include "tune/kokkos_tools.h"

/// The variables that an application declares: what it can be asked for, and what it says of its state.
namespace tune::kokkos {

/// A declared variable, with a copy of its candidates. It knows nothing of the values that it has had.
struct Variable {
  std::string name;
  tools::ValueType type = tools::ValueType::integer;
  Kind kind = Kind::categorical;
  std::vector<Value> candidates;  ///< empty: unbounded, or unusable
  std::string unusable;           ///< why no value can be proposed for it; empty: it can be
};

/// The most candidates of one variable. Of a range with more, as many are taken, at equal distances, or at equal ratios
/// if the variable is a ratio.
inline constexpr std::size_t kMostCandidates = 1000;

/// Copies what is declared. Candidates that are no numbers, an empty set and a range without a step make the variable
/// unusable.
Variable read_variable(const char* name, const tools::VariableInfo& info);

Value read_value(tools::ValueType type, const tools::Scalar& scalar);
/// Precondition: the value has this type.
tools::Scalar to_scalar(tools::ValueType type, const Value& value);

}  // namespace tune::kokkos
