#include "commands/database/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "commands/installation.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

using Groups = std::vector<const database::ResultGroup*>;

bool contains(const std::string& name, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return !std::ranges::search(name, part, same).empty();
}

/// The whole name of a device of which `name` is a part, in capitals or not, as of NVIDIA H200; `name` itself if it is
/// one's name or architecture, or a part of several names or of none.
std::string whole_name(const std::string& name, const Groups& groups) {
  std::set<std::string> found;
  for (const database::ResultGroup* group : groups) {
    const database::TunedDevice& device = group->device;
    if (name == device.name || name == device.arch) return name;
    if (contains(device.name, name)) found.insert(device.name);
  }
  return found.size() == 1 ? *found.begin() : name;
}

}  // namespace

void bind_selection(cli::Command& command, SelectionOptions& selection, const char* device_help) {
  command.text("--kernel", selection.kernel, "NAME", "The name of a tuning file, where the database has several");
  command.list("--problem", selection.problem, "KEY=V", "Only results with this, such as a=bf16; may be repeated");
  command.text("--device", selection.device, "NAME", device_help);
}

std::pair<std::string, std::string> name_and_value(const char* option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ExitCode::bad_input, fmt::format("{}: '{}' must be NAME=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

database::Selection selection_of(const SelectionOptions& options) {
  database::Selection selection;
  selection.kernel = options.kernel;
  for (const std::string& text : options.problem) selection.properties.insert(name_and_value("--problem", text));
  return selection;
}

std::string devices_of(const Groups& groups) {
  std::set<std::string> names;
  for (const database::ResultGroup* group : groups)
    names.insert(group->device.arch.empty() ? group->device.name
                                            : fmt::format("{} ({})", group->device.name, group->device.arch));
  return fmt::format("{}", fmt::join(names, ", "));
}

Groups groups_of_the_device(const database::Database& database, const SelectionOptions& options) {
  Groups groups = database::select_groups(database, selection_of(options));
  const Groups all = groups;
  if (options.device) {
    const std::string device = whole_name(*options.device, all);
    std::erase_if(groups, [&](const database::ResultGroup* group) { return group->device.name != device; });
  }
  if (groups.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("there is no result of the device '{}', but of {}", *options.device, devices_of(all)));
  if (std::ranges::any_of(groups, [&](const auto* group) { return group->device.name != groups[0]->device.name; }))
    throw Error(ExitCode::bad_input,
                fmt::format("the database has results of {}; choose a device with --device", devices_of(groups)));
  return groups;
}

const database::ResultGroup& the_group(const database::Database& database, const SelectionOptions& options) {
  const Groups groups = groups_of_the_device(database, options);
  if (groups.size() == 1) return *groups.front();
  throw Error(ExitCode::bad_input,
              fmt::format("the database has results of {} versions of the driver, the compiler or the source; choose "
                          "one with --problem, such as --problem driver={} --problem source={}",
                          groups.size(), groups.back()->device.driver, groups.back()->source));
}

database::TunedDevice wanted_device(const SelectionOptions& selection, const Groups& groups) {
  if (selection.device) return {whole_name(*selection.device, groups), {}, {}, {}, {}};
  const auto backend = parse_backend(groups.front()->backend);
  if (!backend)
    throw Error(ExitCode::bad_input,
                fmt::format("the database has results of the backend '{}', which this tune does not know",
                            groups.front()->backend));
  try {
    exec::Workers workers = find_workers();
    const wire::Hello hello = workers.probe_compiler(*backend);
    if (!hello.no_device.empty()) throw Error(ExitCode::environment, hello.no_device);
    return {hello.device.name, hello.device.arch, hello.device.driver, hello.compiler, hello.vendor_library};
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; to look for another device, name it with --device, such as one of {}",
                                          error.what(), devices_of(groups)));
  }
}

}  // namespace tune::commands
