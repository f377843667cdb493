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
