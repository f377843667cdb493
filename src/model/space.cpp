#include "model/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace tune {
namespace {

std::vector<std::optional<std::int64_t>> strides_of(const std::vector<Parameter>& parameters) {
  std::vector<std::optional<std::int64_t>> strides(parameters.size() + 1, 1);
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const auto values = static_cast<std::int64_t>(parameters[i].values.size());
    std::int64_t stride = 0;
    const bool fits = strides[i + 1] && !__builtin_mul_overflow(*strides[i + 1], values, &stride);
    // If one parameter has no values there are no points, whatever the others have.
    if (fits || values == 0) strides[i] = stride;
    if (!fits && values != 0) strides[i].reset();
  }
  return strides;
}

/// Finds settings or parameters by their names. They are mostly asked for in their order, and if not, one after the
/// other would be slow where there are thousands.
template <typename Item>
class ByName {
 public:
  explicit ByName(std::span<const Item> items) : items_(items) {}

  /// Null if there is none. `place`: where it may be.
  const Item* find(std::string_view name, std::size_t place) {
    if (place < items_.size() && items_[place].name == name) return &items_[place];
    if (places_.empty())
      for (std::size_t i = 0; i < items_.size(); ++i) places_.try_emplace(items_[i].name, i);
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &items_[found->second];
  }

 private:
  std::span<const Item> items_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

const Setting* find_setting(std::span<const Setting> settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &Setting::name);
  return found == settings.end() ? nullptr : &*found;
}

/// The first parameter of the mapping that has no setting.
const Parameter* missing(const Space::Mapping& mapping, std::span<const Setting> settings) {
  ByName<Setting> by_name(settings);
  for (std::size_t i = 0; i < mapping.parameters.size(); ++i)
    if (by_name.find(mapping.parameters[i].name, i) == nullptr) return &mapping.parameters[i];
  return nullptr;
}

/// The first setting whose name is not a parameter of the mapping.
const Setting* unknown(const Space::Mapping& mapping, std::span<const Setting> settings) {
  ByName<Parameter> by_name(mapping.parameters);
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (by_name.find(settings[i].name, i) == nullptr) return &settings[i];
  return nullptr;
}

/// The settings of all parameters of the mapping, in its order. Precondition: none is missing.
std::vector<const Setting*> in_order(const Space::Mapping& mapping, std::span<const Setting> settings) {
  ByName<Setting> by_name(settings);
  std::vector<const Setting*> ordered;
  for (std::size_t i = 0; i < mapping.parameters.size(); ++i)
    ordered.push_back(by_name.find(mapping.parameters[i].name, i));
  return ordered;
}

/// The indices of these values in the mapping; nullopt if one of them is not in the grid.
std::optional<std::vector<std::uint32_t>> digits_of(const Space::Mapping& mapping, std::span<const Setting> settings) {
  std::vector<std::uint32_t> digits;
  for (const Setting* setting : in_order(mapping, settings)) {
    const std::vector<Value>& values = mapping.parameters[digits.size()].values;
    const auto found = std::ranges::find_if(values, [&](const Value& value) { return same(value, setting->value); });
    if (found == values.end()) return std::nullopt;
    digits.push_back(static_cast<std::uint32_t>(found - values.begin()));
  }
  return digits;
}

/// Reports what is wrong with settings that fit no mapping, in terms of the mapping that has most of their names.
[[noreturn]] void throw_mismatch(std::span<const Space::Mapping> mappings, std::span<const Setting> settings) {
  if (mappings.empty()) throw std::invalid_argument("the space has no parameters");
  const auto known = [&](const Space::Mapping& mapping) {
    ByName<Parameter> by_name(mapping.parameters);
    return std::ranges::count_if(settings,
                                 [&](const Setting& setting) { return by_name.find(setting.name, 0) != nullptr; });
  };
  const auto nearest = std::max_element(mappings.begin(), mappings.end(),
                                        [&](const auto& a, const auto& b) { return known(a) < known(b); });
  if (const Setting* setting = unknown(*nearest, settings)) {
    std::vector<std::string> names;
    for (const Parameter& parameter : nearest->parameters) names.push_back(parameter.name);
    throw std::invalid_argument(
        fmt::format("unknown parameter '{}'{}", setting->name, did_you_mean(setting->name, names)));
  }
  throw std::invalid_argument(fmt::format("parameter '{}' has no value", missing(*nearest, settings)->name));
}

}  // namespace

