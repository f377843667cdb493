#include "database/database_rules.h"

#include <fmt/format.h>

#include "database/database_key.h"

namespace tune::database {
namespace {

config::Node integer_node(std::int64_t value) { return config::make_scalar(std::to_string(value), {}); }

/// `{if: m, most: 256, then: 0, else: {...}}`, or the number of a configuration.
config::Node tree_node(const SizeRule& rule, std::size_t index) {
  const SizeRule::Node& node = rule.tree[index];
  if (node.size.empty()) return integer_node(static_cast<std::int64_t>(node.use));
  config::Node split = config::make_mapping({});
  split.set("if", config::make_text(node.size, {}));
  split.set("most", integer_node(node.most));
  for (const auto& [key, next] : {std::pair("then", node.below), std::pair("else", node.above)}) {
    config::Node branch = tree_node(rule, next);
    branch.flow = branch.is_mapping() ? false : branch.flow;
    split.set(key, std::move(branch));
  }
  split.flow = false;
  return split;
}

class RuleReader {
 public:
  explicit RuleReader(config::Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

  SizeRule read(const config::Fields& fields) {
    if (const config::Node* node = fields.require("slowdown"))
      rule_.slowdown = config::read_number(*node, "slowdown", *diagnostics_).value_or(1);
    if (const config::Node* node = fields.require("configurations"))
      for (const config::Node* item : config::as_list(*node))
        rule_.configurations.push_back(read_configuration(
            config::Fields(*item, "a configuration", {"params", "artifact", "store_path"}, *diagnostics_)));
    if (const config::Node* node = fields.require("table"))
      for (const config::Node* item : config::as_list(*node)) read_row(*item);
    if (const config::Node* node = fields.require("tree")) read_tree(*node, 0);
    return std::move(rule_);
  }

 private:
  static constexpr int kDeepest = 64;

  std::size_t read_use(const config::Node& node) {
    const auto use = config::read_integer(node, "the number of a configuration", *diagnostics_).value_or(0);
    if (use >= 0 && use < std::ssize(rule_.configurations)) return static_cast<std::size_t>(use);
    diagnostics_->add(node.place, fmt::format("there is no configuration {}; the first one is 0, and there are {}", use,
                                              rule_.configurations.size()));
    return 0;
  }

  void read_row(const config::Node& node) {
    const config::Fields row(node, "a row of the table", {"sizes", "use"}, *diagnostics_);
    const config::Node *sizes = row.require("sizes"), *use = row.require("use");
    if (sizes != nullptr && use != nullptr) rule_.table[read_sizes(*sizes, *diagnostics_)] = read_use(*use);
  }

  std::size_t read_tree(const config::Node& node, int depth) {
    const std::size_t index = rule_.tree.size();
    rule_.tree.emplace_back();
    if (!node.is_mapping() || depth > kDeepest) {
      rule_.tree[index].use = read_use(node);
      return index;
    }
    const config::Fields split(node, "tree", {"if", "most", "then", "else"}, *diagnostics_);
    SizeRule::Node read;
    if (const config::Node* size = split.require("if"))
      read.size = config::read_text(*size, "if", *diagnostics_).value_or("");
    if (const config::Node* most = split.require("most"))
      read.most = config::read_integer(*most, "most", *diagnostics_).value_or(0);
    if (const config::Node* then = split.require("then")) read.below = read_tree(*then, depth + 1);
    if (const config::Node* otherwise = split.require("else")) read.above = read_tree(*otherwise, depth + 1);
    rule_.tree[index] = std::move(read);
    return index;
  }

  SizeRule rule_;
  config::Diagnostics* diagnostics_;
};

}  // namespace

config::Node rule_node(const ResultGroup& group, const SizeRule& rule) {
  config::Node node = config::make_mapping({});
  node.flow = false;
  set_key(node, group, {});
  node.set("slowdown", config::make_scalar(fmt::format("{:.6g}", rule.slowdown), {}));
  config::Node configurations = config::make_list({}), table = config::make_list({});
  configurations.flow = table.flow = false;
  for (const Configuration& configuration : rule.configurations) {
    config::Node item = config::make_mapping({});
    set_configuration(item, configuration);
    configurations.items.push_back(std::move(item));
  }
  for (const auto& [sizes, use] : rule.table) {
    config::Node row = config::make_mapping({});
    row.set("sizes", sizes_node(sizes));
    row.set("use", integer_node(static_cast<std::int64_t>(use)));
    table.items.push_back(std::move(row));
  }
  node.set("configurations", std::move(configurations));
  node.set("table", std::move(table));
  node.set("tree", tree_node(rule, 0));
  return node;
}

void read_rule(const config::Node& node, Database& database, config::Diagnostics& diagnostics) {
  const config::Fields fields(node, "a rule",
                              {"kernel", "backend", "problem", "state", "device", "versions", "source", "slowdown",
                               "configurations", "table", "tree"},
                              diagnostics);
  const ResultKey key = read_key(fields);
  SizeRule rule = RuleReader(diagnostics).read(fields);
  if (rule.configurations.empty() || rule.tree.empty())
    diagnostics.add(node.place, "the rule has no configurations or no tree; write it anew with tune cover");
  else
    add_rule(database, key.group, rule);
}

}  // namespace tune::database
