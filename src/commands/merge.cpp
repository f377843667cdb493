#include <fmt/format.h>

#include "base/streams.h"
#include "commands/commands.h"
#include "flow/database.h"
#include "model/values/shown.h"

namespace tune::commands {
namespace {

std::pair<std::string, std::string> parse_alias(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ExitCode::bad_input,
                fmt::format("--alias: '{}' must be OTHER=NAME, such as \"NVIDIA H200 NVL=NVIDIA H200\"", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

ExitCode merge(const MergeOptions& options) {
  Database inputs;
  std::vector<std::string> notes;
  for (const std::filesystem::path& input : options.inputs)
    for (std::string& note : flow::add_all(inputs, flow::read_results(input)).notes) notes.push_back(std::move(note));
  for (const std::string& alias : options.aliases) inputs.aliases.insert(parse_alias(alias));
  const flow::DatabaseChange change = flow::add_to_database(options.output, inputs);
  for (const std::string& note : notes) base::print_to_stderr("note: " + note);
  base::print(shown_line(fmt::format("{}: {} results, of which {} are new and {} better than before",
                                     options.output.string(), change.total, change.added, change.improved)) +
              "\n");
  return ExitCode::ok;
}

}  // namespace tune::commands
