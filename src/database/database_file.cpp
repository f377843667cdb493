#include "database/database_file.h"

#include <fmt/format.h>

#include <fstream>

#include "database/database_best.h"
#include "database/database_key.h"
#include "database/database_rules.h"
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

// --- Reading

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
    result.code = text_of_key(fields, "code");
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
        checked == nullptr || config::read_choice(*checked, "checked", {"no", "yes"}, *diagnostics_).value_or(0) == 1;
    result.finals_interrupted = fields.find("finals") != nullptr;
    result.date = text_of_key(fields, "date");
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
