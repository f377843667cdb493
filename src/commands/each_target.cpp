#include <fmt/format.h>

#include <algorithm>

#include "base/streams.h"
#include "commands/agent_plan.h"
#include "commands/commands.h"
#include "commands/on_stderr.h"
#include "commands/rules.h"
#include "flow/workload.h"
#include "model/values/shown.h"

namespace tune::commands {
namespace {

using Shapes = std::vector<config::Shape>;

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

/// Reads what the list says, without sizes of its own where it is of another tool.
Shapes shapes_of_list(const Options& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  config::ShapeList list = config::read_shapes(*options.shapes);
  if (!list.as_called) return std::move(list.shapes);
  config::Shape sizes = list.shapes.front();
  std::erase_if(sizes.settings, [](const Setting& s) { return s.name != "M" && s.name != "N" && s.name != "K"; });
  sizes.places.resize(sizes.settings.size());
  const Target target(options, workers, sizes);
  return flow::shapes_for(target.plan(), std::move(list), *options.shapes, warnings);
}

/// Those of the part that --partition names, or all.
Shapes wanted_shapes(const Options& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  const Shapes shapes = shapes_of_list(options, workers, warnings);
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
  const std::unique_ptr<exec::Cluster> cluster = cluster_for(options);
  exec::Workers workers = find_workers(options, cluster.get());
  if (!options.shapes) {
    Target target(options, workers);
    print_warnings(target.loaded.warnings);
    return command(options, target);
  }
  std::vector<std::string> warnings;
  const Shapes shapes = wanted_shapes(options, workers, warnings);
  for (const config::Shape& shape : shapes)  // what is wrong with any is said before the first
    Target(options, workers, shape).add_warnings_to(warnings);
  print_warnings(warnings);
  ExitCode worst = ExitCode::ok;
  for (const config::Shape& shape : shapes) {
    base::print(shown_line(config::to_text(shape)) + "\n");
    worst = std::max(worst, run_shape(options, workers, shape, command));
  }
  return worst;
}

}  // namespace tune::commands
