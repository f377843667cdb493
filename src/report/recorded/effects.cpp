#include "report/recorded/effects.h"

#include <algorithm>
#include <cmath>

#include "model/statistics/stats.h"

namespace tune::report {
namespace {

constexpr double kTopShare = 0.05;

/// The judged specs, best first.
std::vector<const Judged*> by_merit(std::span<const Judged> specs, bool maximize) {
  std::vector<const Judged*> judged;
  for (const Judged& spec : specs)
    if (spec.merit) judged.push_back(&spec);
  std::stable_sort(judged.begin(), judged.end(), [maximize](const Judged* a, const Judged* b) {
    return maximize ? *a->merit > *b->merit : *a->merit < *b->merit;
  });
  return judged;
}

/// The parameters of all specs, in the order of the first that has them, each with its values in order.
std::vector<ParameterEffect> parameters_of(std::span<const Judged> specs) {
  std::vector<ParameterEffect> parameters;
  for (const Judged& spec : specs)
    for (const Setting& setting : spec.spec->params) {
      auto parameter = std::ranges::find(parameters, setting.name, &ParameterEffect::name);
      if (parameter == parameters.end()) parameter = parameters.insert(parameters.end(), {setting.name, {}, 0, 0});
      const auto same_value = [&](const ValueEffect& effect) { return same(effect.value, setting.value); };
      if (std::ranges::none_of(parameter->values, same_value)) parameter->values.push_back({setting.value});
    }
  std::erase_if(parameters, [](const ParameterEffect& parameter) { return parameter.values.size() < 2; });
  for (ParameterEffect& parameter : parameters)
    if (std::ranges::all_of(parameter.values, [](const ValueEffect& e) { return number_of(e.value).has_value(); }))
      std::ranges::sort(parameter.values, {}, [](const ValueEffect& e) { return *number_of(e.value); });
  return parameters;
}

bool has(const Judged& spec, const std::string& name, const Value& value) {
  const Value* own = spec.spec->find(name);
  return own != nullptr && same(*own, value);
}

void fill(ValueEffect& effect, const std::string& name, std::span<const Judged> specs,
          std::span<const Judged* const> judged, std::size_t top) {
  std::vector<double> merits;
  std::size_t among_top = 0;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (!has(*judged[i], name, effect.value)) continue;
    merits.push_back(*judged[i]->merit);
    if (i < top) ++among_top;
  }
  for (const Judged& spec : specs)
    if (!spec.merit && has(spec, name, effect.value)) ++effect.failed;
  effect.judged = std::ssize(merits);
  effect.top_share = static_cast<double>(among_top) / static_cast<double>(top);
  if (merits.empty()) return;
  effect.best = merits.front();
  effect.median = median(std::move(merits));
}

/// A sum of squares around the mean.
struct Spread {
  double count = 0, sum = 0, squares = 0;
  void add(double x) {
    ++count;
    sum += x;
    squares += x * x;
  }
  double around_mean() const { return count == 0 ? 0 : std::max(0.0, squares - sum * sum / count); }
};

/// The share of the variance that lies between the groups: one-way analysis of variance.
void explain(ParameterEffect& parameter, std::span<const Judged* const> judged) {
  const bool positive = std::ranges::all_of(judged, [](const Judged* spec) { return *spec->merit > 0; });
  // Relative to the first, so that squares of large numbers do not hide small differences.
  const auto scaled = [&](const Judged& spec) {
    return positive ? std::log(*spec.merit / *judged.front()->merit) : *spec.merit - *judged.front()->merit;
  };
  Spread all;
  double within = 0, groups = 0;
  for (const ValueEffect& effect : parameter.values) {
    Spread group;
    for (const Judged* spec : judged)
      if (has(*spec, parameter.name, effect.value)) group.add(scaled(*spec));
    within += group.around_mean();
    groups += group.count > 0 ? 1 : 0;
    all.count += group.count;
    all.sum += group.sum;
    all.squares += group.squares;
  }
  const double total = all.around_mean();
  if (total > 0) parameter.explained = std::clamp(1 - within / total, 0.0, 1.0);
  if (all.count > 1) parameter.by_chance = (groups - 1) / (all.count - 1);
}

}  // namespace

Effects effects_of(std::span<const Judged> specs, bool maximize) {
  const std::vector<const Judged*> judged = by_merit(specs, maximize);
  Effects effects;
  effects.judged = std::ssize(judged);
  effects.top = std::max<std::int64_t>(1, std::llround(kTopShare * static_cast<double>(judged.size())));
  effects.parameters = parameters_of(specs);
  for (ParameterEffect& parameter : effects.parameters) {
    for (ValueEffect& effect : parameter.values)
      fill(effect, parameter.name, specs, judged, static_cast<std::size_t>(effects.top));
    explain(parameter, judged);
  }
  std::ranges::stable_sort(effects.parameters, std::greater<>(), &ParameterEffect::explained);
  return effects;
}

}  // namespace tune::report
