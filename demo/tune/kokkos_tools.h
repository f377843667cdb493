#pragma once
// The part of the C interface of Kokkos Tools that is about tuning, as versions 20210225 to 20240906 lay it out, under
// names of our own. A tool and an application that share nothing else agree on these bytes. C++17.

#include <cstddef>
#include <cstdint>

namespace tune::tools {

/// The version of the interface that this follows.
inline constexpr std::uint64_t kVersion = 20240906;

enum class ValueType : std::uint32_t { real, integer, text };
/// What can be said of two values: whether they are the same, which comes first, how far apart they are, their ratio.
enum class Category : std::uint32_t { categorical, ordinal, interval, ratio };
/// What is known of the values that a variable can have.
enum class Candidates : std::uint32_t { set, range, unbounded };
enum class Direction : std::uint32_t { minimize, maximize };

inline constexpr std::size_t kTextSize = 64;
using Text = char[kTextSize];  ///< ends with a 0

union Scalar {
  std::int64_t integer;
  double real;
  Text text;
};

union ScalarArray {
  std::int64_t* integer;
  double* real;
  Text* text;
};

struct ValueSet {
  std::size_t size;
  ScalarArray values;
};

struct ValueRange {
  Scalar lower, upper, step;
  bool open_lower, open_upper;  ///< the end itself is not a candidate
};

union SetOrRange {
  ValueSet set;
  ValueRange range;
};

struct VariableInfo {
  ValueType type;
  Category category;
  Candidates quantity;
  SetOrRange candidates;
  void* of_tool;  ///< the tool's own, handed back with every value
};

struct VariableValue {
  std::size_t id;  ///< of the variable
  Scalar value;
  VariableInfo* info;
};

struct Goal {
  std::size_t id;  ///< of the variable that is minimized or maximized
  Direction direction;
};

struct Settings {
  bool requires_global_fencing;
  bool padding[255];
};

struct Actions {
  void (*fence)(std::uint32_t device);
  void (*padding[31])();
};

}  // namespace tune::tools
