#include "config/reader/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

/// The mapping that has all these names; nullptr, and an error at each other name, if there is none.
const Space::Mapping* mapping_with(std::span<const Filter> named, const Space& space, Diagnostics& diagnostics) {
  for (const Space::Mapping& mapping : space.mappings())
    if (std::ranges::all_of(named, [&](const Filter& each) {
          return std::ranges::find(mapping.parameters, each.name, &Parameter::name) != mapping.parameters.end();
        }))
      return &mapping;
  for (const Filter& each : named)
    if (values_of(space, each.name).empty())
      diagnostics.add(
          place_of_option("--baseline " + each.name),
          fmt::format("unknown parameter '{}'{}", each.name, did_you_mean(each.name, parameter_names(space))));
  return nullptr;
}

/// NAME=VALUE; nullopt: it is something else.
std::optional<Filter> parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text[equals + 1] == '=') return std::nullopt;
  const std::size_t dollar = text.starts_with('$') ? 1 : 0;
  return Filter{text.substr(dollar, equals - dollar), parse_value(text.substr(equals + 1))};
}

}  // namespace

std::vector<Filter> parse_filters(std::span<const std::string> texts, const Space& space) {
  Diagnostics diagnostics;
  std::vector<Filter> filters;
  for (const std::string& text : texts) {
    const Place place = place_of_option("--filter " + text);
    std::optional<Filter> filter = parse_setting(text);
    if (!filter) {
      diagnostics.add(place, "write NAME=VALUE");
      continue;
    }
    const std::vector<Value> values = values_of(space, filter->name);
    const auto is_value = [&](const Value& value) { return equal(value, filter->value); };
    if (values.empty()) {
      diagnostics.add(place, fmt::format("unknown parameter '{}'{}", filter->name,
                                         did_you_mean(filter->name, parameter_names(space))));
    } else if (std::ranges::none_of(values, is_value)) {
      const bool several = to_text(filter->value).find(',') != std::string::npos;
      diagnostics.add(place, fmt::format("'{}' is never {}; its values are {}{}", filter->name, to_text(filter->value),
                                         spelled(values), several ? "; for several, repeat --filter NAME=VALUE" : ""));
    }
    filters.push_back(*std::move(filter));
  }
  diagnostics.throw_if_any();
  return filters;
}

Baseline parse_baseline(std::span<const std::string> texts, const Space& space, std::span<const Filter> filters) {
  Diagnostics diagnostics;
  Baseline baseline{Baseline::Kind::params, fmt::format("{}", fmt::join(texts, " ")), {}};
  const Place place = place_of_option("--baseline " + baseline.label);
  std::vector<Filter> named;
  for (const std::string& text : texts)
    if (auto setting = parse_setting(text))
      named.push_back(*std::move(setting));
    else
      diagnostics.add(place, "give one file, or NAME=VALUE for each parameter of a spec");
  diagnostics.throw_if_any();
  const Space::Mapping* mapping = mapping_with(named, space, diagnostics);
  diagnostics.throw_if_any();
  for (const Parameter& parameter : mapping->parameters) {
    const auto of_it = [&](const Filter& filter) { return filter.name == parameter.name; };
    std::vector<Value> values = parameter.values;
    if (std::ranges::any_of(filters, of_it))
      std::erase_if(values, [&](const Value& value) {
        return std::ranges::none_of(filters, [&](const Filter& f) { return of_it(f) && equal(f.value, value); });
      });
    if (const auto found = std::ranges::find_if(named, of_it); found != named.end()) values = {found->value};
    if (values.size() == 1)
      baseline.settings.push_back({parameter.name, values.front(), parameter.run_time});
    else
      diagnostics.add(place,
                      fmt::format("add --baseline {0}=VALUE: {0} has the values {1}", parameter.name, spelled(values)));
  }
  diagnostics.throw_if_any();
  const auto point = space.at(std::span<const Setting>(baseline.settings));
  if (const Spec* spec = std::get_if<Spec>(&point); spec != nullptr && spec->mesh_idx >= 0 && matches(filters, *spec))
    diagnostics.add(
        place, fmt::format("it is one of the specs that it is compared with, so that the best is never slower; leave "
                           "it out of them: --param {0}:[...], or --filter {0}=VALUE",
                           named.front().name));
  diagnostics.throw_if_any();
  return baseline;
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
