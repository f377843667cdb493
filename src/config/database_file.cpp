#include "config/database_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "config/database_best.h"
#include "config/fields.h"
#include "config/params.h"
#include "config/values.h"
#include "model/statistics/stats.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr const char* kVersionKey = "tune_database";

// --- Writing. Keys that say nothing are left out.

Node block_of(std::initializer_list<std::pair<const char*, std::string>> texts) {
  Node node = make_mapping({});
  for (const auto& [name, text] : texts)
    if (!text.empty()) node.set(name, make_text(text, {}));
  return node;
}

Node milliseconds(double seconds) { return make_scalar(fmt::format("{:.6g}", seconds * 1e3), {}); }

Node params_node(const std::vector<Setting>& params) {
  Node node = make_mapping({});
  for (const Setting& setting : params)
    node.set((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, {}));
  return node;
}

void add_key(Node& node, const ResultKey& key) {
  const ResultGroup& group = key.group;
  node.set("kernel", make_text(group.kernel, {}));
  node.set("backend", make_text(group.backend, {}));
  Node sizes = make_mapping({}), problem = make_mapping({});
  for (const auto& [name, size] : key.sizes) sizes.set(name, make_scalar(std::to_string(size), {}));
  for (const auto& [name, text] : group.problem) problem.set(name, make_text(text, {}));
  if (!key.sizes.empty()) node.set("sizes", std::move(sizes));
  if (!group.problem.empty()) node.set("problem", std::move(problem));
  if (group.objective != "time") node.set("objective", make_text(group.objective, {}));
  if (group.state != "burst") node.set("state", make_text(group.state, {}));
  const TunedDevice& device = group.device;
  node.set("device", block_of({{"name", device.name}, {"arch", device.arch}, {"driver", device.driver}}));
  Node versions = block_of({{"compiler", device.compiler}, {"vendor_library", device.vendor_library}});
  if (!versions.entries.empty()) node.set("versions", std::move(versions));
  if (!group.source.empty()) node.set("source", make_text(group.source, {}));
}

Node node_of(const ResultKey& key, const TunedResult& result) {
  Node node = make_mapping({});
  node.flow = false;
  add_key(node, key);
  node.set("params", params_node(result.params));
  node.set("time_ms", milliseconds(result.seconds));
  if (result.interval) {
    Node interval = make_list({});
    interval.items = {milliseconds(result.interval->low), milliseconds(result.interval->high)};
    node.set("interval_ms", std::move(interval));
  }
  Node ratios = make_mapping({});
  for (const auto& [label, ratio] : result.ratios)
    ratios.entries.push_back({make_text(label, {}), make_scalar(fmt::format("{:.6g}", ratio), {})});
  if (!ratios.entries.empty()) node.set("ratio", std::move(ratios));
  if (!result.checked) node.set("checked", make_scalar("no", {}));
  if (result.finals_interrupted) node.set("finals", make_scalar("interrupted", {}));
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) node.set(name, make_text(text, {}));
  };
  add_text("artifact", result.artifact_hash);
  add_text("store_path", result.store_path);
  add_text("date", result.date);
  return node;
}

// --- Reading

class DatabaseReader {
 public:
  explicit DatabaseReader(Problems& problems) : problems_(&problems) {}

  Database read(const Node& root) {
    Database database;
    const Fields fields(root, "the database", {kVersionKey, "aliases", "results"}, *problems_);
    if (const Node* aliases = fields.find("aliases")) database.aliases = texts_of(aliases, "aliases");
    const Node* results = fields.find("results");
    if (results != nullptr && !results->is_list())
      problems_->add(results->place, fmt::format("results must be a list, not {}", describe(*results)));
    else if (results != nullptr)
      for (const Node& item : results->items) read_entry(item, database);
    return database;
  }

 private:
  std::string text_of(const Node* node, const char* what) {
    return node != nullptr ? read_text(*node, what, *problems_).value_or("") : "";
  }

  std::map<std::string, std::string> texts_of(const Node* node, const char* what) {
    std::map<std::string, std::string> texts;
    if (node == nullptr) return texts;
    if (!node->is_mapping())
      problems_->add(node->place, fmt::format("{} must be a mapping, not {}", what, describe(*node)));
    for (const Entry& entry : node->entries) texts[entry.key.text] = text_of(&entry.value, what);
    return texts;
  }

  std::optional<double> seconds_of(const Node& node, const char* what) {
    const auto milliseconds = read_number(node, what, *problems_);
    if (!milliseconds) return std::nullopt;
    if (is_valid_time(*milliseconds / 1e3)) return *milliseconds / 1e3;
    problems_->add(node.place, fmt::format("{} must be above 0", what));
    return std::nullopt;
  }

  void read_entry(const Node& node, Database& database) {
    const Fields fields(
        node, "a result",
        {"kernel", "backend", "sizes", "problem", "objective", "state", "device", "versions", "source", "params",
         "time_ms", "interval_ms", "ratio", "checked", "finals", "artifact", "store_path", "date"},
        *problems_);
    const ResultKey key = read_key(fields);
    const auto result = read_tuned(fields);
    if (result) add_result(database, key, *result);
  }

