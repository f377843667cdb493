#include "config/reader/symbol_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/values/text.h"

namespace tune::config {
namespace {

/// `unknown name 'BMM', did you mean 'BM'?` with the expression put before the advice.
std::string complaint(const ExpressionError& error, std::string_view what, const std::string& text) {
  const std::string place = fmt::format("{} in {} '{}'", error.cause(), what, text);
  if (!error.advice().empty()) return place + error.advice();
  if (dynamic_cast<const UnknownName*>(&error) != nullptr)
    return fmt::format("{}; no {}parameter, let or size has this name", place,
                       what.ends_with(".args") ? "buffer, " : "");
  // A list such as [ceil_div(n, BN)] reaches us as two entries, each with half of the parentheses.
  const bool torn = std::ranges::count(text, '(') != std::ranges::count(text, ')');
  return fmt::format("{}, at its column {}{}", place, error.column() + 1,
                     torn ? "; quote an expression with commas" : "");
}

/// How expressions call `buffer-size`: buffer_size.
std::string as_identifier(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace

int SymbolTable::declare(const std::string& name, Known known) {
  const int slot = names_.declare(name);
  const auto size = static_cast<std::size_t>(names_.size());
  known_.resize(size, Known::nowhere);
  values_.resize(size, Value(std::int64_t{0}));
  known_[static_cast<std::size_t>(slot)] = known;
  return slot;
}

SymbolTable::Known SymbolTable::known(int slot) const {
  const auto index = static_cast<std::size_t>(slot);
  return index < known_.size() ? known_[index] : Known::nowhere;
}

bool SymbolTable::knows(const Mapping& mapping, int slot) const {
  const auto index = static_cast<std::size_t>(slot);
  const Known how = known(slot);
  return how == Known::point ? index < mapping.knows.size() && mapping.knows[index] : how != Known::nowhere;
}

void SymbolTable::add_constant(const std::string& name, Value value) {
  const int slot = declare(name, Known::constant);
  values_[static_cast<std::size_t>(slot)] = std::move(value);
}

void SymbolTable::add_device(Backend chosen, std::span<const Backend> others) {
  for (const Backend other : others) {
    for (const std::string_view name : traits_of(other).device_names)
      declare(fmt::format("device.{}", name), Known::nowhere);
  }
  for (const std::string_view name : traits_of(chosen).device_names)
    declare(fmt::format("device.{}", name), Known::device);
}

std::size_t SymbolTable::add_mapping(const Place& place, std::span<const Parameter> parameters) {
  mappings_.push_back({place, {}});
  for (const Parameter& parameter : parameters) {
    add_to_mapping(mappings_.size() - 1, parameter.name);
    if (!is_identifier(parameter.name)) names_.add_alias(as_identifier(parameter.name), *names_.find(parameter.name));
  }
  return mappings_.size() - 1;
}

void SymbolTable::add_to_mapping(std::size_t mapping, const std::string& name) {
  const auto slot = static_cast<std::size_t>(declare(name, Known::point));
  std::vector<bool>& knows = mappings_[mapping].knows;
  knows.resize(std::max(knows.size(), slot + 1));
  knows[slot] = true;
}

std::optional<Expression> SymbolTable::read(const Node& node, std::string_view what) {
  if (!node.is_scalar()) {
    diagnostics_->add(node.place, fmt::format("{} must be an expression, not {}", what, describe(node)));
    return {};
  }
  try {
    Expression expression = Expression::parse(node.text, names_);
    for (const int slot : expression.used_slots())
      if (known(slot) == Known::device && std::ranges::find(used_device_slots_, slot) == used_device_slots_.end())
        used_device_slots_.push_back(slot);
    return expression;
  } catch (const ExpressionError& error) {
    diagnostics_->add(node.place, complaint(error, what, node.text));
    return {};
  }
}

std::optional<Expression> SymbolTable::read_for_all(const Node& node, std::string_view what) {
  std::optional<Expression> expression = read(node, what);
  if (!expression || only_elsewhere(*expression)) return expression;
  for (const Mapping& mapping : mappings_) {
    for (const int slot : expression->used_slots()) {
      if (knows(mapping, slot)) continue;
      diagnostics_->add(node.place,
                        fmt::format("'{}' in {} '{}' is not declared in the mapping of params at {}; declare "
                                    "it there too, one value is enough",
                                    names_.at(slot), what, node.text, to_text(mapping.place)));
      return {};
    }
  }
  return expression;
}

std::optional<Expression> SymbolTable::read_fixed(const Node& node, std::string_view what) {
  std::optional<Expression> expression = read(node, what);
  if (!expression) return {};
  for (const int slot : expression->used_slots()) {
    if (known(slot) == Known::constant || known(slot) == Known::device) continue;
    diagnostics_->add(node.place, fmt::format("'{}' in {} '{}' depends on the spec; use sizes of the problem only",
                                              names_.at(slot), what, node.text));
    return {};
  }
  return expression;
}

template <typename Number>
std::optional<Number> SymbolTable::read_constant(const Node& node, std::string_view what,
                                                 Number (Expression::*value_of)(std::span<const Value>, EvalFailure&)
                                                     const) {
  const std::optional<Expression> expression = read(node, what);
  if (!expression) return {};
  const auto constant = [this](int slot) { return known(slot) == Known::constant; };
  if (!std::ranges::all_of(expression->used_slots(), constant)) {
    diagnostics_->add(node.place, fmt::format("{} '{}' may use sizes of the problem only", what, node.text));
    return {};
  }
  EvalFailure failure;
  const Number value = ((*expression).*value_of)(values_, failure);
  if (!failure) return value;
  diagnostics_->add(node.place,
                    fmt::format("cannot evaluate {} '{}': {}", what, node.text, expression->explain(failure, values_)));
  return {};
}

std::optional<double> SymbolTable::read_constant_number(const Node& node, std::string_view what) {
  return read_constant(node, what, &Expression::number);
}

std::optional<std::int64_t> SymbolTable::read_constant_integer(const Node& node, std::string_view what) {
  return read_constant(node, what, &Expression::integer);
}

bool SymbolTable::known_in(std::size_t mapping, const Expression& expression) const {
  return std::ranges::all_of(expression.used_slots(), [&](int slot) { return knows(mappings_[mapping], slot); });
}

bool SymbolTable::only_elsewhere(const Expression& expression) const {
  return std::ranges::any_of(expression.used_slots(), [this](int slot) { return known(slot) == Known::nowhere; });
}

}  // namespace tune::config
