#include <fmt/format.h>

#include <map>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/selection.h"
#include "database/database_file.h"
#include "model/settings.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "report/csv.h"
#include "wire/json.h"

namespace tune::commands {
namespace {

// The results of a group as data, for programs and people. With a rule, they have its configurations for the sizes that
// it was made from. What other sizes need only a tuning file can say, so the rule's tree is not among them.
// Throw Error(bad_input) if a kernel's binary is not known for one of the sizes.

using ordered_json = nlohmann::ordered_json;

/// A size of the table, with the result where it is of this configuration.
struct Row {
  database::Sizes sizes;
  std::size_t use = 0;
  const database::TunedResult* result = nullptr;
};

struct ExportedTable {
  std::vector<database::Configuration> configurations;
  std::vector<Row> rows;
};

ExportedTable exported(const database::Database& database, const database::ResultGroup& group) {
  database::SizeRule rule = database::table_of(database, group);
  ExportedTable table{std::move(rule.configurations), {}};
  for (const auto& [sizes, use] : rule.table) {
    const database::Configuration& configuration = table.configurations[use];
    if (configuration.artifact_hash.empty() && group.backend != "program")
      throw Error(
          ExitCode::bad_input,
          fmt::format("the binary of {} with {} is not known, because it was tuned or covered by an older tune; "
                      "make the rule anew with tune cover, or tune these sizes again",
                      database::to_text(sizes), to_text(configuration.params)));
    table.rows.push_back({sizes, use, nullptr});
    Row& row = table.rows.back();
    const auto result = database.results.find({group, sizes});
    if (result != database.results.end() && to_text(result->second.params) == to_text(configuration.params))
      row.result = &result->second;
  }
  return table;
}

ordered_json sizes_json(const database::Sizes& sizes) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, size] : sizes) json[name] = size;
  return json;
}

ordered_json configuration_json(const database::Configuration& configuration) {
  ordered_json params = ordered_json::object();
  for (const Setting& setting : configuration.params)
    params[(setting.run_time ? "$" : "") + setting.name] = ordered_json(nlohmann::json(setting.value));
  return {{"params", params}, {"artifact", configuration.artifact_hash}, {"store_path", configuration.store_path}};
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) row += (row.empty() ? "" : ",") + report::quoted(cell);
  return row + '\n';
}

std::string milliseconds(double seconds) { return fmt::format("{:.6g}", seconds * 1e3); }

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// `configurations`, and `table` with a row for each of the sizes.
std::string to_json(const database::Database& database, const database::ResultGroup& group) {
  const ExportedTable table = exported(database, group);
  ordered_json json = {{"kernel", group.kernel},
                       {"backend", group.backend},
                       {"problem", group.problem},
                       {"device", group.device.name},
                       {"arch", group.device.arch},
                       {"driver", group.device.driver},
                       {"compiler", group.device.compiler},
                       {"vendor_library", group.device.vendor_library},
                       {"source", group.source}};
  json["configurations"] = json["table"] = ordered_json::array();
  for (const database::Configuration& each : table.configurations)
    json["configurations"].push_back(configuration_json(each));
  for (const Row& row : table.rows) {
    ordered_json entry = {{"sizes", sizes_json(row.sizes)}, {"use", row.use}};
    if (row.result != nullptr) entry["time_ms"] = row.result->time.seconds * 1e3;
    if (row.result != nullptr && row.result->time.interval)
      entry["interval_ms"] = {row.result->time.interval->low * 1e3, row.result->time.interval->high * 1e3};
    json["table"].push_back(std::move(entry));
  }
  return text_of(json);
}

/// A row for each of the sizes, with the parameters of its configuration.
std::string to_csv(const database::Database& database, const database::ResultGroup& group) {
  const ExportedTable table = exported(database, group);
  std::vector<std::string> params;
  for (const database::Configuration& configuration : table.configurations)
    for (const Setting& setting : configuration.params)
      if (std::ranges::find(params, setting.name) == params.end()) params.push_back(setting.name);
  std::vector<std::string> titles = {"kernel", "device", "arch"};
  for (const auto& [name, size] : table.rows.front().sizes) titles.push_back(name);
  titles.insert(titles.end(), params.begin(), params.end());
  titles.insert(titles.end(), {"time_ms", "low_ms", "high_ms", "artifact", "store_path"});
  std::string text = csv_row(titles);
  for (const Row& row : table.rows) {
    const database::Configuration& configuration = table.configurations[row.use];
    std::vector<std::string> cells = {group.kernel, group.device.name, group.device.arch};
    for (const auto& [name, size] : row.sizes) cells.push_back(std::to_string(size));
    for (const std::string& name : params) {
      const auto setting = std::ranges::find(configuration.params, name, &Setting::name);
      cells.push_back(setting != configuration.params.end() ? to_text(setting->value) : "");
    }
    const bool has_interval = row.result != nullptr && row.result->time.interval;
    cells.push_back(row.result != nullptr ? milliseconds(row.result->time.seconds) : "");
    cells.push_back(has_interval ? milliseconds(row.result->time.interval->low) : "");
    cells.push_back(has_interval ? milliseconds(row.result->time.interval->high) : "");
    cells.insert(cells.end(), {configuration.artifact_hash, configuration.store_path});
    text += csv_row(cells);
  }
  return text;
}

/// Bencher Metric Format: the latency of each of the sizes in ns
/// (https://bencher.dev/docs/reference/bencher-metric-format).
std::string to_bmf(const database::Database& database, const database::ResultGroup& group) {
  constexpr double kNanoseconds = 1e9;
  ordered_json json = ordered_json::object();
  for (const Row& row : exported(database, group).rows) {
    if (row.result == nullptr) continue;
    ordered_json latency = {{"value", row.result->time.seconds * kNanoseconds}};
    if (row.result->time.interval) {
      latency["lower_value"] = row.result->time.interval->low * kNanoseconds;
      latency["upper_value"] = row.result->time.interval->high * kNanoseconds;
    }
    json[group.kernel + " " + database::to_text(row.sizes)] = {{"latency", latency}};
  }
  return text_of(json);
}

/// `tune export`: writes the results of a database as data.
struct ExportOptions {
  std::filesystem::path database;
  SelectionOptions selection;
  std::string format;
  std::optional<std::filesystem::path> output;
};

void bind(cli::Command& command, ExportOptions& options) {
  command.path("DB", options.database, "FILE", "The database").required().files(kYamlFiles);
  const auto format = [&](const std::string& text) { options.format = text; };
  command.choice("--format", format, "json|csv|bmf", "JSON, a table, or Bencher's metric format").required();
  bind_selection(command, options.selection, kTheOnlyDevice);
  command.path("--output,-o", options.output, "FILE", "Write to this file (default: stdout)");
}

ExitCode export_results(const ExportOptions& options) {
  using Format = std::string (*)(const database::Database&, const database::ResultGroup&);
  if (options.output) must_not_be_input(*options.output, std::span(&options.database, 1));
  const std::map<std::string, Format> formats = {{"json", to_json}, {"csv", to_csv}, {"bmf", to_bmf}};
  const database::Database database = database::read_database(options.database);
  const database::ResultGroup& group = the_group(database, options.selection);
  const std::string text = formats.at(options.format)(database, group);
  if (options.output)
    platform::write_file(*options.output, text);
  else
    platform::print(text);
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kExport = cli::command_spec<ExportOptions, bind, export_results>(
    "export", "Write the results of a database as JSON, a table or for Bencher");

}  // namespace tune::commands
