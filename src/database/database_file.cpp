#include "database/database_file.h"

#include <fmt/format.h>

#include <fstream>

#include "config/reader/problem_reader.h"
#include "config/reader/recorded_result.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "database/database_key.h"
#include "model/statistics/objective.h"
#include "model/statistics/stats.h"
#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::database {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr const char* kVersionKey = "tune_database";
constexpr const char* kEndKey = "end";  // a file that was cut off does not have it

// --- Writing. Keys that say nothing are left out.

config::Node milliseconds(double seconds) { return config::make_scalar(fmt::format("{:.6g}", seconds * 1e3), {}); }

config::Node result_node(const ResultKey& key, const TunedResult& result) {
  config::Node node = config::make_mapping({});
  node.flow = false;
  set_key(node, key.group, key.sizes);
  set_configuration(node, {result.params, result.artifact_hash, result.store_path});
  set_text(node, "code", result.code);
  node.set("time_ms", milliseconds(result.time.seconds));
  if (result.time.interval) {
    config::Node interval = config::make_list({});
    interval.items = {milliseconds(result.time.interval->low), milliseconds(result.time.interval->high)};
    node.set("interval_ms", std::move(interval));
  }
  config::Node ratios = config::make_mapping({});
  for (const auto& [label, ratio] : result.ratios)
    ratios.entries.push_back({config::make_text(label, {}), config::make_scalar(fmt::format("{:.6g}", ratio), {})});
  if (!ratios.entries.empty()) node.set("ratio", std::move(ratios));
  if (!result.checked) node.set("checked", config::make_scalar("no", {}));
  if (result.finals_interrupted) node.set("finals", config::make_scalar("interrupted", {}));
  set_text(node, "date", result.date);
  return node;
}

// A rule: which of a few configurations is for which sizes.

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

// --- Reading

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

/// Reads what rule_node writes, and adds it to the database. Reports what does not fit together.
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

