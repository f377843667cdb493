#include "config/reader/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "config/yaml/diagnostics.h"
#include "config/yaml/params.h"

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

/// Whether one of the filters of this name has this value.
bool accepts(std::span<const Filter> filters, const std::string& name, const Value& value) {
  return std::ranges::any_of(filters, [&](const Filter& f) { return f.name == name && equal(f.value, value); });
}

std::string spelled(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_yaml(value));
  return text;
}

/// All values a name has in the union.
std::vector<Value> values_of(const Space& space, const std::string& name) {
  std::vector<Value> values;
  for (const Space::Mapping& mapping : space.mappings())
    if (const Parameter* parameter = find_parameter(mapping.parameters, name))
      values.insert(values.end(), parameter->values.begin(), parameter->values.end());
  return values;
}

/// NAME=VALUE; nullopt: it is something else.
std::optional<Filter> parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text[equals + 1] == '=') return std::nullopt;
  const std::string typed = text.substr(equals + 1);
  return Filter{bare_name(text.substr(0, equals)), parse_value(typed), typed};
}

/// The parameters of NAME=VALUE texts, each once, and of names that specs have.
std::vector<Filter> parse_named(std::span<const std::string> texts, const Space& space,
                                const std::function<void(const std::string&)>& complain) {
  std::vector<Filter> named;
  for (const std::string& text : texts) {
    const auto setting = parse_setting(text);
    if (!setting) {
      complain("give one file, or NAME=VALUE for each parameter of a spec");
    } else if (setting->typed.empty() || setting->typed.starts_with('[') ||
               std::ranges::find(named, setting->name, &Filter::name) != named.end()) {
      complain(fmt::format("give one value for {}", setting->name));
    } else if (values_of(space, setting->name).empty()) {
      complain(
          fmt::format("unknown parameter '{}'{}", setting->name, did_you_mean(setting->name, parameter_names(space))));
    } else {
      named.push_back(*setting);
    }
  }
  return named;
}

/// The named value as the parameter has it; nullptr: it does not.
const Value* find_value(const Parameter& parameter, const Filter& named) {
  const auto found = std::ranges::find_if(
      parameter.values, [&](const Value& value) { return equal(value, named.value) || to_text(value) == named.typed; });
  return found != parameter.values.end() ? &*found : nullptr;
}

/// Whether the mapping has all these names, and these values.
bool has_values(const Space::Mapping& mapping, std::span<const Filter> named) {
  return std::ranges::all_of(named, [&](const Filter& each) {
    const Parameter* parameter = find_parameter(mapping.parameters, each.name);
    return parameter != nullptr && find_value(*parameter, each) != nullptr;
  });
}

/// The values that one parameter of the spec may have: the named one, or what the filters leave.
std::vector<Value> candidates(const Parameter& parameter, std::span<const Filter> named,
                              std::span<const Filter> filters) {
  if (const auto found = std::ranges::find(named, parameter.name, &Filter::name); found != named.end()) {
    const Value* value = find_value(parameter, *found);
    return {value != nullptr ? *value : found->value};
  }
  std::vector<Value> left;
  std::ranges::copy_if(parameter.values, std::back_inserter(left),
                       [&](const Value& value) { return accepts(filters, parameter.name, value); });
  return left.empty() ? parameter.values : left;
}

/// The spec of this mapping; nullopt if it lacks a name, or if a value is missing, which is said.
std::optional<std::vector<Setting>> settings_in(const Space::Mapping& mapping, std::span<const Filter> named,
                                                std::span<const Filter> filters, std::string& missing) {
  const auto has = [&](const Filter& each) { return find_parameter(mapping.parameters, each.name) != nullptr; };
  if (!std::ranges::all_of(named, has)) return std::nullopt;
  std::vector<Setting> settings;
  for (const Parameter& parameter : mapping.parameters) {
    const std::vector<Value> values = candidates(parameter, named, filters);
    if (values.size() == 1)
      settings.push_back({parameter.name, values.front(), parameter.run_time});
    else if (missing.empty())
      missing = fmt::format("add --baseline {0}=VALUE: {0} has the values {1}", parameter.name, spelled(values));
  }
  return settings.size() == mapping.parameters.size() ? std::optional(std::move(settings)) : std::nullopt;
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
  const std::string label = fmt::format("{}", fmt::join(texts, " "));
  Diagnostics diagnostics;
  const auto complain = [&](const std::string& why) { diagnostics.add(place_of_option("--baseline " + label), why); };
  const std::vector<Filter> named = parse_named(texts, space, complain);
  diagnostics.throw_if_any();
  std::vector<std::vector<Setting>> found;
  std::string missing;
  const auto has_them = [&](const Space::Mapping& mapping) { return has_values(mapping, named); };
  const bool is_in_grid = std::ranges::any_of(space.mappings(), has_them);
  for (const Space::Mapping& mapping : space.mappings())
    if (!is_in_grid || has_them(mapping))
      if (auto settings = settings_in(mapping, named, filters, missing)) found.push_back(*std::move(settings));
  if (found.size() != 1)
    complain(found.empty() ? missing.empty() ? "no specs have all these names" : missing
                           : "several specs have these values; name more of their parameters");
  diagnostics.throw_if_any();
  const auto point = space.at(std::span<const Setting>(found.front()));
  if (const auto* rejection = std::get_if<Rejection>(&point)) complain("it is pruned: " + rejection->reason);
  if (const Spec* spec = std::get_if<Spec>(&point); spec != nullptr && spec->mesh_idx >= 0 && matches(filters, *spec))
    complain(
        fmt::format("it is one of the specs that it is compared with, so that the best is never slower; leave it out "
                    "of them: --param {0}:[...], or --filter {0}=VALUE",
                    named.front().name));
  diagnostics.throw_if_any();
  return {Baseline::Kind::params, label, std::move(found.front())};
}

std::vector<Restriction> restrictions(std::span<const Filter> filters) {
  std::vector<Restriction> restrictions;
  for (const Filter& filter : filters) {
    const auto has_name = [&](const Restriction& other) { return other.name == filter.name; };
    if (std::ranges::any_of(restrictions, has_name)) continue;
    restrictions.push_back(
        {filter.name, [name = filter.name, filters](const Value& value) { return accepts(filters, name, value); }});
  }
  return restrictions;
}

bool matches(std::span<const Filter> filters, const Spec& spec) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    const Value* value = spec.find(filter.name);
    return value != nullptr && accepts(filters, filter.name, *value);
  });
}

}  // namespace tune::config
