#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/database/selection.h"
#include "commands/messages.h"
#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "results/database.h"

namespace tune::commands {
ExitCode merge(const MergeOptions& options) {
  database::Database inputs;
  std::vector<std::string> notes;
  for (const std::filesystem::path& input : options.inputs)
    for (std::string& note : results::add_all(inputs, results::read_results(input)).notes)
      notes.push_back(std::move(note));
  for (const std::string& alias : options.aliases) inputs.aliases.insert(name_and_value("--alias", alias));
  const results::DatabaseChange change = results::add_to_database(options.output, inputs);
  notes.insert(notes.end(), change.notes.begin(), change.notes.end());
  for (const std::string& note : notes) print_wrapped("note: " + note);
  platform::print(
      line_with_escapes(fmt::format("{}: {} result{}: {} new, {} better than before", options.output.string(),
                                    change.total, change.total == 1 ? "" : "s", change.added, change.improved)) +
      "\n");
  return ExitCode::ok;
}

}  // namespace tune::commands
