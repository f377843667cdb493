#include "kokkos/variable.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tune::kokkos {
namespace {

bool is_number(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  return real == nullptr || std::isfinite(*real);
}

std::vector<Value> values_of_set(tools::ValueType type, const tools::ValueSet& set) {
  std::vector<Value> values;
  for (std::size_t i = 0; set.values.integer != nullptr && i < set.size && values.size() < kMostCandidates; ++i) {
    tools::Scalar scalar{};
    if (type == tools::ValueType::integer) scalar.integer = set.values.integer[i];
    if (type == tools::ValueType::real) scalar.real = set.values.real[i];
    if (type == tools::ValueType::text) std::memcpy(scalar.text, set.values.text[i], tools::kTextSize);
    Value value = read_value(type, scalar);
    if (is_number(value) && std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

/// Which of `count` values is the one number `place` of kMostCandidates.
double thinned(double place, double count, bool by_ratio) {
  const double share = place / (kMostCandidates - 1);
  return by_ratio ? std::expm1(share * std::log(count)) : share * (count - 1);
}

/// The numbers from `first` on, `step` apart, of which there are `count`.
template <typename Number>
std::vector<Value> numbers(Number first, Number step, double count, bool by_ratio) {
  std::vector<Value> values;
  const double taken = std::min(count, static_cast<double>(kMostCandidates));
  for (double i = 0; i < taken; ++i) {
    const double place = count > taken ? std::round(thinned(i, count, by_ratio)) : i;
    const Value value = static_cast<Number>(first + static_cast<Number>(place) * step);
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

std::vector<Value> values_of_range(tools::ValueType type, const tools::ValueRange& range, bool by_ratio) {
  if (type == tools::ValueType::text) return {};
  const bool whole = type == tools::ValueType::integer;
  const auto number = [&](const tools::Scalar& scalar) {
    return whole ? static_cast<double>(scalar.integer) : scalar.real;
  };
  const double lower = number(range.lower), upper = number(range.upper), step = number(range.step);
  if (!std::isfinite(lower) || !std::isfinite(upper) || !(step > 0) || upper < lower) return {};
  constexpr double kRounding = 1e-9;  // 0.1 * 3 is not 0.3
  const double steps = (upper - lower) / step;
  if (steps > 0x1p53) return {};  // more than can be numbered
  double last = std::floor(steps + kRounding);
  if (range.open_upper && std::abs(steps - last) <= kRounding) --last;
  const double first = range.open_lower ? 1 : 0;
  if (last < first) return {};
  if (whole)
    return numbers<std::int64_t>(range.lower.integer + (range.open_lower ? range.step.integer : 0), range.step.integer,
                                 last - first + 1, by_ratio);
  return numbers<double>(lower + first * step, step, last - first + 1, by_ratio);
}

}  // namespace

Variable read_variable(const char* name, const tools::VariableInfo& info) {
  Variable variable;
  variable.name = name == nullptr || *name == '\0' ? "unnamed" : name;
  variable.type = info.type;
  variable.kind = static_cast<Kind>(info.category);
  if (info.type > tools::ValueType::text || info.category > tools::Category::ratio ||
      info.quantity > tools::Candidates::unbounded) {
    variable.unusable = "its declaration cannot be read";
    return variable;
  }
  if (info.quantity == tools::Candidates::set) variable.candidates = values_of_set(info.type, info.candidates.set);
  if (info.quantity == tools::Candidates::range)
    variable.candidates = values_of_range(info.type, info.candidates.range, info.category == tools::Category::ratio);
  if (!variable.candidates.empty()) return variable;
  variable.unusable = info.quantity == tools::Candidates::unbounded ? "its candidates are not declared"
                      : info.quantity == tools::Candidates::set     ? "its set of candidates is empty"
                                                                    : "its range has no values, or too many: the step "
                                                                      "must be above 0, and the upper end not below "
                                                                      "the lower one";
  return variable;
}

Value read_value(tools::ValueType type, const tools::Scalar& scalar) {
  if (type == tools::ValueType::integer) return scalar.integer;
  if (type == tools::ValueType::real) return scalar.real;
  return std::string(scalar.text, ::strnlen(scalar.text, tools::kTextSize - 1));  // Kokkos leaves the last byte unset
}

tools::Scalar to_scalar(tools::ValueType type, const Value& value) {
  tools::Scalar scalar{};
  if (type == tools::ValueType::integer) scalar.integer = std::get<std::int64_t>(value);
  if (type == tools::ValueType::real) scalar.real = std::get<double>(value);
  if (type == tools::ValueType::text) {
    const std::string& text = std::get<std::string>(value);
    std::memcpy(scalar.text, text.data(), std::min(text.size(), tools::kTextSize - 1));
  }
  return scalar;
}

}  // namespace tune::kokkos
