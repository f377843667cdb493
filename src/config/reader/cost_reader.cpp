#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "config/reader/sections.h"
#include "config/yaml/fields.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

constexpr std::string_view kUsualSliceNames[] = {"BK", "KWG", "TILE_K", "BLOCK_K", "BLOCK_SIZE_K"};

class CostReader {
 public:
  CostReader(const Problem& problem, SymbolTable& scope, Diagnostics& diagnostics)
      : problem_(problem), scope_(scope), diagnostics_(diagnostics) {}

  CostRule read(const Node& node) {
    const Fields fields(node, "model",
                        {"if", "kind", "tile", "of", "tiles", "split", "stages", "share", "inner", "group", "math",
                         "store", "factor", "workers", "time"},
                        diagnostics_);
    CostRule rule;
    if (!node.is_mapping()) return rule;
    read_one(fields, "if", rule.condition);
    read_kind(fields, rule);
    read_list(fields, "tile", 2, 3, rule.tile);
    for (const auto& [key, list] : {std::pair{"of", &rule.of}, {"share", &rule.share}, {"inner", &rule.inner}})
      read_list(fields, key, 2, 2, *list);
    for (const auto& [key, entry] : {std::pair{"tiles", &rule.tiles},
                                     {"split", &rule.split},
                                     {"stages", &rule.stages},
                                     {"group", &rule.group},
                                     {"math", &rule.math},
                                     {"store", &rule.store},
                                     {"factor", &rule.factor},
                                     {"workers", &rule.workers},
                                     {"time", &rule.time}})
      read_one(fields, key, *entry);
    require_tile(fields, rule);
    return rule;
  }

 private:
  void read_one(const Fields& fields, const char* key, std::optional<Expression>& entry) {
    if (const Node* node = fields.find(key)) entry = scope_.read_for_all(*node, fmt::format("model.{}", key));
  }

  void read_list(const Fields& fields, const char* key, std::size_t least, std::size_t most,
                 std::vector<Expression>& list) {
    const Node* node = fields.find(key);
    if (node == nullptr) return;
    const std::vector<const Node*> items = as_list(*node);
    if (items.size() < least || items.size() > most)
      diagnostics_.add(node->place, fmt::format("model.{} must be a list of {} expressions", key,
                                                least == most ? "two" : "two or three"));
    for (const Node* item : items)
      if (auto expression = scope_.read_for_all(*item, fmt::format("model.{}", key)))
        list.push_back(std::move(*expression));
  }

  void read_kind(const Fields& fields, CostRule& rule) {
    const Node* node = fields.find("kind");
    if (node == nullptr) return;
    rule.streams = read_choice(*node, "model.kind", Choices{"gemm", "stream"}, diagnostics_) == std::size_t{1};
  }

  // Without a tile nothing can be said, but by a formula.
  void require_tile(const Fields& fields, const CostRule& rule) {
    if (rule.time) return;
    if (std::holds_alternative<std::monostate>(problem_))
      diagnostics_.add(fields.place(), "model: nothing is known of what a program computes; say time: with a formula");
    else if (rule.streams)
      return;
    else if (!std::holds_alternative<Gemm>(problem_))
      diagnostics_.add(fields.place(),
                       "model: only a gemm problem has tiles; say kind: stream, or time: with a formula");
    else if (fields.find("tile") == nullptr)
      diagnostics_.add(fields.place(), "model needs tile: [rows, columns], kind: stream, or time: with a formula");
  }

  const Problem& problem_;
  SymbolTable& scope_;
  Diagnostics& diagnostics_;
};

/// What `text` divides `size` by with ceil_div.
void add_divisors(std::string_view text, std::string_view size, std::set<std::string>& divisors) {
  constexpr std::string_view kCall = "ceil_div(";
  for (std::size_t at = text.find(kCall); at != std::string_view::npos; at = text.find(kCall, at + 1)) {
    const std::size_t first = at + kCall.size();
    std::size_t comma = 0, end = first;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ')'); ++end) {
      if (text[end] == '(' || text[end] == '[') ++depth;
      if (text[end] == ')' || text[end] == ']') --depth;
      if (text[end] == ',' && depth == 0) comma = end;
    }
    if (comma == 0 || trimmed(text.substr(first, comma - first), " ") != size) continue;
    divisors.emplace(trimmed(text.substr(comma + 1, end - comma - 1), " "));
  }
}