class DatabaseReader {
 public:
  explicit DatabaseReader(config::Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

  Database read(const config::Node& root) {
    Database database;
    const config::Fields fields(root, "the database", {kVersionKey, "aliases", "results", "rules", kEndKey},
                                *diagnostics_);
    database.aliases = read_text_mapping(fields.find("aliases"), "aliases", *diagnostics_);
    for (const config::Node* item : list_at(fields, "results")) read_entry(*item, database);
    for (const config::Node* item : list_at(fields, "rules")) read_rule(*item, database, *diagnostics_);
    if (root.find(kEndKey) == nullptr)
      diagnostics_->add(root.place,
                        fmt::format("the database has no '{0}:' at its end, so a part of it may be missing; "
                                    "take an earlier version of the file, or add the line '{0}: yes'",
                                    kEndKey));
    return database;
  }

 private:
  std::vector<const config::Node*> list_at(const config::Fields& fields, const char* key) {
    const config::Node* node = fields.find(key);
    if (node == nullptr) return {};
    if (node->is_list()) return config::as_list(*node);
    diagnostics_->add(node->place, fmt::format("{} must be a list, not {}", key, config::describe(*node)));
    return {};
  }

  std::optional<double> seconds_of(const config::Node& node, const char* what) {
    const auto milliseconds = config::read_number(node, what, *diagnostics_);
    if (!milliseconds) return std::nullopt;
    if (is_valid_time(*milliseconds / 1e3)) return *milliseconds / 1e3;
    diagnostics_->add(node.place, fmt::format("{} must be above 0", what));
    return std::nullopt;
  }

  void read_entry(const config::Node& node, Database& database) {
    const config::Fields fields(
        node, "a result",
        {"kernel", "backend", "sizes", "problem", "state", "device", "versions", "source", "params", "artifact",
         "store_path", "code", "time_ms", "interval_ms", "ratio", "checked", "finals", "date"},
        *diagnostics_);
    const ResultKey key = read_key(fields);
    const auto result = read_tuned(fields);
    if (result) add_result(database, key, *result);
  }

  std::optional<TunedResult> read_tuned(const config::Fields& fields) {
    TunedResult result;
    const Configuration configuration = read_configuration(fields);
    const config::Node* time = fields.require("time_ms");
    if (time == nullptr) return std::nullopt;
    result.params = configuration.params;
    result.artifact_hash = configuration.artifact_hash;
    result.store_path = configuration.store_path;
    result.code = fields.text("code");
    const auto seconds = seconds_of(*time, "time_ms");
    if (!seconds) return std::nullopt;
    result.time.seconds = *seconds;
    if (const config::Node* node = fields.find("interval_ms")) result.time.interval = read_interval(*node);
    if (const config::Node* node = fields.find("ratio"))
      for (const config::Entry& entry : node->entries)
        if (const auto ratio = config::read_number(entry.value, "ratio", *diagnostics_))
          result.ratios.emplace_back(entry.key.text, *ratio);
    const config::Node* checked = fields.find("checked");
    result.checked =
        checked == nullptr ||
        config::read_choice(*checked, "checked", config::Choices{"no", "yes"}, *diagnostics_).value_or(0) == 1;
    result.finals_interrupted = fields.find("finals") != nullptr;
    result.date = fields.text("date");
    return result;
  }

  std::optional<Interval> read_interval(const config::Node& node) {
    if (!node.is_list() || node.items.size() != 2) {
      diagnostics_->add(node.place, "interval_ms must be a list of two times");
      return std::nullopt;
    }
    const auto low = seconds_of(node.items[0], "interval_ms"), high = seconds_of(node.items[1], "interval_ms");
    return low && high ? std::optional(Interval{*low, *high}) : std::nullopt;
  }

  config::Diagnostics* diagnostics_;
};

/// Throws Error(bad_input) for a version that this program does not know.
void require_version(const config::Node& root, const config::Node& version, config::Diagnostics& diagnostics) {
  const auto number = config::read_integer(version, kVersionKey, diagnostics);
  diagnostics.throw_if_any();
  if (*number == kVersion) return;
  throw Error(ExitCode::bad_input,
              fmt::format("{}: the database is of version {}, and this tune knows version {} only; use the tune that "
                          "wrote it, or a newer one",
                          config::to_text(root.place), *number, kVersion));
}

// --- Reading the best YAML of a tuning

std::string text_of(const config::Node* node) { return node != nullptr && node->is_scalar() ? node->text : ""; }

const config::Node* find_in(const config::Node& root, std::string_view section, std::string_view key) {
  const config::Node* mapping = root.find(section);
  return mapping != nullptr ? mapping->find(key) : nullptr;
}

/// Results are compared by their times.
void require_time(const config::Node& root, config::Diagnostics& diagnostics) {
  const config::Node* node = root.find("objective");
  if (node == nullptr || config::as_list(*node).empty()) return;
  const std::string name = objective_named(text_of(config::as_list(*node).front()), {});
  if (name != "time" && name != "gflops")
    diagnostics.add(node->place,
                    fmt::format("the objective is '{}'; a database keeps the results with the shortest times, "
                                "so tune by time for it",
                                name));
}

/// A problem's buffers and expressions are read and then left out.
config::ProblemSection problem_of(const config::Node& root, config::Diagnostics& diagnostics) {
  config::SymbolTable scope(diagnostics);
  const config::Node* node = root.find("problem");
  return node != nullptr ? config::read_problem(*node, scope, diagnostics) : config::ProblemSection();
}

std::vector<std::pair<std::string, double>> ratios_of(const config::Node& root, config::Diagnostics& diagnostics) {
  std::vector<std::pair<std::string, double>> ratios;
  const config::Node* node = find_in(root, "result", "ratio_to_best");
  if (node == nullptr) return ratios;
  for (const config::Entry& entry : node->entries)
    if (const auto ratio = config::read_number(entry.value, "result: ratio_to_best", diagnostics))
      ratios.emplace_back(entry.key.text, *ratio);
  return ratios;
}

/// Its winner as a result of a database. Reports what is missing or impossible.
std::pair<ResultKey, TunedResult> read_best_result(const config::Node& root, config::Diagnostics& diagnostics) {
  ResultKey key;
  TunedResult result;
  const auto recorded = config::read_result(root, diagnostics);
  const config::Node *name = root.find("name"), *params = root.find("params");
  if (!recorded || name == nullptr || params == nullptr || recorded->device.empty()) {
    diagnostics.add(
        root.place,
        "this is neither a database nor the best YAML of a tuning, which has name:, params:, result: and device:; "
        "write one with tune --tune --output PREFIX");
    return {key, result};
  }
  require_time(root, diagnostics);
  result.params = config::read_settings(*params, "params", {}, diagnostics);
  const config::ProblemSection problem = problem_of(root, diagnostics);
  set_problem(key, problem.problem, problem.constants, result.params);
  key.group.kernel = text_of(name);
  key.group.backend = root.find("backend") != nullptr ? text_of(root.find("backend")) : "program";
  if (const config::Node* run = root.find("run"); run != nullptr && root.find("file") == nullptr) {
    std::string words;
    for (const config::Node* word : config::as_list(*run)) words += (words.empty() ? "" : " ") + text_of(word);
    key.group.problem["run"] = words;
  }
  key.group.state = to_text(recorded->state);
  key.group.device = {recorded->device, recorded->arch, recorded->driver, recorded->compiler,
                      text_of(find_in(root, "device", "vendor_library"))};
  key.group.source = text_of(find_in(root, "result", "source"));
  result.time = recorded->time;
  result.checked = text_of(find_in(root, "result", "checked")) == "yes";
  result.finals_interrupted = find_in(root, "result", "finals") != nullptr;
  result.ratios = ratios_of(root, diagnostics);
  result.artifact_hash = recorded->artifact_hash;
  result.store_path = text_of(find_in(root, "result", "store_path"));
  result.code = text_of(find_in(root, "result", "code"));
  return {key, result};
}

}  // namespace