const Parameter* find_parameter(std::span<const Parameter> parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

bool has_pairs(const Parameter& parameter) {
  const auto is_pair = [](const Value& value) { return std::holds_alternative<Pair>(value); };
  return !parameter.values.empty() && std::ranges::all_of(parameter.values, is_pair);
}

bool same(const Value& a, const Value& b) {
  const auto* integer = std::get_if<std::int64_t>(&a);
  const auto* number = std::get_if<double>(&b);
  if (integer && number) return static_cast<double>(*integer) == *number;
  if (a.index() > b.index()) return same(b, a);
  return a == b;
}

const Value* Spec::find(std::string_view name, std::size_t place) const {
  if (place < params.size() && params[place].name == name) return &params[place].value;
  const Setting* const setting = find_setting(params, name);
  return setting ? &setting->value : nullptr;
}

bool holds(const Spec& spec, std::span<const Setting> settings) {
  ByName<Setting> by_name(spec.params);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting* const setting = by_name.find(settings[i].name, i);
    if (setting == nullptr || !same(setting->value, settings[i].value)) return false;
  }
  return true;
}

bool Space::Step::passes(std::vector<Value>& slots, EvalFailure& failure) const {
  if (slot < 0) return expression.holds(slots, failure);
  Value value = expression.evaluate(slots, failure);
  if (!failure) slots[static_cast<std::size_t>(slot)] = std::move(value);
  return !failure;
}

std::string Space::Step::rejection(const EvalFailure& failure, std::span<const Value> slots) const {
  return failure ? "cannot evaluate: " + expression.explain(failure, slots) : reason;
}

Space::Space(Names names, std::vector<Value> fixed, std::vector<Mapping> mappings)
    : names_(std::move(names)), fixed_(std::move(fixed)), mappings_(std::move(mappings)) {
  for (const Mapping& mapping : mappings_) {
    grids_.push_back(make_grid(mapping));
    const std::optional<std::int64_t>& points = grids_.back().strides[0];
    std::int64_t sum = 0;
    const bool fits = product_size_ && points && !__builtin_add_overflow(*product_size_, *points, &sum);
    product_size_ = fits ? std::optional(sum) : std::nullopt;
  }
  fixed_.resize(static_cast<std::size_t>(names_.size()));
}

Space::Grid Space::make_grid(const Mapping& mapping) {
  Grid grid;
  for (const Parameter& parameter : mapping.parameters) grid.slots.push_back(names_.declare(parameter.name));
  for (const Derived& derived : mapping.derived) names_.declare(derived.name);
  grid.strides = strides_of(mapping.parameters);
  grid.steps = make_steps(mapping, grid);
  return grid;
}

std::vector<Space::Step> Space::make_steps(const Mapping& mapping, const Grid& grid) const {
  std::vector<int> depth(static_cast<std::size_t>(names_.size()), -1);
  std::vector<char> run_time(depth.size(), 0);
  for (std::size_t i = 0; i < grid.slots.size(); ++i) {
    depth[static_cast<std::size_t>(grid.slots[i])] = static_cast<int>(i);
    run_time[static_cast<std::size_t>(grid.slots[i])] = mapping.parameters[i].run_time;
  }
  std::vector<Step> steps;
  const auto append = [&](const Expression& expression, int slot, const std::string& reason) {
    Step step{.expression = expression, .slot = slot, .reason = reason};
    for (const int used : expression.used_slots()) {
      step.depth = std::max(step.depth, depth[static_cast<std::size_t>(used)]);
      step.run_time = step.run_time || run_time[static_cast<std::size_t>(used)];
    }
    step.reach = std::max(step.depth, steps.empty() ? -1 : steps.back().reach);
    if (slot >= 0) {
      depth[static_cast<std::size_t>(slot)] = step.depth;
      run_time[static_cast<std::size_t>(slot)] = step.run_time;
    }
    steps.push_back(std::move(step));
  };
  for (const Derived& derived : mapping.derived) append(derived.expression, *names_.find(derived.name), "");
  for (const Constraint& constraint : mapping.constraints) append(constraint.expression, -1, constraint.reason);
  return steps;
}

Spec Space::make_spec(const Point& point, std::int64_t mesh_idx) const {
  Spec spec{mesh_idx, {}};
  spec.params.reserve(point.digits.size());
  for (std::size_t i = 0; i < point.digits.size(); ++i) {
    const Parameter& parameter = mappings_[point.mapping].parameters[i];
    spec.params.push_back({parameter.name, parameter.values[point.digits[i]], parameter.run_time});
  }
  return spec;
}

std::variant<Spec, Rejection> Space::checked(std::size_t mapping, Spec spec) const {
  std::vector<Value> slots = slots_of(spec);
  for (const Step& step : grids_[mapping].steps) {
    EvalFailure failure;
    if (!step.passes(slots, failure)) return Rejection{step.rejection(failure, slots), std::move(spec)};
  }
  return spec;
}

