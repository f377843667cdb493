#include "config/reader/filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/yaml/diagnostics.h"

namespace tune::config {
namespace {

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// As the command line spells values: 1.0 is 1, true is True, [2,1] is [2, 1].
bool equal(const Value& x, const Value& y) {
  const auto *integer_x = std::get_if<std::int64_t>(&x), *integer_y = std::get_if<std::int64_t>(&y);
  const auto *double_x = std::get_if<double>(&x), *double_y = std::get_if<double>(&y);
  if (integer_x != nullptr && double_y != nullptr) return static_cast<double>(*integer_x) == *double_y;
  if (double_x != nullptr && integer_y != nullptr) return *double_x == static_cast<double>(*integer_y);
  if (std::holds_alternative<Pair>(x) || std::holds_alternative<Pair>(y))
    return without_blanks(to_text(x)) == without_blanks(to_text(y));
  return x == y || to_text(x) == to_text(y);
}

std::string spelled(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_text(value));
  return text;
}

/// All values a name has in the union.
std::vector<Value> values_of(const Space& space, const std::string& name) {
  std::vector<Value> values;
  for (const Space::Mapping& mapping : space.mappings()) {
    for (const Parameter& parameter : mapping.parameters) {
      if (parameter.name == name) values.insert(values.end(), parameter.values.begin(), parameter.values.end());
    }
  }
  return values;
}

}  // namespace

std::vector<Filter> parse_filters(std::span<const std::string> texts, const Space& space) {
  Diagnostics diagnostics;
  std::vector<Filter> filters;
  for (const std::string& text : texts) {
    const Place place = place_of_option("--filter " + text);
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || text[equals + 1] == '=') {
      diagnostics.add(place, "write NAME=VALUE");
      continue;
    }
    const std::size_t dollar = text.starts_with('$') ? 1 : 0;
    Filter filter{text.substr(dollar, equals - dollar), parse_value(text.substr(equals + 1))};
    const std::vector<Value> values = values_of(space, filter.name);
    const auto is_value = [&](const Value& value) { return equal(value, filter.value); };
    if (values.empty()) {
      diagnostics.add(place, fmt::format("unknown parameter '{}'{}", filter.name,
                                         did_you_mean(filter.name, parameter_names(space))));
    } else if (std::ranges::none_of(values, is_value)) {
      const bool several = to_text(filter.value).find(',') != std::string::npos;
      diagnostics.add(place, fmt::format("'{}' is never {}; its values are {}{}", filter.name, to_text(filter.value),
                                         spelled(values), several ? "; for several, repeat --filter NAME=VALUE" : ""));
    }
    filters.push_back(std::move(filter));
  }
  diagnostics.throw_if_any();
  return filters;
}

std::vector<Restriction> restrictions(std::span<const Filter> filters) {
  std::vector<Restriction> restrictions;
  for (const Filter& filter : filters) {
    const auto has_name = [&](const Restriction& other) { return other.name == filter.name; };
    if (std::ranges::any_of(restrictions, has_name)) continue;
    restrictions.push_back({filter.name, [name = filter.name, filters](const Value& value) {
                              return std::ranges::any_of(filters, [&](const Filter& other) {
                                return other.name == name && equal(other.value, value);
                              });
                            }});
  }
  return restrictions;
}

bool matches(std::span<const Filter> filters, const Spec& spec) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    const Value* value = spec.find(filter.name);
    return value != nullptr && std::ranges::any_of(filters, [&](const Filter& other) {
             return other.name == filter.name && equal(other.value, *value);
           });
  });
}

}  // namespace tune::config
