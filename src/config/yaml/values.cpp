#include "config/yaml/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <regex>
#include <set>

#include "config/yaml/fields.h"
#include "model/expression/expression.h"

namespace tune::config {
namespace {

constexpr double kMaxValues = 1'000'000;

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// Reads the values of one parameter; error messages have its name.
class ValueReader {
 public:
  ValueReader(Parameter& parameter, Arithmetic arithmetic, Diagnostics& diagnostics)
      : parameter_(&parameter), name_(parameter.name), arithmetic_(arithmetic), diagnostics_(&diagnostics) {}

  void read(const Node& node) {
    if (node.is_mapping()) return read_form(node);
    std::optional<std::vector<Value>> values = read_list(node);
    if (!values) return;
    if (std::ranges::all_of(as_list(node), [&](const Node* item) { return may_be_evaluated(*item); }))
      evaluate_texts(*values);
    warn_of_repetitions(as_list(node), *values);
    keep(node, *values, std::nullopt);
  }

 private:
  std::nullopt_t complain(const Node& node, const std::string& text) {
    diagnostics_->add(node.place, fmt::format("parameter '{}' {}", name_, text));
    return std::nullopt;
  }

  /// `4..64`, `4-64`, `4:64` or `4:64:4`.
  static bool looks_like_a_range(const std::string& text) {
    static const std::regex kRange(R"(\d+ *(\.\.\.?|-|:) *\d+( *(\.\.\.?|:) *\d+)?)");
    return std::regex_match(text, kRange);
  }

  /// A text that was probably meant to be a list: `2, 4, 8` or range(2, 8).
  static bool looks_like_a_list(const Node& node) {
    if (node.quoted) return false;
    if (node.text.starts_with("range(") || node.text.starts_with("pow2(") || looks_like_a_range(node.text)) return true;
    const bool separated = node.text.find_first_of(",; ") != std::string::npos;
    return separated && node.text.find_first_not_of("0123456789.,; ") == std::string::npos;
  }

  std::optional<Value> read_one(const Node& node) {
    if (node.is_scalar() && looks_like_a_list(node))
      diagnostics_->warn(node.place,
                         fmt::format("parameter '{}' has the text '{}' as one value; write several as [2, 4, 8], "
                                     "{{range: [2, 8]}} or {{pow2: [2, 8]}}, or quote the text",
                                     name_, node.text));
    if (node.is_scalar()) return node.quoted ? Value(node.text) : parse_value(node.text);
    if (node.is_list() && node.items.size() == 2) {
      const Value first = parse_value(node.items[0].text), second = parse_value(node.items[1].text);
      const auto *x = std::get_if<std::int64_t>(&first), *y = std::get_if<std::int64_t>(&second);
      if (x != nullptr && y != nullptr) return Pair{*x, *y};
    }
    if (node.is_list()) return complain(node, "has a list among its values that is no pair of integers such as [2, 1]");
    if (node.kind == Node::Kind::null) return complain(node, "has no value; give one or remove the key");
    return complain(node, fmt::format("cannot have {} as a value", describe(node)));
  }

  std::optional<std::vector<Value>> read_list(const Node& node) {
    const std::vector<const Node*> items = as_list(node);
    if (items.empty()) return complain(node, "has no values; give at least one");
    std::vector<Value> values;
    for (const Node* item : items) {
      if (node.is_list() && item->kind == Node::Kind::null)
        complain(*item,
                 fmt::format("has an empty value; the empty text is written \"\", in a shell '{}:[\"\",b]'", name_));
      else if (auto value = read_one(*item))
        values.push_back(std::move(*value));
    }
    if (values.size() != items.size()) return {};
    return values;
  }

  bool may_be_evaluated(const Node& item) const {
    if (arithmetic_ == Arithmetic::none || !item.is_scalar()) return false;
    const bool is_boolean = item.text == "True" || item.text == "False";  // Python's words, which kbench quotes
    return arithmetic_ == Arithmetic::all || !item.quoted || is_boolean;
  }