Space::Point Space::point_at(std::int64_t mesh_idx) const {
  assert(mesh_idx >= 0);
  std::int64_t rest = mesh_idx;
  std::uint32_t mapping = 0;
  for (; grids_[mapping].strides[0] && rest >= *grids_[mapping].strides[0]; ++mapping) {
    rest -= *grids_[mapping].strides[0];
    assert(mapping + 1 < grids_.size());
  }
  const std::vector<Parameter>& parameters = mappings_[mapping].parameters;
  Point point{mapping, std::vector<std::uint32_t>(parameters.size())};
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const auto values = static_cast<std::int64_t>(parameters[i].values.size());
    point.digits[i] = static_cast<std::uint32_t>(rest % values);
    rest /= values;
  }
  return point;
}

std::variant<Spec, Rejection> Space::at(std::int64_t mesh_idx) const {
  const Point point = point_at(mesh_idx);
  return checked(point.mapping, make_spec(point, mesh_idx));
}

Spec Space::spec(const Point& point) const { return make_spec(point, mesh_idx_of(point)); }

std::optional<Space::Point> Space::point(const Spec& spec) const {
  if (spec.mesh_idx >= 0) return point_at(spec.mesh_idx);
  for (auto mapping = mapping_of(spec.params, 0); mapping; mapping = mapping_of(spec.params, *mapping + 1)) {
    auto digits = digits_of(mappings_[*mapping], spec.params);
    if (digits) return Point{static_cast<std::uint32_t>(*mapping), std::move(*digits)};
  }
  return std::nullopt;
}

std::optional<std::size_t> Space::mapping_of(std::span<const Setting> settings, std::size_t first) const {
  for (std::size_t i = first; i < mappings_.size(); ++i) {
    if (!missing(mappings_[i], settings) && !unknown(mappings_[i], settings)) return i;
  }
  return std::nullopt;
}

std::int64_t Space::mesh_idx_of(const Point& point) const {
  std::int64_t mesh_idx = 0;
  const auto add = [&](std::optional<std::int64_t> stride, std::size_t times) {
    std::int64_t points = 0;
    return times == 0 || (stride && !__builtin_mul_overflow(*stride, times, &points) &&
                          !__builtin_add_overflow(mesh_idx, points, &mesh_idx));
  };
  bool fits = true;
  for (std::size_t i = 0; i < point.mapping; ++i) fits = fits && add(grids_[i].strides[0], 1);
  const std::vector<std::optional<std::int64_t>>& strides = grids_[point.mapping].strides;
  for (std::size_t i = 0; i < point.digits.size(); ++i) fits = fits && add(strides[i + 1], point.digits[i]);
  return fits ? mesh_idx : -1;
}

std::variant<Spec, Rejection> Space::at(std::span<const Setting> settings) const {
  const auto first = mapping_of(settings, 0);
  if (!first) throw_mismatch(mappings_, settings);
  for (auto mapping = first; mapping; mapping = mapping_of(settings, *mapping + 1)) {
    auto digits = digits_of(mappings_[*mapping], settings);
    if (digits) return checked(*mapping, spec(Point{static_cast<std::uint32_t>(*mapping), std::move(*digits)}));
  }
  Spec outside;
  for (const Setting* setting : in_order(mappings_[*first], settings)) {
    const Parameter& parameter = mappings_[*first].parameters[outside.params.size()];
    outside.params.push_back({parameter.name, setting->value, parameter.run_time});
  }
  return checked(*first, std::move(outside));
}

std::vector<Value> Space::slots_of(const Spec& spec) const {
  std::vector<Value> slots = fixed_;
  for (const Setting& setting : spec.params) {
    if (const auto slot = names_.find(setting.name)) slots[static_cast<std::size_t>(*slot)] = setting.value;
  }
  return slots;
}

std::vector<Value> Space::environment(const Spec& spec) const {
  std::vector<Value> slots = slots_of(spec);
  if (const auto mapping = mapping_of(spec.params, 0)) {
    EvalFailure failure;
    for (const Step& step : grids_[*mapping].steps) {
      if (step.slot >= 0) step.passes(slots, failure);
    }
  }
  return slots;
}

std::vector<Setting> Space::derived(const Spec& spec) const {
  std::vector<Setting> settings;
  const auto mapping = mapping_of(spec.params, 0);
  if (!mapping) return settings;
  const std::vector<Value> slots = environment(spec);
  for (const Step& step : grids_[*mapping].steps) {
    if (step.slot < 0) continue;
    settings.push_back({names_.at(step.slot), slots[static_cast<std::size_t>(step.slot)], step.run_time});
  }
  return settings;
}

std::vector<std::string> parameter_names(const Space& space) {
  Names names;
  for (const Space::Mapping& mapping : space.mappings())
    for (const Parameter& parameter : mapping.parameters) names.declare(parameter.name);
  return names.all();
}

}  // namespace tune
