#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "commands/installation.h"
#include "commands/print_messages.h"
#include "commands/tune/agent_plan.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "platform/files/streams.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

using Shapes = std::vector<config::Shape>;
using MaybeShapes = std::vector<std::optional<config::Shape>>;

/// Whether each block of the output begins with a verdict, which names its shape and model.
bool begins_with_verdict(const SharedOptions& options) { return options.tune && !options.times_nothing(); }

// A shape or model without any spec does not prevent the others from being tuned.
ExitCode run_one_of_several(Target& target, const TargetCommand& command) try {
  const std::string label = line_with_escapes(target.job.label());
  if (!begins_with_verdict(target.options)) platform::print(label + "\n");
  target.started = std::chrono::steady_clock::now();
  return command(target);
} catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  print_error(line_with_escapes(target.job.label()) + ": " + error.what());
  return error.code();
}

/// Reads what the list says, without sizes of its own where it is of another tool.
Shapes shapes_of_list(const TuneOptions& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  config::ShapeList list = config::read_shapes(*options.shapes);
  if (!list.as_called) return std::move(list.shapes);
  config::Shape sizes = list.shapes.front();
  std::erase_if(sizes.settings,
                [](const Setting& s) { return s.name != "M" && s.name != "N" && s.name != "K" && s.name != "groups"; });
  sizes.places.resize(sizes.settings.size());
  Job job = options.job;
  job.load.shape = std::move(sizes);
  const Target target(options, workers, std::move(job));
  return tuning::shapes_for(target.plan(), std::move(list), *options.shapes, warnings);
}

/// Those of the part that --partition names, or all.
Shapes wanted_shapes(const TuneOptions& options, exec::Workers& workers, std::vector<std::string>& warnings) {
  const Shapes shapes = shapes_of_list(options, workers, warnings);
  if (!options.partition) return shapes;
  const auto [part, parts] = *options.partition;
  const std::int64_t size = std::ssize(shapes);
  if (parts > size)
    throw Error(ExitCode::bad_input,
                fmt::format("--partition {}:{}: {} has only {}; use no more parts than that", part, parts,
                            options.shapes->string(), plural(static_cast<std::size_t>(size), "size")));
  return {shapes.begin() + size * part / parts, shapes.begin() + size * (part + 1) / parts};
}

std::deque<Target> targets_of(const TuneOptions& options, exec::Workers& workers, Job job, const MaybeShapes& shapes) {
  std::deque<Target> targets;
  for (const auto& shape : shapes) {
    job.load.shape = shape;
    targets.emplace_back(options, workers, job);
  }
  return targets;
}

ExitCode run_all(std::deque<Target>& targets, int of, const TargetCommand& command, const BeforeTargets& before) {
  ExitCode worst = ExitCode::ok;
  if (before) before(targets);
  for (Target& target : targets) {
    target.of = of;
    worst = worse(worst, run_one_of_several(target, command));
  }
  return worst;
}

ExitCode run_models(const TuneOptions& options, exec::Workers& workers, Backend backend, const MaybeShapes& shapes,
                    const TargetCommand& command, const BeforeTargets& before) {
  ExitCode worst = ExitCode::ok;
  const std::vector<std::string> models = workers.models(backend);
  for (const std::string& model : models) {
    workers.choose_model(backend, model);
    Job job = options.job;
    job.model = model;
    if (!workers.probe(backend).devices.empty()) job.devices = model;  // where there are devices to choose from
    std::deque<Target> targets = targets_of(options, workers, std::move(job), shapes);
    worst = worse(worst, run_all(targets, static_cast<int>(shapes.size() * models.size()), command, before));
  }
  return worst;
}

}  // namespace

ExitCode for_each_target(const TuneOptions& options, const TargetCommand& command, const BeforeTargets& before) {
  const std::unique_ptr<exec::OtherMachines> agents = agents_for(options);
  exec::Workers workers = find_workers(options.measure.deadlines, agents.get());
  if (!options.makes_several()) {
    Target target(options, workers, options.job);
    print_warnings(target.loaded.warnings);
    return command(target);
  }
  std::vector<std::string> warnings;
  MaybeShapes shapes = {std::nullopt};
  if (options.shapes) {
    const Shapes wanted = wanted_shapes(options, workers, warnings);
    shapes.assign(wanted.begin(), wanted.end());
  }
  std::deque<Target> targets =
      targets_of(options, workers, options.job, shapes);  // says what is wrong with any before the first
  for (const Target& target : targets) target.add_warnings_to(warnings);
  print_warnings(warnings);
  return options.per_device_model
             ? run_models(options, workers, targets.back().plan().backend(), shapes, command, before)
             : run_all(targets, static_cast<int>(targets.size()), command, before);
}

}  // namespace tune::commands
