#include <functional>
#include <map>

#include "commands/commands.h"
#include "commands/database/dispatch_export.h"
#include "commands/database/selection.h"
#include "database/database_file.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"

namespace tune::commands {

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

}  // namespace tune::commands
