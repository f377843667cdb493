#include "database/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/settings.h"
#include "model/statistics/entrant.h"
#include "model/statistics/finals.h"

namespace tune::database {
namespace {

/// Whether a program's parameter is a size of its problem, as in files of sizes.
bool is_size_of_program(const Setting& setting) {
  constexpr std::string_view kNames[] = {"M", "N", "K", "m", "n", "k"};
  return std::ranges::find(kNames, setting.name) != std::end(kNames) &&
         std::holds_alternative<std::int64_t>(setting.value);
}

void set_gemm(ResultKey& key, const Gemm& gemm) {
  key.sizes = {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}};
  if (gemm.batch != 1) key.sizes.emplace_back("batch", gemm.batch);
  if (gemm.groups() > 0) key.sizes.emplace_back("groups", gemm.groups());
  if (gemm.max_rows > 0) key.sizes.emplace_back("max_rows", gemm.max_rows);
  auto& problem = key.group.problem;
  problem = {{"a", std::string(to_text(gemm.a))},
             {"b", std::string(to_text(gemm.b))},
             {"c", std::string(to_text(gemm.c))},
             {"acc", std::string(to_text(gemm.acc))},
             {"layout_a", std::string(to_text(gemm.layout_a))},
             {"layout_b", std::string(to_text(gemm.layout_b))},
             {"layout_c", std::string(to_text(gemm.layout_c))}};
  problem["alpha"] = fmt::format("{}", gemm.alpha);
  problem["beta"] = fmt::format("{}", gemm.beta);
  problem["bias"] = to_text(gemm.bias);
  problem["epilogue"] = to_text(gemm.epilogue);
  problem["residual"] = gemm.residual ? "true" : "false";
  for (const char* name : {"scale_a", "scale_b"}) problem[name] = scale_text(gemm, name);
  if (gemm.groups() > 0) problem["routing"] = gemm.routing;
  problem["padding"] = gemm.max_rows == 0 ? "none" : gemm.any_padding ? "any" : "kept";
  problem["fast_accum"] = gemm.fast_accum ? "true" : "false";
  problem["init"] = to_text(gemm.init);
  std::erase_if(problem, [](const auto& property) {
    const auto value = gemm_defaults().find(property.first);
    return value != gemm_defaults().end() && value->second == property.second;
  });
  const auto distances = [&](const char* matrix, std::int64_t ld, std::int64_t stride, std::int64_t rows,
                             std::int64_t cols, Layout order, std::int64_t count) {
    if (ld != (order == Layout::row ? cols : rows)) key.sizes.emplace_back(fmt::format("ld{}", matrix), ld);
    if (count != 1 && stride != extent(rows, cols, order, ld))
      key.sizes.emplace_back(fmt::format("stride_{}", matrix), stride);
  };
  distances("a", gemm.lda, gemm.stride_a, gemm.rows(), gemm.k, gemm.layout_a, gemm.batch);
  distances("b", gemm.ldb, gemm.stride_b, gemm.k, gemm.columns(), gemm.layout_b, gemm.matrices_of_b());
  distances("c", gemm.ldc, gemm.stride_c, gemm.rows(), gemm.n, gemm.layout_c, gemm.batch);
}

bool launch_is_known(const TunedResult& result) { return result.artifact_hash.empty() || !result.code.empty(); }

auto order_of(const TunedResult& result) {
  return std::tuple(!result.checked, result.finals_interrupted, !launch_is_known(result), result.time.seconds,
                    result.artifact_hash, to_text(result.params), result.date.empty(), result.date, result.store_path,
                    result.code, result.time.interval ? result.time.interval->high : 0.0, result.ratios);
}

auto order_of(const SizeRule& rule) {
  std::string texts;
  for (const Configuration& each : rule.configurations) texts += to_text(each.params) + each.artifact_hash + "; ";
  std::vector<std::tuple<std::string, std::int64_t, std::size_t, std::size_t, std::size_t>> tree;
  for (const SizeRule::Node& node : rule.tree)
    tree.emplace_back(node.size, node.most, node.below, node.above, node.use);
  return std::tuple(rule.slowdown, rule.configurations.size(), texts, rule.table, tree);
}

}  // namespace

Backend backend_of(const ResultGroup& group) { return parse_backend(group.backend).value_or(Backend::program); }

