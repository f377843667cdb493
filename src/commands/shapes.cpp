#include <fmt/format.h>

#include <algorithm>

#include "base/streams.h"
#include "commands/commands.h"
#include "commands/rules.h"
#include "journal.h"
#include "model/values/shown.h"

namespace tune::commands {
namespace {

// A shape without any spec does not prevent the others from being tuned.
ExitCode run_shape(const Options& options, exec::Workers& workers, const config::Shape& shape,
                   const TargetCommand& command) try {
  Target target(options, workers, shape);
  return command(options, target);
} catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  base::print_error(error.what());
  return error.code();
}

// The same command measures none of the shapes again before it has measured all.
void note_complete(const Options& options, const std::vector<config::Shape>& shapes) {
  for (const config::Shape& shape : shapes) {
    const flow::Outputs outputs(output_rules(options, file_suffix(shape)));
    if (std::filesystem::exists(outputs.journal)) Journal(outputs.journal).note_complete();
  }
}

/// Those of the part that --partition names, or all.
std::vector<config::Shape> wanted_shapes(const Options& options) {
  const std::vector<config::Shape> shapes = config::read_shapes(*options.shapes).shapes;
  if (!options.partition) return shapes;
  const auto [part, parts] = *options.partition;
  const std::int64_t size = std::ssize(shapes);
  if (parts > size)
    throw Error(ExitCode::bad_input, fmt::format("--partition {}:{}: {} has only {} sizes; use at most {} parts", part,
                                                 parts, options.shapes->string(), size, size));
  return {shapes.begin() + size * part / parts, shapes.begin() + size * (part + 1) / parts};
}

}  // namespace

ExitCode for_each_shape(const Options& options, const TargetCommand& command) {
  exec::Workers workers = find_workers(options);
  if (!options.shapes) {
    Target target(options, workers);
    base::print_warnings(target.loaded.warnings);
    return command(options, target);
  }
  const std::vector<config::Shape> shapes = wanted_shapes(options);
  std::vector<std::string> warnings;
  for (const config::Shape& shape : shapes)  // what is wrong with any is said before the first
    Target(options, workers, shape).add_warnings_to(warnings);
  base::print_warnings(warnings);
  ExitCode worst = ExitCode::ok;
  for (const config::Shape& shape : shapes) {
    base::print(shown_line(config::to_text(shape)) + "\n");
    worst = std::max(worst, run_shape(options, workers, shape, command));
  }
  if (options.fresh) note_complete(options, shapes);
  return worst;
}

}  // namespace tune::commands
