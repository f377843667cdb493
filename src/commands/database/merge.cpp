#include <fmt/format.h>

#include <cmath>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/database_update.h"
#include "commands/database/selection.h"
#include "commands/print_messages.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace {

/// `tune merge`: adds the results of best YAML files and databases to a database.
struct MergeOptions {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  std::vector<std::string> aliases;  ///< OTHER=NAME
};

void bind(cli::Command& command, MergeOptions& options) {
  command.several("RESULT", options.inputs, "FILE", "Best YAML files of tunings, and databases")
      .required()
      .files(kYamlFiles);
  command.path("--output,-o", options.output, "FILE", "The database; what it has already is kept").required();
  command.list("--alias", options.aliases, "OTHER=NAME",
               "OTHER=NAME: another name of the device NAME; may be repeated");
}

/// A result whose time is known less well is noted.
constexpr double kUncertain = 0.1;

ExitCode merge(const MergeOptions& options) {
  database::Database inputs;
  std::vector<std::string> notes;
  for (const std::filesystem::path& input : options.inputs)
    for (std::string& note : add_all(inputs, read_results(input)).notes) notes.push_back(std::move(note));
  for (const auto& [key, result] : inputs.results)
    if (const auto share = relative_width(result.time); result.time.interval && share.value_or(INFINITY) > kUncertain)
      notes.push_back(line_with_escapes(
          fmt::format("{} {} is {}; tune it again", key.group.kernel, database::to_text(key.sizes),
                      share ? fmt::format("known to +-{:.0f} % only", 100 * *share) : "hardly known")));
  for (const std::string& alias : options.aliases) inputs.aliases.insert(name_and_value("--alias", alias));
  const DatabaseChange change = add_to_database(options.output, inputs);
  notes.insert(notes.end(), change.notes.begin(), change.notes.end());
  for (const std::string& note : notes) print_wrapped("note: " + note);
  platform::print(line_with_escapes(fmt::format("{}: {}: {} new, {} better than before", options.output.string(),
                                                plural(change.total, "result"), change.added, change.improved)) +
                  "\n");
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kMerge = cli::command_spec<MergeOptions, bind, merge>(
    "merge", "Add results to a database: tune merge best.yaml more.yaml -o DB");

}  // namespace tune::commands
