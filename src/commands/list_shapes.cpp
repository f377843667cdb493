#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "model/problem.h"
#include "model/values/error.h"
#include "model/values/text.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

/// `tune shapes`: prints or writes the shapes of logs as a list for --shapes, with their calls, the most work first.
struct ListShapesOptions {
  std::vector<fs::path> logs;
  std::optional<fs::path> output;    ///< unset: standard output
  std::vector<std::string> filters;  ///< NAME=VALUE
};

void bind(cli::Command& command, ListShapesOptions& options) {
  command
      .several("LOG", options.logs, "FILE",
               "Logs of cuBLASLt or hipBLASLt, results of TunableOp, tables and lists, as --shapes reads them")
      .required()
      .files(kShapeFiles);
  command.path("--output,-o", options.output, "FILE", "Write the list to this file, for --shapes (default: stdout)");
  command.list("--filter", options.filters, "NAME=V",
               "Keep only shapes with this value, such as a=bf16; may be repeated");
}

using Shapes = std::vector<config::Shape>;

std::string entry_of(const config::Shape& shape, const std::string& name) {
  const auto entry = std::ranges::find(shape.settings, name, &Setting::name);
  return entry == shape.settings.end() ? "" : to_text(entry->value);
}

/// Adds up the calls of shapes that occur in several files.
void add_shapes(Shapes more, Shapes& shapes) {
  for (config::Shape& shape : more) {
    const auto known = std::ranges::find(shapes, to_text(shape), [](const config::Shape& s) { return to_text(s); });
    if (known == shapes.end())
      shapes.push_back(std::move(shape));
    else
      known->calls += shape.calls;
  }
}

/// Keeps the shapes that have this value. Throws Error(bad_input) if none has.
void keep_only(const std::string& filter, Shapes& shapes) {
  const auto equals = filter.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(ExitCode::bad_input, "--filter " + filter + ": write NAME=VALUE, such as a=bf16");
  const std::string name = filter.substr(0, equals), value = filter.substr(equals + 1);
  std::set<std::string> values;
  for (const config::Shape& shape : shapes) values.insert(entry_of(shape, name));
  values.erase("");
  if (values.empty()) throw Error(ExitCode::bad_input, "--filter " + filter + ": no shape has an entry " + name);
  if (!values.contains(value))
    throw Error(ExitCode::bad_input,
                fmt::format("--filter {}: {} is {} in these shapes", filter, name, fmt::join(values, ", ")));
  std::erase_if(shapes, [&](const config::Shape& shape) { return entry_of(shape, name) != value; });
}

/// The operations of all calls, or the calls where the sizes are not known.
double work_of(const config::Shape& shape) {
  double work = shape.calls;
  for (const char* size : {"M", "N", "K", "batch"})
    if (const std::string text = entry_of(shape, size); !text.empty()) work *= std::stod(text);
  return entry_of(shape, "epilogue") == to_text(Epilogue::swiglu) ? 2 * work : work;
}

std::string text_of_list(const Shapes& shapes) {
  double calls = 0, work = 0;
  for (const config::Shape& shape : shapes) {
    calls += shape.calls;
    work += work_of(shape);
  }
  std::string text = fmt::format("# {} and {:.15g} call{}; behind each shape stands its share of the operations\n",
                                 plural(shapes.size(), "shape"), calls, calls == 1 ? "" : "s");
  for (const config::Shape& shape : shapes)
    text += fmt::format("{}  # {:.3g} %\n", config::listed_shape(shape), 100 * work_of(shape) / work);
  return text;
}

ExitCode list_shapes(const ListShapesOptions& options) {
  Shapes shapes;
  if (options.output) must_not_be_input(*options.output, options.logs);
  for (const fs::path& log : options.logs) {
    config::ShapeList list = config::read_shapes(log);
    print_warnings(list.warnings);
    add_shapes(std::move(list.shapes), shapes);
  }
  for (const std::string& filter : options.filters) keep_only(filter, shapes);
  std::ranges::stable_sort(shapes, std::greater(), work_of);
  const std::string text = text_of_list(shapes);
  if (!options.output) {
    platform::print_escaped(text);
    return ExitCode::ok;
  }
  platform::write_file(*options.output, text);
  platform::print(fmt::format("{}: {}\n", options.output->string(), plural(shapes.size(), "shape")));
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kListShapes = cli::command_spec<ListShapesOptions, bind, list_shapes>(
    "shapes", "List what a program multiplies, from logs of its GEMM library");

}  // namespace tune::commands