  ResultKey read_key(const Fields& fields) {
    ResultKey key;
    ResultGroup& group = key.group;
    group.kernel = text_of(fields.require("kernel"), "kernel");
    group.backend = text_of(fields.require("backend"), "backend");
    if (const Node* sizes = fields.find("sizes"))
      for (const Entry& entry : sizes->entries)
        if (const auto size = read_integer(entry.value, "a size", *problems_))
          key.sizes.emplace_back(entry.key.text, *size);
    group.problem = texts_of(fields.find("problem"), "problem");
    if (const Node* node = fields.find("objective")) group.objective = text_of(node, "objective");
    if (const Node* node = fields.find("state")) group.state = text_of(node, "state");
    if (const Node* node = fields.require("device")) {
      const Fields device(*node, "device", {"name", "arch", "driver"}, *problems_);
      group.device.name = text_of(device.find("name"), "name");
      group.device.arch = text_of(device.find("arch"), "arch");
      group.device.driver = text_of(device.find("driver"), "driver");
    }
    if (const Node* node = fields.find("versions")) {
      const Fields versions(*node, "versions", {"compiler", "vendor_library"}, *problems_);
      group.device.compiler = text_of(versions.find("compiler"), "compiler");
      group.device.vendor_library = text_of(versions.find("vendor_library"), "vendor_library");
    }
    group.source = text_of(fields.find("source"), "source");
    return key;
  }

  std::optional<TunedResult> read_tuned(const Fields& fields) {
    TunedResult result;
    const Node *params = fields.require("params"), *time = fields.require("time_ms");
    if (params == nullptr || time == nullptr) return std::nullopt;
    result.params = read_settings(*params, "params", {}, *problems_);
    const auto seconds = seconds_of(*time, "time_ms");
    if (!seconds) return std::nullopt;
    result.seconds = *seconds;
    if (const Node* node = fields.find("interval_ms")) result.interval = read_interval(*node);
    if (const Node* node = fields.find("ratio"))
      for (const Entry& entry : node->entries)
        if (const auto ratio = read_number(entry.value, "ratio", *problems_))
          result.ratios.emplace_back(entry.key.text, *ratio);
    if (const Node* node = fields.find("checked"))
      result.checked = read_bool_word(*node);
    else
      result.checked = true;
    result.finals_interrupted = fields.find("finals") != nullptr;
    result.artifact_hash = text_of(fields.find("artifact"), "artifact");
    result.store_path = text_of(fields.find("store_path"), "store_path");
    result.date = text_of(fields.find("date"), "date");
    return result;
  }

  bool read_bool_word(const Node& node) {
    return read_choice(node, "checked", {"no", "yes"}, *problems_).value_or(0) == 1;
  }

  std::optional<Interval> read_interval(const Node& node) {
    if (!node.is_list() || node.items.size() != 2) {
      problems_->add(node.place, "interval_ms must be a list of two times");
      return std::nullopt;
    }
    const auto low = seconds_of(node.items[0], "interval_ms"), high = seconds_of(node.items[1], "interval_ms");
    return low && high ? std::optional(Interval{*low, *high}) : std::nullopt;
  }

  Problems* problems_;
};

/// Throws Error(bad_input) for a version that this program does not know.
void require_version(const Node& root, const Node& version, Problems& problems) {
  const auto number = read_integer(version, kVersionKey, problems);
  problems.throw_if_any();
  if (*number == kVersion) return;
  throw Error(ExitCode::bad_input,
              fmt::format("{}: the database is of version {}, and this tune knows version {} only; use the tune that "
                          "wrote it, or a newer one",
                          to_text(root.place), *number, kVersion));
}

}  // namespace

Database parse_database(const std::string& text, const std::string& file) {
  Problems problems;
  const Node root = parse_yaml(text, file, problems);
  problems.throw_if_any();
  if (root.kind == Node::Kind::null) return {};
  Database database;
  if (const Node* version = root.find(kVersionKey)) {
    require_version(root, *version, problems);
    database = DatabaseReader(problems).read(root);
  } else {
    const auto [key, result] = read_best_result(root, problems);
    add_result(database, key, result);
  }
  problems.throw_if_any();
  return database;
}

Database read_database(const std::filesystem::path& path) {
  return parse_database(base::read_file(path), path.string());
}

std::string write_database(const Database& database) {
  Node root = make_mapping({});
  root.flow = false;
  root.set(kVersionKey, make_scalar(std::to_string(kVersion), {}));
  Node aliases = make_mapping({});
  aliases.flow = false;
  for (const auto& [alias, name] : database.aliases)
    aliases.entries.push_back({make_text(alias, {}), make_text(name, {})});
  if (!aliases.entries.empty()) root.set("aliases", std::move(aliases));
  Node results = make_list({});
  results.flow = false;
  for (const auto& [key, result] : database.results) results.items.push_back(node_of(key, result));
  root.set("results", std::move(results));
  return to_yaml(root);
}

}  // namespace tune::config