  /// kbench's rule: texts are numbers if all of them are arithmetic.
  static void evaluate_texts(std::vector<Value>& values) {
    std::vector<Value> evaluated = values;
    for (Value& value : evaluated) {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) continue;
      const std::optional<Value> result = evaluate_text(*text);
      if (!result) return;
      value = *result;
    }
    values = std::move(evaluated);
  }

  void read_form(const Node& node) {
    Fields fields(node, fmt::format("parameter '{}'", name_), {"values", "pow2", "range", "kind"}, *diagnostics_);
    const Node *values = fields.find("values"), *pow2 = fields.find("pow2"), *range = fields.find("range");
    if ((values != nullptr) + (pow2 != nullptr) + (range != nullptr) != 1) {
      complain(node, "needs exactly one of values, pow2, range");
      return;
    }
    const std::optional<Kind> kind = read_kind(fields.find("kind"));
    if (pow2 != nullptr) return keep(node, read_pow2(*pow2), kind.value_or(Kind::ratio));
    if (range != nullptr) return keep(node, read_range(*range), kind.value_or(Kind::interval));
    const std::optional<std::vector<Value>> list = read_list(*values);
    if (list) warn_of_repetitions(as_list(*values), *list);
    keep(node, list, kind);
  }

  /// Values are compared as mesh_idx tells them apart: 1 is not 1.0.
  static std::string key_of(const Value& value) { return fmt::format("{} {}", value.index(), to_text(value)); }

  void warn_of_repetitions(const std::vector<const Node*>& items, const std::vector<Value>& values) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!seen.insert(key_of(values[i])).second)
        diagnostics_->warn(
            items[i]->place,
            fmt::format("parameter '{}' has the value {} more than once; it counts once", name_, to_text(values[i])));
  }

  std::optional<Kind> read_kind(const Node* node) {
    if (node == nullptr) return {};
    return read_enumerator<Kind>(*node, fmt::format("kind of parameter '{}'", name_), kKinds, *diagnostics_);
  }

  std::optional<std::vector<Value>> read_pow2(const Node& node) {
    std::vector<std::uint64_t> ends;
    for (const Node* item : as_list(node)) {
      if (const auto end = read_integer(*item, "an end of pow2", *diagnostics_)) {
        ends.push_back(*end > 0 ? static_cast<std::uint64_t>(*end) : 0);
      }
    }
    if (ends.size() != 2 || !std::has_single_bit(ends[0]) || !std::has_single_bit(ends[1]) || ends[0] > ends[1]) {
      return complain(node, "needs two powers of two in ascending order, such as pow2: [64, 256]");
    }
    std::vector<Value> values;
    for (std::uint64_t value = ends[0]; value <= ends[1]; value *= 2) {
      values.emplace_back(static_cast<std::int64_t>(value));
    }
    return values;
  }

  std::optional<std::vector<Value>> read_range(const Node& node) {
    std::vector<Value> ends;
    for (const Node* item : as_list(node)) ends.push_back(item->is_scalar() ? parse_value(item->text) : Value(""));
    if (ends.size() == 2) ends.emplace_back(std::int64_t{1});
    if (ends.size() != 3 || !std::ranges::all_of(ends, is_number)) {
      return complain(node, "needs two or three numbers in its range, such as range: [16, 64, 16]");
    }
    const auto number = [&](std::size_t i) { return std::visit(AsNumber{}, ends[i]); };
    const double scale = decimal_scale(number(0), number(1), number(2));
    const auto scaled = [&](std::size_t i) { return scale > 1 ? std::round(number(i) * scale) : number(i); };
    const double first = scaled(0), last = scaled(1), step = scaled(2);
    // The slack keeps a range of numbers without a common scale from losing its end to rounding.
    const double steps = std::floor((last - first) / step + 1e-9);
    if (!(number(2) > 0) || !(steps >= 0)) return complain(node, "has an empty range; write [low, high, step > 0]");
    if (!(steps < kMaxValues)) return complain(node, fmt::format("has more than {} values", kMaxValues));
    return spread(ends, scale, static_cast<std::int64_t>(steps) + 1);
  }

  struct AsNumber {
    double operator()(std::int64_t x) const { return static_cast<double>(x); }
    double operator()(double x) const { return x; }
    template <class Other>
    double operator()(const Other&) const {
      return std::nan("");
    }
  };

  /// The power of ten that makes all three integers, so that sums of decimals are exact: 0.1 + 2*0.1 is 0.3. 1 if none
  /// does.
  static double decimal_scale(double first, double last, double step) {
    for (double scale = 1; scale < 1e16; scale *= 10) {
      const auto becomes_integer = [scale](double x) {
        return std::abs(x * scale) < 1e15 && std::round(x * scale) / scale == x;
      };
      if (becomes_integer(first) && becomes_integer(last) && becomes_integer(step)) return scale;
    }
    return 1;
  }

  static std::vector<Value> spread(const std::vector<Value>& range, double scale, std::int64_t count) {
    const auto *first = std::get_if<std::int64_t>(&range[0]), *step = std::get_if<std::int64_t>(&range[2]);
    const double low = std::visit(AsNumber{}, range[0]), by = std::visit(AsNumber{}, range[2]);
    std::vector<Value> values;
    for (std::int64_t i = 0; i < count; ++i) {
      if (first != nullptr && step != nullptr) {
        // The sum fits, as the range's end does; the product need not.
        values.emplace_back(static_cast<std::int64_t>(
            static_cast<std::uint64_t>(*first) + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(*step)));
      } else if (scale > 1) {
        values.emplace_back((std::round(low * scale) + static_cast<double>(i) * std::round(by * scale)) / scale);
      } else {
        values.emplace_back(low + static_cast<double>(i) * by);
      }
    }
    return values;
  }

  /// Each value once.
  void keep(const Node& node, const std::optional<std::vector<Value>>& values, std::optional<Kind> kind) {
    if (!values) return;
    const bool numbers = std::ranges::all_of(*values, is_number);
    if (!numbers && (kind == Kind::interval || kind == Kind::ratio)) {
      complain(node, "has values that are no numbers; its kind can be categorical or ordinal");
      return;
    }
    std::set<std::string> seen;
    parameter_->kind = kind.value_or(numbers ? Kind::ordinal : Kind::categorical);
    for (const Value& value : *values)
      if (seen.insert(key_of(value)).second) parameter_->values.push_back(value);
  }

  Parameter* parameter_;
  std::string name_;
  Arithmetic arithmetic_;
  Diagnostics* diagnostics_;
};

}  // namespace

