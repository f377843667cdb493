#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The values of parameters and expressions: how they are read, printed, and passed to compilers as definitions.
namespace tune {

/// Two integers that belong together, such as a cluster shape; `P[0]` and `P[1]` in expressions.
struct Pair {
  std::int64_t first = 0;
  std::int64_t second = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// A boolean that remembers whether it was spelled `true` or `True`: programs get it verbatim.
struct Bool {
  bool value = false;
  bool lower_case = false;
  friend bool operator==(const Bool& x, const Bool& y) { return x.value == y.value; }
};

/// The value of a parameter, of a name in an expression, or of an expression.
using Value = std::variant<std::int64_t, double, Bool, std::string, Pair>;

/// Reads one plain (unquoted) scalar as YAML and Python would: integer (decimal, 0x), float, true/false/True/False,
/// else text. Quoted scalars are text and do not come here.
Value parse_value(std::string_view plain);

/// The number that an integer or a real value is; nullopt for other kinds.
std::optional<double> number_of(const Value& value);

/// The text of a value in YAML files and in tables: 128, 0.5, 1.0, True, row, [2, 1].
std::string to_text(const Value& value);

/// The same, quoted where YAML would otherwise read something other than this text.
std::string to_yaml(const Value& value);

/// A preprocessor definition without `-D`.
struct Define {
  std::string name;
  std::string value;
};

/// The definitions that a C++ kernel sees for one parameter or derived value. Integers are decimal, negative ones stand
/// in parentheses, booleans are 1 or 0, a pair becomes NAME_0 and NAME_1, and a text stands as it is, with NAME_text=1
/// added where `text` is an identifier.
std::vector<Define> to_defines(const std::string& name, const Value& value);

}  // namespace tune
