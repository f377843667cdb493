#include "config/foreign/python_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/yaml/values.h"
#include "model/expression/expression.h"
#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

constexpr std::size_t kMostValues = 100'000;
constexpr int kDeepest = 16;  ///< lists in lists

using Nodes = std::vector<Node>;

std::string without_margins(std::string_view text) { return std::string(trimmed(text, " ")); }

bool is_within(const std::string& text, std::string_view begin, char end) {
  return text.starts_with(begin) && text.ends_with(end);
}

/// Where `wanted` stands outside of all brackets and quotes, from `from` on; npos: nowhere.
std::size_t find_outside(std::string_view text, std::string_view wanted, std::size_t from = 0) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (i >= from && depth == 0 && text.substr(i).starts_with(wanted)) return i;
    if (c == '\'' || c == '"') quote = c;
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
  }
  return std::string_view::npos;
}

std::vector<std::string> split_outside(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(find_outside(text, {&separator, 1}, begin), text.size());
    parts.push_back(without_margins(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// The values of `range(first, end, step)`, of which `text` is what stands between the brackets.
std::optional<std::vector<Value>> values_of_range(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split_outside(text, ',')) {
    const std::optional<Value> number = evaluate_text(part);
    if (!number || !std::holds_alternative<std::int64_t>(*number)) return std::nullopt;
    numbers.push_back(std::get<std::int64_t>(*number));
  }
  if (numbers.size() == 1) numbers.insert(numbers.begin(), 0);
  if (numbers.size() == 2) numbers.push_back(1);
  if (numbers.size() != 3 || numbers[2] == 0) return std::nullopt;
  const std::int64_t end = numbers[1], step = numbers[2];
  std::vector<Value> values;
  bool fits = true;  // what is beyond 64 bits is beyond the end, too
  for (std::int64_t i = numbers[0]; fits && (step > 0 ? i < end : i > end);
       fits = !__builtin_add_overflow(i, step, &i)) {
    if (values.size() == kMostValues) return std::nullopt;
    values.push_back(i);
  }
  return values;
}

/// Reads what stands for a list; nullopt: it is none that is understood, or it has too many values.
class PythonList {
 public:
  explicit PythonList(const Place& place) : place_(&place) {}

  /// Lists with + between them.
  std::optional<Nodes> read_sum(const std::string& text, int depth = 0) {
    if (depth > kDeepest) return std::nullopt;
    Nodes all;
    for (const std::string& part : split_outside(text, '+')) {
      std::optional<Nodes> values = read_one(part, depth);
      if (!values || all.size() + values->size() > kMostValues) return std::nullopt;
      std::ranges::move(*values, std::back_inserter(all));
    }
    return all;
  }

 private:
  std::optional<Nodes> read_one(const std::string& text, int depth) {
    if (is_within(text, "list(", ')')) return read_sum(without_margins(inner(text, 5)), depth + 1);
    if (is_within(text, "range(", ')')) return as_nodes(values_of_range(inner(text, 6)));
    const bool is_list = is_within(text, "[", ']');
    if (!is_list && !is_within(text, "(", ')')) return std::nullopt;
    const std::string inside = inner(text, 1);
    if (const std::size_t loop = find_outside(inside, " for "); loop != std::string::npos)
      return as_nodes(read_loop(inside.substr(0, loop), inside.substr(loop + 5), depth));
    const bool is_sum = !is_list && find_outside(inside, ",") == std::string::npos;  // brackets around a list
    return is_sum ? read_sum(without_margins(inside), depth + 1) : read_values(inside);
  }

  static std::string inner(const std::string& text, std::size_t begin) {
    return text.substr(begin, text.size() - begin - 1);
  }

  std::optional<Nodes> as_nodes(const std::optional<std::vector<Value>>& values) const {
    if (!values) return std::nullopt;
    Nodes nodes;
    for (const Value& value : *values) nodes.push_back(to_node(value, *place_));
    return nodes;
  }

  /// Values with commas between them, as YAML has them too.
  std::optional<Nodes> read_values(const std::string& text) const try {
    Diagnostics diagnostics;
    Node list = parse_yaml("[" + text + "]", "Values", diagnostics);
    relocate(list, *place_);
    return list.is_list() ? std::optional(std::move(list.items)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }

  /// `expression for NAME in LIST if CONDITION`, of which `rest` is what stands behind `for`.
  std::optional<std::vector<Value>> read_loop(const std::string& expression, const std::string& rest, int depth) try {
    const std::size_t in = rest.find(" in ");
    if (in == std::string::npos) return std::nullopt;
    const std::string name = without_margins(rest.substr(0, in)), tail = rest.substr(in + 4);
    const std::size_t condition = find_outside(tail, " if ");
    const std::optional<Nodes> over = read_sum(without_margins(tail.substr(0, condition)), depth + 1);
    if (!over || !is_identifier(name)) return std::nullopt;
    Names names;
    names.declare(name);
    const Expression value = Expression::parse(expression, names);
    const Expression wanted =
        Expression::parse(condition == std::string::npos ? "True" : tail.substr(condition + 4), names);
    return values_over(*over, value, wanted);
  } catch (const ExpressionError&) {
    return std::nullopt;
  }

  static std::optional<std::vector<Value>> values_over(const Nodes& over, const Expression& expression,
                                                       const Expression& wanted) {
    std::vector<Value> values;
    for (const Node& node : over) {
      const std::vector<Value> slots = {evaluate_text(node.text).value_or(node.text)};
      EvalFailure failure;
      if (wanted.holds(slots, failure)) values.push_back(expression.evaluate(slots, failure));
      if (failure) return std::nullopt;
    }
    return values;
  }

  const Place* place_;
};

}  // namespace

Node read_python_list(const Node& node, Diagnostics& diagnostics) {
  Node list = make_list(node.place);
  std::optional<Nodes> values = PythonList(node.place).read_sum(without_margins(node.text));
  if (!values || values->empty())
    diagnostics.add(node.place,
                    fmt::format("{} is no list of values that tune understands; write the values out", describe(node)));
  else
    list.items = std::move(*values);
  return list;
}

}  // namespace tune::config