bool is_scalar_pair(const Node& node) {
  return node.is_list() && node.items.size() == 2 && node.items[0].is_scalar() && node.items[1].is_scalar();
}

Node list_of(Node item) {
  Node list = make_list(item.place);
  list.items.push_back(std::move(item));
  return list;
}

void read_values(const Node& node, Arithmetic arithmetic, Parameter& parameter, Diagnostics& diagnostics) {
  ValueReader(parameter, arithmetic, diagnostics).read(node);
}

std::optional<Value> evaluate_text(const std::string& text) {
  try {
    EvalFailure failure;
    Value value = Expression::parse(text, Names()).evaluate({}, failure);
    if (!failure && (is_number(value) || std::holds_alternative<Bool>(value))) return value;
  } catch (const ExpressionError&) {
  }
  return {};
}

Node to_node(const Value& value, const Place& place) {
  const auto* text = std::get_if<std::string>(&value);
  if (const Pair* pair = std::get_if<Pair>(&value)) {
    Node node = make_list(place), inner = make_list(place);
    inner.items = {make_scalar(std::to_string(pair->first), place), make_scalar(std::to_string(pair->second), place)};
    node.items.push_back(std::move(inner));
    return node;
  }
  if (text == nullptr) return make_scalar(to_text(value), place);
  if (!evaluate_text(*text)) return make_text(*text, place);
  // Only {values: ...} keeps a text such as 2*64 a text.
  Node node = make_mapping(place);
  node.set("values", make_text(*text, place));
  return node;
}

}  // namespace tune::config
