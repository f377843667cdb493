#include <functional>
#include <map>

#include "base/file.h"
#include "base/streams.h"
#include "commands/commands.h"
#include "commands/selection.h"
#include "config/database_file.h"
#include "interop/dispatch_export.h"

namespace tune::commands {

ExitCode export_results(const ExportOptions& options) {
  const std::map<std::string, std::function<std::string(const interop::DispatchTable&)>> formats = {
      {"header", interop::to_header},
      {"json", [](const interop::DispatchTable& table) { return interop::to_json(table); }},
      {"cmake", interop::to_cmake},
      {"csv", interop::to_csv}};
  const Database database = config::read_database(options.database);
  const ResultGroup& group = the_group(database, options.selection);
  const std::string text = formats.at(options.format)({group, table_of(database, group)});
  if (options.output)
    base::write_file(*options.output, text);
  else
    base::print(text);
  return ExitCode::ok;
}

}  // namespace tune::commands