const std::map<std::string, std::string>& gemm_defaults() {
  static const std::map<std::string, std::string> kDefaults = {
      {"alpha", "1"},      {"beta", "0"},       {"bias", "none"},      {"epilogue", "none"}, {"fast_accum", "false"},
      {"init", "uniform"}, {"padding", "none"}, {"residual", "false"}, {"scale_a", "none"},  {"scale_b", "none"}};
  return kDefaults;
}

bool is_better(const TunedResult& a, const TunedResult& b) { return order_of(a) < order_of(b); }

std::string baseline_that_wins(const TunedResult& result) {
  for (const auto& [label, ratio] : result.ratios)
    if (!entrant_of(label).is_vendor() && ratio < 1 - kEquivalence) return label;
  return {};
}

void add_result(Database& database, const ResultKey& key, const TunedResult& result) {
  const auto [place, is_new] = database.results.try_emplace(key, result);
  if (!is_new && is_better(result, place->second)) place->second = result;
}

void add_rule(Database& database, const ResultGroup& group, const SizeRule& rule) {
  const auto [place, is_new] = database.rules.try_emplace(group, rule);
  if (!is_new && order_of(rule) < order_of(place->second)) place->second = rule;
}

std::pair<const Configuration*, bool> configuration_for(const SizeRule& rule, const Sizes& sizes) {
  const auto listed = rule.table.find(sizes);
  if (listed != rule.table.end()) return {&rule.configurations[listed->second], true};
  const SizeRule::Node* node = &rule.tree.front();
  while (!node->size.empty())
    node = &rule.tree[size_of(sizes, node->size).value_or(1) <= node->most ? node->below : node->above];
  return {&rule.configurations[node->use], false};
}

bool launches_are_known(const Database& database, const ResultGroup& group) {
  for (auto each = database.results.lower_bound({group, {}});
       each != database.results.end() && each->first.group == group; ++each)
    if (!launch_is_known(each->second)) return false;
  return true;
}

SizeRule table_of(const Database& database, const ResultGroup& group) {
  const auto known = database.rules.find(group);
  SizeRule rule = known != database.rules.end() ? known->second : SizeRule();
  std::map<std::string, std::size_t> uses;
  const auto use_of = [&](const Configuration& each) {
    return uses.try_emplace(to_text(each.params) + each.artifact_hash, uses.size()).first->second;
  };
  for (const Configuration& each : rule.configurations) use_of(each);
  for (auto each = database.results.lower_bound({group, {}}); each != database.results.end(); ++each) {
    const auto& [key, result] = *each;
    if (key.group != group) break;
    const auto same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (!rule.table.empty() && !std::ranges::equal(key.sizes, rule.table.begin()->first, same_name)) continue;
    const Configuration own{result.params, result.artifact_hash, result.store_path};
    // Of sizes that the rule gives the same parameters, the result knows the binary.
    const auto listed = rule.table.find(key.sizes);
    if (listed != rule.table.end() && to_text(rule.configurations[listed->second].params) != to_text(own.params))
      continue;
    const std::size_t use = use_of(own);
    if (use == rule.configurations.size()) rule.configurations.push_back(own);
    rule.table[key.sizes] = use;
  }
  return rule;
}

std::optional<std::int64_t> size_of(const Sizes& sizes, std::string_view name) {
  const auto found = std::ranges::find(sizes, name, &Sizes::value_type::first);
  return found != sizes.end() ? std::optional(found->second) : std::nullopt;
}

void set_problem(ResultKey& key, const Problem& problem, const std::map<std::string, Value>& constants,
                 std::vector<Setting>& params) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return set_gemm(key, *gemm);
  if (std::holds_alternative<Custom>(problem)) {
    for (const auto& [name, value] : constants)
      if (const auto* size = std::get_if<std::int64_t>(&value))
        key.sizes.emplace_back(name, *size);
      else
        key.group.problem[name] = to_text(value);
    return;
  }
  for (const char* name : {"m", "n", "k"})
    for (const Setting& setting : params)
      if (is_size_of_program(setting) && std::tolower(setting.name[0]) == name[0])
        key.sizes.emplace_back(name, std::get<std::int64_t>(setting.value));
  std::erase_if(params, is_size_of_program);
}

std::string to_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

}  // namespace tune::database
