#include <functional>
#include <map>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/result_tables.h"
#include "commands/database/selection.h"
#include "database/database_file.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace {

/// `tune export`: writes what a program needs to use the results of a database.
struct ExportOptions {
  std::filesystem::path database;
  SelectionOptions selection;
  std::string format;
  std::optional<std::filesystem::path> output;
};

void bind(cli::Command& command, ExportOptions& options) {
  command.path("DB", options.database, "FILE", "The database").required().files(kYamlFiles);
  const auto format = [&](const std::string& text) { options.format = text; };
  command.choice("--format", format, "header|json|cmake|csv", "A C++17 header, JSON, -D flags for CMake, or a table")
      .required();
  bind_selection(command, options.selection, kTheOnlyDevice);
  command.path("--output,-o", options.output, "FILE", "Write to this file (default: stdout)");
}

ExitCode export_results(const ExportOptions& options) {
  const std::map<std::string, std::function<std::string(const commands::DispatchTable&)>> formats = {
      {"header", commands::to_header},
      {"json", [](const commands::DispatchTable& table) { return commands::to_json(table); }},
      {"cmake", commands::to_cmake},
      {"csv", commands::to_csv}};
  const database::Database database = database::read_database(options.database);
  const database::ResultGroup& group = the_group(database, options.selection);
  const std::string text = formats.at(options.format)({group, database::table_of(database, group)});
  if (options.output)
    platform::write_file(*options.output, text);
  else
    platform::print(text);
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kExport = cli::command_spec<ExportOptions, bind, export_results>(
    "export", "Write what a program needs to use the results of a database");

}  // namespace tune::commands
