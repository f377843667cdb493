#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "config/reader/device_file.h"
#include "config/reader/sections.h"
#include "config/yaml/fields.h"
#include "model/device_setting.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

const std::string kDevice = "device.";

/// The device that expressions ask; without properties where none is known but the file's defaults will do.
Device device_in_expressions(const SymbolTable& scope, const FixedValueSources& sources) try {
  if (!sources.rules.probe)
    throw Error(ExitCode::environment,
                fmt::format("an expression of '{}' uses device.*, but no device is known; give --device-file",
                            sources.plan.name));
  return sources.rules.probe(sources.plan.backend());
} catch (const Error&) {
  // What cannot do without the device asks for it again.
  const bool known = std::ranges::all_of(scope.used_device_slots(), [&](int slot) {
    return sources.defaults.contains(scope.names().at(slot).substr(kDevice.size()));
  });
  if (!known) throw;
  return {};
}

constexpr std::int64_t kMostMhzOrWatts = 1'000'000;

/// What is wrong with it, or empty.
std::string fault_of_device_parameter(const Parameter& parameter, std::optional<Backend> backend) {
  const auto control = device_control(parameter.name);
  if (!control) return fmt::format("is nothing that can be set on a device; there are {}", device_control_names());
  const bool of_program = backend && is_program(*backend);
  if (of_program && *control == DeviceControl::cpu_clock)
    return fmt::format(
        "would set the CPU clock, and no sample of a program shows which clock it ran at; rename it if the program "
        "sets its clocks itself");
  if (of_program)
    return fmt::format(
        "would set the {} of a GPU, and which one a program uses is not known; rename it if the program sets its "
        "clocks itself",
        to_text(*control));
  if (backend && !has_control(*backend, *control))
    return fmt::format("sets the {} of a {}, and this kernel runs on the {} backend; {}", to_text(*control),
                       is_gpu(*backend) ? "CPU" : "GPU", to_text(*backend),
                       *control == DeviceControl::sm_clock    ? "use device.cpu_clock"
                       : *control == DeviceControl::cpu_clock ? "use device.sm_clock"
                                                              : "remove it");
  const bool fits = std::ranges::all_of(parameter.values, [](const Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number != nullptr && *number > 0 && *number < kMostMhzOrWatts;
  });
  return fits ? "" : fmt::format("must have whole numbers of {}, above 0", unit_of(*control));
}

const Place& place_of(const Node& params, const ParameterMapping& mapping, const std::string& name) {
  for (const Node* node : as_list(params)) {
    const Entry* entry = node->place.line == mapping.place.line ? find_entry(*node, name) : nullptr;
    if (entry != nullptr) return entry->key.place;
  }
  return mapping.place;
}

// The same for all devices of the last ten years (CUDA programming guide, "Technical Specifications per Compute
// Capability"); AMD's allow as much.
constexpr std::array<std::int64_t, 3> kGrid = {2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> kBlock = {1024, 1024, 64};
constexpr std::int64_t kClusterBlocks = 16;  // beyond 8 with the attribute that the worker sets
constexpr std::int64_t kClusterCapability = 90;

std::string product(const std::vector<Expression>& extents) {
  std::string text = "1";
  for (const Expression& extent : extents) text += fmt::format("*({})", extent.text());
  return text;
}

/// The limits of one launch.
class Limits {
 public:
  Limits(const Launch& launch, const Device& device, const Names& names, std::vector<Constraint>& found)
      : launch_(launch), device_(device), names_(names), found_(found) {}

  void add(bool clusters) {
    add_extents("grid", launch_.grid, kGrid);
    if (const auto most = device_.integer("max_threads_per_block"); most && !launch_.block.empty())
      add(fmt::format("{} <= {}", product(launch_.block), *most),
          fmt::format("launch.block of {}: {} allows {} threads", launch_.kernel, device_.name, *most));
    add_extents("block", launch_.block, kBlock);
    if (const auto most = device_.integer("max_shared_per_block"); most && launch_.shared)
      add(fmt::format("0 <= ({}) <= {}", launch_.shared->text(), *most),
          fmt::format("launch.shared of {}: {} allows {} bytes", launch_.kernel, device_.name, *most));
    if (clusters && !launch_.cluster.empty()) add_cluster();
    if (launch_.programmatic)
      if (const auto old = too_old("programmatic launches"))
        add(fmt::format("not ({})", launch_.programmatic->text()),
            fmt::format("launch.programmatic of {}: {}", launch_.kernel, *old));
  }

 private:
  void add(const std::string& condition, const std::string& reason) {
    const std::string guard = launch_.condition ? fmt::format("not ({}) or ", launch_.condition->text()) : "";
    found_.push_back({Expression::parse(fmt::format("{}({})", guard, condition), names_), reason});
  }

  void add_extents(const char* what, const std::vector<Expression>& extents, const std::array<std::int64_t, 3>& most) {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < std::min(extents.size(), most.size()); ++i)
      conditions.push_back(fmt::format("1 <= ({}) <= {}", extents[i].text(), most[i]));
    if (conditions.empty()) return;
    add(fmt::format("{}", fmt::join(conditions, " and ")),
        fmt::format("launch.{} of {} must be from 1 to [{}]", what, launch_.kernel,
                    fmt::join(std::span(most).first(conditions.size()), ", ")));
  }

  /// Why the device has none of `what`, which came with clusters; nullopt: it has, or it is not known.
  std::optional<std::string> too_old(const char* what) const {
    const auto capability = device_.integer("compute_capability");
    if (!capability || *capability >= kClusterCapability) return std::nullopt;
    return fmt::format("{} has compute capability {}.{}, {} need 9.0", device_.name, *capability / 10, *capability % 10,
                       what);
  }

  void add_cluster() {
    const std::string blocks = product(launch_.cluster);
    if (const auto old = too_old("clusters"))
      return add(fmt::format("{} == 1", blocks), fmt::format("launch.cluster of {}: {}", launch_.kernel, *old));
    add(fmt::format("1 <= {} <= {}", blocks, kClusterBlocks),
        fmt::format("launch.cluster of {} must be from 1 to {} blocks", launch_.kernel, kClusterBlocks));
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < std::min(launch_.grid.size(), launch_.cluster.size()); ++i)
      conditions.push_back(fmt::format("({}) % ({}) == 0", launch_.grid[i].text(), launch_.cluster[i].text()));
    if (!conditions.empty())
      add(fmt::format("{}", fmt::join(conditions, " and ")),
          fmt::format("launch.grid of {}: not a multiple of launch.cluster", launch_.kernel));
  }

  const Launch& launch_;
  const Device& device_;
  const Names& names_;
  std::vector<Constraint>& found_;
};

}  // namespace