Database parse_database(const std::string& text, const std::string& file) {
  if (text.starts_with('{') && file.ends_with(".jsonl"))
    throw Error(ExitCode::bad_input,
                fmt::format("{}: this is the journal of a run, and neither a database nor the best YAML of a tuning; "
                            "name one of those, which tune --tune --output PREFIX writes beside its journal",
                            file));
  config::Diagnostics diagnostics;
  const config::Node root = config::parse_yaml(text, file, diagnostics);
  diagnostics.throw_if_any();
  if (root.kind == config::Node::Kind::null) return {};
  Database database;
  if (const config::Node* version = root.find(kVersionKey)) {
    require_version(root, *version, diagnostics);
    database = DatabaseReader(diagnostics).read(root);
  } else {
    const auto [key, result] = read_best_result(root, diagnostics);
    add_result(database, key, result);
  }
  diagnostics.throw_if_any();
  return database;
}

bool is_database(const std::filesystem::path& path) {
  if (!platform::kind_of_file(path).empty()) return false;
  std::ifstream file(path);
  std::string begin(std::string_view(kVersionKey).size(), '\0');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kVersionKey;
}

bool is_best_yaml(const std::filesystem::path& path) try {
  config::Diagnostics diagnostics;
  return config::parse_yaml(platform::read_file(path), path.string(), diagnostics).find("result") != nullptr;
} catch (const Error&) {
  return false;
}

Database read_database(const std::filesystem::path& path) {
  return parse_database(platform::read_file(path), path.string());
}

std::string write_database(const Database& database) {
  config::Node root = config::make_mapping({});
  root.flow = false;
  root.set(kVersionKey, config::make_scalar(std::to_string(kVersion), {}));
  config::Node aliases = config::make_mapping({});
  aliases.flow = false;
  for (const auto& [alias, name] : database.aliases)
    aliases.entries.push_back({config::make_text(alias, {}), config::make_text(name, {})});
  if (!aliases.entries.empty()) root.set("aliases", std::move(aliases));
  config::Node results = config::make_list({});
  results.flow = false;
  for (const auto& [key, result] : database.results) results.items.push_back(result_node(key, result));
  root.set("results", std::move(results));
  config::Node rules = config::make_list({});
  rules.flow = false;
  for (const auto& [group, rule] : database.rules) rules.items.push_back(rule_node(group, rule));
  if (!rules.items.empty()) root.set("rules", std::move(rules));
  root.set(kEndKey, config::make_scalar("yes", {}));
  return config::to_yaml(root);
}

}  // namespace tune::database
