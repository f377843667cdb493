#include "config/yaml/python_list.h"

#include <fmt/format.h>

#include <array>

#include "config/yaml/fields.h"
#include "config/yaml/values.h"
#include "model/expression/expression.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

constexpr std::int64_t kMostValues = 100'000;

/// What stands in range(...): the first value, the one after the last, the step.
using Bounds = std::array<std::int64_t, 3>;

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Returns a null node if the text is not YAML.
Node parse_list(const std::string& text, const Place& place) {
  Diagnostics ignored;
  Node list;
  try {
    list = parse_yaml(text, "Values", ignored);
  } catch (const Error&) {
    list = Node();
  }
  relocate(list, place);
  return list;
}

std::optional<Bounds> read_bounds(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::optional<Value> number = evaluate_text(text.substr(begin, end - begin));
    if (!number || !std::holds_alternative<std::int64_t>(*number)) return std::nullopt;
    numbers.push_back(std::get<std::int64_t>(*number));
    begin = end + 1;
  }
  if (numbers.size() == 1) return Bounds{0, numbers[0], 1};
  if (numbers.size() == 2) return Bounds{numbers[0], numbers[1], 1};
  if (numbers.size() != 3 || numbers[2] == 0) return std::nullopt;
  return Bounds{numbers[0], numbers[1], numbers[2]};
}

/// The values of an expression of one variable; nullopt: it cannot be evaluated, or there are too many.
std::optional<std::vector<Value>> values_over(const Bounds& bounds, const Expression& expression) {
  const auto [first, end, step] = bounds;
  std::vector<Value> values;
  bool fits = true;  // what is beyond 64 bits is beyond the end, too
  for (std::int64_t i = first; fits && (step > 0 ? i < end : i > end); fits = !__builtin_add_overflow(i, step, &i)) {
    const std::vector<Value> slots = {i};
    EvalFailure failure;
    values.push_back(expression.evaluate(slots, failure));
    if (failure || static_cast<std::int64_t>(values.size()) > kMostValues) return std::nullopt;
  }
  return values;
}

/// The values of [EXPRESSION for NAME in range(...)]; nullopt: it is not of this form.
std::optional<std::vector<Value>> evaluate_comprehension(const std::string& text) try {
  const auto with = text.find(" for "), in = text.find(" in range(");
  if (!text.starts_with('[') || !text.ends_with(")]") || in == std::string::npos || in < with) return std::nullopt;
  const std::string variable = trimmed(text.substr(with + 5, in - with - 5));
  const auto bounds = read_bounds(text.substr(in + 10, text.size() - in - 12));
  if (!is_identifier(variable) || !bounds) return std::nullopt;
  Names names;
  names.declare(variable);
  return values_over(*bounds, Expression::parse(text.substr(1, with - 1), names));
} catch (const ExpressionError&) {
  return std::nullopt;
}

Node read_comprehension(const std::string& text, const Node& node, Diagnostics& diagnostics) {
  Node list = make_list(node.place);
  const auto values = evaluate_comprehension(text);
  if (!values || values->empty())
    diagnostics.add(node.place,
                    fmt::format("'{}' is no list of values that tune understands; write the values out", node.text));
  else
    for (const Value& value : *values) list.items.push_back(make_scalar(to_yaml(value), node.place));
  return list;
}

}  // namespace

Node read_python_list(const Node& node, Diagnostics& diagnostics) {
  std::string text = trimmed(node.text);
  if (text.starts_with("list(") && text.ends_with(')')) text = trimmed(text.substr(5, text.size() - 6));
  if (text.starts_with("range(")) text = fmt::format("[i for i in {}]", text);
  if (text.find(" for ") != std::string::npos) return read_comprehension(text, node, diagnostics);
  if (text.starts_with('(') && text.ends_with(')')) text = fmt::format("[{}]", text.substr(1, text.size() - 2));
  Node list = parse_list(text, node.place);
  if (!list.is_list() || list.items.empty())
    diagnostics.add(node.place, fmt::format("{} is no list of values", describe(node)));
  return list;
}

}  // namespace tune::config