std::vector<Value> fixed_values(const SymbolTable& scope, const Names& names, const FixedValueSources& sources) {
  std::vector<Value> values = scope.values();
  values.resize(static_cast<std::size_t>(names.size()));
  if (scope.used_device_slots().empty()) return values;
  const Device device = device_in_expressions(scope, sources);
  for (const int slot : scope.used_device_slots()) {
    const std::string& name = scope.names().at(slot);
    const std::string property = name.substr(kDevice.size());
    const auto told = device.properties.find(property), otherwise = sources.defaults.find(property);
    if (told == device.properties.end() && otherwise == sources.defaults.end())
      throw Error(ExitCode::environment, fmt::format("an expression of '{}' uses device.*, but '{}' does not tell {}",
                                                     sources.plan.name, device.name, name));
    values[static_cast<std::size_t>(slot)] = told == device.properties.end() ? otherwise->second : told->second;
  }
  return values;
}

DeviceDefaults read_device_defaults(const Node& node, Backend backend, const SymbolTable& scope,
                                    Diagnostics& diagnostics) {
  DeviceDefaults defaults = read_properties(node, "device_defaults", diagnostics);
  for (const Entry& entry : node.entries) {
    if (scope.declares(kDevice + entry.key.text)) continue;
    const auto names = traits_of(backend).device_names;
    const std::vector<std::string> known(names.begin(), names.end());
    diagnostics.add(entry.key.place, fmt::format("unknown name '{}' in device_defaults{}", entry.key.text,
                                                 did_you_mean(entry.key.text, known)));
  }
  return defaults;
}

void check_device_parameters(const Node& params, std::optional<Backend> backend,
                             std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics) {
  for (ParameterMapping& mapping : mappings) {
    std::set<DeviceControl> seen;
    for (Parameter& parameter : mapping.parameters) {
      if (!is_of_a_device(parameter.name)) continue;
      parameter.run_time = true;
      std::string fault = fault_of_device_parameter(parameter, backend);
      const auto control = device_control(parameter.name);
      if (fault.empty() && !seen.insert(*control).second)
        fault = fmt::format("sets the {}, as another parameter does; keep one", to_text(*control));
      if (!fault.empty())
        diagnostics.add(place_of(params, mapping, parameter.name),
                        fmt::format("parameter '{}' {}", parameter.name, fault));
    }
  }
}

std::vector<Constraint> device_limits(std::span<const Launch> launches, Backend backend, const Device& device,
                                      const Names& names) {
  std::vector<Constraint> found;
  if (!is_gpu(backend)) return found;
  for (const Launch& launch : launches) Limits(launch, device, names, found).add(traits_of(backend).has_clusters);
  return found;
}

}  // namespace tune::config
