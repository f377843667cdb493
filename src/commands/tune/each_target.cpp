#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "commands/messages.h"
#include "commands/tune/agent_plan.h"
#include "commands/tune/build_ahead.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

using Shapes = std::vector<config::Shape>;

/// Whether each block of the output begins with a verdict, which names its shape and model.
bool begins_with_verdict(const TuneOptions& options) { return options.tune && !options.dry_run && !options.build_only; }

// A shape or model without any spec does not prevent the others from being tuned.
ExitCode run_one_of_several(const TuneOptions& options, exec::Workers& workers,
                            const std::optional<config::Shape>& shape, const std::string& model,
                            const TargetCommand& command) try {
  if (!begins_with_verdict(options)) platform::print(line_with_escapes(label_of(shape, model)) + "\n");
  Target target(options, workers, shape, model);
  return command(options, target);
} catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  print_error(line_with_escapes(label_of(shape, model)) + ": " + error.what());
  return error.code();
}

/// Reads what the list says, without sizes of its own where it is of another tool.
Shapes shapes_of_list(const TuneOptions& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  config::ShapeList list = config::read_shapes(*options.shapes);
  if (!list.as_called) return std::move(list.shapes);
  config::Shape sizes = list.shapes.front();
  std::erase_if(sizes.settings, [](const Setting& s) { return s.name != "M" && s.name != "N" && s.name != "K"; });
  sizes.places.resize(sizes.settings.size());
  const Target target(options, workers, sizes);
  return tuning::shapes_for(target.plan(), std::move(list), *options.shapes, warnings);
}

/// Those of the part that --partition names, or all.
Shapes wanted_shapes(const TuneOptions& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  const Shapes shapes = shapes_of_list(options, workers, warnings);
  if (!options.partition) return shapes;
  const auto [part, parts] = *options.partition;
  const std::int64_t size = std::ssize(shapes);
  if (parts > size)
    throw Error(ExitCode::bad_input, fmt::format("--partition {}:{}: {} has only {} sizes; use at most {} parts", part,
                                                 parts, options.shapes->string(), size, size));
  return {shapes.begin() + size * part / parts, shapes.begin() + size * (part + 1) / parts};
}

ExitCode run_shapes(const TuneOptions& options, exec::Workers& workers,
                    std::span<const std::optional<config::Shape>> shapes, const std::string& model,
                    const TargetCommand& command) {
  ExitCode worst = ExitCode::ok;
  if (!options.dry_run && !options.build_only) build_ahead(options, workers, shapes);
  for (const auto& shape : shapes) worst = worse(worst, run_one_of_several(options, workers, shape, model, command));
  return worst;
}

ExitCode run_models(const TuneOptions& options, exec::Workers& workers, Backend backend,
                    std::span<const std::optional<config::Shape>> shapes, const TargetCommand& command) {
  ExitCode worst = ExitCode::ok;
  for (const std::string& model : workers.models(backend)) {
    workers.choose_model(backend, model);
    TuneOptions each = options;
    if (!workers.probe(backend).devices.empty()) each.choose_devices(model);  // where there are devices to choose from
    worst = worse(worst, run_shapes(each, workers, shapes, model, command));
  }
  return worst;
}

}  // namespace

ExitCode for_each_target(const TuneOptions& given, const TargetCommand& command) {
  TuneOptions options = given;
  if (options.per_device_model) options.choose_devices(std::nullopt);  // each model names its own
  const std::unique_ptr<exec::OtherMachines> agents = agents_for(options);
  exec::Workers workers = find_workers(options.measure.deadlines, agents.get());
  if (!options.makes_several()) {
    Target target(options, workers);
    print_warnings(target.loaded.warnings);
    return command(options, target);
  }
  std::vector<std::string> warnings;
  std::vector<std::optional<config::Shape>> shapes = {std::nullopt};
  if (options.shapes) {
    const Shapes wanted = wanted_shapes(options, workers, warnings);
    shapes.assign(wanted.begin(), wanted.end());
  }
  Backend backend = Backend::cpu;
  for (const auto& shape : shapes) {  // what is wrong with any is said before the first
    const Target target(options, workers, shape);
    target.add_warnings_to(warnings);
    backend = target.plan().backend;
  }
  print_warnings(warnings);
  const std::size_t models = options.per_device_model ? workers.models(backend).size() : 1;
  const TargetCommand one_of_all = [&](const TuneOptions& each, Target& target) {
    target.of = static_cast<int>(shapes.size() * models);
    return command(each, target);
  };
  return options.per_device_model ? run_models(options, workers, backend, shapes, one_of_all)
                                  : run_shapes(options, workers, shapes, "", one_of_all);
}

}  // namespace tune::commands