/// What `text` takes the remainder of `size` by, where that is a name.
void add_remainders(std::string_view text, std::string_view size, std::set<std::string>& divisors) {
  const std::string call = fmt::format("{} % ", size);
  for (std::size_t at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1)) {
    if (at > 0 && (is_of_identifier(text[at - 1]) || text[at - 1] == '.')) continue;
    std::size_t end = at + call.size();
    while (end < text.size() && is_of_identifier(text[end])) ++end;
    if (end > at + call.size()) divisors.emplace(text.substr(at + call.size(), end - at - call.size()));
  }
}

/// The texts of a launch's grid and of the derived values that it is computed from.
std::vector<std::string> grid_texts(const Launch& launch, std::span<const Space::Mapping> mappings) {
  std::vector<std::string> texts;
  for (const Expression& extent : launch.grid) texts.push_back(extent.text());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    for (const std::string_view word : words_in(text))
      for (const Space::Mapping& mapping : mappings)
        for (const Derived& derived : mapping.derived)
          if (derived.name == word && seen.insert(derived.name).second) texts.push_back(derived.expression.text());
  }
  return texts;
}

std::string slice_of(std::span<const Launch> launches, std::span<const Space::Mapping> mappings,
                     const SymbolTable& scope) {
  std::set<std::string> divisors;
  const auto look_at = [&](const Expression& expression) {
    add_divisors(expression.text(), "k", divisors);
    add_remainders(expression.text(), "k", divisors);
  };
  for (const Space::Mapping& mapping : mappings) {
    for (const Derived& derived : mapping.derived) look_at(derived.expression);
    for (const Constraint& constraint : mapping.constraints) look_at(constraint.expression);
  }
  for (const Launch& launch : launches) std::ranges::for_each(launch.grid, look_at);
  for (const std::string_view name : kUsualSliceNames)
    if (scope.declares(name)) return std::string(name);
  // What the grid has as well is more likely to be the number of parts of a split k.
  std::set<std::string> in_grid;
  for (const Launch& launch : launches)
    for (const Expression& extent : launch.grid)
      for (const std::string_view word : words_in(extent.text())) in_grid.emplace(word);
  std::erase_if(divisors, [&](const std::string& name) { return !scope.declares(name) || in_grid.contains(name); });
  return divisors.size() == 1 ? *divisors.begin() : "";
}

}  // namespace

std::vector<CostRule> read_cost_rules(const Node& node, const Problem& problem, SymbolTable& scope,
                                      Diagnostics& diagnostics) {
  CostReader reader(problem, scope, diagnostics);
  std::vector<CostRule> rules;
  for (const Node* entry : as_list(node)) rules.push_back(reader.read(*entry));
  return rules;
}

std::vector<CostRule> inferred_cost_rules(const KernelPlan& kernel, std::span<const Space::Mapping> mappings,
                                          const SymbolTable& scope) {
  std::set<std::string> rows, columns;
  for (const Launch& launch : kernel.launches) {
    if (launch.kernel != kernel.name) continue;
    if (!launch.cluster.empty()) return {};
    for (const std::string& text : grid_texts(launch, mappings)) {
      add_divisors(text, "m", rows);
      add_divisors(text, "n", columns);
    }
  }
  if (rows.size() != 1 || columns.size() != 1) return {};
  CostRule rule;
  for (const std::string& text : {*rows.begin(), *columns.begin(), slice_of(kernel.launches, mappings, scope)}) {
    if (text.empty()) continue;
    rule.tile.push_back(Expression::parse(text, scope.names()));
    if (rule.tile.back().used_slots().empty()) return {};  // the kernel that is tuned has another tile
    for (std::size_t i = 0; i < mappings.size(); ++i)
      if (!scope.known_in(i, rule.tile.back())) return {};
  }
  return {rule};
}

}  // namespace tune::config
